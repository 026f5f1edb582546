"""The report as a reader meets it: a real browser, a page opened from disk."""

import re

import pytest

from agent_judge.report.build import PAGE, write_report
from agent_judge.store import Store
from tests.browser import DESKTOP, PHONE, open_page
from tests.report.runs import (
    BINDING,
    drawn_rows,
    looked_at,
    plan_rows,
    record,
    save,
    scored,
)

pytestmark = pytest.mark.slow
sync_api = pytest.importorskip("playwright.sync_api")
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
N_ROWS = 60
CONTRADICTION = "claims_edit_but_target_unchanged"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Sixty rows: hostile, right-to-left, without a level, contradicted, disputed, plain."""
    folder = tmp_path_factory.mktemp("page")
    rows = drawn_rows(folder, N_ROWS)
    rows[0] |= {"id": HOSTILE, "instruction": HOSTILE + 10_000 * "x", "editor": HOSTILE}
    rows[1] |= {"id": "rtl", "instruction": "اجعل القرص أبيض \u202e)dne"}
    rows[2] |= {"id": "gone", "edited": str(folder / "none.png")}
    rows[5] |= {"labels": [{"by": "ann", "IF": 1, "VC": 4}]}
    with Store.create(folder / "run", BINDING) as store:
        plan_rows(store, rows)
        evidence = looked_at(rows[3], store)
        save(store, record(rows[2], "IF", status="missing_output"))
        save(store, record(rows[2], "VC", status="missing_output"))
        save(store, record(rows[4], "IF", status="unscored", reason="needs_lmm"))
        for i, row in enumerate(rows[:-1]):
            for criterion in ("IF", "VC"):
                if i in (2, 4):
                    continue
                level = {"level": 4, "label": "Flawless Execution"} if i == 5 else {}
                fields = level if criterion == "IF" else {}
                flags = (CONTRADICTION,) if i == 3 else ()
                save(store, scored(row, criterion, evidence=evidence, flags=flags, **fields))
    write_report(
        [folder / "run"],
        folder / "report",
        judge_card=lambda run: ("this judge was never audited",),
        tell=lambda n: None,
    )
    return (folder / "report" / PAGE).as_uri()


def ids(page) -> list[str]:
    return [text.split(" · ")[0] for text in page.locator(".line .meta").all_inner_texts()]


def found(page) -> int:
    return int(page.inner_text(".found span").split(" of ")[0])


@pytest.mark.parametrize("size_wh", [DESKTOP, PHONE])
@pytest.mark.parametrize("view", ["", "#/rows", "#/row/run/row%203"])
def test_every_view_fits_its_window_in_light_and_dark(browser, report, size_wh, view):
    for dark in (False, True):
        with open_page(browser, report + view, size_wh=size_wh, dark=dark) as page:
            page.wait_for_selector(".view:not([hidden]) h1, .view:not([hidden]) .line")
            assert page.evaluate("document.documentElement.scrollWidth") == size_wh[0]
            paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, re.findall(r"\d+", paper)[:3])) < 380) == dark


def test_hostile_text_is_shown_and_never_run(browser, report):
    with open_page(browser, report) as page:
        assert HOSTILE in page.inner_text("#summary")
        page.evaluate("location.hash = '#/rows'")
        page.locator(".line").first.click()
        page.wait_for_selector(".verdict")
        assert page.inner_text(".instruction").startswith(HOSTILE)
        assert page.locator("main script, main img[src=x]").count() == 0
        assert "owned" not in page.title()


def test_right_to_left_text_turns_nothing_around_it(browser, report):
    with open_page(browser, report + "#/rows?text=rtl") as page:
        said = page.locator(".line .said").first
        assert said.evaluate("e => getComputedStyle(e).direction") == "rtl"
        meta = page.locator(".line .meta").first
        assert meta.evaluate("e => getComputedStyle(e).direction") == "ltr"


def test_plots_are_svg_and_a_click_on_a_bar_filters(browser, report):
    with open_page(browser, report) as page:
        page.wait_for_selector("#plots svg rect")
        page.locator("#plots [aria-label=bar] rect").first.click()
        page.wait_for_selector(".line")
        assert "IF=4" in page.url


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("IF=1", 14),
        ("IF=1,2", 28),
        ("IF=none", 3),
        ("editor=editor+1", 30),
        ("text=disc+7", 6),
        ("flag=" + CONTRADICTION, 1),
        ("show=contradictions", 1),
        ("show=far", 1),
        ("fate=needs_lmm", 1),
        ("fate=not_run", 2),
        ("IF=4&editor=editor+1", 1),
        ("text=nothing+like+it", 0),
    ],
)
def test_deep_links_filter(browser, report, query, wanted):
    with open_page(browser, report + "#/rows?" + query) as page:
        page.wait_for_selector(".found")
        assert found(page) == wanted
        assert page.locator(".empty").count() == (wanted == 0)


def test_filters_sorting_and_pages_are_in_the_address(browser, report):
    with open_page(browser, report + "#/rows") as page:
        page.locator(".levelset button.l1").first.click()
        page.wait_for_url(re.compile("IF=1"))
        page.select_option("select[name=sort]", label="best first")
        page.wait_for_url(re.compile("sort=best"))
        address = page.url
        listed = ids(page)
        page.click("text=clear all filters")
        sync_api.expect(page.locator(".line")).to_have_count(50)
        page.click("text=next →")
        sync_api.expect(page.locator(".line")).to_have_count(10)
        page.goto(address)
        page.wait_for_url(re.compile("IF=1"))
        assert ids(page) == listed


def test_typing_into_the_search_keeps_the_cursor_there(browser, report):
    with open_page(browser, report + "#/rows") as page:
        page.keyboard.press("/")
        sync_api.expect(page.locator("#search")).to_be_focused()
        page.keyboard.type("disc 1", delay=120)
        page.wait_for_url(re.compile(r"disc\+1"))
        page.keyboard.type("2")
        page.wait_for_url(re.compile(r"disc\+12"))
        assert page.input_value("#search") == "disc 12"
        assert found(page) == 1


def test_row_shows_pictures_boxes_ladder_loop_and_cost(browser, report):
    with open_page(browser, report + "#/row/run/row%203") as page:
        page.wait_for_selector(".verdict")
        shown = page.inner_text("#row")
        for text in (
            "Instruction Following",
            "Paint disc 3 white.",
            "zoom_in(picture: source",
            "difference()",
            "The crops that the judge was given",
            "3 requests · tokens 5,210 in, 311 out · $0.0123",
            CONTRADICTION,
            "label by planted",
        ):
            assert text in shown
        page.evaluate(
            "Promise.all([...document.querySelectorAll('#row img')].map(i => i.decode()))"
        )
        assert page.locator(".over rect.target").count() == 2
        assert page.locator(".verdict svg image").count() > 0


def test_slider_uncovers_the_edited_picture(browser, report):
    with open_page(browser, report + "#/row/run/row%203") as page:
        page.click("text=Slider")
        page.wait_for_selector(".slide")
        clip = "getComputedStyle(document.querySelectorAll('.glass .sheet')[1]).clipPath"
        assert page.evaluate(clip) == "inset(0px 0px 0px 50%)"
        page.locator(".slide").fill("10")
        assert page.evaluate(clip) == "inset(0px 0px 0px 10%)"


def test_zoom_to_the_target_brings_it_to_the_middle_of_every_pane(browser, report):
    with open_page(browser, report + "#/row/run/row%203") as page:
        page.wait_for_selector(".over rect.target")
        page.keyboard.press("t")
        offsets = page.evaluate(
            """[...document.querySelectorAll('.glass')].map(glass => {
              const g = glass.getBoundingClientRect();
              const t = glass.querySelector('rect.target').getBoundingClientRect();
              return [(t.x + t.width / 2 - g.x) / g.width, (t.y + t.height / 2 - g.y) / g.height,
                      t.height / g.height];
            })"""
        )
        assert len(offsets) == 2
        for across, down, share in offsets:
            assert 0 < across < 1
            assert 0 < down < 1
            assert share > 0.3


def test_keys_walk_the_filtered_rows(browser, report):
    with open_page(browser, report + "#/rows?text=disc+1") as page:
        page.wait_for_selector(".line")
        first, second = ids(page)[:2]
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_selector(".verdict")
        assert first in page.inner_text("#row .facts")
        page.keyboard.press("j")
        sync_api.expect(page.locator("#row .facts")).to_contain_text(second)
        page.keyboard.press("Escape")
        page.wait_for_selector(".line")
        assert "text=disc" in page.url


def test_same_task_of_another_editor_is_linked(browser, report):
    with open_page(browser, report + "#/row/run/row%206") as page:
        page.wait_for_selector(".verdict")
        page.click("#row .line")
        sync_api.expect(page.locator("#row .facts")).to_contain_text("row 7")


def test_rows_without_a_level_say_why(browser, report):
    with open_page(browser, report + "#/row/run/gone") as page:
        page.wait_for_selector(".verdict")
        assert "missing output" in page.inner_text(".verdict")
        assert "cannot be shown" in page.inner_text(".panes")


def test_link_to_no_row_says_so(browser, report):
    with open_page(browser, report + "#/row/run/nosuch") as page:
        page.wait_for_selector("#row .empty")


def test_theme_button_turns_the_page_dark_and_back(browser, report):
    with open_page(browser, report) as page:
        paper = "getComputedStyle(document.body).backgroundColor"
        before = page.evaluate(paper)
        page.click("#theme")
        assert page.evaluate(paper) != before
        page.click("#theme")
        assert page.evaluate(paper) == before

"""The report where levels are numbers: more bins than four, 0 among them, many criteria."""

import re
from dataclasses import replace

import pytest

from agent_judge.report.build import PAGE, write_report
from agent_judge.rubrics.protocol import load_protocol, rubric_of, rubric_version
from agent_judge.store import PlannedRow, Store
from tests.browser import DESKTOP, PHONE, open_page
from tests.report.runs import BINDING, drawn_rows, record, save

pytestmark = pytest.mark.slow
sync_api = pytest.importorskip("playwright.sync_api")
N_ROWS = 6
PROTOCOLS = ["multi-reward", "twelve-factors"]


def level_of(criterion: str, number: int) -> int:
    """Rows at 0, 1, ... of the first criteria; the best of a category's others."""
    scale = rubric_of(criterion).scale
    return int(scale.worst) + number if criterion in ("following", "alignment") else int(scale.best)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """By protocol: six rows, a level each from the worst on; the last one's quality is lost."""
    found = {}
    for protocol in PROTOCOLS:
        folder = tmp_path_factory.mktemp(protocol)
        rows = drawn_rows(folder, N_ROWS)
        for row in rows:
            labels = [{"by": "ann", "following": 0, "alignment": 1}, {"by": "ben", "following": 11}]
            row |= {"editor": "e", "labels": labels}
        criteria = load_protocol(protocol).criteria
        with Store.create(folder / "run", {**BINDING, "rubric": rubric_version(protocol)}) as store:
            store.plan(
                PlannedRow(id=row["id"], mode="oracle", row=row, seq=seq)
                for seq, row in enumerate(rows)
            )
            store.ask_for(criteria)
            for number, row in enumerate(rows):
                for criterion in criteria:
                    save(store, judged(row, criterion, number))
        write_report(
            [folder / "run"],
            folder / "report",
            judge_card=lambda run: ("no card",),
            tell=lambda n: None,
        )
        found[protocol] = (folder / "report" / PAGE).as_uri()
    return found


def judged(row, criterion, number):
    if number == N_ROWS - 1 and criterion == "quality":
        return record(row, criterion, status="unscored", reason="refused")
    rubric, level = rubric_of(criterion), level_of(criterion, number)
    return replace(
        record(row, criterion, status="scored", level=level),
        label=rubric.answered_as(level),
        answers=tuple({"question": q, "answer": a} for q, a in rubric.path_to(level).items()),
        vote_levels=(level, level, None),
        explanation="so",
        target_boxes=tuple(tuple(box) for box in row["boxes"]),
        box_origin="given",
        area_pct=1.0,
    )


def found(page) -> int:
    return int(page.inner_text(".found span").split(" of ")[0])


@pytest.mark.parametrize("size_wh", [DESKTOP, PHONE])
@pytest.mark.parametrize("view", ["", "#/rows", "#/row/run/row%200"])
def test_every_view_of_many_criteria_fits_its_window(browser, reports, size_wh, view):
    with open_page(browser, reports["twelve-factors"] + view, size_wh=size_wh) as page:
        page.wait_for_selector(".view:not([hidden]) h1, .view:not([hidden]) .line")
        assert page.evaluate("document.documentElement.scrollWidth") == size_wh[0]


@pytest.mark.parametrize("size_wh", [DESKTOP, PHONE])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_names_of_criteria_never_cover_their_levels(browser, reports, protocol, size_wh):
    with open_page(browser, reports[protocol] + "#/rows", size_wh=size_wh) as page:
        page.wait_for_selector(".line .chip")
        gaps = page.evaluate(
            """[...document.querySelectorAll('.line .fate')].map(fate =>
              fate.querySelector('.chip').getBoundingClientRect().left
              - fate.querySelector(':scope > b').getBoundingClientRect().right)"""
        )
        assert min(gaps) > 0


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("following=0", 1),
        ("following=0,1", 2),
        ("following=none", 0),
        ("quality=none", 1),
        ("quality=5", 5),
        ("fate=refused", 1),
        ("show=disputed", 5),
        ("show=far", 4),
    ],
)
def test_deep_links_filter_by_0_as_by_any_level(browser, reports, query, wanted):
    with open_page(browser, reports["multi-reward"] + "#/rows?" + query) as page:
        page.wait_for_selector(".found")
        assert found(page) == wanted


def test_the_worst_row_has_0_and_a_click_on_a_bar_finds_it(browser, reports):
    with open_page(browser, reports["multi-reward"] + "#/rows?sort=worst") as page:
        first = page.locator(".line").first
        assert "row 0" in first.inner_text()
        assert first.locator(".fate .chip b").first.inner_text() == "0"
        assert "label 0" in first.inner_text()
    with open_page(browser, reports["multi-reward"]) as page:
        page.wait_for_selector("#plots svg rect")
        page.locator("#plots .plot").first.locator("[aria-label=bar] rect").last.click()
        page.wait_for_selector(".line")
        assert "following=0" in page.url
        assert found(page) == 1


@pytest.mark.parametrize("dark", [False, True])
def test_every_level_has_a_shade_of_its_own(browser, reports, dark):
    with open_page(browser, reports["multi-reward"], dark=dark) as page:
        page.wait_for_selector("#plots svg rect")
        bars = page.locator("#plots .plot").first.locator("[aria-label=bar] rect")
        fills = bars.evaluate_all("all => all.map(e => getComputedStyle(e).fill)")
        assert len(set(fills)) == len(fills) == N_ROWS


def test_a_row_shows_its_answers_votes_and_labels(browser, reports):
    with open_page(browser, reports["multi-reward"] + "#/row/run/row%200") as page:
        page.wait_for_selector(".verdict")
        shown = page.locator(".verdict").first.inner_text()
        for text in (
            "Instruction Following",
            "yes no: no",
            "0, 0, none (2 of 3 agree)",
            "label by ann",
        ):
            assert text in shown
        assert "label by ben" not in shown  # 11 is no level


def test_figures_beyond_means_stand_in_the_card_of_the_editor(browser, reports):
    with open_page(browser, reports["multi-reward"]) as page:
        rows = page.locator(".card .further tr").all_inner_texts()
        assert [row.split("\t") for row in rows] == [
            ["following yes, %", "50.0"],
            ["preserving yes, %", "100.0"],
            ["quality yes, %", "\N{EN DASH}"],
        ]
    with open_page(browser, reports["twelve-factors"]) as page:
        rows = page.locator(".card .further tr").all_inner_texts()
        assert [row.split("\t") for row in rows] == [
            ["Preservation mean level", "7.00"],
            ["Quality mean level", "7.00"],
            ["Fidelity mean level", "5.83"],  # (3.5 + 7 + 7) / 3
        ]
        assert page.locator(".card tbody tr", has_text="Overall").count() == 1


def test_only_numbers_with_a_meaning_are_explained(browser, reports):
    with open_page(browser, reports["twelve-factors"]) as page:
        told = page.locator(".ladder").first.locator("dt").all_inner_texts()
        assert told == ["7", "4", "1"]


def test_many_criteria_fold_their_filters_away_until_one_is_set(browser, reports):
    with open_page(browser, reports["twelve-factors"] + "#/rows") as page:
        page.wait_for_selector(".line")
        assert not page.locator(".levelset").first.is_visible()
        page.click("text=Levels of 12 criteria")
        buttons = page.locator("label", has_text="alignment").locator("button")
        buttons.nth(6).click()  # best first: 7, 6, ... 1
        page.wait_for_url(re.compile("alignment=1"))
        assert found(page) == 1
        sync_api.expect(page.locator(".levelset").first).to_be_visible()

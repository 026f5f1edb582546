"""The page as a rater meets it: a real browser, keys and pointer."""

import csv
import re
from contextlib import contextmanager

import pytest

from tests.annotate.program import running
from tests.annotate.sessions import FLAWLESS, HOSTILE, PERFECT, said, served, write_rows
from tests.browser import DESKTOP, PHONE, open_page

pytestmark = pytest.mark.slow
sync_api = pytest.importorskip("playwright.sync_api")
N_ROWS = 4
RTL = "اجعل القرص أبيض \u202e)dne"


@pytest.fixture
def page_of(browser, tmp_path):
    """Opens the page of a fresh session."""

    @contextmanager
    def open_at(where="", *, first=(), **window):
        with (
            served(write_rows(tmp_path, N_ROWS, **dict(first))) as (session, server),
            open_page(browser, f"{server.url}#{where}", **window) as page,
        ):
            page.wait_for_selector(".sheet" if "row=" in where else "main h1")
            yield page, session

    return open_at


def saved(page):
    sync_api.expect(page.locator("#saved")).to_have_text("saved")


def rate(page, keys):
    page.wait_for_selector(".card.active")
    for key in keys:
        page.keyboard.press(key)
    sync_api.expect(page.locator(".card.active")).to_have_count(0)
    saved(page)


def without_boxes(session):
    return next(n for n, row in enumerate(session.round.rows) if row.boxes is None)


def test_a_row_is_rated_by_keys_alone(page_of):
    with page_of() as (page, session):
        page.wait_for_selector("input:focus")
        page.keyboard.type("ann")
        page.keyboard.press("Enter")
        rate(page, "ynyo")
        assert page.locator(".chip").all_inner_texts() == ["2\nWrong Action", "3\nSingle Anomaly"]
        page.keyboard.press("u")
        page.keyboard.press("s")
        sync_api.expect(page.locator(".chip").last).to_contain_text("Multiple Anomalies")
        saved(page)
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("row=1"))

        assert session.entries_of("ann")["0"]["levels"] == {"IF": 2, "VC": 2}
        assert page.inner_text("#count") == f"1 of {N_ROWS}"


def test_picking_a_level_answers_its_questions(page_of):
    with page_of("by=ann&row=0") as (page, session):
        page.locator(".card summary").first.click()
        page.click("text=Flawless Execution")
        saved(page)
        assert session.entries_of("ann")["0"]["answers"]["IF"] == FLAWLESS
        assert page.locator(".card details").first.get_attribute("open") is not None


def test_what_was_rated_survives_a_kill_and_is_gone_on_with(browser, tmp_path):
    manifest = write_rows(tmp_path, N_ROWS)
    with (
        running(manifest, "--calibration", 0) as (url, process),
        open_page(browser, f"{url}#by=ann&row=0") as page,
    ):
        rate(page, "yyyyn")
        page.keyboard.press("c")
        page.keyboard.type("quite red")
        page.keyboard.press("Escape")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("row=1"))
        saved(page)
        process.kill()
        process.wait()
        page.keyboard.press("n")
        sync_api.expect(page.locator("#lost")).to_contain_text("Row 2 is not saved")
    with running(manifest, "--calibration", 0) as (url, _), open_page(browser, url) as page:
        page.get_by_role("button", name="ann", exact=True).click()
        page.wait_for_url(re.compile("row=1"))
        assert page.inner_text("#count") == f"1 of {N_ROWS}"
        page.keyboard.press("k")
        sync_api.expect(page.locator("textarea")).to_have_value("quite red")
    with (tmp_path / "manifest-labels.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["by"], row["IF"], row["VC"], row["comment"]) == ("ann", "4", "4", "quite red")


def test_what_could_not_be_saved_is_sent_again_with_the_next_answer(page_of):
    with page_of("by=ann&row=0") as (page, session):
        page.route("**/entries/0", lambda route: route.abort(), times=1)
        page.keyboard.press("n")
        sync_api.expect(page.locator("#lost")).to_contain_text("Row 1 is not saved")
        page.keyboard.press("j")
        page.wait_for_url(re.compile("row=1"))
        page.wait_for_selector(f"text=row 2 of {N_ROWS}")
        page.keyboard.press("n")
        sync_api.expect(page.locator("#lost")).to_be_hidden()
        saved(page)
        levels = {number: one["levels"] for number, one in session.entries_of("ann").items()}
        assert levels == {"0": {"IF": 1}, "1": {"IF": 1}}


def test_two_raters_at_once_do_not_meet(browser, page_of):
    with page_of("by=ann&row=0") as (page, session):
        with open_page(browser, page.url.replace("ann", "bob")) as other:
            rate(page, "n" + "n")
            rate(other, "yyy" + "yn")
            assert "Flawless" not in page.inner_text("main .panel")
        assert session.entries_of("ann")["0"]["levels"] == {"IF": 1, "VC": 1}
        assert session.entries_of("bob")["0"]["levels"] == {"IF": 4, "VC": 4}


def test_the_calibration_round_ends_side_by_side(page_of):
    with page_of("by=ann&row=0") as (page, session):
        session.save(0, said("bob"))
        session.save(1, said("bob"))
        rate(page, "yyy" + "yn")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("row=1"))
        rate(page, "n" + "yo")
        page.keyboard.press("Enter")
        page.wait_for_selector(".dispute")

        first = page.locator(".dispute").first
        assert "apart in Instruction Following and Visual Consistency" in first.inner_text()
        said_there = [row.inner_text().split() for row in first.locator("tbody tr").all()]
        assert said_there[0][:4] == ["ann", "(you)", "1", "Localization"]
        assert said_there[1][:3] == ["bob", "4", "Flawless"]
        assert "the same level in 1 of 2 rows" in page.inner_text(".agreement")
        first.get_by_text("Look again").click()
        page.wait_for_url(re.compile("row=1"))


def test_the_slider_uncovers_the_edited_picture(page_of):
    with page_of("by=ann&row=0") as (page, _):
        page.keyboard.press("2")
        edited = page.locator(".sheet[data-name=edited]")
        clip = "e => Number(e.style.clipPath.match(/([\\d.]+)%\\)$/)[1])"
        before = edited.evaluate(clip)
        for _ in range(5):
            page.keyboard.press("ArrowLeft")
        assert (before, edited.evaluate(clip)) == (50, 40)
        page.locator("input.slide").fill("90")
        assert edited.evaluate(clip) == 90


def test_flipping_shows_one_picture_at_a_time(page_of):
    with page_of("by=ann&row=0") as (page, _):
        shown = page.locator(".sheet:not([hidden])")
        page.keyboard.press("3")
        assert shown.evaluate_all("l => l.map(e => e.dataset.name)") == ["source"]
        page.keyboard.press(" ")
        assert shown.evaluate_all("l => l.map(e => e.dataset.name)") == ["edited"]


def test_the_target_is_enlarged_in_all_pictures_alike(page_of):
    with page_of("by=ann&row=0") as (page, _):
        page.keyboard.press("t")
        moved = page.locator(".sheet").evaluate_all("l => l.map(e => e.style.transform)")
        assert moved[0] == moved[1]
        assert float(re.findall(r"scale\(([\d.]+)\)", moved[0])[0]) > 2
        thickness = page.locator(".sheet .given").first.evaluate("e => e.getBoundingClientRect()")
        target = page.locator(".glass").first.bounding_box()
        assert thickness["width"] <= 0.6 * target["width"]


def test_the_difference_is_shown_when_asked_for_and_that_is_kept(page_of):
    with page_of("by=ann&row=0") as (page, session):
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        assert page.locator(".overlay").count() == 0
        page.keyboard.press("d")
        overlay = page.locator(".overlay")
        sync_api.expect(overlay).to_have_js_property("naturalWidth", 160)
        saved(page)
        assert [url for url in asked if "difference" in url]
        assert session.entries_of("ann")["0"]["saw_difference"] is True


def test_boxes_are_drawn_where_a_row_has_none(page_of):
    with page_of("by=ann&row=0") as (page, session):
        number = without_boxes(session)
        page.evaluate(f"location.hash = 'by=ann&row={number}'")
        page.wait_for_selector(".boxes")
        page.keyboard.press("b")
        glass = page.locator(".glass").first.bounding_box()
        pixel = glass["width"] / 160
        for x1, y1, x2, y2 in ((10, 20, 50, 60), (90, 70, 80, 90)):
            page.mouse.move(glass["x"] + x1 * pixel, glass["y"] + y1 * pixel)
            page.mouse.down()
            page.mouse.move(glass["x"] + x2 * pixel, glass["y"] + y2 * pixel, steps=3)
            page.mouse.up()
        sync_api.expect(page.locator(".boxes li")).to_have_count(2)
        saved(page)
        boxes = session.entries_of("ann")[str(number)]["boxes"]
        assert boxes == ((10, 20, 50, 60), (80, 70, 90, 90))

        page.get_by_label("remove box 1").click()
        sync_api.expect(page.locator(".boxes li")).to_have_count(1)
        saved(page)
        assert len(session.entries_of("ann")[str(number)]["boxes"]) == 1


def test_a_row_with_boxes_offers_no_drawing(page_of):
    with page_of("by=ann&row=0") as (page, session):
        number = (without_boxes(session) + 1) % N_ROWS
        page.evaluate(f"location.hash = 'by=ann&row={number}'")
        page.wait_for_selector(f"text=row {number + 1} of {N_ROWS}")
        assert page.locator("text=Draw box").count() == 0
        assert page.locator(".sheet .given").count() == 2


@pytest.mark.parametrize("size_wh", [DESKTOP, PHONE])
def test_hostile_text_is_shown_and_never_run(page_of, size_wh):
    hostile = {"instruction": HOSTILE + 10_000 * "x", "targets": [HOSTILE]}
    with page_of("by=ann&row=0", first=hostile, size_wh=size_wh) as (page, session):
        number = [row.instruction[0] for row in session.round.rows].index("<")
        page.evaluate(f"location.hash = 'by=ann&row={number}'")
        page.wait_for_selector("text=owned")
        assert page.inner_text(".instruction").startswith(HOSTILE)
        assert page.locator("main script, main img[src=x]").count() == 0
        assert "owned" not in page.title()
        assert page.evaluate("document.documentElement.scrollWidth") == size_wh[0]
        assert page.locator(".instruction").bounding_box()["height"] < 200


def test_right_to_left_text_turns_nothing_around_it(page_of):
    with page_of("by=ann&row=0", first={"instruction": RTL}) as (page, s):
        number = [row.instruction[0] for row in s.round.rows].index(RTL[0])
        page.evaluate(f"location.hash = 'by=ann&row={number}'")
        page.wait_for_selector("text=القرص")
        instruction = page.locator(".instruction")
        assert instruction.evaluate("e => getComputedStyle(e).direction") == "rtl"
        assert page.locator(".panel").evaluate("e => getComputedStyle(e).direction") == "ltr"


def test_the_page_knows_neither_file_names_nor_editors_nor_labels(page_of):
    with page_of("by=ann&row=0") as (page, _):
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        for _ in range(N_ROWS):
            page.wait_for_selector(".sheet img")
            assert "secret" not in page.content()
            page.keyboard.press("j")
        assert asked
        assert not [url for url in asked if "secret" in url]


def test_a_name_that_cannot_be_kept_is_told(page_of):
    with page_of() as (page, _):
        page.wait_for_selector("input:focus")
        page.keyboard.type("=1+1")
        page.keyboard.press("Enter")
        sync_api.expect(page.locator("#lost")).to_contain_text("spreadsheets would run it")


@pytest.mark.parametrize("size_wh", [DESKTOP, PHONE])
@pytest.mark.parametrize("where", ["", "by=ann&row=0", "by=ann&view=calibration"])
def test_every_view_fits_its_window_in_light_and_dark(page_of, browser, size_wh, where):
    with page_of(where, size_wh=size_wh) as (page, session):
        for number in range(2):
            for by in ("ann", "a name of forty letters that never breaks".replace(" ", "_")):
                answers = {
                    "IF": FLAWLESS if by == "ann" else {"target_edited": "no"},
                    "VC": PERFECT,
                }
                session.save(number, said(by, answers=answers, comment="w" * 300))
        for dark in (False, True):
            with open_page(browser, page.url, size_wh=size_wh, dark=dark) as view:
                view.wait_for_selector("main h1")
                assert view.evaluate("document.documentElement.scrollWidth") == size_wh[0]
                paper = view.evaluate("getComputedStyle(document.body).backgroundColor")
                assert (sum(map(int, re.findall(r"\d+", paper)[:3])) < 380) == dark

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agent_judge.errors import InputError
from agent_judge.report.build import PAGE, SUMMARY, Written, write_report
from agent_judge.run import Run
from agent_judge.store import Store
from tests.report.runs import (
    BINDING,
    drawn_rows,
    make_run,
    plan_rows,
    record,
    save,
    scored,
)

CARD = ("right on 80% of the planted edits",)
HOSTILE = "<script>alert(1)</script>'\"></bdi>"


def build(*runs: Path, out: Path, pack: bool = False) -> Written:
    return write_report(runs, out, judge_card=lambda run: CARD, pack=pack, tell=lambda n: None)


def data_of(out: Path, name: str) -> Any:
    """What a data file hands to the page."""
    text = (out / "data" / name).read_text()
    inside = re.fullmatch(r"AJ\.receive\.\w+\((?:\d+, )?(.*)\);\n", text, re.DOTALL)
    assert inside, text[:80]
    return json.loads(inside[1])


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return drawn_rows(tmp_path_factory.mktemp("pictures"), 41)


@pytest.fixture(scope="module")
def run(tmp_path_factory, rows):
    return make_run(tmp_path_factory.mktemp("runs") / "demo", rows[:2])


@pytest.fixture(scope="module")
def report(run):
    build(run, out=run / "report")
    return run / "report"


def test_every_address_in_the_report_is_a_file_in_it(report):
    page = (report / PAGE).read_text()
    addresses = set(re.findall(r'(?:src|href)="([^"#:]+)"', page))
    for line, shown in zip(data_of(report, "list.js"), data_of(report, "part-0.js"), strict=True):
        addresses.add(line["thumb"])
        addresses |= {picture["url"] for picture in shown["pictures"].values()}
        for verdict in shown["verdicts"].values():
            tools = [tool for step in verdict["steps"] for tool in step["tools"]]
            assert [tool["tool"] for tool in tools] == ["zoom_in", "zoom_in", "difference"]
            addresses |= {picture["url"] for tool in tools for picture in tool["pictures"]}
    assert len(addresses) > 15
    assert [a for a in addresses if not (report / a).is_file()] == []


def test_page_asks_for_nothing_from_elsewhere(report):
    page = (report / PAGE).read_text()
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page)
    assert "default-src 'none'" in page
    for path in [*report.rglob("assets/*.js"), *report.rglob("assets/*.css")]:
        assert set(re.findall(r"https?://[^\s\"']+", path.read_text())) <= {
            "http://www.w3.org/2000/svg"
        }


def test_summary_json_holds_the_figures_of_the_run(report, run):
    assert json.loads((report / SUMMARY).read_text()) == Run.open(run).summary()


def test_page_prints_figures_with_their_coverage_and_the_formula(report):
    page = (report / PAGE).read_text()
    assert "(level - 1) / 3 * 100" in page
    assert "Right on 80% of the planted edits." in page
    assert "1 / 1" in page


def test_page_names_the_endpoint_that_judged(report):
    text = (report / PAGE).read_text()
    assert "at 127.0.0.1:1," in text
    assert "(embedded)" not in text


def test_text_from_data_is_escaped_in_the_page(tmp_path, rows):
    rows = [{**rows[0], "id": HOSTILE, "editor": HOSTILE, "instruction": HOSTILE}]
    build(make_run(tmp_path / "run", rows), out=tmp_path / "report")
    page = (tmp_path / "report" / PAGE).read_text()
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert data_of(tmp_path / "report", "list.js")[0]["id"] == HOSTILE


def test_every_fate_has_its_line(tmp_path, rows):
    rows = [{**rows[0], "id": id_} for id_ in ("scored", "gone", "unsure", "later")]
    rows[1]["edited"] = str(tmp_path / "none.png")
    with Store.create(tmp_path / "run", BINDING) as store:
        plan_rows(store, rows)
        save(store, scored(rows[0], "IF"))
        save(store, record(rows[1], "IF", status="missing_output"))
        save(store, record(rows[2], "IF", status="unscored", reason="needs_lmm"))
    build(tmp_path / "run", out=tmp_path / "report")
    lines = data_of(tmp_path / "report", "list.js")
    assert [line["fates"]["IF"] for line in lines] == [
        {"status": "scored", "level": 4},
        {"status": "missing_output"},
        {"status": "unscored", "reason": "needs_lmm"},
        {"status": "not_run"},
    ]
    page = (tmp_path / "report" / PAGE).read_text()
    for word in ("missing_output", "needs_lmm", "not run"):
        assert f"<code>{word}</code>" in page


@pytest.mark.slow
def test_rows_beyond_one_part_are_found_by_part_and_place(tmp_path, rows):
    with Store.create(tmp_path / "run", BINDING) as store:
        plan_rows(store, rows)
    build(tmp_path / "run", out=tmp_path / "report")
    last = data_of(tmp_path / "report", "list.js")[40]
    part = data_of(tmp_path / "report", f"part-{last['part']}.js")
    assert part[last["at"]]["instruction"] == "Paint disc 40 white."


def test_pictures_stay_where_they_are_when_they_are_too_large_to_pack(
    run, rows, tmp_path, monkeypatch
):
    monkeypatch.setattr("agent_judge.report.build.PACK_LIMIT_BYTES", 1000)
    out = tmp_path / "deep" / "report"
    assert not build(run, out=out).packed
    assert not (out / "pictures").exists()
    url = data_of(out, "part-0.js")[0]["pictures"]["source"]["url"]
    assert (out / url).resolve() == Path(rows[0]["source"])
    assert build(run, out=out, pack=True).packed
    assert (out / "pictures").is_dir()


def test_picture_in_another_frame_is_shown_as_the_judge_had_it(tmp_path, rows):
    row = rows[0]
    with Store.create(tmp_path / "run", BINDING) as store:
        plan_rows(store, [row])
        save(store, scored(row, "IF", notes=("edited: 300x200 scaled to the source's 600x400",)))
    build(tmp_path / "run", out=tmp_path / "report")
    pictures = data_of(tmp_path / "report", "part-0.js")[0]["pictures"]
    assert pictures["edited"]["url"].endswith(".frame.jpg")
    assert pictures["source"]["url"].endswith(".png")


def test_report_replaces_a_report_and_nothing_else(run, tmp_path):
    other = tmp_path / "mine"
    other.mkdir()
    (other / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match="other files"):
        build(run, out=other)
    out = tmp_path / "report"
    build(run, out=out)
    (out / "data" / "part-7.js").write_text("old")
    build(run, out=out)
    assert not (out / "data" / "part-7.js").exists()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_runs_of_two_judges_are_never_pooled(run, rows, tmp_path):
    other = tmp_path / "demo"
    with Store.create(other, {**BINDING, "judge": {"model": "another"}}) as store:
        plan_rows(store, rows[:2])
        for row in rows[:2]:
            save(store, scored(row, "IF", level=1, label="Localization Failure"))
    build(run, other, out=tmp_path / "report")
    summary = json.loads((tmp_path / "report" / SUMMARY).read_text())
    assert set(summary["by_editor"]) == {
        f"{editor} in {name}"
        for editor in ("editor 0", "editor 1")
        for name in ("demo", "demo (2)")
    }
    assert summary["overall"]["score_100"] is None
    lines = data_of(tmp_path / "report", "list.js")
    assert [line["run"] for line in lines] == ["demo"] * 2 + ["demo (2)"] * 2


def test_folder_without_a_run_is_told_in_one_line(tmp_path):
    with pytest.raises(InputError, match="no run in"):
        build(tmp_path, out=tmp_path / "report")

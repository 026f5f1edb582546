import pytest

from agent_judge.errors import InputError
from agent_judge.records import Record
from agent_judge.report.thresholds import missed, parse_thresholds
from agent_judge.rubrics.protocol import load_protocol
from agent_judge.stats.summary import summarize
from tests.report.runs import record, scored


def row(id_: str, editor: str = "e") -> dict[str, str]:
    return {"id": id_, "editor": editor}


def at(level: int, id_: str = "a", editor: str = "e") -> Record:
    return scored(row(id_, editor), "IF", level=level, label="L")


@pytest.mark.parametrize("text", ["IF", "IF=", "IF=x", "IF=101", "IF=-1", "XX=5", "", "IF=nan"])
def test_what_is_no_mark_is_refused(text):
    with pytest.raises(InputError, match=r"--fail-under .* expected IF, VC, overall"):
        parse_thresholds(text, load_protocol("dlebench"))


@pytest.mark.parametrize(
    ("protocol", "text", "marks"),
    [
        ("dlebench", "IF=60, VC=80.5,overall=0", {"IF": 60, "VC": 80.5, "overall": 0}),
        ("multi-reward", "quality=100", {"quality": 100}),
        ("twelve-factors", "overall=50,seamlessness=1", {"overall": 50, "seamlessness": 1}),
    ],
)
def test_a_mark_is_of_the_protocols_own_figures(protocol, text, marks):
    assert parse_thresholds(text, load_protocol(protocol)) == marks


@pytest.mark.parametrize("text", ["overall=60", "IF=60", "Quality=60"])
def test_a_figure_that_the_protocol_has_not_is_no_mark(text):
    with pytest.raises(InputError, match="expected following, preserving, quality with"):
        parse_thresholds(text, load_protocol("multi-reward"))


@pytest.mark.parametrize(("mark", "n_missed"), [(66.6, 0), (66.7, 1)])
def test_mark_is_compared_with_the_mean(mark, n_missed):
    assert len(list(missed(summarize([at(3)]), {"IF": mark}))) == n_missed


def test_missing_outputs_count_as_level_1():
    gone = record(row("b"), "IF", status="missing_output")
    (told,) = missed(summarize([at(4), gone]), {"IF": 60})
    assert told == "e (tool mode): IF is 50.0, 60 asked for"


def test_no_mean_is_no_pass():
    unsure = record(row("b"), "IF", status="unscored", reason="refused")
    (told,) = missed(summarize([at(4), unsure]), {"IF": 0})
    assert "IF has no mean" in told


def test_each_editor_must_reach_the_mark():
    found = missed(summarize([at(4), at(1, "b", "f")]), {"IF": 50})
    assert [text.split()[0] for text in found] == ["f"]

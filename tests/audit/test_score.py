from pathlib import Path

import pytest
from scipy import stats

from agent_judge.audit.score import SPLITS, score_exam, to_json
from agent_judge.errors import InputError
from agent_judge.records import Record, Sample

PLANTED = (1, 2, 3, 4, 4, 1, 2, 3)
JUDGED = (1, 2, 4, 4, 4, 2, None, None)
"""Five right of six scored; one abstains, one is not run."""


def sample(i, level, **other):
    values = {"by": "planted", "IF": level, "VC": 4}
    return Sample(
        id=str(i),
        source=Path(f"{i}.png"),
        edited=Path(f"{i}e.png"),
        instruction="x",
        type="color" if i % 2 else "ocr",
        labels=(values,),
        metadata={"photograph": f"p{i}", "degradation": "jpeg", "plant": "noop", **other},
    )


def record(i, level, criterion="IF", mode="oracle"):
    return Record(
        id=str(i),
        item=str(i),
        editor="",
        type=None,
        mode=mode,
        criterion=criterion,
        level=level,
        status="unscored" if level is None else "scored",
        reason="needs_lmm" if level is None else None,
    )


@pytest.fixture
def exam():
    samples = [sample(i, level, size_bin="> 0.8 %") for i, level in enumerate(PLANTED)]
    records = [record(i, level) for i, level in enumerate(JUDGED[:7])]
    return records, samples


def test_figures_are_those_of_the_scored_rows(exam):
    (part,) = score_exam(*exam)
    known = [(p, j) for p, j in zip(PLANTED, JUDGED, strict=True) if j is not None]
    score = part.overall
    assert (score.n_planned, score.n_scored) == (8, 6)
    assert score.accuracy.value == pytest.approx(4 / 6)
    assert score.mae.value == pytest.approx(2 / 6)
    assert score.spearman.value == pytest.approx(stats.spearmanr(known).statistic)
    assert score.share_scored == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("judged", "separates"),
    [
        ((1, 2, 3, 4, 4, 1, 2, 3), True),
        ((4, 4, 4, 4, 4, 4, 4, 4), False),
        ((4, 3, 2, 1, 1, 4, 3, 2), False),
        ((None, None, None, 4, 4, None, None, None), True),
    ],
)
def test_a_judge_that_says_the_same_of_everything_is_flagged(exam, judged, separates):
    """Case J31: all black, nonsense and untouched canaries must not get one level."""
    records = [record(i, level) for i, level in enumerate(judged)]
    (part,) = score_exam(records, exam[1])
    assert part.overall.separates is separates


def test_what_was_not_scored_is_counted_by_its_reason(exam):
    (part,) = score_exam(*exam)
    assert part.overall.reasons == {"needs_lmm": 1, "not run": 1}


def test_the_confusion_matrix_has_planted_rows_and_judged_columns(exam):
    (part,) = score_exam(*exam)
    assert part.overall.confusion == ((1, 1, 0, 0), (0, 1, 0, 0), (0, 0, 0, 1), (0, 0, 0, 2))


def test_splits_hold_every_row_once(exam):
    (part,) = score_exam(*exam)
    assert set(part.splits) == set(SPLITS)
    for scores in part.splits.values():
        assert sum(score.n_planned for score in scores.values()) == 8
    assert part.splits["level"]["4"].accuracy.value == 1
    assert part.splits["level"]["3"].n_scored == 1


def test_modes_and_criteria_are_never_pooled(exam):
    records, samples = exam
    extra = [record(0, 4, criterion="VC"), record(0, 1, mode="tool")]
    parts = score_exam([*records, *extra], samples)
    assert [(p.mode, p.criterion) for p in parts] == [
        ("oracle", "IF"), ("oracle", "VC"), ("tool", "IF"),
    ]  # fmt: skip
    assert parts[1].overall.accuracy.value == 1
    assert parts[2].overall.n_scored == 1


def test_records_of_other_rows_are_left_out(exam):
    records, samples = exam
    (part,) = score_exam([*records, record("elsewhere", 1)], samples)
    assert part.overall.n_planned == 8


def test_intervals_come_from_resampled_photographs(exam):
    records, samples = exam
    (part,) = score_exam(records, samples, seed=1)
    accuracy = part.overall.accuracy
    assert accuracy.low is not None
    assert accuracy.high is not None
    assert accuracy.low <= 4 / 6 <= accuracy.high
    one = [sample(i, level, photograph="same") for i, level in enumerate(PLANTED)]
    (clustered,) = score_exam(records, one)
    assert clustered.overall.accuracy.low is None  # one photograph carries no interval


def test_rows_without_planted_levels_are_no_exam(exam):
    records, _ = exam
    stranger = Sample(id="0", source=Path("a.png"), edited=Path("b.png"), instruction="x")
    with pytest.raises(InputError, match="'0' has no planted IF level"):
        score_exam(records, [stranger])


def test_json_nests_mode_criterion_and_split(exam):
    data = to_json(score_exam(*exam))
    assert data["oracle"]["IF"]["overall"]["n_planned"] == 8
    assert data["oracle"]["IF"]["type"]["ocr"]["n_planned"] == 4

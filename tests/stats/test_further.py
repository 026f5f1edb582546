"""Figures beyond means, against values computed by hand."""

from dataclasses import replace

import pytest

from agent_judge.records import Record
from agent_judge.rubrics.protocol import load_protocol, rubric_of
from agent_judge.stats.summary import summarize


def rated(criterion: str, *levels: int | None, said: str | None = None) -> list[Record]:
    """Rows r0, r1, ... with these levels of a criterion; None: unscored."""
    return [
        Record(
            id=f"r{i}", item=f"r{i}", editor="e", type=None, mode="tool", criterion=criterion,
            **(
                {"status": "unscored", "reason": "refused"}
                if level is None
                else {
                    "status": "scored",
                    "level": level,
                    "label": said or rubric_of(criterion).answered_as(level),
                }
            ),
        )
        for i, level in enumerate(levels)
    ]  # fmt: skip


def further(records: list[Record]) -> dict[str, float | None]:
    figures: dict[str, float | None] = summarize(records)["by_editor"]["e"]["further"]
    return figures


def test_the_yes_share_counts_what_was_answered_not_what_the_number_suggests():
    records = rated("following", 0, 5, 5, 4) + rated("preserving", 4, 4, 4, 4, said="no")
    records += rated("quality", 2, 3, 3, 3)
    assert further(records) == {
        "following_yes_pct": 75.0,
        "preserving_yes_pct": 0.0,
        "quality_yes_pct": 75.0,
    }


def test_a_criterion_without_a_headline_has_no_share():
    records = rated("following", 5, 5, 5, None) + rated("quality", *[3] * 9, None)
    assert further(records) == {
        "following_yes_pct": None,  # three of four
        "preserving_yes_pct": None,  # not asked for
        "quality_yes_pct": 100.0,  # nine of ten
    }


def test_a_category_is_the_mean_of_its_factors_means():
    levels = dict(zip(load_protocol("twelve-factors").criteria, range(12), strict=True))
    records = [r for name, n in levels.items() for r in rated(name, 1 + n % 7, 1 + n % 5)]
    # (1+1, 2+2, 3+3)/2; (4+4, 5+5, 6+1, 7+2, 1+3, 2+4)/2; (3+5, 4+1, 5+2)/2
    assert further(records) == pytest.approx(
        {
            "Preservation_mean_level": 2.0,
            "Quality_mean_level": 44 / 12,
            "Fidelity_mean_level": 20 / 6,
        }
    )
    overall = summarize(records)["by_editor"]["e"]["mean_level"]
    assert overall == pytest.approx((12 / 2 + 44 / 2 + 20 / 2) / 12)


def test_a_category_with_a_factor_that_is_not_known_is_not_known():
    records = rated("alignment", 7) + rated("completeness", 7) + rated("plausibility", None)
    assert further(records)["Fidelity_mean_level"] is None


def test_a_protocol_without_further_figures_has_none():
    records = [r for c in ("IF", "VC") for r in rated(c, 4)]
    assert further(records) == {}


def test_two_protocols_have_no_summary():
    with pytest.raises(ValueError, match="two protocols"):
        summarize(rated("IF", 4) + rated("quality", 4))


def test_editors_are_not_pooled():
    of_e = rated("quality", 5)
    of_f = [replace(record, editor="f") for record in of_e]
    assert summarize(of_e + of_f)["overall"]["further"]["quality_yes_pct"] is None

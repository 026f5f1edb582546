"""One rule for each type of instruction: from changes of the target to answers (DLEBench A.3).

A rule answers from what it measures, or says that pixels cannot tell. The text decides; the
reference is one right result among many, so distance from it alone is never a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent_judge.judges.measuring.case import Case, Verdict
from agent_judge.judges.measuring.colour_rule import judge_colour
from agent_judge.judges.measuring.structure_rules import (
    judge_count,
    judge_material,
    judge_shape,
    judge_text,
)
from agent_judge.judges.measuring.thing_rules import judge_other, judge_removal, judge_replacement

BY_STRUCTURE: Mapping[str, Callable[[Case], Verdict | None]] = {
    "shape": judge_shape,
    "ocr": judge_text,
    "count": judge_count,
}
"""Types whose structure itself tells whether anything was done: these rules come first. None where
the structure is not clear."""
RULES: Mapping[str, Callable[[Case], Verdict]] = {
    "color": judge_colour,
    "material": judge_material,
    "shape": judge_other,
    "ocr": judge_other,
    "count": judge_other,
    "replacement": judge_replacement,
    "removal": judge_removal,
    "other": judge_other,
}
"""Asked once it is known that the target did change."""

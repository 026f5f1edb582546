"""The numbers behind the report's plots: failure modes, sizes, the scale plots of Figure 6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_judge.levels import Scale
from agent_judge.report.standing import labelled_records, planned_of
from agent_judge.rubrics.protocol import rubric_of
from agent_judge.run import Run
from agent_judge.stats.coverage import Tally
from agent_judge.stats.diagnosis import Diagnosis, EditorDiagnosis, diagnose
from agent_judge.stats.level_table import LevelTable
from agent_judge.stats.scale import ScalePlot


def diagnose_runs(runs: Mapping[str, Run], sizes_wh: Mapping[str, tuple[int, int]]) -> Diagnosis:
    """The diagnosis over all rows of the runs.

    Args:
        runs: by name.
        sizes_wh: width and height of each row's source, by `row_key`.
    """
    return diagnose(labelled_records(runs), planned_of(runs), sizes_wh)


def plots_of(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """What the page draws for each editor and mode, as JSON types."""
    return [_editor(one) for one in diagnosis.editors]


def _editor(one: EditorDiagnosis) -> dict[str, Any]:
    return {
        "editor": one.editor,
        "mode": one.mode,
        "name": one.name,
        "levels": {c: _levels(counts, rubric_of(c).scale) for c, counts in one.tallies.items()},
        "by_size": {c: _groups(table) for c, table in one.by_size.items()},
        "scale": {c: _scale(plot) for c, plot in one.scale.items()},
    }


def _levels(counts: Tally, scale: Scale) -> dict[str, Any]:
    return {"n_at_level": list(counts.n_in_bins(scale)), "n_planned": counts.n_planned}


def _groups(table: LevelTable) -> dict[str, Any]:
    scale = table.rubric.scale
    return {name: _levels(counts, scale) for name, counts in table.groups.items()}


def _scale(plot: ScalePlot) -> dict[str, Any]:
    return {
        "sentence": plot.sentence,
        "points": [
            [point.id, point.level, round(point.log10_width, 4), round(point.log10_height, 4)]
            for point in plot.points
        ],
        "curve": [[round(s.log10_area, 4), round(s.mean_level, 3)] for s in plot.curve],
    }

"""Why an editing model fails on small objects: failure modes by editor, type and size.

The tables behind the report, as pure functions for notebooks. Editors and modes are never pooled:
each pair of them has its own diagnosis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from agent_judge.records import Criterion, Mode, Record
from agent_judge.rubrics.protocol import protocol_of
from agent_judge.stats.bottleneck import Bottleneck, bottleneck
from agent_judge.stats.coverage import Cell, Tally
from agent_judge.stats.level_table import LevelTable, level_table
from agent_judge.stats.scale import ScalePlot, scale_plot
from agent_judge.stats.size import size_bin
from agent_judge.stats.summary import UNNAMED_EDITOR, UNTYPED


@dataclass(frozen=True, kw_only=True)
class EditorDiagnosis:
    """How one editor fails, as judged in one mode; one entry for each criterion asked for."""

    editor: str
    mode: Mode
    name: str
    """Editor and mode in words."""
    bottleneck: Bottleneck
    tallies: Mapping[Criterion, Tally]
    by_type: Mapping[Criterion, LevelTable]
    by_size: Mapping[Criterion, LevelTable]
    """By the share of the picture that the targets cover. Rows not run have no known size and do
    not count here."""
    scale: Mapping[Criterion, ScalePlot]

    def __str__(self) -> str:
        return self.bottleneck.sentence

    def _repr_html_(self) -> str:
        said = [self.bottleneck.sentence, *(plot.sentence for plot in self.scale.values())]
        tables = [*self.by_type.values(), *self.by_size.values()]
        return "".join(
            [
                f"<h3>{escape(self.name)}</h3>",
                *(f"<p>{escape(sentence)}</p>" for sentence in said),
                *(table._repr_html_() for table in tables),
            ]
        )


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """The diagnosis of a run."""

    editors: tuple[EditorDiagnosis, ...]
    """One for each editor and mode, by name."""
    failures: Mapping[Criterion, LevelTable]
    """Failure-mode shares, a group for each editor and mode."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.editors))

    def _repr_html_(self) -> str:
        tables = (table._repr_html_() for table in self.failures.values())
        return "".join([*tables, *(editor._repr_html_() for editor in self.editors)])


def diagnose(
    records: Iterable[Record],
    planned: Mapping[Cell, int] | None = None,
    sizes_wh: Mapping[str, tuple[int, int]] | None = None,
    *,
    seed: int = 0,
) -> Diagnosis:
    """The diagnosis of a run's records.

    Args:
        records: one per judged (sample, criterion).
        planned: rows that were to be judged in each cell; None when every one has its record.
        sizes_wh: width and height of the source pictures by row id, for the scatter plots.
        seed: of the intervals.
    """
    records, planned = list(records), planned or {}
    cells = {*planned, *map(Cell.of, records)}
    asked = {cell.criterion for cell in cells}
    criteria = [c for c in protocol_of(asked).criteria if c in asked]
    editors = tuple(
        _diagnose_editor(
            editor,
            mode,
            {c: _planned_by_type(planned, editor, mode, c) for c in criteria},
            [r for r in records if (r.editor, r.mode) == (editor, mode)],
            sizes_wh,
            seed,
        )
        for editor, mode in sorted({(cell.editor, cell.mode) for cell in cells})
    )
    failures = {
        criterion: LevelTable(
            title="failure modes",
            criterion=criterion,
            groups={one.name: one.tallies[criterion] for one in editors},
        )
        for criterion in criteria
    }
    return Diagnosis(editors=editors, failures=failures)


def _planned_by_type(
    planned: Mapping[Cell, int], editor: str, mode: Mode, criterion: Criterion
) -> Counter[str]:
    counts: Counter[str] = Counter()
    for cell, n in planned.items():
        if (cell.editor, cell.mode, cell.criterion) == (editor, mode, criterion):
            counts[cell.type or UNTYPED] += n
    return counts


def _diagnose_editor(
    editor: str,
    mode: Mode,
    planned: Mapping[Criterion, Mapping[str, int]],
    records: Sequence[Record],
    sizes_wh: Mapping[str, tuple[int, int]] | None,
    seed: int,
) -> EditorDiagnosis:
    name = f"{editor or UNNAMED_EDITOR} ({mode} mode)"
    by_type = {
        criterion: level_table("type", criterion, records, lambda r: r.type or UNTYPED, of_type)
        for criterion, of_type in planned.items()
    }
    tallies = {c: sum(table.groups.values(), Tally()) for c, table in by_type.items()}
    return EditorDiagnosis(
        editor=editor,
        mode=mode,
        name=name,
        bottleneck=bottleneck(name, tallies, records, seed=seed),
        tallies=tallies,
        by_type=by_type,
        by_size={
            c: level_table("target size", c, records, lambda r: size_bin(r.area_pct))
            for c in planned
        },
        scale={c: scale_plot(c, records, sizes_wh, seed=seed) for c in planned},
    )

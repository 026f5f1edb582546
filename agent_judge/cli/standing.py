"""How a run stands, as a table in the terminal: figures only with their coverage beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from agent_judge.cli.tables import figure
from agent_judge.cli.terminal import shown
from agent_judge.judges.base import NEEDS_LMM
from agent_judge.records import Scale
from agent_judge.rubrics.protocol import load_protocol, rubric_of
from agent_judge.run import Run
from agent_judge.settings import MEASURED, Settings
from agent_judge.stats.further import digits_of, in_words

_NUMBERS = {"scored": 7, "score": 5, "level": 5, "bounds": 10, "missing": 9}
"""Columns and their widths."""
_MODE_WIDTH, _EDITOR_WIDTHS = 6, (8, 22)
_TOLD = 160
"""Characters of an example's explanation."""


def print_standing(console: Console, summary: Mapping[str, Any], run: Run) -> None:
    """The closing table: per editor and mode, each criterion with n scored / planned and bounds.

    The protocol's further figures follow in a table of their own.
    """
    editor_width, table = _closing_table(console, run)
    for editor, mode, standing in _by_editor_and_mode(summary):
        for criterion in run.criteria:
            part = standing[criterion]
            scored = f"{part['n_scored']}/{part['n_planned']}"
            table.add_row(shown(editor), mode, criterion, scored, *_figures(part))
        if len(run.criteria) > 1 and run.protocol.has_overall:
            table.add_row(shown(editor), mode, "overall", "", *_figures(standing))
    console.print(table)
    _print_further(console, summary, editor_width)
    for line in _below(summary, run):
        console.print(line)
    if len(run.returned_models) > 1:
        console.print(
            f"warning: the endpoint returned {len(run.returned_models)} model ids "
            f"({shown(', '.join(run.returned_models))}): this is not one judge"
        )


def _closing_table(console: Console, run: Run) -> tuple[int, Table]:
    """The empty table, and the width that is left for an editor's name: figures are never cut."""
    names = max(map(len, (*run.criteria, "overall")))
    least, most = _EDITOR_WIDTHS
    taken = _MODE_WIDTH + names + sum(_NUMBERS.values())
    gap = 2 if console.width >= taken + least + 2 * (len(_NUMBERS) + 2) else 1
    room = console.width - taken - gap * (len(_NUMBERS) + 2)
    editor_width = max(least, min(most, room))
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, gap - 1, 0, 1))
    table.add_column("editor", no_wrap=True, overflow="ellipsis", max_width=editor_width)
    table.add_column("mode", no_wrap=True, min_width=_MODE_WIDTH)
    table.add_column("", no_wrap=True, min_width=names)
    worst = {rubric_of(criterion).scale.worst for criterion in run.criteria}
    for column, width in _NUMBERS.items():
        at = f"={min(worst):g}" if column == "missing" and len(worst) == 1 else ""
        table.add_column(column + at, no_wrap=True, min_width=width, justify="right")
    return editor_width, table


def _print_further(console: Console, summary: Mapping[str, Any], editor_width: int) -> None:
    rows = list(_by_editor_and_mode(summary))
    given = [name for *_, one in rows for name, v in one["further"].items() if v is not None]
    if not (names := list(dict.fromkeys(given))):
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("editor", no_wrap=True, overflow="ellipsis", max_width=editor_width)
    table.add_column("mode", no_wrap=True)
    for name in names:
        table.add_column(in_words(name), justify="right")
    for editor, mode, standing in rows:
        figures = [figure(standing["further"][name], digits_of(name)) for name in names]
        table.add_row(shown(editor), mode, *figures)
    console.print()
    console.print(table)


def _by_editor_and_mode(
    summary: Mapping[str, Any],
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for editor, of_editor in summary["by_editor"].items():
        for mode, standing in of_editor["by_mode"].items():
            yield editor, mode, standing


def _figures(part: Mapping[str, Any]) -> list[str]:
    bounds = (part["worst_100"], part["best_100"])
    return [
        figure(part["score_100"], 1),
        figure(part["mean_level"]),
        "-" if None in bounds else f"{bounds[0]:.1f}-{bounds[1]:.1f}",
        figure(part["missing_at_1_100"], 1),
    ]


def _below(summary: Mapping[str, Any], run: Run) -> Iterator[str]:
    lost = {"missing_output": 0, "invalid_image": 0, "not run yet": 0}
    for of_editor in summary["by_editor"].values():
        for criterion in run.criteria:
            part = of_editor.get(criterion) or {}
            lost["missing_output"] += part.get("n_missing_output", 0)
            lost["invalid_image"] += part.get("n_invalid_image", 0)
            lost["not run yet"] += part.get("n_not_run", 0)
    for name, n in lost.items():
        if n:
            yield f"{name}: {n}"
    for reason, n in summary["reasons"].items():
        yield f"unscored, {reason}: {n}{_example(run, reason)}"
    scales = {rubric_of(criterion).scale for criterion in run.criteria}
    for scale in sorted(scales, key=lambda scale: scale.best):
        at = f"at {scale.worst:g} and at {scale.best:g}"
        yield f"score = {_on_100(scale)}: our formula, the paper prints none."
        yield f"bounds: rows without a verdict {at}; under 90 % verdicts no score."


def _on_100(scale: Scale) -> str:
    """How `Scale.score_100` maps a mean level, in words."""
    sign = "-" if scale.worst > 0 else "+"
    above = f"(mean level {sign} {abs(scale.worst):g})" if scale.worst else "mean level"
    return f"{above} / {scale.best - scale.worst:g} * 100"


def _example(run: Run, reason: str) -> str:
    """What one row of that reason says; nothing where every row says the like by design."""
    judge = run.store.binding.get("judge", {})
    if reason == NEEDS_LMM and judge.get("model") == MEASURED:
        return " (boxes and a reference help, and so does --judge MODEL)"
    record = next((r for r in run.records() if r.reason == reason), None)
    if record is None or not record.explanation:
        return ""
    told = " ".join(record.explanation.split())
    return f" (such as {shown(record.id)}: {shown(told[:_TOLD])})"


def unscored_share(summary: Mapping[str, Any], settings: Settings) -> float:
    """Share of the planned criteria that have no verdict and had something to judge.

    `needs_lmm` of the embedded judge is left out: it says what it cannot decide by design.
    """
    planned = unscored = 0
    for of_editor in summary["by_editor"].values():
        for criterion in load_protocol(settings.protocol).criteria:
            part = of_editor.get(criterion)
            if part:
                planned += part["n_planned"]
                unscored += part["n_unscored"] + part["n_not_run"]
    if settings.judge.model == MEASURED:
        unscored -= summary["reasons"].get(NEEDS_LMM, 0)
    return unscored / planned if planned else 0.0

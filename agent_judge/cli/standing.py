"""How a run stands, as a table in the terminal: figures only with their coverage beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from agent_judge.cli.tables import figure
from agent_judge.cli.terminal import shown
from agent_judge.judges.base import NEEDS_LMM
from agent_judge.levels import Scale
from agent_judge.rubrics.protocol import load_protocol, rubric_of
from agent_judge.run import Run
from agent_judge.settings import MEASURED, Settings
from agent_judge.stats.further import digits_of, in_words

_EDITOR_WIDTHS = (6, 22)
"""Least and most that an editor's name takes."""
_TOLD = 160
"""Characters of an example's explanation."""


def print_standing(console: Console, summary: Mapping[str, Any], run: Run) -> None:
    """The closing table: per editor and mode, each criterion with n scored / planned and bounds.

    The protocol's further figures follow in a table of their own.
    """
    rows = [
        (shown(editor), mode, *cells)
        for editor, mode, standing in _by_editor_and_mode(summary)
        for cells in _cells(standing, run)
    ]
    editor_width, table = _closing_table(console, run, rows)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    _print_further(console, summary, editor_width)
    for line in _below(summary, run):
        console.print(line)
    if len(run.returned_models) > 1:
        console.print(
            f"warning: the endpoint returned {len(run.returned_models)} model ids "
            f"({shown(', '.join(run.returned_models))}): this is not one judge"
        )


def _cells(standing: Mapping[str, Any], run: Run) -> Iterator[tuple[str, ...]]:
    for criterion in run.criteria:
        part = standing[criterion]
        yield criterion, f"{part['n_scored']}/{part['n_planned']}", *_figures(part)
    if len(run.criteria) > 1 and run.protocol.has_overall:
        yield "overall", "", *_figures(standing)


def _closing_table(console: Console, run: Run, rows: Sequence[Sequence[str]]) -> tuple[int, Table]:
    """The table without its rows, and the width left for an editor's name: no figure is cut."""
    worst = {rubric_of(criterion).scale.worst for criterion in run.criteria}
    missing = f"missing={min(worst):g}" if len(worst) == 1 else "missing"
    heads = ("editor", "mode", "", "scored", "score", "level", "bounds", missing)
    texts = zip(heads, *rows, strict=True)
    widths = [max(map(len, column)) for column in texts][1:]
    least, most = _EDITOR_WIDTHS
    room = console.width - sum(widths)
    gap = 2 if room >= least + 2 * len(widths) else 1
    editor_width = max(least, min(most, room - gap * len(widths)))
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, gap - 1, 0, 1))
    table.add_column(heads[0], no_wrap=True, overflow="ellipsis", max_width=editor_width)
    for number, head in enumerate(heads[1:]):
        table.add_column(head, no_wrap=True, justify="left" if number < 2 else "right")
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
    lost = {
        "missing_output": "n_missing_output",
        "invalid_image": "n_invalid_image",
        "not run yet": "n_not_run",
    }
    for told, key in lost.items():
        if n := sum(summary["overall"][criterion][key] for criterion in run.criteria):
            yield f"{told}: {n}"
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
        return " (--judge MODEL decides more; on IF and VC boxes and a reference help too)"
    record = next((r for r in run.records() if r.reason == reason), None)
    if record is None or not record.explanation:
        return ""
    told = " ".join(record.explanation.split())
    return f" (such as {shown(record.id)}: {shown(told[:_TOLD])})"


def unscored_share(summary: Mapping[str, Any], settings: Settings) -> float:
    """Share of the planned criteria that have no verdict and had something to judge.

    `needs_lmm` of the embedded judge is left out: it says what it cannot decide by design.
    """
    overall = summary["overall"]
    parts = [overall[criterion] for criterion in load_protocol(settings.protocol).criteria]
    unscored = sum(part["n_unscored"] + part["n_not_run"] for part in parts)
    if settings.judge.model == MEASURED:
        unscored -= summary["reasons"].get(NEEDS_LMM, 0)
    return unscored / overall["n_planned"] if overall["n_planned"] else 0.0

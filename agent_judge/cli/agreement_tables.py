"""How the agreement of judges with people is printed: runs and modes side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table

from agent_judge.cli.rated_run import RatedRun, Values
from agent_judge.cli.run_facts import letters, print_facts
from agent_judge.cli.tables import figure, plain_table, with_interval
from agent_judge.cli.terminal import shown
from agent_judge.records import Criterion
from agent_judge.rubrics.protocol import rubric_of
from agent_judge.rubrics.rubric import Rubric
from agent_judge.stats.agreement import Agreement
from agent_judge.stats.breakdown import GroupAgreement, disagreements
from agent_judge.stats.raters import rater_pairs

_FIGURES: Mapping[str, str] = {
    "spearman": "Spearman, with the raters' mean",
    "pearson": "Pearson, with the raters' mean",
    "mae": "mean absolute difference, in levels",
    "bias": "bias, in levels (above 0: lenient)",
    "exact": "share at the raters' median",
    "within_one": "share at most one level off",
    "kappa": "quadratic kappa",
    "alpha": "alpha, the judge as one more rater",
    "human_alpha": "alpha of the raters alone",
}
_IN_GROUPS = ("spearman", "mae", "bias", "exact", "kappa", "alpha")
"""Figures of the narrow tables; `--json` has all."""
_MOST_PAIRS = 10

Columns = Mapping[str, Agreement]
"""By what stands above the column: the agreement of one run in one mode."""


def print_agreement(
    console: Console,
    runs: Sequence[RatedRun],
    groups: Sequence[Sequence[GroupAgreement]],
    on_shared: Sequence[Sequence[GroupAgreement]] | None,
    *,
    n_rows: int,
) -> None:
    """Print everything on some runs.

    Args:
        console: where to.
        runs: with their raters' values.
        groups: for each run, from `agreement_by_group`.
        on_shared: the same over the rows that all runs scored, where that makes a difference.
        n_rows: rows of largest disagreement of each run.
    """
    print_facts(console, [run.facts for run in runs])
    for criterion in runs[0].people:
        rubric = rubric_of(criterion)
        console.print(f"\n{rubric.name} ({criterion})", style="bold")
        for line in _coverage(runs, criterion):
            console.print(line)
        columns = _columns(groups, criterion)
        _print_figures(console, columns)
        shared = _columns(on_shared or (), criterion)
        if shared and [one.n for one in shared.values()] != [one.n for one in columns.values()]:
            console.print("\nover the rows that all runs scored:")
            _print_figures(console, shared)
        _print_parts(console, groups, criterion)
        for head, agreement in columns.items():
            _print_confusion(console, head, agreement, rubric)
    for letter, run in zip(letters(len(runs)), runs, strict=True):
        _print_disagreements(console, f"run {letter}" if len(runs) > 1 else "", run, n_rows)
    for letter, run in zip(letters(len(runs)), runs, strict=True):
        whose = f"run {letter}: " if len(runs) > 1 else ""
        _print_preferences(console, whose, run)
        _print_tracking(console, whose, run)
    console.print("\n95 % intervals by source picture; none for fewer than six")


def _columns(
    groups: Sequence[Sequence[GroupAgreement]], criterion: Criterion
) -> dict[str, Agreement]:
    named = zip(letters(len(groups)), groups, strict=True)
    return {
        f"{letter} {group.mode}" if len(groups) > 1 else group.mode: group.agreement
        for letter, of_run in named
        for group in of_run
        if (group.criterion, group.grouping) == (criterion, "all")
    }


def _coverage(runs: Sequence[RatedRun], criterion: Criterion) -> Iterator[str]:
    for letter, run in zip(letters(len(runs)), runs, strict=True):
        values = run.people[criterion]
        n_judged = sum(row.record.criterion == criterion for row in run.rated)
        n_raters = len({by for of_row in values.values() for by in of_row})
        yield (
            f"{f'{letter}: ' if len(runs) > 1 else ''}{len(values)} rows rated by {n_raters} "
            f"{'person' if n_raters == 1 else 'people'}, {n_judged} of them scored by the judge"
        )
    yield from _among_raters(runs[0].people[criterion])


def _among_raters(values: Values) -> Iterator[str]:
    pairs = rater_pairs(values)
    if not pairs:
        return
    told = [
        f"{shown(pair.a)} and {shown(pair.b)} {figure(pair.spearman, 3)} ({pair.exact:.0%} the "
        f"same, {pair.n} rows)"
        for pair in pairs[:_MOST_PAIRS]
    ]
    more = f"; {len(pairs) - _MOST_PAIRS} more pairs" if len(pairs) > _MOST_PAIRS else ""
    yield f"Spearman of raters: {'; '.join(told)}{more}"


def _print_figures(console: Console, columns: Columns) -> None:
    if not columns:
        return
    table = plain_table("", *columns)
    for name, counted in (("n", "rows"), ("n_clusters", "source pictures")):
        table.add_row(counted, *(str(getattr(one, name)) for one in columns.values()))
    for name, means in _FIGURES.items():
        estimates = [getattr(one, name) for one in columns.values()]
        if any(estimate.value is not None for estimate in estimates):
            table.add_row(means, *map(with_interval, estimates))
    console.print(table)


def _print_parts(
    console: Console, groups: Sequence[Sequence[GroupAgreement]], criterion: Criterion
) -> None:
    table = plain_table("part", "rows", *_IN_GROUPS)
    for letter, of_run in zip(letters(len(groups)), groups, strict=True):
        where = f"{letter} " if len(groups) > 1 else ""
        for group in of_run:
            if group.criterion == criterion and group.grouping != "all":
                figures = (getattr(group.agreement, name) for name in _IN_GROUPS)
                table.add_row(
                    shown(f"{where}{group.mode}, {group.grouping}: {group.group}"),
                    str(group.agreement.n),
                    *(with_interval(one, between="\n") for one in figures),
                )
    if table.row_count:
        console.print()
        console.print(table)


def _print_confusion(console: Console, head: str, agreement: Agreement, rubric: Rubric) -> None:
    if not agreement.confusion:
        return
    best_first = rubric.scale.levels[::-1]
    table = plain_table(f"{head}: people's median", *(f"judge {n}" for n in best_first))
    for level, counts in zip(best_first, agreement.confusion[::-1], strict=True):
        table.add_row(rubric.numbered(level), *map(str, counts[::-1]))
    console.print()
    console.print(table)


def _print_preferences(console: Console, whose: str, run: RatedRun) -> None:
    if not run.preferred:
        return
    console.print(f"\n{whose}pairs of editors on one item, preferred as people do", style="bold")
    table = plain_table("", "share", "right", "wrong", "judge ties", "people tie")
    for (mode, what), one in run.preferred.items():
        counts = (one.n_right, one.n_wrong, one.n_undecided, one.n_tied)
        table.add_row(f"{mode}, {what}", figure(one.share, 3), *map(str, counts))
    console.print(table)


def _print_tracking(console: Console, whose: str, run: RatedRun) -> None:
    """Signed, for L1 and L2 rise and PSNR and SSIM fall with the distance."""
    if not run.tracking:
        return
    console.print(f"\n{whose}classical columns: Spearman with people, with the judge", style="bold")
    groups = list(dict.fromkeys((one.mode, one.criterion) for one in run.tracking))
    table = plain_table("", *(f"{mode}, {criterion}" for mode, criterion in groups))
    for column in dict.fromkeys(one.column for one in run.tracking):
        found = {(one.mode, one.criterion): one for one in run.tracking if one.column == column}
        cells = (found[group] for group in groups)
        table.add_row(column, *(f"{_rho(c.with_people)}, {_rho(c.with_judge)}" for c in cells))
    console.print(table)


def _rho(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"


def _print_disagreements(console: Console, whose: str, run: RatedRun, n_rows: int) -> None:
    found = disagreements(run.rated, limit=n_rows)
    if not found:
        return
    console.print(f"\nlargest disagreements {whose}".rstrip(), style="bold")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("gap", justify="right")
    for column in ("row", "", "judge", "people"):
        table.add_column(column, overflow="fold")
    for row in found:
        people = ", ".join(f"{by} {value:g}" for by, value in sorted(row.values.items()))
        record = row.record
        judge = record.named_level
        table.add_row(f"{row.gap:+.2g}", shown(record.id), record.criterion, judge, shown(people))
    console.print(table)
    console.print(f"look closer: agent-judge show {shown(run.facts.run)} ID")

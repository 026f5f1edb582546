"""`agent-judge compare`: two runs over the same items, pair by pair."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from agent_judge.cli.run_facts import (
    RunFacts,
    differences,
    facts_of,
    other_differences,
    print_facts,
)
from agent_judge.cli.tables import figure, plain_table, table_console
from agent_judge.cli.terminal import shown
from agent_judge.errors import InputError
from agent_judge.records import Record
from agent_judge.rubrics.protocol import rubric_of
from agent_judge.rubrics.rubric import Rubric
from agent_judge.run import Run, refuse_two_protocols
from agent_judge.stats import compare as stats
from agent_judge.stats.compare import Comparison, Pair
from agent_judge.stats.intervals import Estimate
from agent_judge.stats.overall import overall_by_row
from agent_judge.stats.power import samples_needed
from agent_judge.stats.summary import UNNAMED_EDITOR, UNTYPED

_POINTS_WORTH_FINDING = 5


def compare(
    run_a: Annotated[Path, typer.Argument(help="Folder given to `run --out`.")],
    run_b: Annotated[Path, typer.Argument(help="Another, over the same items.")],
    force: Annotated[
        bool, typer.Option("--force", help="Compare although rubric, judge or mode differ.")
    ] = False,
    rows: Annotated[int, typer.Option(min=0, help="Changed rows to list per criterion.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as JSON.")] = False,
) -> None:
    """Compare two editing models or two judges: differences B minus A, paired by `item`."""
    (facts_a, records_a), (facts_b, records_b) = _read(run_a), _read(run_b)
    refuse_two_protocols({facts.run: facts.protocol for facts in (facts_a, facts_b)})
    comparisons = _paired(records_a, records_b)
    differ = {**_mixed_modes(comparisons), **differences(facts_a, facts_b)}
    _refuse(differ, force=force)
    notes = other_differences(facts_a, facts_b)
    overall = _overall(records_a, records_b)
    if as_json:
        found = _as_json((facts_a, facts_b), differ, notes, comparisons, overall)
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return
    console = table_console()
    print_facts(console, (facts_a, facts_b))
    for line in _warnings(differ, notes):
        console.print(line)
    for one in comparisons:
        _print_comparison(console, one, rows)
    if overall is not None:
        _print_overall(console, overall)
    console.print("\npoints of 100; 95 % intervals and p by source picture")


def _overall(a: Sequence[Record], b: Sequence[Record]) -> dict[str, int] | None:
    """In how many items which side has the higher overall figure; None where there is no such.

    Where one side is the ground truth, this is how BPM's authors test a metric.
    """
    by_editor = any(len({record.editor for record in side}) > 1 for side in (a, b))
    of_a, of_b = (_overall_by_item(side, by_editor=by_editor) for side in (a, b))
    pairs = [(of_a[key], of_b[key]) for key in of_a if key in of_b]
    if not pairs:
        return None
    return {
        "n_items": len(pairs),
        "n_higher_in_a": sum(in_a > in_b for in_a, in_b in pairs),
        "n_higher_in_b": sum(in_a < in_b for in_a, in_b in pairs),
    }


def _print_overall(console: Console, overall: Mapping[str, int]) -> None:
    n, n_a, n_b = (overall[name] for name in ("n_items", "n_higher_in_a", "n_higher_in_b"))
    console.print(
        f"\noverall figure: higher in A for {n_a} of {n} items, in B for {n_b}, the same for "
        f"{n - n_a - n_b}. Where A is the ground truth, this is BPM's ground-truth test.",
        soft_wrap=True,
    )


def _overall_by_item(records: Sequence[Record], *, by_editor: bool) -> dict[tuple[str, ...], float]:
    figures = overall_by_row(records)
    return {
        (r.item, r.editor) if by_editor else (r.item,): figures[r.mode, r.id]
        for r in records
        if (r.mode, r.id) in figures
    }


def _read(folder: Path) -> tuple[RunFacts, list[Record]]:
    run = Run.open(folder)
    with run.store:
        records = list(run.records())
        return facts_of(str(folder), run, records), records


def _refuse(differ: Mapping[str, tuple[str, str]], *, force: bool) -> None:
    if differ and not force:
        told = "; ".join(f"{name}: {a or '-'} and {b or '-'}" for name, (a, b) in differ.items())
        raise InputError(
            f"the runs differ in how they were judged ({shown(told)}), so a difference may be the "
            "judge's and not the editing model's: pass --force to compare them all the same"
        )


def _paired(a: Sequence[Record], b: Sequence[Record]) -> list[Comparison]:
    try:
        comparisons = stats.compare(a, b)
    except ValueError as err:
        raise InputError(str(err)) from err
    if not comparisons:
        raise InputError(
            "no item was scored in both runs: rows are paired by `item` (by item and editor where "
            "a run has several editors)"
        )
    return comparisons


def _mixed_modes(comparisons: Sequence[Comparison]) -> dict[str, tuple[str, str]]:
    """Items may be judged in other modes though the runs have the same modes on the whole."""
    mixed = [one for one in comparisons if one.mode_a != one.mode_b]
    return {"mode": (mixed[0].mode_a, mixed[0].mode_b)} if mixed else {}


def _warnings(
    differ: Mapping[str, tuple[str, str]], notes: Mapping[str, tuple[str, str]]
) -> Iterator[str]:
    if differ:
        yield (
            f"NOT OF ONE KIND (--force): the runs differ in {', '.join(differ)}. What follows "
            "mixes that with the difference between the editing models."
        )
    for name, (a, b) in {**differ, **notes}.items():
        yield f"  {name}: A {shown(a)}, B {shown(b)}"


def _print_comparison(console: Console, one: Comparison, n_rows: int) -> None:
    rubric = rubric_of(one.criterion)
    console.print(f"\n{rubric.name} ({one.criterion})", style="bold")
    console.print(f"A {_side(one.editor_a, one.mode_a)}, B {_side(one.editor_b, one.mode_b)}")
    console.print(
        f"{len(one.pairs)} pairs over {one.n_clusters} source pictures; scored in A only: "
        f"{one.n_only_a}, in B only: {one.n_only_b}"
    )
    table = plain_table("", "A", "B", "B - A", "95 %", "p", "pairs")
    means = [figure(mean, 1) for mean in (one.mean_a_100, one.mean_b_100)]
    table.add_row(
        "all", *means, *_difference(one.difference_100), _p_value(one), str(len(one.pairs))
    )
    if len(one.by_type) > 1:
        for name, estimate in one.by_type.items():
            pairs = [pair for pair in one.pairs if (pair.a.type or UNTYPED) == name]
            sides = zip(*_levels(pairs), strict=True)
            means = [figure(rubric.scale.score_100(fmean(side)), 1) for side in sides]
            table.add_row(shown(name), *means, *_difference(estimate), "", str(len(pairs)))
    console.print(table)
    if one.sd_100 and (n := samples_needed(_POINTS_WORTH_FINDING, one.sd_100)):
        console.print(
            f"with this spread, a true difference of {_POINTS_WORTH_FINDING} points takes {n} pairs"
        )
    same = len(one.pairs) - one.n_better_in_a - one.n_better_in_b
    console.print(
        f"better in A: {one.n_better_in_a}, better in B: {one.n_better_in_b}, the same: {same}"
    )
    _print_transitions(console, one, rubric)
    _print_changed(console, one, n_rows)


def _levels(pairs: Sequence[Pair]) -> list[tuple[float, float]]:
    return [(pair.a.scored_level, pair.b.scored_level) for pair in pairs]


def _side(editor: str, mode: str) -> str:
    return f"{shown(editor or UNNAMED_EDITOR)} ({mode} mode)"


def _difference(estimate: Estimate) -> tuple[str, str]:
    if estimate.value is None:
        return "-", "-"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:+.1f}", "-"
    return f"{estimate.value:+.1f}", f"{estimate.low:+.1f} to {estimate.high:+.1f}"


def _p_value(one: Comparison) -> str:
    if one.p_value is None:
        return "-"
    return "<0.001" if one.p_value < 0.001 else f"{one.p_value:.3f}"


def _print_transitions(console: Console, one: Comparison, rubric: Rubric) -> None:
    if not one.transitions:
        return
    best_first = rubric.scale.levels[::-1]
    table = plain_table("pairs by level", *(f"B {level}" for level in best_first))
    for level, counts in zip(best_first, one.transitions[::-1], strict=True):
        table.add_row(f"A {rubric.numbered(level)}", *map(str, counts[::-1]))
    console.print()
    console.print(table)


def _print_changed(console: Console, one: Comparison, n_rows: int) -> None:
    changed = one.changed
    if not changed or not n_rows:
        return
    console.print(f"\n{len(changed)} pairs changed level; the most changed:")
    has_own_ids = any(r.id != r.item for pair in changed for r in (pair.a, pair.b))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("item", "A", "B", *(("row in A", "row in B") if has_own_ids else ())):
        table.add_column(head, overflow="fold")
    for pair in changed[:n_rows]:
        sides = (pair.a, pair.b)
        levels = (record.named_level for record in sides)
        ids = (shown(record.id) for record in sides) if has_own_ids else ()
        table.add_row(shown(pair.a.item), *levels, *ids)
    console.print(table)


def _as_json(
    facts: tuple[RunFacts, RunFacts],
    differ: Mapping[str, tuple[str, str]],
    notes: Mapping[str, tuple[str, str]],
    comparisons: Sequence[Comparison],
    overall: Mapping[str, int] | None,
) -> dict[str, Any]:
    return {
        "a": asdict(facts[0]),
        "b": asdict(facts[1]),
        "differ": dict(differ),
        "other_settings_differ": dict(notes),
        "comparisons": [_comparison_json(one) for one in comparisons],
        "overall": overall,
    }


def _comparison_json(one: Comparison) -> dict[str, Any]:
    """Everything but the pairs' whole records; transitions are `[level in A][level in B]`."""
    kept = {f.name: getattr(one, f.name) for f in fields(one) if f.name != "pairs"}
    return {
        **kept,
        "n_pairs": len(one.pairs),
        "n_better_in_a": one.n_better_in_a,
        "n_better_in_b": one.n_better_in_b,
        "difference_100": asdict(one.difference_100),
        "by_type": {name: asdict(estimate) for name, estimate in one.by_type.items()},
        "changed": [
            {
                "item": pair.a.item,
                "id_a": pair.a.id,
                "id_b": pair.b.id,
                "level_a": pair.a.level,
                "level_b": pair.b.level,
            }
            for pair in one.changed
        ],
    }

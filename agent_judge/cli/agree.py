"""`agent-judge agree`: can the judge be believed? Its levels beside those of people."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from agent_judge.cli.agreement_tables import print_agreement
from agent_judge.cli.rated_run import (
    RatedRun,
    over_shared_rows,
    rated_criteria,
    rated_run,
    read_ratings,
)
from agent_judge.cli.tables import table_console
from agent_judge.cli.terminal import shown
from agent_judge.run import refuse_two_protocols
from agent_judge.stats.breakdown import (
    Disagreement,
    GroupAgreement,
    agreement_by_group,
    disagreements,
)
from agent_judge.stats.raters import rater_pairs
from agent_judge.stats.ratings import HumanRating


def agree(
    run_dirs: Annotated[
        list[Path], typer.Argument(metavar="RUN_DIR...", help="Runs, shown side by side.")
    ],
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            help="Table with id,by,IF,VC, or ImagenHub's; replaces the manifest's labels."
        ),
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="Rows of largest disagreement to list.")] = 10,
    classical: Annotated[
        bool, typer.Option("--classical", help="How L1, L2, PSNR and SSIM track the levels.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the intervals.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as JSON.")] = False,
) -> None:
    """Compare a judge's levels with people's: by mode, criterion, type, size and editor."""
    criteria = rated_criteria(run_dirs)
    ratings = [rating for path in labels or () for rating in read_ratings(path, criteria)]
    runs = [rated_run(folder, ratings, classical=classical) for folder in run_dirs]
    if told := _strangers(ratings, runs):
        print(shown(told), file=sys.stderr)
    refuse_two_protocols({run.facts.run: run.facts.protocol for run in runs})
    groups = [agreement_by_group(run.rated, seed=seed) for run in runs]
    shared = over_shared_rows(runs)
    on_shared = None
    if shared is not None:
        on_shared = [
            [group for group in agreement_by_group(rated, seed=seed) if group.grouping == "all"]
            for rated in shared
        ]
    if as_json:
        print(json.dumps(_as_json(runs, groups, on_shared, rows), ensure_ascii=False, indent=2))
        return
    print_agreement(table_console(), runs, groups, on_shared, n_rows=rows)


def _strangers(ratings: Sequence[HumanRating], runs: Sequence[RatedRun]) -> str | None:
    """What to say of ids in label tables that no run has: mistyped, they look like no ratings."""
    known = {id_ for run in runs for values in run.people.values() for id_ in values}
    strange = sorted({rating.id for rating in ratings if rating.id is not None} - known)
    if not strange:
        return None
    some = ", ".join(strange[:5]) + (", ..." if len(strange) > 5 else "")
    return f"--labels: ids that no row has, {len(strange)}: {some}"


def _as_json(
    runs: Sequence[RatedRun],
    groups: Sequence[Sequence[GroupAgreement]],
    on_shared: Sequence[Sequence[GroupAgreement]] | None,
    n_rows: int,
) -> dict[str, Any]:
    return {
        "runs": [
            {
                **asdict(run.facts),
                "n_rated_rows": {c: len(values) for c, values in run.people.items()},
                "rater_pairs": {
                    c: [asdict(pair) for pair in rater_pairs(values)]
                    for c, values in run.people.items()
                },
                "groups": [asdict(group) for group in of_run],
                "classical": [asdict(one) for one in run.tracking],
                "preferences": [
                    {"mode": mode, "criterion": what, **asdict(one)}
                    for (mode, what), one in run.preferred.items()
                ],
                "disagreements": [
                    _disagreement(row) for row in disagreements(run.rated, limit=n_rows)
                ],
            }
            for run, of_run in zip(runs, groups, strict=True)
        ],
        "over_shared_rows": on_shared and [[asdict(g) for g in of_run] for of_run in on_shared],
    }


def _disagreement(row: Disagreement) -> dict[str, Any]:
    kept = ("id", "item", "editor", "mode", "criterion", "level", "label")
    return {
        **{name: getattr(row.record, name) for name in kept},
        "raters": dict(row.values),
        "gap": row.gap,
    }

"""The embedded judge beside human labels on real pairs of editing models.

    python -m benchmarks.real_pairs MANIFEST [--mode oracle] [--out FILE.jsonl]

Prints, for IF and VC: rows with a label, the share scored, exact agreement and Spearman with 95 %
intervals from resampled source pictures (rows of one source are not independent), the range of
both when each source picture is left out in turn, and the median seconds a criterion.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent_judge import Settings, evaluate
from agent_judge.cli.tables import figure, plain_table, table_console, with_interval
from agent_judge.manifest import read_manifest
from agent_judge.records import Criterion, Record, Sample
from agent_judge.stats.agreement import agreement
from agent_judge.stats.intervals import Estimate


@dataclass(frozen=True, kw_only=True)
class Rated:
    """A verdict beside a label."""

    record: Record
    label: int
    source: str


async def rate(manifest: Path, mode: str) -> list[Rated]:
    """The labelled rows as the embedded judge sees them."""
    settings = Settings.model_validate({"mode": mode, "judge": {"model": "measured"}})
    rated: list[Rated] = []
    for sample in read_manifest(manifest):
        labels = dict(_labels(sample))
        if not labels or (mode == "oracle" and not sample.boxes):
            continue
        rated += [
            Rated(record=record, label=labels[record.criterion], source=str(sample.source))
            for record in await evaluate(sample, settings)
            if record.criterion in labels
        ]
    return rated


def _labels(sample: Sample) -> Iterator[tuple[Criterion, int]]:
    """The first label of each criterion."""
    for criterion in ("IF", "VC"):
        levels = [label[criterion] for label in sample.labels if criterion in label]
        if levels:
            yield criterion, levels[0]


def _agreed(rated: Sequence[Rated]) -> tuple[Estimate, Estimate]:
    found = agreement(
        np.array([r.record.level for r in rated], dtype=np.float64),
        np.array([r.label for r in rated], dtype=np.float64),
        clusters=[r.source for r in rated],
        seed=0,
        n_resamples=2000,
    )
    return found.exact, found.spearman


def _without_one(rated: Sequence[Rated], which: int) -> str:
    """The range of a figure when each source picture is left out in turn."""
    sources = sorted({r.source for r in rated if r.record.level is not None})
    values = [_agreed([r for r in rated if r.source != left])[which].value for left in sources]
    known = [v for v in values if v is not None]
    return f"{figure(min(known))} to {figure(max(known))}" if known else "-"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--mode", default="oracle", choices=["oracle", "tool", "direct"])
    parser.add_argument("--out", type=Path, help="JSONL: verdict and label of each row")
    args = parser.parse_args()
    rated = asyncio.run(rate(args.manifest, args.mode))
    table = plain_table(
        "criterion", "sources", "scored", "exact [95 %]", "one source left out",
        "Spearman [95 %]", "one source left out", "median s",
    )  # fmt: skip
    for criterion in ("IF", "VC"):
        rows = [r for r in rated if r.record.criterion == criterion]
        exact, spearman = _agreed(rows)
        scored = sum(r.record.level is not None for r in rows)
        table.add_row(
            criterion, str(len({r.source for r in rows})), f"{scored}/{len(rows)}",
            with_interval(exact), _without_one(rows, 0),
            with_interval(spearman), _without_one(rows, 1),
            figure(float(np.median([r.record.seconds for r in rows]))),
        )  # fmt: skip
    table_console().print(table)
    if args.out is not None:
        lines = [
            {"id": r.record.id, "criterion": r.record.criterion, "level": r.record.level}
            | {"label": r.label, "why": r.record.explanation or " ".join(r.record.notes)}
            for r in rated
        ]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        args.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

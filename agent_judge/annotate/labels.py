"""Ratings as others read them: a label table for `agree`, and a manifest with labels in it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_judge.annotate.journal import Entry
from agent_judge.records import Sample
from agent_judge.rubrics.protocol import DEFAULT_CRITERIA
from agent_judge.whole_file import written_whole

COLUMNS = ("id", "by", *DEFAULT_CRITERIA, "boxes", "comment", "calibration", "saw_difference")


def write_labels(path: Path, entries: Iterable[Entry]) -> None:
    """Write the label table: a line for each row and rater, ordered by both.

    It appears whole or not at all. Entries without a level or a box are left out.
    """
    with written_whole(path) as half, half.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for entry in sorted(entries, key=lambda entry: (entry.id, entry.by)):
            if entry.levels or entry.boxes:
                writer.writerow(_cells(entry))


def _cells(entry: Entry) -> list[object]:
    return [
        entry.id,
        entry.by,
        *(entry.levels.get(criterion, "") for criterion in DEFAULT_CRITERIA),
        json.dumps(entry.boxes) if entry.boxes else "",
        entry.comment,
        "yes" if entry.calibration else "",
        "yes" if entry.saw_difference else "",
    ]


def labelled(samples: Iterable[Sample], entries: Iterable[Entry]) -> Iterator[Sample]:
    """The samples with the raters' labels among theirs.

    A rater's earlier label of a row gives way to the new one. A row without boxes gets those that
    were drawn last.
    """
    by_row: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: (entry.at, entry.by)):
        by_row.setdefault(entry.id, []).append(entry)
    for sample in samples:
        said = by_row.get(sample.id, [])
        new = {entry.by: _label(entry) for entry in said if entry.levels}
        kept = [label for label in sample.labels if label.get("by") not in new]
        drawn = [entry.boxes for entry in said if entry.boxes]
        yield replace(
            sample,
            labels=(*kept, *(new[by] for by in sorted(new))),
            boxes=drawn[-1] if drawn and sample.boxes is None else sample.boxes,
        )


def _label(entry: Entry) -> Mapping[str, Any]:
    levels = {str(criterion): level for criterion, level in entry.levels.items()}
    comment = {"comment": entry.comment} if entry.comment else {}
    return {"by": entry.by, **levels, **comment}

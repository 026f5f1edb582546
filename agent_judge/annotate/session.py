"""What the page asks for and tells, as plain data: rows, ratings, the calibration round.

The page never learns a row's id, file names, editing model, existing labels or other raters'
ratings of rows that its rater has not rated: raters stay blind.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent_judge.annotate.journal import Entry, Journal
from agent_judge.annotate.labels import write_labels
from agent_judge.annotate.pictures import DIFFERENCE, Picture, Pictures
from agent_judge.annotate.round import Round
from agent_judge.annotate.said import Said, on_the_way, parse_said, rater_name
from agent_judge.errors import InputError
from agent_judge.records import Box, Criterion, Sample
from agent_judge.rubrics.ladder import Ladder
from agent_judge.rubrics.protocol import DEFAULT_CRITERIA, load_ladder, rubric_version
from agent_judge.stats.alpha import krippendorff_alpha
from agent_judge.stats.raters import rater_pairs

_GENERAL_NOTES = ("blur", "all_targets")


class Session:
    """One round of rows, rated by any number of people."""

    def __init__(
        self, round_: Round, journal: Journal, labels: Path, *, now: Callable[[], str]
    ) -> None:
        """Take the rows and where ratings go.

        Args:
            round_: the rows.
            journal: where every save goes first.
            labels: the label table, written anew after every save.
            now: the time in UTC, as text.
        """
        self.round = round_
        self._journal = journal
        self._labels = labels
        self._now = now
        self._pictures = Pictures()
        self._writing_labels = threading.Lock()
        self._numbers = {sample.id: number for number, sample in enumerate(round_.rows)}
        self._save_labels()

    def about(self) -> dict[str, Any]:
        """What stays the same: the ladders and how many rows there are."""
        return {
            "n_rows": len(self.round.rows),
            "n_calibration": self.round.n_calibration,
            "ladders": [_ladder_json(load_ladder(criterion)) for criterion in DEFAULT_CRITERIA],
            "raters": sorted({entry.by for entry in self._journal.latest()}),
        }

    def entries_of(self, by: str) -> dict[str, Any]:
        """What one rater has said so far, by row number.

        Raises:
            InputError: that is no name for a rater.
        """
        name = rater_name(by)
        return {
            str(self._numbers[entry.id]): _entry_json(entry)
            for entry in self._journal.latest()
            if entry.by == name and entry.id in self._numbers
        }

    def row(self, number: int) -> dict[str, Any]:
        """What a rater may know of a row: what the judge is told, and its boxes.

        Raises:
            LookupError: no such row.
        """
        sample = self._sample(number)
        told = {
            "instruction": sample.instruction,
            "type": sample.type,
            "targets": list(sample.targets),
            "source_caption": sample.source_caption,
            "wanted_caption": sample.edited_caption,
        }
        shown = self._pictures.row(sample)
        if shown is None:
            return {**told, "pictures": None}
        return {
            **told,
            "pictures": list(shown.pictures),
            "size_wh": shown.size_wh,
            "boxes": [box.xyxy for box in shown.boxes],
            "draw_boxes": sample.boxes is None,
        }

    def picture(self, number: int, name: str) -> Picture:
        """A picture of a row.

        Raises:
            LookupError: no such row, or it has no such picture.
        """
        sample = self._sample(number)
        shown = self._pictures.row(sample)
        if shown is None:
            raise LookupError(name)
        if name != DIFFERENCE:
            return shown.pictures[name]
        found = self._pictures.difference(sample)
        if found is None:
            raise LookupError(name)
        return found

    def save(self, number: int, data: object) -> dict[str, Any]:
        """Keep what a rater says about a row.

        Returns:
            The rater's entry as it holds now.

        Raises:
            LookupError: no such row.
            InputError: what was said cannot be kept; the message says why.
            OSError: the disk took it not.
        """
        sample = self._sample(number)
        said = parse_said(data)
        answers = {c: on_the_way(load_ladder(c), said.answers.get(c, {})) for c in DEFAULT_CRITERIA}
        levels = {c: load_ladder(c).walk(answers[c]) for c in DEFAULT_CRITERIA}
        entry = Entry(
            by=said.by,
            id=sample.id,
            answers=answers,
            levels={c: level for c, level in levels.items() if level is not None},
            boxes=self._boxes(number, said),
            comment=said.comment,
            saw_difference=said.saw_difference,
            calibration=number < self.round.n_calibration,
            rubric=rubric_version(),
            at=self._now(),
        )
        self._journal.add(entry)
        self._save_labels()
        return _entry_json(entry)

    def calibration(self, by: str) -> dict[str, Any]:
        """The calibration round as far as one rater has rated it, with what the others said."""
        said: dict[int, dict[str, Entry]] = {}
        for entry in self._journal.latest():
            number = self._numbers.get(entry.id, self.round.n_calibration)
            if number < self.round.n_calibration and entry.levels:
                said.setdefault(number, {})[entry.by] = entry
        open_rows = {n: said[n] for n in sorted(said) if _is_complete(said[n].get(by))}
        return {
            "rows": [
                {
                    "number": number,
                    "instruction": self.round.rows[number].instruction,
                    "said": {rater: _entry_json(entry) for rater, entry in sorted(of_row.items())},
                }
                for number, of_row in open_rows.items()
            ],
            "agreement": {
                criterion: _agreement(open_rows, criterion) for criterion in DEFAULT_CRITERIA
            },
        }

    def _sample(self, number: int) -> Sample:
        if not 0 <= number < len(self.round.rows):
            raise LookupError(number)
        return self.round.rows[number]

    def _save_labels(self) -> None:
        with self._writing_labels:
            write_labels(self._labels, self._journal.latest())

    def _boxes(self, number: int, said: Said) -> tuple[tuple[float, float, float, float], ...]:
        sample = self._sample(number)
        shown = self._pictures.row(sample)
        if shown is None:
            raise InputError("this row cannot be shown, so it cannot be rated")
        if said.boxes and sample.boxes is not None:
            raise InputError("boxes: this row has its own")
        found = []
        for number, box in enumerate(said.boxes, start=1):
            try:
                inside = Box(*box).clip(shown.size_wh)
            except (TypeError, ValueError) as err:
                raise InputError(f"boxes: box {number}: {err}") from err
            if inside is None:
                raise InputError(f"boxes: box {number} lies outside the picture")
            found.append(inside.xyxy)
        return tuple(found)


def _is_complete(entry: Entry | None) -> bool:
    return entry is not None and all(criterion in entry.levels for criterion in DEFAULT_CRITERIA)


def _entry_json(entry: Entry) -> dict[str, Any]:
    kept = ("answers", "levels", "boxes", "comment", "saw_difference")
    return {name: getattr(entry, name) for name in kept}


def _ladder_json(ladder: Ladder) -> dict[str, Any]:
    return {
        "criterion": ladder.criterion,
        "name": ladder.name,
        "asks": ladder.asks,
        "levels": [asdict(level) for level in ladder.levels],
        "questions": [asdict(question) for question in ladder.questions],
        "notes": [ladder.notes[name] for name in _GENERAL_NOTES if name in ladder.notes],
        "type_notes": dict(ladder.type_notes),
    }


def _agreement(rows: Mapping[int, Mapping[str, Entry]], criterion: Criterion) -> dict[str, Any]:
    """How the raters agree over some rows: each two of them, and alpha of all."""
    values: dict[str, dict[str, float]] = {
        str(number): {
            by: entry.levels[criterion] for by, entry in of_row.items() if criterion in entry.levels
        }
        for number, of_row in rows.items()
    }
    raters = sorted({by for of_row in values.values() for by in of_row})
    table = [[of_row.get(by, math.nan) for by in raters] for of_row in values.values()]
    return {
        "alpha": krippendorff_alpha(table) if table else None,
        "pairs": [asdict(pair) for pair in rater_pairs(values)],
    }

"""What people said: ratings from manifests, label tables and ImagenHub's tables, and their rows.

Readers take text, so that files, tests and notebooks use the same code.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from pathlib import PurePosixPath
from typing import Any

from agent_judge.errors import InputError
from agent_judge.records import Criterion, Mode, Record
from agent_judge.rubrics.protocol import DEFAULT_CRITERIA, all_criteria, place_of, rubric_of


@dataclass(frozen=True, kw_only=True)
class HumanRating:
    """One person's value for one criterion of one edited picture."""

    by: str
    """The rater."""
    criterion: Criterion
    value: float
    """A level of the criterion, or on the rater's own scale."""
    id: str | None = None
    """The manifest row's id; None when item and editor name it."""
    item: str = ""
    editor: str = ""
    on_levels: bool = True
    """Whether the value is a level of this protocol; else only its order means something."""


@dataclass(frozen=True, kw_only=True)
class RatedRecord:
    """A scored record that people rated too."""

    record: Record
    values: Mapping[str, float]
    """Each rater's value for the record's criterion."""
    on_levels: bool
    """Whether all of them are levels of this protocol."""


def manifest_ratings(labels: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[HumanRating]:
    """The ratings in a manifest's `labels` column.

    Args:
        labels: by row id, a list of `{"by", "IF", "VC", ...}`; a criterion may be absent or null,
            and a value that is none of its levels is no rating.
    """
    return [
        HumanRating(by=str(label["by"]), criterion=criterion, value=float(label[criterion]), id=id)
        for id, entries in labels.items()
        for label in entries
        for criterion in all_criteria()
        if label.get(criterion) in rubric_of(criterion).scale
    ]


def labels_without_a_level(
    labels: Mapping[str, Sequence[Mapping[str, Any]]], criteria: Sequence[Criterion]
) -> Iterator[str]:
    """What a manifest's labels hold under a criterion's name that is none of its levels, in words.

    Args:
        labels: as for `manifest_ratings`, which leaves them out.
        criteria: those of the run.

    Example:
        >>> list(labels_without_a_level({"a": [{"by": "p", "following": "4"}]}, ["following"]))
        ["1 label is no level of following from 0 to 5 (row 'a': '4')"]
    """
    for criterion in criteria:
        scale = rubric_of(criterion).scale
        odd = [
            (id_, label[criterion])
            for id_, entries in labels.items()
            for label in entries
            if label.get(criterion) is not None and label[criterion] not in scale
        ]
        if odd:
            what = "1 label is no level" if len(odd) == 1 else f"{len(odd)} labels are no levels"
            (id_, value), span = odd[0], f"from {scale.worst:g} to {scale.best:g}"
            yield f"{what} of {criterion} {span} (row {id_!r}: {value!r:.40})"


def parse_ratings(
    text: str, *, by: str, criteria: Sequence[Criterion] | None = None
) -> list[HumanRating]:
    """The ratings of a label table, comma- or tab-separated, told apart by its header.

    A table with a column `uid` has ImagenHub's layout: one rater, a column an editing model, cells
    `[semantic, quality]`; the semantic score stands for IF. Any other has the columns `id` (or
    `item` with `editor`), `by`, and `IF`, `VC` or another criterion; empty cells are no rating.

    Args:
        text: the file's text.
        by: the rater of rows that name none, such as the file's name.
        criteria: whose columns are read, for another protocol's criterion may be any other thing
            there (`size`); None: those of all protocols.

    Raises:
        InputError: a column is missing or a cell cannot be read; names the line.
    """
    text = text.removeprefix("\ufeff")
    header = text.split("\n", 1)[0]
    reader = csv.DictReader(StringIO(text), delimiter="\t" if "\t" in header else ",")
    columns = reader.fieldnames or []
    rated = [c for c in (all_criteria() if criteria is None else criteria) if c in columns]
    if "uid" in columns:
        read = _imagenhub_row
    elif ("id" in columns or "item" in columns) and rated:
        read = partial(_label_row, criteria=rated)
    else:
        named = " or ".join(DEFAULT_CRITERIA if criteria is None else criteria)
        raise InputError(
            f"expected the columns id (or item and editor) with {named}, or ImagenHub's uid, "
            f"got {', '.join(map(repr, columns)) or 'an empty file'}"
        )
    ratings: list[HumanRating] = []
    for row in reader:
        try:
            if None in row:
                raise ValueError("more cells than columns")
            ratings.extend(read(row, by))
        except ValueError as error:
            raise InputError(f"line {reader.line_num}: {error}") from error
    return ratings


def _label_row(
    row: Mapping[str, str | None], by: str, *, criteria: Sequence[Criterion]
) -> Iterator[HumanRating]:
    for criterion in criteria:
        cell = (row.get(criterion) or "").strip()
        if not cell:
            continue
        yield HumanRating(
            by=row.get("by") or by,
            criterion=criterion,
            value=_level(criterion, cell),
            id=row.get("id") or None,
            item=row.get("item") or "",
            editor=row.get("editor") or "",
        )


def _level(criterion: Criterion, cell: str) -> float:
    scale = rubric_of(criterion).scale
    try:
        level = float(cell)
    except ValueError:
        level = math.nan
    if level not in scale:
        raise ValueError(
            f"{criterion} must be a level from {scale.worst:g} to {scale.best:g}, got {cell!r}"
        )
    return level


def _imagenhub_row(row: Mapping[str, str | None], by: str) -> Iterator[HumanRating]:
    for editor, cell in row.items():
        if editor == "uid" or not (cell or "").strip():
            continue
        semantic, quality = _pair(editor, cell or "")
        rated = HumanRating(
            by=by,
            criterion="IF",
            value=semantic,
            item=row["uid"] or "",
            editor=editor,
            on_levels=False,
        )
        yield from (rated, replace(rated, criterion="quality", value=quality))


def _pair(editor: str, cell: str) -> tuple[float, float]:
    try:
        semantic, quality = map(float, json.loads(cell))
    except (TypeError, ValueError, OverflowError):
        semantic = quality = math.nan
    if not (math.isfinite(semantic) and math.isfinite(quality)):
        raise ValueError(f"{editor} must be [semantic, quality], got {cell!r}")
    return semantic, quality


class RatingIndex:
    """Ratings by the row that they belong to.

    A rating without an id belongs to the row of its item and editor; a picture's file name as the
    item, as ImagenHub has it, matches with and without its ending.
    """

    def __init__(self, ratings: Iterable[HumanRating]) -> None:
        """Take ratings in order: when a rater rated a row twice the later rating holds."""
        self._by_row: dict[tuple[str, ...], dict[str, HumanRating]] = {}
        for rating in ratings:
            for key in _keys(rating):
                self._by_row.setdefault(key, {})[rating.by] = rating

    def of_row(
        self, criterion: Criterion, *, id: str, item: str, editor: str
    ) -> Mapping[str, HumanRating]:
        """Each rater's rating of a row; empty where nobody rated it.

        Where nobody rated this criterion, those of the one that its rubric names beside it count,
        on their own scale.
        """
        found = self._of_row(criterion, id=id, item=item, editor=editor)
        beside = rubric_of(criterion).labelled_as
        if found or beside is None:
            return found
        others = self._of_row(beside, id=id, item=item, editor=editor)
        return {by: replace(rating, on_levels=False) for by, rating in others.items()}

    def _of_row(
        self, criterion: Criterion, *, id: str, item: str, editor: str
    ) -> Mapping[str, HumanRating]:
        of_id = self._by_row.get((criterion, id), {})
        return self._by_row.get((criterion, item, editor), {}) | of_id


def rated_records(records: Iterable[Record], ratings: Iterable[HumanRating]) -> list[RatedRecord]:
    """The scored records that people rated for the same criterion, with their values."""
    index = RatingIndex(ratings)
    found = []
    for record in records:
        given = index.of_row(record.criterion, id=record.id, item=record.item, editor=record.editor)
        if record.level is not None and given:
            values = {by: rating.value for by, rating in given.items()}
            on_levels = all(rating.on_levels for rating in given.values())
            found.append(RatedRecord(record=record, values=values, on_levels=on_levels))
    return found


def by_mode_and_criterion(
    rated: Iterable[RatedRecord],
) -> dict[tuple[Mode, Criterion], list[RatedRecord]]:
    """Rated records that figures may be given for together: modes and criteria are kept apart.

    Returns:
        By mode, then in the protocol's order.
    """
    groups: dict[tuple[Mode, Criterion], list[RatedRecord]] = {}
    for row in rated:
        groups.setdefault((row.record.mode, row.record.criterion), []).append(row)
    return {key: groups[key] for key in sorted(groups, key=lambda key: (key[0], place_of(key[1])))}


def _keys(rating: HumanRating) -> set[tuple[str, ...]]:
    if rating.id is not None:
        return {(rating.criterion, rating.id)}
    names = {rating.item, PurePosixPath(rating.item).stem}
    return {(rating.criterion, name, rating.editor) for name in names}

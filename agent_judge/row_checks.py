"""What a run would stumble over in a row's pictures and boxes, found before anything is spent."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from agent_judge.crosscheck import UNRELATED_FRACTION
from agent_judge.deep import TextChecks, picture_warnings
from agent_judge.errors import OutputFault, SampleError
from agent_judge.images import RGB
from agent_judge.intake import take_in
from agent_judge.records import Sample
from agent_judge.tools.difference import find_differences

_QUICK_SIDE_PX = 512
"""Longest side at which pairs are compared: enough to tell one scene from another."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing about one row."""

    line: int
    """Where the row stands in its manifest, from 1; its number in Parquet."""
    id: str
    weight: Literal["fault", "warning"]
    """A fault ends the row without a level; a warning does not."""
    message: str

    def __str__(self) -> str:
        return f"{self.weight}: line {self.line} (id {self.id!r}): {self.message}"


def check_rows(rows: Iterable[tuple[int, Sample]], *, deep: bool = False) -> Iterator[Finding]:
    """Faults and warnings of every row, in the manifest's order.

    Args:
        rows: lines and samples, streamed; a few rows are decoded at a time.
        deep: look for rows that are probably wrong too, and compare pairs at full resolution.
    """
    rows = iter(rows)
    texts = TextChecks()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        while batch := list(itertools.islice(rows, 4 * (os.cpu_count() or 1))):
            told = [texts.warnings(*row) if deep else [] for row in batch]
            seen = pool.map(lambda row: _check(*row, deep=deep), batch)
            for (line, sample), warnings, found in zip(batch, told, seen, strict=True):
                yield from (_warning(line, sample, message) for message in warnings)
                yield from found


def _warning(line: int, sample: Sample, message: str) -> Finding:
    return Finding(line=line, id=sample.id, weight="warning", message=message)


def _check(line: int, sample: Sample, *, deep: bool) -> list[Finding]:
    def finding(weight: Literal["fault", "warning"], message: str) -> Finding:
        return Finding(line=line, id=sample.id, weight=weight, message=message)

    try:
        intake = take_in(sample)
    except OutputFault as err:
        return [finding("fault", f"{err.status}: {err}")]
    except SampleError as err:
        return [finding("fault", f"{err.reason}: {err}")]
    except OSError as err:
        return [finding("fault", f"cannot be fetched: {err}")]
    found = []
    if intake.box_fault is not None:
        found.append(finding("fault", f"{intake.box_fault.reason}: {intake.box_fault}"))
    source, edited = intake.row.source, intake.row.edited
    if np.array_equal(source, edited):
        found.append(finding("warning", "identical: the edited picture equals the source"))
    elif (share := _changed(source, edited, deep=deep)) > UNRELATED_FRACTION:
        text = (
            f"unrelated pair: {share:.0%} of the picture has another colour, perhaps the wrong file"
        )
        found.append(finding("warning", text))
    if deep:
        found += [_warning(line, sample, message) for message in picture_warnings(intake.row)]
    return found


def _changed(source: RGB, edited: RGB, *, deep: bool) -> float:
    if not deep:
        source, edited = _small(source), _small(edited)
    return find_differences(source, edited).absolute_fraction


def _small(pixels: RGB) -> RGB:
    scale = _QUICK_SIDE_PX / max(pixels.shape[:2])
    if scale >= 1:
        return pixels
    size_wh = (max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale)))
    return np.asarray(cv2.resize(pixels, size_wh, interpolation=cv2.INTER_AREA), np.uint8)

"""Does the target's size decide? The scale plots of DLEBench's Figure 6, as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from agent_judge.records import Criterion, Record
from agent_judge.rubrics.protocol import rubric_of
from agent_judge.stats.coverage import source_key, tally
from agent_judge.stats.intervals import Estimate, Floats, bootstrap
from agent_judge.stats.measures import measure, pearson, spearman

WINDOW = 10
"""Rows in a sliding window, as in the paper."""


@dataclass(frozen=True, kw_only=True)
class ScalePoint:
    """One row of the scatter plot."""

    id: str
    level: float
    log10_width: float
    """Of the target's width over the picture's."""
    log10_height: float


@dataclass(frozen=True, kw_only=True)
class WindowMean:
    """One step of the curve: ten rows that follow each other by area."""

    log10_area: float
    """Mean of log10 of the targets' share of the picture, which is 0 for all of it."""
    mean_level: float


@dataclass(frozen=True, kw_only=True)
class ScalePlot:
    """Level against target size for one editor, mode and criterion."""

    criterion: Criterion
    points: tuple[ScalePoint, ...]
    """Rows whose picture size is known; a row with several targets stands at its smallest, since
    the worst target decides the level."""
    curve: tuple[WindowMean, ...]
    """From the smallest area; empty for fewer than ten rows."""
    curve_correlation: float | None
    """Pearson correlation along the curve, the paper's measure as far as its text says. Windows
    overlap, so it lies further from 0 than any single row would tell."""
    row_correlation: Estimate
    """Spearman correlation of level with area over the rows themselves."""
    histogram: tuple[int, ...]
    """Rows in each bin of the scale, worst first."""

    @property
    def sentence(self) -> str:
        """Both correlations in words."""
        n = sum(self.histogram)
        if self.row_correlation.value is None:
            return f"{self.criterion} against target area: no correlation in {n} rows with a box."
        curve = (
            ""
            if self.curve_correlation is None
            else f"; Pearson {self.curve_correlation:.3f} along windows of {WINDOW}"
        )
        rows = f"Spearman {self.row_correlation} over {n} rows"
        return f"{self.criterion} against target area: {rows}{curve}."


def scale_plot(
    criterion: Criterion,
    records: Iterable[Record],
    sizes_wh: Mapping[str, tuple[int, int]] | None = None,
    *,
    seed: int = 0,
    n_resamples: int = 1000,
) -> ScalePlot:
    """The scale plot of the scored records that have a target box.

    Args:
        criterion: records of others are left out.
        records: of one editor and one mode.
        sizes_wh: width and height of the source picture by row id, in pixels; rows without are
            on the curve and not among the points.
        seed: of the interval.
        n_resamples: of the interval.
    """
    rows = [r for r in records if r.criterion == criterion and r.level is not None and r.area_pct]
    rows.sort(key=lambda r: (r.area_pct, r.id))
    levels = np.array([r.level for r in rows], dtype=np.float64)
    areas = np.array([math.log10((r.area_pct or 0) / 100) for r in rows])
    curve = tuple(
        WindowMean(log10_area=area, mean_level=level)
        for area, level in zip(_window_means(areas), _window_means(levels), strict=True)
    )
    correlation = bootstrap(
        lambda weights: {"rho": spearman(levels, areas, weights)},
        [source_key(r) for r in rows],
        seed=seed,
        n_resamples=n_resamples,
    )["rho"]
    return ScalePlot(
        criterion=criterion,
        points=tuple(
            _point(r, sizes_wh[r.id])
            for r in rows
            if sizes_wh and r.id in sizes_wh and r.target_boxes
        ),
        curve=curve,
        curve_correlation=measure(
            pearson, [step.log10_area for step in curve], [step.mean_level for step in curve]
        ),
        row_correlation=correlation,
        histogram=tally(rows).n_in_bins(rubric_of(criterion).scale),
    )


def _window_means(values: Floats) -> list[float]:
    if len(values) < WINDOW:
        return []
    means: list[float] = sliding_window_view(values, WINDOW).mean(axis=1).tolist()
    return means


def _point(record: Record, size_wh: tuple[int, int]) -> ScalePoint:
    width, height = min(
        ((x2 - x1, y2 - y1) for x1, y1, x2, y2 in record.target_boxes),
        key=lambda box_wh: box_wh[0] * box_wh[1],
    )
    return ScalePoint(
        id=record.id,
        level=record.scored_level,
        log10_width=math.log10(width / size_wh[0]),
        log10_height=math.log10(height / size_wh[1]),
    )

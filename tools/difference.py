"""What changed between a picture and its edit, seen through the noise of re-rendering.

DLEBench 4.2 gives the judge a Difference tool; its own compares grey values. Editing models render
the whole picture anew, so here one picture is first registered, toned and softened onto the other,
and what is left is measured against what re-rendering leaves at that local contrast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from agent_judge.records import Box
from agent_judge.tools.base import RGB, ToolPicture, ToolReply, View, whereabouts
from agent_judge.tools.comparison import Comparison, compare, is_sharper, painted
from agent_judge.tools.planes import Matrix
from agent_judge.tools.regions import Patch
from agent_judge.tools.registration import Registration
from agent_judge.tools.remarks import remarks
from agent_judge.tools.residual import Tone
from agent_judge.tools.window import cut_out, fit_window
from agent_judge.tools.zoom_in import MAX_SCALE, zoom

Geometry = Literal["identical", "shifted", "scaled", "letterboxed", "changed"]

MAX_REGIONS = 64
"""Regions reported one by one; more are only counted."""
COLLAPSE_FRACTION = 0.4
"""Share of changed pixels above which regions no longer mean anything."""
_CONTEXT_SHARE = 0.5
"""Surroundings shown on each side of a region, as a share of its longer side."""
_PANE_PX = 448
"""Longest side of a crop; small windows are enlarged to it, large ones shrunk."""
_GAP_PX, _GAP_LEVEL = 8, 127
_SAME_ASPECT = 0.02
"""Sides may be scaled this much apart before the content counts as distorted."""


@dataclass(frozen=True, kw_only=True)
class Region:
    """One place where the pictures differ by more than re-rendering explains."""

    box_xyxy: tuple[int, int, int, int]
    """Half-open pixels of the source."""
    area_px: int
    """Pixels of the source that changed."""
    strength: float
    """Certainty, contrast and area together: larger for a larger or a stronger change."""
    edge_only: bool
    """A thin fringe along an edge, as a half-pixel move leaves it; ranked last."""

    @property
    def box(self) -> Box:
        """`box_xyxy` as a Box."""
        return Box(*self.box_xyxy)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How an edited picture differs from its source."""

    regions: tuple[Region, ...]
    """Most evident first, fringes last."""
    omitted: int
    """Regions beyond the `MAX_REGIONS` listed."""
    changed_fraction: float
    """Share of the compared pixels in a region, 0 to 1."""
    absolute_fraction: float
    """Share of the compared pixels whose blurred Lab distance exceeds 20, 0 to 1."""
    remarks: tuple[str, ...]
    """What changed everywhere, in words."""
    geometry: Geometry
    """How the edited picture's content lies in the source's frame."""
    transform: Matrix = field(compare=False)
    """2x3, edited -> source, on continuous pixel coordinates."""
    noise_level: float
    """Root mean square of what re-rendering alone leaves, in grey levels of luma."""

    def to_json(self) -> dict[str, Any]:
        """The fields as plain JSON types."""
        return {
            "regions": [
                {
                    "box_xyxy": list(r.box_xyxy),
                    "area_px": r.area_px,
                    "strength": round(r.strength, 2),
                    "edge_only": r.edge_only,
                }
                for r in self.regions
            ],
            "omitted": self.omitted,
            "changed_fraction": round(self.changed_fraction, 6),
            "absolute_fraction": round(self.absolute_fraction, 6),
            "remarks": list(self.remarks),
            "geometry": self.geometry,
            "transform": [[round(float(v), 6) for v in row] for row in self.transform],
            "noise_level": round(self.noise_level, 3),
        }


def find_differences(source: RGB, edited: RGB, *, ignore: tuple[Box, ...] = ()) -> Difference:
    """Where `edited` differs from `source` by more than re-rendering explains.

    Args:
        source: uint8 RGB, shape (H, W, 3).
        edited: uint8 RGB, shape (H, W, 3), of any size.
        ignore: Rectangles painted white in both pictures, pixels of the source. Nothing within
            them or along their border is reported.

    Raises:
        ValueError: an array is not uint8 of shape (H, W, 3) with at least one pixel.

    Example:
        >>> source = np.full((60, 80, 3), 90, np.uint8)
        >>> edited = source.copy()
        >>> edited[20:32, 30:46] = (200, 40, 40)
        >>> find_differences(source, edited).regions[0].box_xyxy
        (29, 19, 47, 33)
    """
    for name, pixels in (("source", source), ("edited", edited)):
        if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or not pixels.size:
            raise ValueError(
                f"{name} must be uint8 of shape (H, W, 3), got {pixels.dtype} {pixels.shape}"
            )
    if source.shape == edited.shape and np.array_equal(source, edited):
        return _nothing()
    source_wh = (source.shape[1], source.shape[0])
    masked = [painted(p.shape, ignore, source_wh) for p in (source, edited)]
    if is_sharper(source, edited):
        found = compare(source, edited, (masked[0], masked[1]), most=MAX_REGIONS)
        return _seen_from_sharp(found, source, edited)
    found = compare(edited, source, (masked[1], masked[0]), most=MAX_REGIONS)
    return _seen_from_soft(found, source, edited)


def differences_of(view: View) -> Difference:
    """The differences of a view's pictures; `view.once(differences_of)` finds them once for all."""
    return find_differences(view.source, view.edited, ignore=view.masked)


def _nothing() -> Difference:
    return Difference(
        regions=(),
        omitted=0,
        changed_fraction=0.0,
        absolute_fraction=0.0,
        remarks=("the pictures are identical",),
        geometry="identical",
        transform=np.eye(3)[:2],
        noise_level=0.0,
    )


def _seen_from_sharp(found: Comparison, source: RGB, edited: RGB) -> Difference:
    back = np.asarray(np.linalg.inv(found.registration.matrix), np.float64)
    to_source = back @ np.linalg.inv(found.reduction)
    return _difference(found, source, edited, back, to_source, found.tone, found.sharpness)


def _seen_from_soft(found: Comparison, source: RGB, edited: RGB) -> Difference:
    to_source = np.asarray(np.linalg.inv(found.reduction), np.float64)
    tone, sharpness = found.tone.inverse(), 1 / max(found.sharpness, 0.01)
    motion = found.registration.matrix
    return _difference(found, source, edited, motion, to_source, tone, sharpness)


def _difference(
    found: Comparison,
    source: RGB,
    edited: RGB,
    edited_to_source: Matrix,
    patches_to_source: Matrix,
    tone: Tone,
    sharpness: float,
) -> Difference:
    sizes = tuple((p.shape[1], p.shape[0]) for p in (source, edited))
    regions = (_region(patch, patches_to_source, sizes[0]) for patch in found.patches)
    transform = np.array(edited_to_source[:2], np.float64)
    transform.setflags(write=False)
    return Difference(
        regions=tuple(region for region in regions if region is not None),
        omitted=found.omitted,
        changed_fraction=found.changed_fraction,
        absolute_fraction=found.absolute_fraction,
        remarks=remarks(
            tone=tone,
            sharpness=sharpness,
            noise_level=found.noise_level,
            changed_fraction=found.changed_fraction,
            grid_px=found.grid_px,
            transform=transform,
            aligned=found.registration.trusted,
            sizes=(sizes[0], sizes[1]),
        ),
        geometry=_geometry(found.registration, transform, sizes[0] == sizes[1]),
        transform=transform,
        noise_level=found.noise_level,
    )


def _region(patch: Patch, to_source: Matrix, source_wh: tuple[int, int]) -> Region | None:
    """The patch in pixels of the source; None when it lies beyond its frame."""
    x1, y1, x2, y2 = patch.box_xyxy
    corners = to_source @ np.array([[x1, x2, x1, x2], [y1, y1, y2, y2], [1, 1, 1, 1]], float)
    (left, top), (right, bottom) = corners[:2].min(axis=1), corners[:2].max(axis=1)
    box = Box(float(left), float(top), float(right), float(bottom)).clip(source_wh)
    if box is None:
        return None
    x1, y1, x2, y2 = (round(v) for v in box.xyxy)
    x1, y1 = min(x1, source_wh[0] - 1), min(y1, source_wh[1] - 1)
    grow = abs(float(np.linalg.det(to_source[:2, :2])))
    return Region(
        box_xyxy=(x1, y1, max(x2, x1 + 1), max(y2, y1 + 1)),
        area_px=max(1, round(patch.area_px * grow)),
        strength=patch.strength * grow**0.5,
        edge_only=patch.fringe,
    )


def _geometry(registration: Registration, transform: Matrix, same_size: bool) -> Geometry:
    if registration.bars:
        return "letterboxed"
    linear = transform[:, :2]
    if same_size and np.allclose(linear, np.eye(2), atol=1e-9):
        return "identical" if np.allclose(transform[:, 2], 0, atol=1e-9) else "shifted"
    straight = max(abs(linear[0, 1]), abs(linear[1, 0])) < 0.003
    distorted = abs(linear[0, 0] / linear[1, 1] - 1) > _SAME_ASPECT
    return "scaled" if straight and not distorted else "changed"


@dataclass(frozen=True, kw_only=True)
class DifferenceTool:
    """`difference`: the judge's view of `find_differences`."""

    name: ClassVar[str] = "difference"
    description: ClassVar[str] = (
        "Compare source and edited picture at full resolution. Small shifts, resizing, tone, "
        "softness, noise and compression of the whole picture are taken out and told as remarks; "
        "what differs by more comes as a list of regions, the most evident first, each with its "
        "box_px (x1, y1, x2, y2 in pixels of the full-size source), area, strength and where it "
        "lies. edge_only marks a thin fringe along an edge that moved by less than a pixel. Crops "
        "of the first regions follow: one window, source on the left, edited on the right, plain "
        "interpolation. A region is a place to look at, not a verdict."
    )
    max_crops: int = 6
    """Regions shown as pictures."""
    max_listed: int = 20
    """Regions listed in the text."""

    def parameters(self, view: View) -> dict[str, Any]:
        """JSON schema: no arguments."""
        return {"type": "object", "properties": {}, "additionalProperties": False}

    def __call__(self, view: View, args: Mapping[str, Any]) -> ToolReply:
        """The regions as data and the first of them as pictures side by side."""
        found = view.once(differences_of)
        collapsed = max(found.changed_fraction, found.absolute_fraction) >= COLLAPSE_FRACTION
        listed = found.regions[: self.max_listed]
        shown = listed[: 1 if collapsed else self.max_crops]
        omitted = found.omitted + len(found.regions) - len(listed)
        data = {
            **found.to_json(),
            "summary": _summary(found, collapsed, len(shown), omitted),
            "regions": [_listed(region, view.size_wh) for region in listed],
            "omitted": omitted,
            "crops": len(shown),
        }
        pictures = (_side_by_side(view, region, i) for i, region in enumerate(shown, start=1))
        return ToolReply(data=data, pictures=tuple(pictures))


def _summary(found: Difference, collapsed: bool, shown: int, omitted: int) -> str:
    if collapsed:
        return (
            f"{found.changed_fraction:.0%} of the picture differs beyond noise and "
            f"{found.absolute_fraction:.0%} has a clearly different colour: most of the scene "
            "changed, so single regions mean little."
        )
    if not found.regions:
        return "no region differs by more than re-rendering noise."
    total = len(found.regions) + found.omitted
    count = "1 region differs" if total == 1 else f"{total} regions differ"
    left_out = f", {omitted} regions not listed" if omitted else ""
    return (
        f"{count} beyond noise, {found.changed_fraction:.2%} of the picture; "
        f"{shown} shown as crops{left_out}."
    )


def _listed(region: Region, size_wh: tuple[int, int]) -> dict[str, Any]:
    return {
        "box_px": list(region.box_xyxy),
        "area_px": region.area_px,
        "strength": round(region.strength, 1),
        "edge_only": region.edge_only,
        "whereabouts": whereabouts(region.box, size_wh),
    }


def _side_by_side(view: View, region: Region, number: int) -> ToolPicture:
    longer = max(region.box.width, region.box.height)
    around = region.box.grow(_CONTEXT_SHARE * longer).clip(view.size_wh)
    window = fit_window(around or region.box, view.size_wh)
    scale = min(MAX_SCALE, _PANE_PX / max(window.width, window.height))
    pair = (view.source, view.edited)
    return ToolPicture(
        label=f"difference {number}: source and edited at {[int(v) for v in window.xyxy]}",
        pixels=_beside(zoom(p, window.xyxy, margin_px=0, scale=scale).pixels for p in pair),
        native=_beside(cut_out(p, window) for p in pair),
    )


def _beside(pictures: Iterable[RGB]) -> RGB:
    left, right = pictures
    gap = np.full((left.shape[0], _GAP_PX, 3), _GAP_LEVEL, np.uint8)
    return np.hstack([left, gap, right])

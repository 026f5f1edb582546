"""What changed between a picture and its edit, seen through the noise of re-rendering.

DLEBench 4.2 gives the judge a Difference tool; its own compares grey values. Editing models render
the whole picture anew, so here one picture is first registered, toned and softened onto the other,
and what is left is measured against what re-rendering leaves at that local contrast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.records import Box
from agent_judge.tools.base import RGB, ToolPicture, ToolReply, View, whereabouts
from agent_judge.tools.evidence import weigh
from agent_judge.tools.planes import Mask, Matrix
from agent_judge.tools.regions import Patch, find_patches
from agent_judge.tools.registration import Registration, frame_onto_frame, register
from agent_judge.tools.residual import Tone, explain, lay_over, on_indices

Geometry = Literal["identical", "shifted", "scaled", "letterboxed", "changed"]

MAX_REGIONS = 64
_MAX_PIXELS = 8_000_000
_COLLAPSE_LAB = 20.0
"""Blurred Lab distance above which a pixel counts as changed whatever the noise."""
_WHITE = 255


@dataclass(frozen=True, kw_only=True)
class Region:
    """One place where the pictures differ by more than re-rendering explains."""

    box_xyxy: tuple[int, int, int, int]
    """Half-open pixels of the source."""
    area_px: int
    """Pixels of the source that changed."""
    strength: float
    """Evidence summed over the region: how far above the noise floor, times area."""
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
    transform: NDArray[np.float64] = field(compare=False)
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
        edited: uint8 RGB of any size.
        ignore: Rectangles painted white in both pictures, pixels of the source. Nothing within
            them or along their border is reported.

    Raises:
        ValueError: an array is not uint8 of shape (H, W, 3) with at least one pixel.
    """
    for name, pixels in (("source", source), ("edited", edited)):
        if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or not pixels.size:
            raise ValueError(
                f"{name} must be uint8 of shape (H, W, 3), got {pixels.dtype} {pixels.shape}"
            )
    if source.shape == edited.shape and np.array_equal(source, edited):
        return _nothing()
    masks = (_painted(source.shape, source, ignore), _painted(edited.shape, source, ignore))
    swap = _sharpness(edited) > _sharpness(source)
    pair = (edited, source) if swap else (source, edited)
    masks = masks[::-1] if swap else masks
    found = _compare(pair[0], pair[1], masks)
    return _in_source_frame(found, source, edited, swap)


@dataclass(frozen=True, kw_only=True)
class _Found:
    """The comparison in the frame of the softer picture, reduced by `factor`."""

    patches: list[Patch]
    omitted: int
    changed_fraction: float
    absolute_fraction: float
    remarks: tuple[str, ...]
    registration: Registration
    """Sharper -> softer, full resolution."""
    factor: float
    noise_level: float


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


def _painted(shape: tuple[int, ...], source: RGB, ignore: tuple[Box, ...]) -> Mask:
    height, width = shape[:2]
    mask = np.zeros((height, width), bool)
    across, down = width / source.shape[1], height / source.shape[0]
    for box in ignore:
        scaled = Box(box.x1 * across, box.y1 * down, box.x2 * across, box.y2 * down)
        part = scaled.outward().clip((width, height))
        if part is not None:
            x1, y1, x2, y2 = map(int, part.xyxy)
            mask[y1:y2, x1:x2] = True
    return mask


def _sharpness(pixels: RGB) -> tuple[int, float, bytes]:
    """A key that orders two pictures whichever comes first: size, detail, then bytes."""
    detail = cv2.Laplacian(pixels[..., 1], cv2.CV_16S)
    return pixels.shape[0] * pixels.shape[1], float(np.abs(detail).mean()), pixels.tobytes()


def _compare(sharp: RGB, soft: RGB, masks: tuple[Mask, Mask]) -> _Found:
    height, width = soft.shape[:2]
    factor = min(1.0, (_MAX_PIXELS / (height * width)) ** 0.5)
    size_wh = (max(1, round(width * factor)), max(1, round(height * factor)))
    greys = [np.asarray(cv2.cvtColor(p, cv2.COLOR_RGB2GRAY), np.uint8) for p in (sharp, soft)]
    registration = register(greys[0], greys[1], *masks)
    to_small = frame_onto_frame(soft.shape, (size_wh[1], size_wh[0]))
    motions = ((to_small @ registration.matrix)[:2], to_small[:2])
    moved, fixed = (lay_over(p, m, size_wh) for p, m in zip((sharp, soft), motions, strict=True))
    usable = _usable(motions, masks, size_wh)
    rest = explain(moved, fixed, usable)
    patches, uncounted, pixels = find_patches(weigh(rest, usable), rest, MAX_REGIONS)
    compared = max(1, int(usable.sum()))
    calm = usable & ~pixels
    noise = float(np.sqrt(np.mean(rest.luma[calm] ** 2))) if calm.any() else 0.0
    return _Found(
        patches=patches,
        omitted=uncounted,
        changed_fraction=float(pixels.sum()) / compared,
        absolute_fraction=_absolute(moved, fixed, usable),
        remarks=_remarks(rest.tone, noise, registration),
        registration=registration,
        factor=factor,
        noise_level=noise,
    )


def _usable(
    motions: tuple[Matrix, Matrix], masks: tuple[Mask, Mask], size_wh: tuple[int, int]
) -> Mask:
    """Pixels that both pictures show, a little away from the borders of masks and frames."""
    usable = np.ones((size_wh[1], size_wh[0]), np.uint8)
    for masked, motion in zip(masks, motions, strict=True):
        seen = (~masked).astype(np.uint8)
        usable &= np.asarray(
            cv2.warpAffine(seen, on_indices(motion), size_wh, flags=cv2.INTER_NEAREST), np.uint8
        )
    # What lies beyond the frame is as usable as its rim: a picture's own border needs no margin.
    padded = cv2.copyMakeBorder(usable, 4, 4, 4, 4, cv2.BORDER_REPLICATE)
    return np.asarray(cv2.erode(padded, np.ones((9, 9), np.uint8)))[4:-4, 4:-4] > 0


def _absolute(moved: RGB, fixed: RGB, usable: Mask) -> float:
    half_wh = (-(-usable.shape[1] // 2), -(-usable.shape[0] // 2))
    labs = []
    for pixels in (moved, fixed):
        small = cv2.blur(cv2.resize(pixels, half_wh, interpolation=cv2.INTER_AREA), (3, 3))
        labs.append(cv2.cvtColor(small.astype(np.float32) / 255, cv2.COLOR_RGB2Lab))
    seen = cv2.resize(usable.astype(np.uint8), half_wh, interpolation=cv2.INTER_NEAREST) > 0
    far = np.linalg.norm(labs[0] - labs[1], axis=2) > _COLLAPSE_LAB
    return float(far[seen].mean()) if seen.any() else 0.0


def _remarks(tone: Tone, noise: float, registration: Registration) -> tuple[str, ...]:
    remarks = []
    gain, offset = tone.gain, tone.offset
    if max(abs(128 * (g - 1) + o) for g, o in zip(gain, offset, strict=True)) > 2:
        remarks.append(
            "colour shift: gain "
            + ", ".join(f"{g:.2f}" for g in gain)
            + " and offset "
            + ", ".join(f"{o:+.1f}" for o in offset)
            + " on red, green, blue"
        )
    if noise > 1:
        remarks.append(f"re-rendered: {noise:.1f} grey levels of noise everywhere")
    if not registration.trusted:
        remarks.append("the pictures could not be aligned: compared frame on frame")
    return tuple(remarks)


def _in_source_frame(found: _Found, source: RGB, edited: RGB, swap: bool) -> Difference:
    forward = found.registration.matrix
    edited_to_source = np.asarray(forward if swap else np.linalg.inv(forward), np.float64)
    to_source = np.eye(3) if swap else np.linalg.inv(forward)
    to_source = to_source @ np.diag([1 / found.factor, 1 / found.factor, 1.0])
    grow = abs(float(np.linalg.det(to_source[:2, :2])))
    height, width = source.shape[:2]
    regions = []
    for patch in found.patches:
        x1, y1, x2, y2 = patch.box_xyxy
        corners = to_source[:2, :2] @ np.array([[x1, x2], [y1, y2]]) + to_source[:2, 2:]
        box = Box(*map(float, corners.T.ravel())).clip((width, height))
        if box is None:
            continue
        x1, y1, x2, y2 = (round(v) for v in box.xyxy)
        regions.append(
            Region(
                box_xyxy=(x1, y1, max(x2, x1 + 1), max(y2, y1 + 1)),
                area_px=max(1, round(patch.area_px * grow)),
                strength=patch.strength * grow**0.5,
                edge_only=patch.fringe,
            )
        )
    return Difference(
        regions=tuple(regions),
        omitted=found.omitted,
        changed_fraction=found.changed_fraction,
        absolute_fraction=found.absolute_fraction,
        remarks=found.remarks,
        geometry=_geometry(edited_to_source, source.shape, edited.shape, found.registration.bars),
        transform=edited_to_source[:2],
        noise_level=found.noise_level,
    )


def _geometry(
    matrix: Matrix, source_hw: tuple[int, ...], edited_hw: tuple[int, ...], bars: bool
) -> Geometry:
    if bars:
        return "letterboxed"
    if np.allclose(matrix, np.eye(3), atol=1e-9) and source_hw == edited_hw:
        return "identical"
    if np.allclose(matrix[:2, :2], np.eye(2), atol=1e-9) and source_hw == edited_hw:
        return "shifted"
    straight = abs(matrix[0, 1]) < 0.003 and abs(matrix[1, 0]) < 0.003
    return "scaled" if straight and abs(matrix[0, 0] / matrix[1, 1] - 1) < 0.02 else "changed"


@dataclass(frozen=True, kw_only=True)
class DifferenceTool:
    """The judge's view of `find_differences`."""

    max_crops: int = 6
    """Regions shown as pictures."""
    max_listed: int = 20
    """Regions listed in the text."""

    @property
    def name(self) -> str:
        """The name that the judge calls."""
        return "difference"

    @property
    def description(self) -> str:
        """Prompt text: the coordinate convention and what comes back."""
        return (
            "Compares the source with the edited picture at full resolution and lists the regions "
            "that differ by more than re-rendering noise, the most evident first, each with its "
            "box [x1, y1, x2, y2] in pixels of the source. Crops of the first regions follow, "
            "source on the left and edited on the right. Global changes of tone, position or "
            "encoding come as remarks. A listed region is a place to look at, not a verdict."
        )

    def parameters(self, view: View) -> dict[str, Any]:
        """JSON schema: no arguments."""
        return {"type": "object", "properties": {}, "additionalProperties": False}

    def __call__(self, view: View, args: Mapping[str, Any]) -> ToolReply:
        """The regions as data and the first of them as pictures side by side."""
        found = find_differences(view.source, view.edited, ignore=view.masked)
        data = found.to_json()
        shown = found.regions[: self.max_crops if found.changed_fraction < 0.5 else 2]
        listed = found.regions[: self.max_listed]
        data["regions"] = [
            {
                "box_px": list(r.box_xyxy),
                "area_px": r.area_px,
                "strength": round(r.strength, 1),
                "edge_only": r.edge_only,
                "whereabouts": whereabouts(r.box, view.size_wh),
            }
            for r in listed
        ]
        data["omitted"] = found.omitted + len(found.regions) - len(listed)
        data["summary"] = _summary(found, len(shown), data["omitted"])
        pictures = tuple(_side_by_side(view, r, i) for i, r in enumerate(shown, start=1))
        return ToolReply(data=data, pictures=pictures)


def _summary(found: Difference, shown: int, omitted: int) -> str:
    if found.changed_fraction >= 0.5 or found.absolute_fraction >= 0.5:
        share = max(found.changed_fraction, found.absolute_fraction)
        return f"{share:.0%} of the picture changed: it is another or a re-rendered scene."
    if not found.regions:
        return "no region differs by more than re-rendering noise."
    count = len(found.regions) + found.omitted
    return (
        f"{count} region(s) differ, {found.changed_fraction:.2%} of the picture; "
        f"{shown} shown as crops, {omitted} not listed."
    )


def _side_by_side(view: View, region: Region, number: int) -> ToolPicture:
    longer = max(region.box.width, region.box.height)
    window = region.box.grow(max(16.0, 0.5 * longer)).clip(view.size_wh)
    x1, y1, x2, y2 = map(int, (window or region.box).xyxy)
    gap = np.full((y2 - y1, 4, 3), _WHITE, np.uint8)
    pixels = np.hstack([view.source[y1:y2, x1:x2], gap, view.edited[y1:y2, x1:x2]])
    label = f"difference {number}: source and edited at [{x1}, {y1}, {x2}, {y2}]"
    return ToolPicture(label=label, pixels=pixels)

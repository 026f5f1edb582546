"""Enhancer: a crop at four times its size by Real-ESRGAN (DLEBench 4.2).

Super-resolution invents texture. So the plain enlargement stands beside it, the colours are held
to those of the crop, and the reply says that enhanced texture proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np

from agent_judge.errors import ToolError
from agent_judge.records import Box
from agent_judge.tools.base import RGB, ToolPicture, ToolReply, View, whereabouts
from agent_judge.tools.loaded import shared_upscaler
from agent_judge.tools.super_resolution import (
    DEFAULT_NETWORK,
    SCALE,
    Floats,
    Upscaler,
    network_named,
)
from agent_judge.tools.tiles import ramp, spans
from agent_judge.tools.window import (
    BOX_SCHEMA,
    asked_box,
    cut_out,
    fit_window,
    mask_notes,
    named_picture,
)

CAUTION = "enhanced texture and lettering may be invented: they are no evidence by themselves"
_PAD_PX = 8
_GUARD_PX, _RISE_PX = 16, 32
_COLOUR_SIGMA_PX = 2.0
_COLOUR_BOUND = 1.0


@dataclass(frozen=True, kw_only=True)
class Enhanced:
    """A crop at four times its size, twice."""

    pixels: RGB
    """By the network; by interpolation when memory ran out (`fallback`)."""
    plain: RGB
    """By cubic interpolation: adds nothing."""
    fallback: bool
    """Memory ran out even for small tiles: `pixels` is `plain`."""
    notes: tuple[str, ...]
    """What the judge should know about this crop, in words."""

    @property
    def way(self) -> str:
        """How `pixels` were made, for their label."""
        return "plain interpolation (fallback)" if self.fallback else "enhanced by a network"


def enhance(pixels: RGB, upscaler: Upscaler) -> Enhanced:
    """The crop at exactly four times its width and height.

    The network runs on a padded copy, in one piece up to its tile size, beyond it in blended
    tiles. Colours coarser than some pixels are then set to those of the crop, which the networks
    shift by several grey levels otherwise.

    Args:
        pixels: uint8 RGB, shape (H, W, 3), any size from 1x1.
        upscaler: A loaded network.
    """
    height, width = pixels.shape[:2]
    size_wh = (width * SCALE, height * SCALE)
    plain = np.asarray(cv2.resize(pixels, size_wh, interpolation=cv2.INTER_CUBIC), np.uint8)
    upscaled, notes = _run_or_halve(_pad(pixels), upscaler)
    if upscaled is None:
        return Enhanced(pixels=plain, plain=plain, fallback=True, notes=notes)
    edge = _PAD_PX * SCALE
    inner = upscaled[edge : edge + size_wh[1], edge : edge + size_wh[0]]
    levels = np.clip(_hold_colours(inner * 255, pixels), 0, 255).round().astype(np.uint8)
    shift = np.abs(levels.mean((0, 1)) - pixels.mean((0, 1))).max()
    if shift > _COLOUR_BOUND:
        notes = (*notes, f"its mean colour is off by {shift:.1f} of 255 levels")
    return Enhanced(pixels=levels, plain=plain, fallback=False, notes=notes)


def _pad(pixels: RGB) -> Floats:
    """With a mirrored frame: the network needs surroundings, and small crops have none."""
    sides = (_PAD_PX,) * 4
    padded = cv2.copyMakeBorder(pixels, *sides, cv2.BORDER_REFLECT)
    return np.divide(padded, 255, dtype=np.float32)


def _run_or_halve(pixels: Floats, upscaler: Upscaler) -> tuple[Floats | None, tuple[str, ...]]:
    """The network's output, with smaller tiles when memory runs out; None when that fails too."""
    try:
        return _run_tiled(pixels, upscaler, upscaler.tile_px), ()
    except MemoryError:
        smaller = max(128, min(upscaler.tile_px, max(pixels.shape[:2])) // 2)
    try:
        upscaled = _run_tiled(pixels, upscaler, smaller)
    except MemoryError:
        return None, ("memory ran out: this is plain interpolation, not the network's picture",)
    return upscaled, (f"memory ran out in one piece: made of tiles of {smaller} px",)


def _run_tiled(pixels: Floats, upscaler: Upscaler, tile_px: int) -> Floats:
    height, width = pixels.shape[:2]
    if max(height, width) <= tile_px:
        return upscaler.run(pixels)
    total = np.zeros((height * SCALE, width * SCALE, 3), np.float32)
    weight = np.zeros((height * SCALE, width * SCALE, 1), np.float32)
    overlap = 2 * _GUARD_PX + _RISE_PX
    for y1, y2 in spans(height, tile_px, overlap):
        for x1, x2 in spans(width, tile_px, overlap):
            share = _share(y1, y2, height)[:, None, None] * _share(x1, x2, width)[None, :, None]
            at = np.s_[y1 * SCALE : y2 * SCALE, x1 * SCALE : x2 * SCALE]
            total[at] += upscaler.run(pixels[y1:y2, x1:x2]) * share
            weight[at] += share
    return np.divide(total, weight, dtype=np.float32)


def _share(start: int, stop: int, length: int) -> Floats:
    """Blending weights along one side of a tile, in pixels of the output."""
    span = (start * SCALE, stop * SCALE)
    return ramp(span, length * SCALE, _GUARD_PX * SCALE, _RISE_PX * SCALE)


def _hold_colours(upscaled: Floats, pixels: RGB) -> Floats:
    """`upscaled` (0 to 255) with its low frequencies taken from `pixels`."""
    height, width = pixels.shape[:2]
    shrunk = cv2.resize(upscaled, (width, height), interpolation=cv2.INTER_AREA)
    missing = cv2.GaussianBlur(
        pixels - shrunk, (0, 0), _COLOUR_SIGMA_PX, borderType=cv2.BORDER_REPLICATE
    )
    size_wh = (width * SCALE, height * SCALE)
    return np.asarray(upscaled + cv2.resize(missing, size_wh, interpolation=cv2.INTER_LINEAR))


@dataclass(frozen=True, kw_only=True)
class EnhanceTool:
    """`enhance`: a sharper look at a crop, with its price and its limits."""

    network: str = DEFAULT_NETWORK
    """As in `super_resolution.network_named`."""
    device: str = "auto"
    """`cpu`, `cuda` or `auto`."""

    name: ClassVar[str] = "enhance"

    @property
    def description(self) -> str:
        """Prompt text."""
        return (
            "Enlarge a part of a picture four times by a super-resolution network (Real-ESRGAN), "
            "for parts too small or soft to make out. Two pictures come back: the network's and "
            "the plain enlargement of the same part. The network sharpens outlines but may invent "
            "texture and lettering: what only its picture shows is no evidence. Enhance source "
            "and edited alike before comparing them. Without box the whole picture is taken, at "
            f"most {network_named(self.network).max_pixels} pixels. The reply names the part that "
            "is shown (box_px: x1, y1, x2, y2 in pixels of the full-size picture)."
        )

    def parameters(self, view: View) -> dict[str, Any]:
        """JSON schema of the arguments."""
        return {
            "type": "object",
            "properties": {
                "picture": {"type": "string", "enum": list(view.names)},
                "box": dict(BOX_SCHEMA),
            },
            "required": ["picture"],
            "additionalProperties": False,
        }

    def __call__(self, view: View, args: Mapping[str, Any]) -> ToolReply:
        """The part `args["box"]`, or all, of `args["picture"]`, four times as large.

        Raises:
            ToolError: no such picture, no such box, or more pixels than the network may take.
        """
        name, pixels = named_picture(view, args)
        window = _window(view, args.get("box"))
        self._check_cost(window, view)
        upscaler = shared_upscaler(self.network, self.device)
        result = enhance(cut_out(pixels, window), upscaler)
        box_px = [int(v) for v in window.xyxy]
        where = whereabouts(window, view.size_wh)
        part = f"{name}, pixels {box_px} of {view.size_wh[0]}x{view.size_wh[1]}"
        seconds = window.area / 1e6 * upscaler.network.seconds_per_megapixel
        runtime = f"{upscaler.runtime} on {upscaler.device}"
        data = {
            "picture": name,
            "picture_size": list(view.size_wh),
            "box_px": box_px,
            "where": where,
            "scale": SCALE,
            "network": f"Real-ESRGAN {upscaler.network.name}, {runtime}",
            "fallback": result.fallback,
            "cost": f"{window.area:.0f} px, about {seconds:.2g} s on two CPU cores",
            "notes": [*result.notes, *mask_notes(view, window), CAUTION],
            "summary": f"{name}: {window.width:.0f}x{window.height:.0f} px, centre {where}, x4",
        }
        pictures = (
            ToolPicture(label=f"{part}, x4, {result.way}", pixels=result.pixels),
            ToolPicture(label=f"{part}, x4, plain enlargement", pixels=result.plain),
        )
        return ToolReply(data=data, pictures=pictures)

    def _check_cost(self, window: Box, view: View) -> None:
        limit = network_named(self.network).max_pixels
        if window.area <= limit:
            return
        width, height = view.size_wh
        raise ToolError(
            f"{window.width:.0f}x{window.height:.0f} px of the {width}x{height} px picture are "
            f"more than the {limit} px that enhance takes: pass a smaller box"
        )


def _window(view: View, box: object) -> Box:
    if box is None:
        return Box(0, 0, *view.size_wh)
    return fit_window(asked_box(box, view.size_wh)[1], view.size_wh)

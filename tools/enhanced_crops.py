"""A tool whose every crop comes a second time, enhanced (DLEBench 4.2; off by default).

The paper enhances what Zoom-In and Difference show. That costs time and invents texture, so here
the plain crop stays and the enhanced one follows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent_judge.tools.base import Tool, ToolPicture, ToolReply, View
from agent_judge.tools.enhancer import CAUTION, enhance
from agent_judge.tools.loaded import shared_upscaler
from agent_judge.tools.super_resolution import DEFAULT_NETWORK, Upscaler

MAX_SIDE_PX = 320
"""Crops with a longer side are large enough to see and too large to send four times as large."""


@dataclass(frozen=True, kw_only=True)
class EnhancedCrops:
    """`tool`, with each of its crops also enhanced."""

    tool: Tool
    network: str = DEFAULT_NETWORK
    """As in `super_resolution.network_named`."""
    device: str = "auto"
    """`cpu`, `cuda` or `auto`."""

    @property
    def name(self) -> str:
        """The tool's own name."""
        return self.tool.name

    @property
    def description(self) -> str:
        """The tool's own description, and what is added."""
        return f"{self.tool.description} Small crops come a second time, enhanced: {CAUTION}."

    def parameters(self, view: View) -> dict[str, Any]:
        """The tool's own arguments."""
        return self.tool.parameters(view)

    def __call__(self, view: View, args: Mapping[str, Any]) -> ToolReply:
        """The tool's reply with enhanced crops.

        Raises:
            ToolError: the tool's own.
        """
        return with_enhanced_crops(
            self.tool(view, args), shared_upscaler(self.network, self.device)
        )


def with_enhanced_crops(reply: ToolReply, upscaler: Upscaler) -> ToolReply:
    """The reply with an enhanced copy after each picture that is small enough.

    Every picture of a reply is treated alike, so source and edited stay comparable.
    """
    pictures = tuple(p for picture in reply.pictures for p in _twice(picture, upscaler))
    added = len(pictures) - len(reply.pictures)
    return ToolReply(data={**reply.data, "enhanced_crops": added}, pictures=pictures)


def _twice(picture: ToolPicture, upscaler: Upscaler) -> Iterator[ToolPicture]:
    yield picture
    pixels = picture.pixels if picture.native is None else picture.native
    if max(pixels.shape[:2]) > MAX_SIDE_PX:
        return
    done = enhance(pixels, upscaler)
    told = "; ".join((f"{picture.label}; the same part, x4, {done.way}", *done.notes))
    yield ToolPicture(label=told, pixels=done.pixels)

"""The judge's tools, all in one place."""

from __future__ import annotations

from agent_judge.tools.base import Tool
from agent_judge.tools.difference import DifferenceTool
from agent_judge.tools.enhanced_crops import EnhancedCrops
from agent_judge.tools.enhancer import EnhanceTool
from agent_judge.tools.grounding import GroundingTool
from agent_judge.tools.super_resolution import DEFAULT_NETWORK
from agent_judge.tools.zoom_in import ZoomInTool

TOOLS_REVISION = 1
"""Goes up with every change of a tool that can change a verdict: a run is bound to it."""


def build_tools(
    *,
    enhance_crops: bool = False,
    max_crops: int = 6,
    detector: str | None = None,
    enhancer: str = DEFAULT_NETWORK,
    device: str = "auto",
) -> tuple[Tool, ...]:
    """The four tools of the protocol, in the order in which the judge is told of them.

    Args:
        enhance_crops: Show every small crop of zoom_in and difference enhanced as well, as the
            paper does (DLEBench 4.2).
        max_crops: Crops in one reply of difference.
        detector: Weights of the grounding detector: a known name, a file or a folder; None for
            none, then grounding says that it is not available.
        enhancer: Weights of the super-resolution network: `animevideov3`, `x4plus`, a known name
            or a `.pth` file.
        device: Where networks run: `cpu`, `cuda` or `auto`.
    """
    zoom_in: Tool = ZoomInTool()
    difference: Tool = DifferenceTool(max_crops=max_crops)
    if enhance_crops:
        zoom_in = EnhancedCrops(tool=zoom_in, network=enhancer, device=device)
        difference = EnhancedCrops(tool=difference, network=enhancer, device=device)
    grounding = GroundingTool(weights=detector, device=device)
    return grounding, zoom_in, difference, EnhanceTool(network=enhancer, device=device)

"""Grounding: where in a picture phrases point to, as boxes (DLEBench 4.2, GroundingDINO)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from agent_judge.errors import ToolError
from agent_judge.tools.base import ToolReply, View
from agent_judge.tools.window import BOX_SCHEMA, named_picture

MAX_PHRASES = 8


@dataclass(frozen=True, kw_only=True)
class GroundingTool:
    """`grounding`: candidate boxes for phrases."""

    weights: str | None = None
    """A known name, a file or a folder; None where there is no detector."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto` for the better of the two that is there."""

    name: ClassVar[str] = "grounding"

    @property
    def description(self) -> str:
        """Prompt text."""
        missing = "" if self.weights else "NOT AVAILABLE in this run: search with zoom_in. "
        return missing + (
            "Find candidates for things named by short phrases (nouns with attributes). "
            "Each candidate comes with its phrase, a score, its box (box_px: x1, y1, x2, y2 in "
            "pixels of the full-size picture) and where it lies. The detector misses small "
            "things: no box does not mean that the thing is absent, and a box may be wrong, so "
            "look with zoom_in. It does not understand position words such as left or behind. "
            "region limits the search to a part of the picture and looks at it more closely."
        )

    def parameters(self, view: View) -> dict[str, Any]:
        """JSON schema of the arguments."""
        return {
            "type": "object",
            "properties": {
                "picture": {"type": "string", "enum": list(view.names)},
                "phrases": {
                    "type": "array",
                    "items": {"type": "string"},
                    "minItems": 1,
                    "maxItems": MAX_PHRASES,
                },
                "region": dict(BOX_SCHEMA),
            },
            "required": ["picture", "phrases"],
            "additionalProperties": False,
        }

    def __call__(self, view: View, args: Mapping[str, Any]) -> ToolReply:
        """Candidates for `args["phrases"]` in `args["picture"]` or a region of it.

        Raises:
            ToolError: there is no detector here, or the arguments do not fit the picture.
        """
        named_picture(view, args)
        raise ToolError(
            "grounding is not available in this run: search with zoom_in instead. "
            "(To have it: pip install 'agent-judge[models]', agent-judge weights fetch "
            "groundingdino-swint, and set tools.detector to groundingdino-swint.)"
        )

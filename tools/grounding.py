"""Grounding: where in a picture phrases point to, as boxes (DLEBench 4.2, GroundingDINO)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from agent_judge.errors import ToolError
from agent_judge.records import Box
from agent_judge.tools.base import ToolReply, View, whereabouts
from agent_judge.tools.detector import plain_words
from agent_judge.tools.tiled_search import Found, Search, search
from agent_judge.tools.window import BOX_SCHEMA, asked_box, named_picture

MAX_PHRASES = 8
MAX_CANDIDATES = 20
LEGIBLE_PX = 16
"""Side of a thing on the detector's picture below which it is easily missed."""
_POSITION_WORDS = re.compile(
    r"\b(left|right|top|bottom|upper|lower|middle|cent(re|er)|front|back|behind|above|below|under"
    r"|over|between|near(est)?|farthest|(left|right)most|next|first|second|third|last)\b"
)


@dataclass(frozen=True, kw_only=True)
class GroundingTool:
    """`grounding`: candidate boxes for phrases."""

    weights: str | None = None
    """A known name, a file, a folder or a hub name; None where there is no detector."""
    device: str = "auto"
    """`cpu`, `cuda` or `auto`."""

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
            WeightsError: the detector's weights are missing or damaged.
        """
        from agent_judge.tools.loaded import shared_detector

        name, pixels = named_picture(view, args)
        phrases = _phrases(args.get("phrases"))
        region = None
        if args.get("region") is not None:
            region = asked_box(args["region"], view.size_wh)[1].outward()
        detector = shared_detector(self.weights, self.device)
        result = search(pixels, phrases, detector, region)
        return ToolReply(data=reply_data(result, name, phrases, view.size_wh, detector.name))


def _phrases(asked: object) -> list[str]:
    """The phrases; of those that are one to the detector, the first.

    Raises:
        ToolError: they are none, too many, no text, or one names nothing.
    """
    if not isinstance(asked, list | tuple) or not all(isinstance(p, str) for p in asked):
        raise ToolError(f"phrases must be a list of texts, got {asked!r}")
    first: dict[str, str] = {}
    for phrase in asked:
        first.setdefault(plain_words(phrase), phrase)
    phrases = list(first.values())
    if not 1 <= len(phrases) <= MAX_PHRASES:
        raise ToolError(f"pass 1 to {MAX_PHRASES} phrases, got {len(phrases)}")
    return phrases


def reply_data(
    result: Search,
    picture: str,
    phrases: Sequence[str],
    size_wh: tuple[int, int],
    detector: str,
) -> dict[str, Any]:
    """What the judge is told of a search, as JSON types."""
    listed = result.found[:MAX_CANDIDATES]
    closest = max(look.scale for look in result.looks)
    missing = [p for p in phrases if all(f.phrase != p for f in result.found)]
    notes = [
        f"at its closest look the detector saw the picture at x{closest:.3g}: "
        f"things under about {max(1, LEGIBLE_PX / closest):.0f} px are easily missed"
    ]
    if missing:
        notes.append(
            f"no box found for {missing}: that does not mean it is absent; "
            f"search with zoom_in, or pass a smaller region"
        )
    if any(_POSITION_WORDS.search(phrase.lower()) for phrase in phrases):
        notes.append(
            "the detector does not understand position words: it lists every candidate, "
            "choose by where they lie"
        )
    return {
        "picture": picture,
        "picture_size": list(size_wh),
        "searched_box_px": [int(v) for v in result.looks[0].window.xyxy],
        "candidates": [_candidate(found, size_wh) for found in listed],
        "omitted": len(result.found) - len(listed),
        "looks": len(result.looks),
        "closest_scale": round(closest, 3),
        "detector": detector,
        "notes": notes,
        "summary": f"{picture}: {len(result.found)} candidate(s) for {list(phrases)}",
    }


def _candidate(found: Found, size_wh: tuple[int, int]) -> dict[str, Any]:
    return {
        "phrase": found.phrase,
        "score": found.score,
        "box_px": _outward_tenths(found.box),
        "where": whereabouts(found.box, size_wh),
        "seen_in_box_px": [int(v) for v in found.look.window.xyxy],
        "seen_at_scale": round(found.look.scale, 3),
    }


def _outward_tenths(box: Box) -> list[float]:
    """Rounded away from the middle: the thinnest box stays one that can be asked for again."""
    x1, y1, x2, y2 = (10 * v for v in box.xyxy)
    return [math.floor(x1) / 10, math.floor(y1) / 10, math.ceil(x2) / 10, math.ceil(y2) / 10]

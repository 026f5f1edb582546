"""What flows through the house: Box, Sample, Evidence, Verdict, Record. All frozen.

Coordinates are float xyxy pixels of the upright source picture unless a name says otherwise:
x to the right, y down, half-open.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self

from agent_judge.remote import path_of

Criterion = str
"""One of a protocol's criteria, such as `IF`; no two protocols share a name."""
Mode = Literal["tool", "oracle", "direct"]
PictureName = Literal["source", "edited", "reference"]
BoxFormat = Literal["xyxy", "xywh", "xyxy_norm", "xyxy_1000", "yxyx_1000"]
EditType = Literal["color", "material", "shape", "ocr", "count", "replacement", "removal", "other"]
Status = Literal["scored", "missing_output", "invalid_image", "unscored"]
Reason = Literal[
    "invalid_source",
    "invalid_box",
    "geometry_changed",
    "refused",
    "blocked",
    "unparseable",
    "inconsistent",
    "truncated",
    "transport",
    "timeout",
    "endpoint_rejected",
    "step_limit",
    "budget",
    "context_limit",
    "tool_failure",
    "needs_lmm",
    "internal_error",
]


@dataclass(frozen=True)
class Box:
    """A rectangle `x1, y1, x2, y2` in pixels of the picture that the context names, half-open."""

    x1: float
    y1: float
    x2: float
    y2: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(v) for v in self.xyxy):
            raise ValueError(f"box coordinates must be finite, got {self.xyxy}")
        if self.x2 <= self.x1 or self.y2 <= self.y1:
            raise ValueError(f"box must have x2 > x1 and y2 > y1, got {self.xyxy}")

    @property
    def xyxy(self) -> tuple[float, float, float, float]:
        """`(x1, y1, x2, y2)`."""
        return (self.x1, self.y1, self.x2, self.y2)

    @property
    def width(self) -> float:
        """`x2 - x1`, in pixels."""
        return self.x2 - self.x1

    @property
    def height(self) -> float:
        """`y2 - y1`, in pixels."""
        return self.y2 - self.y1

    @property
    def area(self) -> float:
        """`width * height`, in square pixels."""
        return self.width * self.height

    def grow(self, margin_px: float) -> Box:
        """The box with `margin_px` added on each side, not clipped.

        Example:
            >>> Box(10, 20, 30, 40).grow(5).xyxy
            (5, 15, 35, 45)
        """
        return Box(
            self.x1 - margin_px, self.y1 - margin_px, self.x2 + margin_px, self.y2 + margin_px
        )

    def clip(self, size_wh: tuple[int, int]) -> Box | None:
        """The part of the box inside a picture of `size_wh`, or None when there is none.

        Example:
            >>> Box(-5, 2, 8, 50).clip((10, 20)).xyxy
            (0, 2, 8, 20)
        """
        width, height = size_wh
        x1, y1 = max(self.x1, 0), max(self.y1, 0)
        x2, y2 = min(self.x2, width), min(self.y2, height)
        return Box(x1, y1, x2, y2) if x2 > x1 and y2 > y1 else None

    def outward(self) -> Box:
        """The smallest box with whole coordinates that holds this one.

        Example:
            >>> Box(0.2, 1.0, 3.5, 4.1).outward().xyxy
            (0, 1, 4, 5)
        """
        return Box(math.floor(self.x1), math.floor(self.y1), math.ceil(self.x2), math.ceil(self.y2))

    def iou(self, other: Box) -> float:
        """Intersection over union with `other`, 0 to 1.

        Example:
            >>> Box(0, 0, 2, 2).iou(Box(1, 0, 3, 2))
            0.3333333333333333
        """
        width = min(self.x2, other.x2) - max(self.x1, other.x1)
        height = min(self.y2, other.y2) - max(self.y1, other.y1)
        if width <= 0 or height <= 0:
            return 0.0
        shared = width * height
        return shared / (self.area + other.area - shared)

    def union(self, other: Box) -> Box:
        """The smallest box that holds both."""
        return Box(
            min(self.x1, other.x1),
            min(self.y1, other.y1),
            max(self.x2, other.x2),
            max(self.y2, other.y2),
        )


def covered_area(boxes: Sequence[Box]) -> float:
    """Area of the union of boxes, in square pixels: what two boxes share counts once.

    Example:
        >>> covered_area([Box(0, 0, 2, 2), Box(1, 0, 3, 2)])
        6
    """
    xs = sorted({x for box in boxes for x in (box.x1, box.x2)})
    ys = sorted({y for box in boxes for y in (box.y1, box.y2)})
    return sum(
        (x2 - x1) * (y2 - y1)
        for x1, x2 in itertools.pairwise(xs)
        for y1, y2 in itertools.pairwise(ys)
        if any(b.x1 <= x1 and x2 <= b.x2 and b.y1 <= y1 and y2 <= b.y2 for b in boxes)
    )


def _four_numbers(box: Sequence[float]) -> tuple[float, float, float, float]:
    if len(box) != 4 or not all(math.isfinite(v) for v in box):
        raise ValueError(f"a box must be four finite numbers, got {box!r}")
    return (box[0], box[1], box[2], box[3])


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One row of a manifest: a picture pair and what was asked for."""

    id: str
    """Unique in its manifest."""
    source: Path
    """The picture before the edit."""
    edited: Path
    """The editing model's output; it may be missing, which is a fate of its own."""
    instruction: str
    """What the editing model was told to do."""
    item: str = ""
    """Pairing key across editing models; the id when not given."""
    reference: Path | None = None
    """A picture of one right edit."""
    type: EditType | None = None
    """Instruction type."""
    boxes: tuple[tuple[float, float, float, float], ...] | None = None
    """Target boxes as written, in `box_format`; None when the row has none."""
    box_format: BoxFormat = "xyxy"
    """How the four numbers of each box are meant."""
    box_frame: tuple[int, int] | None = None
    """`(width, height)` of the picture that the boxes were drawn on, when it is not the source."""
    targets: tuple[str, ...] = ()
    """Phrases that name the targets."""
    editor: str = ""
    """Name of the editing model."""
    source_caption: str | None = None
    """A sentence about the source."""
    edited_caption: str | None = None
    """A sentence about the wanted result."""
    labels: tuple[Mapping[str, Any], ...] = ()
    """Human labels: `{"by": text, "IF": 1-4, "VC": 1-4, ...}`."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Every other key of the row."""

    def __post_init__(self) -> None:
        """Take what callers naturally write: paths as text, lists for tuples.

        Raises:
            ValueError: a box that is not four finite numbers, or a URL that names no file.
        """
        for name in ("source", "edited", "reference"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, Path):
                object.__setattr__(self, name, path_of(value))
        for name in ("targets", "labels"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.boxes is not None:
            object.__setattr__(self, "boxes", tuple(map(_four_numbers, self.boxes)))
        if not self.item:
            object.__setattr__(self, "item", self.id)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One tool call of the judge and what came back."""

    tool: str
    """The tool's name as the judge called it."""
    args: Mapping[str, Any]
    """The arguments as understood: boxes in canonical pixels."""
    text: str
    """The reply's text as the judge got it: JSON."""
    images: tuple[str, ...] = ()
    """sha256 of each picture of the reply (of its PNG file among the run's blobs)."""
    labels: tuple[str, ...] = ()
    """The text label that stood before each picture."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A level, with the answers that lead to it."""

    level: float
    """On the criterion's scale."""
    label: str
    """The level's name, as the judge answered it."""
    answers: tuple[tuple[str, str], ...]
    """(question id, answer) in the rubric's order, as far as it was walked."""
    label_only: bool = False
    """The judge named a level and answered none of the questions before it."""
    explanation: str = ""
    """The judge's reason in its own words."""
    anomalies: tuple[Mapping[str, Any], ...] = ()
    """What is wrong, where the rubric asks for it: `{what, box}`, canonical pixels or None."""
    target_box: Box | None = None
    """Where the judge saw the target; None when it did not say or was not asked."""


@dataclass(frozen=True, kw_only=True, slots=True)  # slots: a run's figures hold all its records
class Record:
    """How one (sample, criterion) ended: exactly one of the three fates. A row of `export`."""

    id: str
    item: str
    editor: str
    type: str | None
    mode: Mode
    criterion: Criterion
    status: Status
    reason: Reason | None = None
    level: float | None = None
    """On the criterion's scale; whole numbers are `int`."""
    label: str | None = None
    score_100: float | None = None
    explanation: str = ""
    """The judge's reason, or what went wrong."""
    answers: tuple[Mapping[str, str], ...] = ()
    """`{question, answer}` along the ladder (of the worst target)."""
    per_target: tuple[Mapping[str, Any], ...] = ()
    """`{box, level, label}` of each target, oracle IF; level None for an unscored target."""
    anomalies: tuple[Mapping[str, Any], ...] = ()
    """`{what, box}`, VC."""
    target_boxes: tuple[tuple[float, float, float, float], ...] = ()
    """Canonical pixels of the upright source."""
    box_origin: Literal["given", "judge"] | None = None
    area_pct: float | None = None
    """Share of the picture that the targets' boxes cover (their union), in per cent."""
    vote_levels: tuple[float | None, ...] = ()
    """The level of each vote; None for a vote without one."""
    flags: tuple[str, ...] = ()
    """Out of the closed set documented in docs/records.md."""
    notes: tuple[str, ...] = ()
    """What was done to the input, in words."""
    evidence: tuple[Evidence, ...] = ()
    judge: str = ""
    """The judge's name as asked for."""
    judge_returned_model: str | None = None
    """The model id that the endpoint returned."""
    rubric_version: str = ""
    prompt_hash: str = ""
    """sha256 of the instructions and tool schemas that the judge got."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    usd: float | None = None
    seconds: float = 0.0
    attempts: int = 0
    """Requests sent for this criterion, all rounds and retries."""
    endpoint: str = ""
    """`host[:port]` of the judge's endpoint; empty for the embedded judge."""
    mask_margin_px: float | None = None
    """Largest mask margin of the row, where a mask was painted."""
    source_sha256: str | None = None
    edited_sha256: str | None = None

    def __post_init__(self) -> None:
        if (self.status == "scored") != (self.level is not None):
            raise ValueError(f"a record has a level exactly when scored, got {self.status!r}")
        if (self.status == "unscored") != (self.reason is not None):
            raise ValueError(f"a record has a reason exactly when unscored, got {self.status!r}")

    @property
    def scored_level(self) -> float:
        """The level of a scored record, for figures: what has none must not get into them.

        Raises:
            ValueError: it was not scored.
        """
        if self.level is None:
            raise ValueError(f"expected a scored record, got {self.status!r} of {self.id!r}")
        return self.level

    @property
    def named_level(self) -> str:
        """The level with its label, such as `2 Wrong Action`; said once where both are the same.

        Raises:
            ValueError: it was not scored.
        """
        number = f"{self.scored_level:g}"
        return number if self.label in (None, number) else f"{number} {self.label}"

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON types, keys in the order of the export."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The record that `to_json` wrote."""
        values = dict(data)
        values["evidence"] = tuple(
            Evidence(
                tool=e["tool"],
                args=e["args"],
                text=e["text"],
                images=tuple(e["images"]),
                labels=tuple(e.get("labels", ())),
            )
            for e in values.get("evidence", ())
        )
        for name in ("answers", "per_target", "anomalies", "vote_levels", "flags", "notes"):
            values[name] = tuple(values.get(name, ()))
        values["target_boxes"] = tuple(tuple(b) for b in values.get("target_boxes", ()))
        return cls(**values)


def _plain(value: Any) -> Any:  # noqa: ANN401 - walks any JSON-like value
    if isinstance(value, Evidence):
        return {
            "tool": value.tool,
            "args": _plain(value.args),
            "text": value.text,
            "images": list(value.images),
            "labels": list(value.labels),
        }
    if isinstance(value, Box):
        return list(value.xyxy)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(v) for v in value]
    return value

"""Targets and conversations staged for the embedded judge, out of pictures that a test draws."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import skimage
from PIL import Image, ImageDraw, ImageFont

from agent_judge.images import RGB
from agent_judge.judges.measuring.case import Case, Verdict
from agent_judge.judges.measuring.changes import Changes
from agent_judge.judges.measuring.exhibits import Exhibits, read_exhibits
from agent_judge.judges.measuring.finding import Finding, Unsure
from agent_judge.judges.measuring.laid_over import lay_crops_over
from agent_judge.records import Box, Criterion, PictureName
from agent_judge.rubrics.prompts import picture_label, task_text
from agent_judge.rubrics.protocol import load_ladder
from tests.pictures import backdrop

Colour = tuple[int, int, int]
BOX = Box(60, 40, 100, 80)
"""The target in pictures of `SIZE_WH`."""
SIZE_WH = (160, 120)
RED, GREEN, BLUE, YELLOW = (200, 30, 35), (40, 150, 60), (40, 70, 190), (235, 205, 40)
GREY = (120, 120, 122)


def ground(seed: int = 0, size_wh: tuple[int, int] = SIZE_WH) -> RGB:
    """Soft clouds with a grain: what surrounds the target."""
    return backdrop(size_wh, seed)


def photograph(size_wh: tuple[int, int] = (320, 240), at: tuple[int, int] = (150, 0)) -> RGB:
    """A part of the astronaut that ships inside scikit-image (public domain)."""
    x, y = at
    return np.ascontiguousarray(
        skimage.data.astronaut()[y : y + size_wh[1], x : x + size_wh[0], :3]
    )


def drawn(pixels: RGB, kind: str, box: Box, colour: Colour) -> RGB:
    """The picture with an ellipse, a rectangle or a triangle in a box."""
    image = Image.fromarray(pixels)
    draw = ImageDraw.Draw(image)
    x1, y1, x2, y2 = box.xyxy
    if kind == "triangle":
        draw.polygon([((x1 + x2) / 2, y1), (x2 - 1, y2 - 1), (x1, y2 - 1)], fill=colour)
    else:
        getattr(draw, kind)((x1, y1, x2 - 1, y2 - 1), fill=colour)
    return np.asarray(image).copy()


def disc(pixels: RGB, colour: Colour, box: Box = BOX) -> RGB:
    """The picture with a flat disc on it."""
    return drawn(pixels, "ellipse", box, colour)


def shaded(pixels: RGB, colour: Colour, box: Box = BOX, waves: float = 3.0) -> RGB:
    """The picture with a disc whose light comes and goes: detail that an edit should keep."""
    height, width = pixels.shape[:2]
    light = 1 + 0.35 * np.sin(np.linspace(0, waves * 2 * np.pi, int(box.width)))
    lit = np.ones((height, width, 1))
    lit[:, int(box.x1) : int(box.x2), 0] = light
    painted = np.clip(lit * np.array(colour), 0, 255)
    inside = disc(np.zeros_like(pixels), (255, 255, 255), box) > 0
    return np.where(inside, painted, pixels).astype(np.uint8)


def patterned(pixels: RGB, pattern: str, box: Box = BOX, cell_px: int = 5) -> RGB:
    """The picture with black and white stripes, bars or chequers in a box."""
    y, x = np.mgrid[0 : pixels.shape[0], 0 : pixels.shape[1]] // cell_px % 2
    on = {"stripes": y, "bars": x, "chequers": x ^ y}[pattern]
    out = pixels.copy()
    rows, columns = slice(int(box.y1), int(box.y2)), slice(int(box.x1), int(box.x2))
    out[rows, columns] = np.where(on, 240, 20)[rows, columns, None]
    return out


def plate(
    pixels: RGB,
    word: str,
    box: Box,
    ink: Colour = (25, 30, 60),
    paper: Colour = (238, 236, 225),
    fullness: float = 0.7,
) -> RGB:
    """The picture with a plate on it that carries a word."""
    image = Image.fromarray(drawn(pixels, "rectangle", box, paper))
    x, y = (box.x1 + box.x2) / 2, (box.y1 + box.y2) / 2
    font = ImageFont.load_default(fullness * box.height)
    ImageDraw.Draw(image).text((x, y), word, fill=ink, font=font, anchor="mm")
    return np.asarray(image).copy()


def rendered_anew(pixels: RGB, quality: int = 80) -> RGB:
    """The picture as JPEG keeps it."""
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=quality)
    return np.asarray(Image.open(out).convert("RGB"))


def changes(
    source: RGB, edited: RGB, reference: RGB | None = None, boxes: Sequence[Box] = (BOX,)
) -> Changes:
    """How the target changed."""
    return Changes(laid=lay_crops_over(source, edited, reference, boxes))


def case(
    source: RGB,
    edited: RGB,
    reference: RGB | None = None,
    *,
    asked: str = "",
    boxes: Sequence[Box] = (BOX,),
    boxed: bool = True,
) -> Case:
    """What a rule is given."""
    measured = changes(source, edited, reference, boxes)
    return Case(instruction=asked, changes=measured, boxed=boxed)


def exhibits(
    criterion: Criterion,
    source: RGB,
    edited: RGB,
    reference: RGB | None = None,
    *,
    asked: str = "",
    kind: str | None = None,
    targets: Sequence[Box] | None = None,
    white: Sequence[Box] | None = None,
) -> Exhibits:
    """What a conversation shows."""
    shown = conversation(
        criterion,
        source,
        edited,
        reference,
        asked=asked,
        kind=kind,
        targets=targets,
        white=white,
    )
    return read_exhibits(*shown)


def conversation(
    criterion: Criterion,
    source: RGB,
    edited: RGB,
    reference: RGB | None = None,
    *,
    asked: str = "",
    kind: str | None = None,
    targets: Sequence[Box] | None = None,
    white: Sequence[Box] | None = None,
) -> tuple[list[dict[str, Any]], Callable[[str], RGB]]:
    """The messages, and where their pictures lead."""
    pictures: dict[PictureName, RGB] = {"source": source, "edited": edited}
    if reference is not None:
        pictures["reference"] = reference
    task: dict[str, Any] = {"criterion": criterion, "instruction": asked}
    if kind is not None:
        task["type"] = kind
    for key, boxes in (("targets_px", targets), ("white_px", white)):
        if boxes is not None:
            task[key] = [list(box.xyxy) for box in boxes]
    content: list[dict[str, Any]] = [{"type": "text", "text": task_text(task)}]
    for name, pixels in pictures.items():
        label = picture_label(name, (pixels.shape[1], pixels.shape[0]))
        content.append({"type": "text", "text": label})
        content.append({"type": "image_url", "image_url": {"url": f"picture:{name}"}})
    messages = [{"role": "user", "content": content}]
    return messages, {f"picture:{name}": pixels for name, pixels in pictures.items()}.__getitem__


def level(verdict: Verdict | None, criterion: Criterion = "IF") -> int | None:
    """The level that a finding walks to; None where the judge abstains."""
    if verdict is None or isinstance(verdict, Unsure):
        return None
    assert isinstance(verdict, Finding)
    return load_ladder(criterion).walk(verdict.answers)

"""A picture as a data URL at the size that the endpoint really uses."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from PIL import Image

from agent_judge.images import RGB, encode_png
from agent_judge.judges.coordinates import Convention


@dataclass(frozen=True)
class Form:
    """How pictures are encoded."""

    format: Literal["png", "jpeg"]
    quality: int = 95
    scale: float = 1.0
    """On top of the convention's own scale; below 1 only where a body would be too large."""

    def __str__(self) -> str:
        if self.format == "png":
            return "PNG"
        size = "" if self.scale == 1 else f" at {self.scale:g} of their size"
        return f"JPEG of quality {self.quality}{size}"


LOSSLESS = Form("png")
FORMS: tuple[Form, ...] = (
    LOSSLESS,
    Form("jpeg", 95),
    Form("jpeg", 85),
    Form("jpeg", 85, 0.7),
    Form("jpeg", 80, 0.5),
    Form("jpeg", 75, 0.35),
    Form("jpeg", 70, 0.25),
)
"""From the best to the smallest: the first that fits the body is taken."""


_STRIP_ROWS, _STRIPS = 16, 8
"""The size of a PNG is judged by one strip of so many rows in every so many strips."""


def data_url(pixels: RGB, form: Form, convention: Convention) -> str:
    """The picture, brought to the convention's size, as a base64 data URL.

    The declared type is that of the encoder: never of some file's name.
    """
    height, width = pixels.shape[:2]
    shown_wh = convention.shown_wh((width, height))
    wanted_wh = (
        max(1, round(shown_wh[0] * form.scale)),
        max(1, round(shown_wh[1] * form.scale)),
    )
    return url_of_bytes(_encode(_resize(pixels, wanted_wh), form), form)


def url_of_bytes(data: bytes, form: Form) -> str:
    """The data URL of a picture that is encoded already."""
    return f"data:image/{form.format};base64,{base64.b64encode(data).decode('ascii')}"


def fits_as_png(pixels: RGB, most_bytes: float, convention: Convention) -> bool:
    """Whether the picture as it is shown has a PNG of at most so many bytes, about.

    Judged by an eighth of its rows: to encode all of a large picture, only to find it too large,
    takes ten times as long as the JPEG that is then sent.
    """
    shown = _resize(pixels, convention.shown_wh((pixels.shape[1], pixels.shape[0])))
    if shown.size <= most_bytes:
        return True
    strips = np.arange(shown.shape[0]) // _STRIP_ROWS % _STRIPS == 0
    return bool(len(encode_png(shown[strips])) / strips.mean() <= most_bytes)


def _resize(pixels: RGB, size_wh: tuple[int, int]) -> RGB:
    if size_wh == (pixels.shape[1], pixels.shape[0]):
        return pixels
    smaller = size_wh[0] < pixels.shape[1]
    way = cv2.INTER_AREA if smaller else cv2.INTER_CUBIC  # area: no aliasing of fine texture
    return np.asarray(cv2.resize(pixels, size_wh, interpolation=way), dtype=np.uint8)


def _encode(pixels: RGB, form: Form) -> bytes:
    if form.format == "png":
        return encode_png(pixels)
    out = io.BytesIO()  # 4:4:4: halved chroma would blur the colour of a small target
    Image.fromarray(pixels).save(out, "JPEG", quality=form.quality, subsampling=0)
    return out.getvalue()

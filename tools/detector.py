"""What a grounding detector is: phrases in, candidate boxes out, whatever network is inside.

GroundingDINO reads all phrases as one caption and scores every box against every word of it. Here
those scores are led back to the phrases that were asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agent_judge.errors import ToolError
from agent_judge.records import Box
from agent_judge.tools.base import RGB

BOX_THRESHOLD_01 = 0.30
TEXT_THRESHOLD_01 = 0.25
"""GroundingDINO's usual thresholds: a box's best word, and the best word of its phrase."""
SHORT_SIDE_PX, LONG_SIDE_PX = 800, 1333
"""The size to which the detector brings every picture: this short side, at most this long one."""
UNKNOWN = "unknown"
"""Stands for the phrase of a box that fits none of those asked for."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A box that may show what a phrase names."""

    box: Box
    """Pixels of the picture that the detector was given, inside it."""
    phrase: str
    """One of the phrases asked for, as they were written, or `UNKNOWN`."""
    score: float
    """0 to 1; comparable within a reply only."""


class Detector(Protocol):
    """A loaded detector; safe to call from several threads."""

    @property
    def name(self) -> str:
        """Network and weights, for the reply."""

    def find(self, pictures: Sequence[RGB], phrases: Sequence[str]) -> list[tuple[Candidate, ...]]:
        """The candidates in each picture, the best first.

        Raises:
            ToolError: the phrases cannot be read, or memory ran out.
        """


@dataclass(frozen=True, kw_only=True)
class Caption:
    """Phrases as the detector reads them."""

    text: str
    """All phrases in lower case, each closed by a full stop."""
    spans: tuple[tuple[int, int], ...]
    """First and last-plus-one character of each phrase in `text`."""


def caption_of(phrases: Sequence[str]) -> Caption:
    """One caption for all phrases.

    Raises:
        ToolError: a phrase has no letter or digit.

    Example:
        >>> caption_of(["Red cup.", "japanese_fruit"])
        Caption(text='red cup . japanese fruit .', spans=((0, 7), (10, 24)))
    """
    text = ""
    spans = []
    for plain in map(plain_words, phrases):
        spans.append((len(text), len(text) + len(plain)))
        text += f"{plain} . "
    return Caption(text=text.rstrip(), spans=tuple(spans))


def plain_words(phrase: str) -> str:
    """A phrase as the detector reads it.

    Full stops, question marks and other signs would split a phrase in two for the detector, and
    underscores glue words together: both become spaces.

    Raises:
        ToolError: it has no letter or digit.
    """
    composed = unicodedata.normalize("NFC", phrase.lower()).replace("\u2019", "'")
    plain = " ".join(re.sub(r"[^\w'-]|_", " ", composed).split())
    if not re.search(r"\w", plain):
        raise ToolError(f"a phrase must name something, got {phrase!r}")
    return plain


def phrase_of_tokens(caption: Caption, offsets: Sequence[tuple[int, int]]) -> NDArray[np.intp]:
    """For every token the index of the phrase that it is part of, or -1.

    Args:
        caption: What was tokenized.
        offsets: First and last-plus-one character of each token; equal for special tokens.

    Example:
        >>> caption = caption_of(["cup", "red box"])
        >>> phrase_of_tokens(caption, [(0, 0), (0, 3), (4, 5), (6, 9), (10, 13), (0, 0)]).tolist()
        [-1, 0, -1, 1, 1, -1]
    """
    owners = np.full(len(offsets), -1, np.intp)
    for token, (start, stop) in enumerate(offsets):
        for index, (first, last) in enumerate(caption.spans):
            if first <= start < stop <= last:
                owners[token] = index
    return owners


def read_outputs(
    probabilities: Floats,
    boxes_cxcywh_01: Floats,
    owners: NDArray[np.intp],
    phrases: Sequence[str],
    size_wh: tuple[int, int],
) -> tuple[Candidate, ...]:
    """The detector's raw output as candidates, the best first.

    A box belongs to the phrase whose words it fits best on average, so that "container number"
    is not taken for "container", and carries the score of that phrase's best word.

    Args:
        probabilities: Of each token for each box, shape (boxes, tokens), 0 to 1.
        boxes_cxcywh_01: Centre and size as shares of the picture, shape (boxes, 4).
        owners: Phrase index of each token, or -1, shape (tokens,).
        phrases: As they were asked for.
        size_wh: Width and height of the picture in pixels.

    Example:
        >>> scores, boxes = np.array([[0.9]]), np.array([[0.5, 0.5, 0.2, 0.4]])
        >>> found = read_outputs(scores, boxes, np.array([0]), ["cup"], (100, 50))
        >>> found[0].box.xyxy, found[0].phrase
        ((40.0, 15.0, 60.0, 35.0), 'cup')
    """
    candidates = []
    for scores, numbers in zip(probabilities, boxes_cxcywh_01, strict=True):
        if not scores.max() >= BOX_THRESHOLD_01:
            continue
        box = _pixels(numbers, size_wh)
        if box is not None:
            phrase, score = _best_phrase(scores, owners, phrases)
            candidates.append(Candidate(box=box, phrase=phrase, score=round(score, 3)))
    return tuple(sorted(candidates, key=lambda c: -c.score))


def _pixels(cxcywh_01: Floats, size_wh: tuple[int, int]) -> Box | None:
    """Pixel corners inside the picture; None when nothing of the box lies in it."""
    centre, extent = cxcywh_01[:2].astype(float), cxcywh_01[2:].astype(float)
    if not np.isfinite(cxcywh_01).all() or (extent <= 0).any():
        return None
    corners = np.concatenate([centre - extent / 2, centre + extent / 2]) * (*size_wh, *size_wh)
    return Box(*corners.tolist()).clip(size_wh)


def _best_phrase(
    scores: Floats, owners: NDArray[np.intp], phrases: Sequence[str]
) -> tuple[str, float]:
    words = [scores[owners == i] for i in range(len(phrases))]
    legible = [i for i, own in enumerate(words) if own.size and own.max() >= TEXT_THRESHOLD_01]
    if not legible:
        return UNKNOWN, float(scores.max())
    best = max(legible, key=lambda i: words[i].mean())
    return phrases[best], float(words[best].max())


def detector_size_wh(size_wh: tuple[int, int]) -> tuple[int, int]:
    """Width and height at which the detector looks at a picture of `size_wh`.

    Example:
        >>> detector_size_wh((6000, 4000)), detector_size_wh((640, 480))
        ((1200, 800), (1066, 800))
    """
    short, long = min(size_wh), max(size_wh)
    side = min(SHORT_SIDE_PX, max(1, round(LONG_SIDE_PX * short / long)))
    return size_wh[0] * side // short, size_wh[1] * side // short


def detector_scale(size_wh: tuple[int, int]) -> float:
    """Detector pixels per pixel of a picture of `size_wh`.

    Example:
        >>> detector_scale((6000, 4000))
        0.2
    """
    return min(detector_size_wh(size_wh)) / min(size_wh)

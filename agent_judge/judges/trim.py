"""Fewer pictures in a conversation, where an endpoint takes no more.

The opening (source, edited, reference) is kept longest, then the newest look of the tools. What is
left out is said in its place, so that the judge knows that it saw it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.album import Album
from agent_judge.judges.base import Message

_LEFT_OUT = {"type": "text", "text": "(this picture is left out here to save room)"}
_GAP_PX = 16


def pictures_in(message: Message) -> list[dict[str, Any]]:
    """The picture parts of a message of ours; what a model puts into its replies is none."""
    content = message.get("content")
    parts = content if isinstance(content, list) and message.get("role") != "assistant" else []
    return [part for part in parts if part.get("type") == "image_url"]


def looks_in(messages: Sequence[Message]) -> list[int]:
    """Where the pictures of tools stand: every message with pictures after the opening."""
    return [index for index, message in enumerate(messages) if pictures_in(message)][1:]


def keep_last_looks(messages: Sequence[Message], keep: int) -> list[Message]:
    """The conversation with the pictures of only the last `keep` tool turns."""
    looks = looks_in(messages)
    dropped = set(looks[: max(0, len(looks) - keep)])
    return [_without_pictures(m) if i in dropped else m for i, m in enumerate(messages)]


def fit_pictures(messages: Sequence[Message], most: int, album: Album) -> list[Message]:
    """The conversation with at most `most` pictures.

    Older looks are left out first; then the newest look is joined into one picture, then the
    opening; where only one picture may stand, everything is joined into that one.
    """
    out = list(messages)
    for keep in range(len(looks_in(out)) - 1, 0, -1):
        if _count(out) <= most:
            return out
        out = keep_last_looks(out, keep)
    holders = [i for i, m in enumerate(out) if pictures_in(m)]
    for index in reversed(holders):
        if _count(out) <= most:
            return out
        out[index] = _joined(out[index], [out[index]], album)
    if _count(out) > most:
        first, last = holders[0], holders[-1]
        out[last] = _joined(messages[last], [messages[first], messages[last]], album)
        out[first] = _without_pictures(messages[first])
    return out


def _count(messages: Sequence[Message]) -> int:
    return sum(len(pictures_in(message)) for message in messages)


def _without_pictures(message: Message) -> Message:
    parts = [_LEFT_OUT if part.get("type") == "image_url" else part for part in message["content"]]
    return {**message, "content": parts}


def _joined(message: Message, sources: Sequence[Message], album: Album) -> Message:
    """The message with the pictures of `sources` side by side in one, told by their labels."""
    urls = [part["image_url"]["url"] for source in sources for part in pictures_in(source)]
    if len(urls) < 2:
        return message
    labels = [label for source in sources for label in _labels(source)]
    sheet = album.add_sheet(urls, side_by_side([album.pixels(url) for url in urls]))
    texts = [part for part in _without_labels(message) if part.get("type") == "text"]
    told = "; ".join(f"{n}. {label}" for n, label in enumerate(labels, start=1))
    head = {"type": "text", "text": f"Joined side by side, from left to right: {told}"}
    return {
        **message,
        "content": [*texts, head, {"type": "image_url", "image_url": {"url": sheet}}],
    }


def _labels(message: Message) -> list[str]:
    """The text before each picture."""
    parts = message["content"]
    pairs = zip([{}, *parts], parts, strict=False)
    return [before.get("text", "") for before, part in pairs if part.get("type") == "image_url"]


def _without_labels(message: Message) -> list[dict[str, Any]]:
    parts = message["content"]
    following = [*parts[1:], {}]
    return [
        p for p, after in zip(parts, following, strict=True) if after.get("type") != "image_url"
    ]


def side_by_side(pictures: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Pictures at one height, left to right, white between them.

    Args:
        pictures: uint8 RGB, shape (H, W, 3) each; the highest gives the height.
    """
    height = max(picture.shape[0] for picture in pictures)
    row: list[NDArray[np.uint8]] = []
    for picture in pictures:
        width = max(1, round(picture.shape[1] * height / picture.shape[0]))
        resized = cv2.resize(picture, (width, height), interpolation=cv2.INTER_CUBIC)
        row += [np.asarray(resized, dtype=np.uint8), np.full((height, _GAP_PX, 3), 255, np.uint8)]
    return np.hstack(row[:-1])

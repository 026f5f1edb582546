"""Fewer pictures: what is kept longest, and that nothing goes missing without a word."""

import copy
import itertools
from typing import Any

import numpy as np
import pytest

from agent_judge.album import Album
from agent_judge.judges.trim import (
    fit_pictures,
    keep_last_looks,
    looks_in,
    pictures_in,
    side_by_side,
)


def conversation(*looks: int, opening: int = 2):
    """An album and messages: an opening with pictures, then one look after the other."""
    album, numbers = Album(), itertools.count(1)

    def message(many):
        parts: list[dict[str, Any]] = []
        for _ in range(many):
            number = next(numbers)
            url = album.show(f"p{number}", np.full((10 + number, 20, 3), number, np.uint8))
            parts.append({"type": "text", "text": f"label {number}"})
            parts.append({"type": "image_url", "image_url": {"url": url}})
        return {"role": "user", "content": [{"type": "text", "text": "look:"}, *parts]}

    messages = [{"role": "system", "content": "s"}, message(opening)]
    for many in looks:
        messages += [{"role": "assistant", "content": "a"}, message(many)]
    return album, messages


def urls(messages):
    return [part["image_url"]["url"] for m in messages for part in pictures_in(m)]


def texts(messages):
    parts = [p for m in messages if isinstance(m["content"], list) for p in m["content"]]
    return " ".join(p["text"] for p in parts if p["type"] == "text")


def test_older_looks_go_first_and_it_is_said():
    _, messages = conversation(1, 2, 1)
    kept = keep_last_looks(messages, 1)
    assert urls(kept) == ["picture:p1", "picture:p2", "picture:p6"]
    assert texts(kept).count("left out") == 3
    assert "label 3" in texts(kept)


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (9, ["p1", "p2", "p3", "p4", "p5"]),
        (5, ["p1", "p2", "p3", "p4", "p5"]),
        (4, ["p1", "p2", "p4", "p5"]),
        (3, ["p1", "p2", "sheet"]),
        (2, ["sheet", "sheet"]),
        (1, ["sheet"]),
    ],
)
def test_pictures_fit_the_limit_and_the_newest_are_kept(most, expected):
    album, messages = conversation(1, 2)
    before = copy.deepcopy(messages)
    fitted = fit_pictures(messages, most, album)
    names = [url.removeprefix("picture:").partition("+")[0] for url in urls(fitted)]
    assert names == expected
    assert messages == before
    for url in urls(fitted):
        assert album.pixels(url).ndim == 3


def test_joined_pictures_are_told_by_their_labels():
    album, messages = conversation(2)
    fitted = fit_pictures(messages, 3, album)
    assert "from left to right: 1. label 3; 2. label 4" in texts(fitted)
    last = fit_pictures(messages, 1, album)
    assert "1. label 1; 2. label 2; 3. label 3; 4. label 4" in texts(last)


def test_a_conversation_without_looks_joins_its_opening():
    album, messages = conversation(opening=3)
    assert len(urls(fit_pictures(messages, 2, album))) == 1
    assert looks_in(messages) == []


def test_pictures_side_by_side_have_one_height():
    wide, high = np.zeros((10, 40, 3), np.uint8), np.full((20, 10, 3), 255, np.uint8)
    sheet = side_by_side([wide, high])
    assert sheet.shape == (20, 80 + 16 + 10, 3)
    assert sheet[:, :80].max() == 0
    assert sheet[:, 80:].min() == 255

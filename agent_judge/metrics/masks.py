"""The edited region as a mask: the union of boxes, kept as a PNG where it is asked for.

BPM segments what its detector found; without a segmenting network a box stands for its thing
(`segmenter.py` has the network).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from agent_judge.metrics.pair import Mask
from agent_judge.records import Box
from agent_judge.whole_file import written_whole

_MARKED = 255


def box_mask(boxes: Sequence[Box], size_wh: tuple[int, int]) -> Mask:
    """The union of boxes as a mask, each grown to whole pixels and clipped to the picture.

    Args:
        boxes: in pixels of the picture; a box outside it marks nothing.
        size_wh: the picture's width and height.

    Returns:
        bool, shape (H, W).

    Example:
        >>> box_mask([Box(0.5, 0, 1.5, 1), Box(3, 1, 9, 9)], (4, 2)).astype(int).tolist()
        [[1, 1, 0, 0], [0, 0, 0, 1]]
    """
    mask = np.zeros((size_wh[1], size_wh[0]), np.bool_)
    for box in boxes:
        inside = box.outward().clip(size_wh)
        if inside is not None:
            x1, y1, x2, y2 = (int(v) for v in inside.xyxy)
            mask[y1:y2, x1:x2] = True
    return mask


def write_mask(mask: Mask, path: Path) -> None:
    """Write a mask as a grey PNG, 255 where it is True and 0 elsewhere; whole or not at all.

    Args:
        mask: bool, shape (H, W).
        path: the file; its folder is made.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    grey = mask.astype(np.uint8) * np.uint8(_MARKED)
    with written_whole(path) as unfinished:
        Image.fromarray(grey).save(unfinished, format="PNG")

"""Masks by a SAM-family network of transformers: the thing inside a box instead of the box.

Torch is imported only here, while loading and running.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from agent_judge.errors import ToolError
from agent_judge.images import RGB
from agent_judge.metrics.masks import box_mask
from agent_judge.metrics.pair import Mask
from agent_judge.records import Box
from agent_judge.tools.pretrained import Checkpoint, pretrained, whole
from agent_judge.tools.torch_memory import memory_errors
from agent_judge.tools.worker import Worker

SETTING = "tools.segmenter"
LONGEST_PX = 1024
"""The network looks at no more; a larger window is made smaller before it gets it."""


@dataclass(frozen=True, kw_only=True)
class _Job:
    window: RGB
    box: tuple[float, float, float, float]
    """In pixels of the window."""


class Segmenter:
    """A loaded network that serves many callers by one worker."""

    def __init__(self, *, name: str, run: Callable[[_Job], Mask]) -> None:
        self.name = name
        self.run: Worker[_Job, Mask] = Worker(
            lambda jobs: [run(job) for job in jobs], key=lambda job: job.window.shape
        )
        """One job, in its turn."""

    def segment(self, pixels: RGB, boxes: Sequence[Box]) -> Mask:
        """The union of what the boxes show.

        The network sees a window of three times each box, because the thing in a small box would
        be a few pixels of a whole picture to it. Where it marks nothing, the box itself counts.

        Args:
            pixels: uint8 RGB, shape (H, W, 3).
            boxes: in pixels of the picture; a box outside it marks nothing.

        Returns:
            bool, shape (H, W).

        Raises:
            ToolError: memory ran out.
        """
        size_wh = (pixels.shape[1], pixels.shape[0])
        mask = np.zeros(pixels.shape[:2], np.bool_)
        for box in boxes:
            inside = box.clip(size_wh)
            window = inside and inside.grow(max(inside.width, inside.height)).outward().clip(
                size_wh
            )
            if inside is None or window is None:
                continue
            x1, y1, x2, y2 = (int(v) for v in window.xyxy)
            found = self._in_window(pixels[y1:y2, x1:x2], inside, window)
            if found.any():
                mask[y1:y2, x1:x2] |= found
            else:
                mask |= box_mask([inside], size_wh)
        return mask

    def _in_window(self, pixels: RGB, box: Box, window: Box) -> Mask:
        """What the network marks, at the window's own size."""
        height, width = pixels.shape[:2]
        scale = min(1.0, LONGEST_PX / max(width, height))
        shown = Image.fromarray(pixels)
        if scale < 1:
            shown = shown.resize(
                (max(1, round(width * scale)), max(1, round(height * scale))),
                Image.Resampling.BICUBIC,
            )
        x, y = shown.width / width, shown.height / height
        placed = (
            *((box.x1 - window.x1) * x, (box.y1 - window.y1) * y),
            *((box.x2 - window.x1) * x, (box.y2 - window.y1) * y),
        )
        try:
            found = self.run(_Job(window=np.array(shown), box=placed))
        except MemoryError as err:
            raise ToolError(f"{self.name} ran out of memory") from err
        if found.shape == (height, width):
            return found
        grown = Image.fromarray(found).resize((width, height), Image.Resampling.NEAREST)
        return np.asarray(grown, np.bool_)


def load_segmenter(name: str, device: str) -> Segmenter:
    """A network from a checkpoint of transformers: SAM, SAM-HQ, SAM 2 and their like.

    Args:
        name: a folder, or a name on the hub such as `facebook/sam-vit-base`.
        device: a torch device.

    Raises:
        ImportError: the extra `models` is not installed.
        WeightsError: there is no such checkpoint here or on the hub.
    """
    import torch

    processor, net = pretrained(
        name, Checkpoint(what="mask generation", setting=SETTING, load=_load)
    )
    net.eval().to(device)

    def run(job: _Job) -> Mask:
        inputs = processor(images=job.window, input_boxes=[[list(job.box)]], return_tensors="pt")
        sizes = {
            k: inputs.pop(k) for k in ("original_sizes", "reshaped_input_sizes") if k in inputs
        }
        inputs = {
            key: value.to(device, torch.float32 if value.is_floating_point() else value.dtype)
            for key, value in inputs.items()
        }
        with torch.inference_mode(), memory_errors():
            out = net(**inputs, multimask_output=False)
        marked = processor.post_process_masks(out.pred_masks.float().cpu(), **sizes)
        return np.asarray(marked[0][0, 0].numpy(), np.bool_)

    return Segmenter(name=name, run=run)


def _load(name: str, *, local_files_only: bool) -> tuple[Any, Any]:
    from transformers import AutoModelForMaskGeneration, AutoProcessor

    processor = AutoProcessor.from_pretrained(name, local_files_only=local_files_only)
    return processor, whole(AutoModelForMaskGeneration, name, local_files_only)

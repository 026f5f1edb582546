"""CLIP and its family (transformers) behind the Encoder interface.

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
from agent_judge.metrics.directional import Vectors
from agent_judge.tools.pretrained import Checkpoint, pretrained, whole
from agent_judge.tools.torch_memory import memory_errors
from agent_judge.tools.worker import Worker

SETTING = "tools.clip"


@dataclass(frozen=True, kw_only=True)
class _Job:
    """What is encoded together: either of the two."""

    pictures: Sequence[RGB] = ()
    texts: Sequence[str] = ()


class ClipEncoder:
    """A loaded network that serves many callers by one worker."""

    def __init__(self, *, name: str, run: Callable[[_Job], Vectors]) -> None:
        self.name = name
        self.run: Worker[_Job, Vectors] = Worker(
            lambda jobs: [run(job) for job in jobs], key=lambda _: None
        )
        """One job, in its turn."""

    def pictures(self, pictures: Sequence[RGB]) -> Vectors:
        """A unit vector for each picture, prepared as its checkpoint says.

        That of CLIP cuts out the middle square: the ends of a long crop are not seen.

        Raises:
            ToolError: memory ran out.
        """
        return self._encoded(_Job(pictures=pictures))

    def texts(self, texts: Sequence[str]) -> Vectors:
        """A unit vector for each text, of which CLIP reads the first 77 tokens.

        Raises:
            ToolError: memory ran out.
        """
        return self._encoded(_Job(texts=texts))

    def _encoded(self, job: _Job) -> Vectors:
        try:
            return self.run(job)
        except MemoryError as err:
            raise ToolError(f"{self.name} ran out of memory") from err


def load_clip(name: str, device: str) -> ClipEncoder:
    """An encoder from a checkpoint of transformers: CLIP, SigLIP and their like.

    Args:
        name: a folder, or a name on the hub such as `openai/clip-vit-large-patch14`, which is the
            one that BPM uses.
        device: a torch device.

    Raises:
        ImportError: the extra `models` is not installed.
        WeightsError: there is no such checkpoint here or on the hub.
    """
    import torch

    processor, net = pretrained(name, Checkpoint(what="CLIP-like", setting=SETTING, load=_load))
    net.eval().to(device)
    longest = net.config.text_config.max_position_embeddings

    def run(job: _Job) -> Vectors:
        if job.texts:
            # SigLIP was trained on padded texts only; to CLIP the padding makes no difference.
            words = {"padding": "max_length", "max_length": longest, "truncation": True}
            inputs, encode = processor(text=list(job.texts), **words), net.get_text_features
        else:
            shown = [Image.fromarray(pixels) for pixels in job.pictures]
            inputs, encode = processor(images=shown), net.get_image_features
        with torch.inference_mode(), memory_errors():
            out = encode(**inputs.convert_to_tensors("pt").to(device))
            # Transformers 5 wraps what 4 gave as it was.
            vectors = getattr(out, "pooler_output", out).float()
            return np.asarray((vectors / vectors.norm(dim=-1, keepdim=True)).cpu().numpy())

    return ClipEncoder(name=name, run=run)


def _load(name: str, *, local_files_only: bool) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoProcessor

    net = whole(AutoModel, name, local_files_only)
    if not hasattr(net, "get_text_features"):
        raise ValueError(f"{type(net).__name__} does not encode pictures and texts")
    return AutoProcessor.from_pretrained(name, local_files_only=local_files_only), net

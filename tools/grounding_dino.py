"""GroundingDINO behind the Detector interface, from two kinds of checkpoints.

`load_package` takes the publisher's `.pth` files by way of groundingdino-py, `load_transformers`
takes folders and hub names of transformers. Torch is imported only here, while loading.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from PIL import Image

from agent_judge.errors import ToolError, WeightsError
from agent_judge.tools.base import RGB
from agent_judge.tools.bert_adapter import text_encoder
from agent_judge.tools.checkpoint import read_checkpoint
from agent_judge.tools.detector import (
    Candidate,
    Caption,
    Floats,
    caption_of,
    detector_size_wh,
    phrase_of_tokens,
    read_outputs,
)
from agent_judge.tools.pretrained import Checkpoint, pretrained, whole
from agent_judge.tools.torch_memory import memory_errors
from agent_judge.tools.worker import Worker

MAX_BATCH = 4
_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
_STD = np.array([0.229, 0.224, 0.225], np.float32)
"""Of the RGB channels of ImageNet, 0 to 1."""
_BACKBONES = {96: "swin_T_224_1k", 128: "swin_B_384_22k"}
"""By the width of the first layer, which tells the two published networks apart."""

Forward = Callable[[Any, list[str]], tuple[Any, Any]]
"""Normalised pictures (B, 3, H, W) and B captions -> logits (B, Q, T), boxes cxcywh (B, Q, 4)."""


@dataclass(frozen=True, kw_only=True)
class _Job:
    planes: Floats
    caption: str
    tokens: int


class GroundingDino:
    """A loaded GroundingDINO that serves many callers by one worker."""

    def __init__(
        self,
        *,
        name: str,
        tokenizer: Any,  # noqa: ANN401
        forward: Forward,
        max_tokens: int,
        device: str,
    ) -> None:
        self.name = name
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._forward = forward
        self._device = device
        # On the CPU a batch gains nothing (benchmarks/tools.py) and takes more memory.
        self._worker: Worker[_Job, tuple[Floats, Floats]] = Worker(
            self._run,
            key=lambda job: (job.planes.shape, job.tokens),
            max_batch=1 if device == "cpu" else MAX_BATCH,
        )

    def find(self, pictures: Sequence[RGB], phrases: Sequence[str]) -> list[tuple[Candidate, ...]]:
        """The candidates in each picture, the best first.

        Raises:
            ToolError: the phrases are too long, or memory ran out.
        """
        caption = caption_of(phrases)
        offsets = self._offsets(caption)
        owners = phrase_of_tokens(caption, offsets)
        futures = [
            self._worker.submit(
                _Job(planes=network_input(p), caption=caption.text, tokens=len(offsets))
            )
            for p in pictures
        ]
        try:
            outputs = [future.result() for future in futures]
        except MemoryError as err:
            raise ToolError("the detector ran out of memory: search with zoom_in") from err
        finally:
            for future in futures:
                future.cancel()  # those that wait when another has failed
        return [
            read_outputs(scores[:, : len(offsets)], boxes, owners, phrases, _size_wh(picture))
            for (scores, boxes), picture in zip(outputs, pictures, strict=True)
        ]

    def _offsets(self, caption: Caption) -> list[tuple[int, int]]:
        offsets = self._tokenizer(caption.text, return_offsets_mapping=True)["offset_mapping"]
        if len(offsets) > self._max_tokens:
            raise ToolError(
                f"the phrases have {len(offsets)} tokens, at most {self._max_tokens} fit"
            )
        return [(int(start), int(stop)) for start, stop in offsets]

    def _run(self, jobs: Sequence[_Job]) -> list[tuple[Floats, Floats]]:
        import torch

        planes = torch.from_numpy(np.stack([job.planes for job in jobs])).to(self._device)
        with torch.inference_mode(), memory_errors():
            logits, boxes = self._forward(planes, [job.caption for job in jobs])
            scores = logits.float().sigmoid().cpu().numpy()
            return list(zip(scores, boxes.float().cpu().numpy(), strict=True))


def network_input(pixels: RGB) -> Floats:
    """A picture as the network was trained on it: resized and normalised, shape (3, H, W)."""
    resized = Image.fromarray(pixels).resize(
        detector_size_wh(_size_wh(pixels)), Image.Resampling.BILINEAR
    )
    normal = (np.asarray(resized, np.float32) / 255 - _MEAN) / _STD
    return np.ascontiguousarray(normal.transpose(2, 0, 1), np.float32)


def _size_wh(pixels: RGB) -> tuple[int, int]:
    return pixels.shape[1], pixels.shape[0]


def load_package(checkpoint: Path, vocabulary: Path, device: str) -> GroundingDino:
    """A detector from a checkpoint in the publisher's layout.

    A file `NAME.json` beside `NAME.pth` may name settings of the network that differ from the
    published ones (`{"num_queries": 300, "bert": {"num_hidden_layers": 6}}`).

    Args:
        checkpoint: A `.pth` file; it is read with `weights_only=True`.
        vocabulary: BERT's `vocab.txt`.
        device: A torch device.

    Raises:
        ImportError: the extra `models` is not installed.
        WeightsError: the file does not hold the weights of such a network.
    """
    from transformers import BertConfig, BertModel

    state = _state_dict(read_checkpoint(checkpoint), checkpoint)
    settings = _settings(state, checkpoint)
    bert = BertModel(BertConfig(**settings.pop("bert", {})))
    tokenizer = _tokenizer(vocabulary)
    _expect_words(tokenizer, bert.config, vocabulary)
    # The package runs under an old name of torch's; every call would warn of it.
    warnings.filterwarnings("ignore", r"`torch\.cuda\.amp\.autocast", FutureWarning)
    with text_encoder(tokenizer, bert):
        from groundingdino.models import build_model

        net = build_model(SimpleNamespace(**settings, device=device))
    try:
        missing = net.load_state_dict(state, strict=False).missing_keys
    except RuntimeError as err:  # of other sizes
        told = " ".join(str(err).split())[:200]
        raise WeightsError(f"{checkpoint} does not fit: {told}") from err
    if missing:
        raise WeightsError(f"{checkpoint} lacks {len(missing)} weights, {missing[0]!r} first")
    net.eval().to(device)

    def forward(planes: Any, captions: list[str]) -> tuple[Any, Any]:  # noqa: ANN401
        out = net(planes, captions=captions)
        return out["pred_logits"], out["pred_boxes"]

    return GroundingDino(
        name=checkpoint.stem,
        tokenizer=tokenizer,
        forward=forward,
        max_tokens=net.max_text_len,
        device=device,
    )


def _tokenizer(vocabulary: Path) -> Any:  # noqa: ANN401 - untyped package
    from transformers import BertTokenizerFast

    try:
        # By position: transformers 5 ignores the keyword and then knows no word at all.
        return BertTokenizerFast(str(vocabulary))
    except Exception as err:  # tokenizers raises just that
        raise WeightsError(f"{vocabulary} is no vocabulary: {err}") from err


def _expect_words(tokenizer: Any, bert: Any, where: object) -> None:  # noqa: ANN401
    """Complain of a tokenizer without its words: to it every phrase is the same."""
    if len(tokenizer) < bert.vocab_size / 2:
        raise WeightsError(
            f"the vocabulary of {where} has {len(tokenizer)} words, its network {bert.vocab_size}"
        )


def _state_dict(loaded: Any, checkpoint: Path) -> dict[str, Any]:  # noqa: ANN401
    if not isinstance(loaded, dict):
        raise WeightsError(f"{checkpoint} holds no weights by name")
    state = loaded.get("model", loaded)
    if not isinstance(state, dict):
        raise WeightsError(f"{checkpoint} holds no weights by name")
    return {str(name).removeprefix("module."): values for name, values in state.items()}


def _settings(state: dict[str, Any], checkpoint: Path) -> dict[str, Any]:
    """The published network's settings with those of the JSON file beside the checkpoint."""
    import groundingdino.config.GroundingDINO_SwinT_OGC as published

    first = getattr(state.get("backbone.0.patch_embed.proj.weight"), "shape", None) or (0,)
    if first[0] not in _BACKBONES:
        raise WeightsError(f"{checkpoint} is no GroundingDINO with a Swin-T or Swin-B backbone")
    settings = {k: v for k, v in vars(published).items() if not k.startswith("_")}
    settings["backbone"] = _BACKBONES[first[0]]
    # Checkpointing saves memory in training only, and warns when there is nothing to train.
    settings["use_checkpoint"] = settings["use_transformer_ckpt"] = False
    beside = checkpoint.with_suffix(".json")
    if beside.is_file():
        try:
            settings |= dict(json.loads(beside.read_text(encoding="utf-8")))
        except (TypeError, ValueError) as err:
            raise WeightsError(f"{beside} holds no settings by name: {err}") from err
    return settings


def load_transformers(name: str, device: str) -> GroundingDino:
    """A detector from a checkpoint of transformers' GroundingDino.

    Args:
        name: A folder, or a name on the hub such as `IDEA-Research/grounding-dino-tiny`, which
            transformers fetches and keeps in its own cache.
        device: A torch device.

    Raises:
        ImportError: the extra `models` is not installed.
        WeightsError: there is no such checkpoint here or on the hub.
    """
    wanted = Checkpoint(what="GroundingDino", setting="tools.detector", load=_load_transformers)
    tokenizer, net = pretrained(name, wanted)
    _expect_words(tokenizer, net.config.text_config, name)
    net.eval().to(device)

    def forward(planes: Any, captions: list[str]) -> tuple[Any, Any]:  # noqa: ANN401
        words = tokenizer(captions, return_tensors="pt").to(device)
        out = net(pixel_values=planes, **words)
        return out.logits, out.pred_boxes

    return GroundingDino(
        name=Path(name).name,
        tokenizer=tokenizer,
        forward=forward,
        max_tokens=net.config.max_text_len,
        device=device,
    )


def _load_transformers(name: str, *, local_files_only: bool) -> tuple[Any, Any]:
    from transformers import AutoTokenizer, GroundingDinoForObjectDetection

    tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=local_files_only)
    return tokenizer, whole(GroundingDinoForObjectDetection, name, local_files_only)

"""Real-ESRGAN weights out of ncnn files, under the names of the official PyTorch networks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agent_judge.errors import WeightsError

Array = NDArray[np.float32]
_TEXT_MAGIC = "7767517"
_HALF_TAG = 0x01306B47
_FULL_TAGS = (0, 0x0002C056)
_OUTPUTS, _KERNEL, _HAS_BIAS, _COUNT = 0, 1, 5, 6
"""Keys of a convolution's parameters in the text file."""


@dataclass(frozen=True, kw_only=True)
class StateDict:
    """Weights of one network, ready for PyTorch."""

    architecture: Literal["RRDBNet", "SRVGGNetCompact"]
    tensors: Mapping[str, Array]
    """By the parameter names of the official network."""


@dataclass(frozen=True, kw_only=True)
class _Layer:
    kind: str
    options: Mapping[int, str]

    def number(self, key: int) -> int:
        return int(self.options.get(key, 0))


def read_state_dict(param: Path, weights: Path) -> StateDict:
    """The weights of a Real-ESRGAN network in ncnn format.

    Args:
        param: The text file that lists the layers.
        weights: The binary file that holds their weights in the same order.

    Raises:
        WeightsError: the files are of another format, or do not belong together.
    """
    layers = _read_layers(param)
    reader = _Reader(weights)
    tensors = [group for layer in layers if (group := reader.weights_of(layer))]
    reader.expect_end()
    if any(layer.kind == "PReLU" for layer in layers):
        names: Sequence[str] = [f"body.{i}" for i in range(len(tensors))]
        return StateDict(architecture="SRVGGNetCompact", tensors=_named(names, tensors))
    return StateDict(architecture="RRDBNet", tensors=_named(_rrdb_names(len(tensors)), tensors))


def _read_layers(param: Path) -> list[_Layer]:
    magic, _counts, *lines = param.read_text(encoding="utf-8").splitlines()
    if magic.strip() != _TEXT_MAGIC:
        raise WeightsError(f"{param} is no ncnn layer list (it starts with {magic[:20]!r})")
    layers = []
    for line in lines:
        kind, _name, inputs, outputs, *rest = line.split()
        options = (word.split("=", 1) for word in rest[int(inputs) + int(outputs) :])
        layers.append(_Layer(kind=kind, options={int(key): value for key, value in options}))
    return layers


class _Reader:
    """Takes one tensor after another from a weights file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._bytes = path.read_bytes()
        self._at = 0

    def weights_of(self, layer: _Layer) -> dict[str, Array]:
        """The next tensors, as far as the layer has any."""
        if layer.kind == "PReLU":
            return {"weight": self._plain(layer.number(0), "<f4")}
        if layer.kind != "Convolution":
            return {}
        outputs, kernel = layer.number(_OUTPUTS), layer.number(_KERNEL)
        flat = self._tagged(layer.number(_COUNT))
        tensors = {"weight": flat.reshape(outputs, -1, kernel, kernel)}
        if layer.number(_HAS_BIAS):
            tensors["bias"] = self._plain(outputs, "<f4")
        return tensors

    def expect_end(self) -> None:
        """Complain about bytes that no layer asked for."""
        if self._at != len(self._bytes):
            left = len(self._bytes) - self._at
            raise WeightsError(f"{self._path} has {left} bytes more than its layers need")

    def _tagged(self, count: int) -> Array:
        tag = int(self._plain(1, "<u4")[0]) if self._at + 4 <= len(self._bytes) else -1
        if tag in _FULL_TAGS:
            return self._plain(count, "<f4")
        if tag != _HALF_TAG:
            raise WeightsError(f"{self._path}: unknown kind of weights {tag:#x} at {self._at - 4}")
        values = self._plain(count, "<f2")
        self._at += -self._at % 4
        return values

    def _plain(self, count: int, kind: str) -> NDArray[np.float32]:
        size = count * np.dtype(kind).itemsize
        if self._at + size > len(self._bytes):
            raise WeightsError(f"{self._path} ends too early: it is damaged or of other layers")
        values = np.frombuffer(self._bytes, kind, count, self._at)
        self._at += size
        return values.astype(np.float32) if kind != "<u4" else values


def _rrdb_names(count: int) -> list[str]:
    """Names of the convolutions of an RRDBNet, in the order in which they run."""
    blocks, rest = divmod(count - 6, 15)
    if rest or blocks < 1:
        raise WeightsError(f"{count} convolutions make no RRDBNet")
    body = [
        f"body.{block}.rdb{dense}.conv{conv}"
        for block in range(blocks)
        for dense in (1, 2, 3)
        for conv in (1, 2, 3, 4, 5)
    ]
    return ["conv_first", *body, "conv_body", "conv_up1", "conv_up2", "conv_hr", "conv_last"]


def _named(names: Sequence[str], tensors: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    def pairs() -> Iterator[tuple[str, Array]]:
        for name, group in zip(names, tensors, strict=True):
            for part, values in group.items():
                yield f"{name}.{part}", values

    return dict(pairs())

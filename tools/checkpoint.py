"""Reads `.pth` files: weights only, never code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_judge.errors import WeightsError


def read_checkpoint(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """What a `.pth` file holds, on the CPU.

    Raises:
        WeightsError: there is no such file, it is damaged, or it holds more than weights.
    """
    import torch

    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except OSError as err:
        raise WeightsError(f"{path} cannot be read: {err.strerror or err}") from err
    except Exception as err:  # a damaged pickle can raise anything
        raise WeightsError(
            f"{path} is damaged, or holds more than weights (it was read with weights_only=True)"
        ) from err

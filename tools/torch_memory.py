"""One way in which torch says that memory ran out."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNS = ("out of memory", "allocate memory", "ALLOC_FAILED")
"""Of CUDA, of the CPU, and of cuBLAS and cuDNN."""


@contextmanager
def memory_errors() -> Iterator[None]:
    """Turns torch's several ways into MemoryError, and gives back the memory of what failed."""
    import torch

    try:
        yield
    except RuntimeError as err:
        if not any(sign in str(err) for sign in _SIGNS):
            raise
        # The error holds its frames, and they hold every tensor that the network had made.
        traceback.clear_frames(err.__traceback__)
        torch.cuda.empty_cache()
        raise MemoryError(str(err)) from err

"""One way in which torch says that memory ran out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def memory_errors() -> Iterator[None]:
    """Turns torch's several ways into MemoryError, and gives its cached device memory back."""
    import torch

    try:
        yield
    except RuntimeError as err:
        on_device = isinstance(err, torch.OutOfMemoryError)
        if not on_device and "allocate memory" not in str(err):
            raise
        if on_device:
            torch.cuda.empty_cache()
        raise MemoryError(str(err)) from err

"""Lets basicsr 1.4.2 import with a torchvision that has no `transforms.functional_tensor`.

basicsr takes `rgb_to_grayscale` from that module, which torchvision 0.17 removed; the function
itself lives on one module further up. A test says when this file can go.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

_MISSING = "torchvision.transforms.functional_tensor"


@contextmanager
def functional_tensor() -> Iterator[None]:
    """While it is open the removed module can be imported; afterwards it is gone again.

    Deprecation warnings of the packages' own imports are kept from the user meanwhile.
    """
    from torchvision.transforms.functional import rgb_to_grayscale

    module = ModuleType(_MISSING)
    vars(module)["rgb_to_grayscale"] = rgb_to_grayscale
    sys.modules[_MISSING] = module
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        del sys.modules[_MISSING]

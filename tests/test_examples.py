"""The examples in docstrings give what they say."""

import doctest
import importlib
import pkgutil

import pytest

import agent_judge

NEED_TORCH = ("torch_runtime", "torch_memory", "grounding_dino", "bert_adapter")
MODULES = [
    module.name
    for module in pkgutil.walk_packages(agent_judge.__path__, "agent_judge.")
    if not module.name.endswith((*NEED_TORCH, "functional_tensor_adapter", "__main__"))
]


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.slow
def test_examples_hold(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0

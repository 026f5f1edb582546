"""Judges whether an image editing model edited a small object as told, and nothing else."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_judge.records import Box, Evidence, Record, Sample, Verdict
    from agent_judge.run import Run
    from agent_judge.runner import evaluate, evaluate_many
    from agent_judge.settings import Settings, load_settings

__all__ = [
    "Box",
    "Evidence",
    "Record",
    "Run",
    "Sample",
    "Settings",
    "Verdict",
    "evaluate",
    "evaluate_many",
    "load_settings",
]

_HOMES = {
    **dict.fromkeys(("Box", "Evidence", "Record", "Sample", "Verdict"), "records"),
    "Run": "run",
    **dict.fromkeys(("evaluate", "evaluate_many"), "runner"),
    **dict.fromkeys(("Settings", "load_settings"), "settings"),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - PEP 562
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

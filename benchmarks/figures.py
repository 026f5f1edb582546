"""One measured figure beside its limit or its peer, and the machine that it was measured on."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

_PACKAGES = ("agent-judge", "numpy", "opencv-python", "scikit-image", "langgraph", "openai")
HEAD = ("| what | figure | beside it | ratio |", "|---|---|---|---|")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A line of the table."""

    what: str
    value: float
    unit: str
    beside: float | None = None
    """The limit or the peer's figure, in the same unit; None where there is neither."""
    peer: str = "limit"
    """What `beside` is of."""

    def __str__(self) -> str:
        beside = ratio = ""
        if self.beside is not None:
            beside = f"{self.peer} {_short(self.beside)} {self.unit}"
            ratio = f"{self.value / self.beside:.2f}"
        return f"| {self.what} | {_short(self.value)} {self.unit} | {beside} | {ratio} |"


def _short(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def machine() -> Iterator[str]:
    """Processor, cores, how busy they are, and versions."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text(encoding="utf-8").splitlines() if facts.exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if "model name" in line), "")
    yield f"{model or platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    yield f"before; Python {platform.python_version()}, " + ", ".join(
        f"{name} {version(name)}" for name in _PACKAGES
    )

"""Every error this package raises on purpose, in one tree.

AgentJudgeError
├── InputError              the user's input or usage: stop at once, exit 2
│   ├── ManifestError       all faults of a manifest together
│   └── StoreError          the run folder cannot be read or written
├── WeightsError            model weights missing or damaged: stop at once, exit 2
├── RunStopped              the breaker: the endpoint fails for good, exit 3
├── ToolError               told to the judge as text, the loop goes on
├── OutputFault             the editing model gave nothing to judge: a fate, no reason
├── ReplyError              an answer that cannot be read: told to the judge, asked again
│   └── ContradictionError  a label that its own answers do not lead to
└── SampleError             ends one (sample, criterion) with a reason, the run goes on
    ├── PictureError        a picture file that cannot be judged
    ├── BoxError            a box that does not fit its picture
    ├── GeometryError       source and edited picture do not share a frame
    └── JudgeError          the judge gave no usable verdict
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from agent_judge.records import Reason


class AgentJudgeError(Exception):
    """The root: catch this to catch everything the package raises on purpose."""


class InputError(AgentJudgeError):
    """The user's input or usage is at fault; the message says what to do."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault of a manifest."""

    path: str
    """The manifest's path."""
    line: int | None
    """Line (JSONL, CSV) or row (Parquet), from 1; None when it concerns the whole file."""
    field: str | None
    """The column at fault; None when it concerns the whole line."""
    message: str
    """What came and what was expected."""
    id: str | None = None
    """The row's id where it could be read."""

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        named = f" (id {self.id!r})" if self.id is not None else ""
        return f"{where}: {f'{self.field}: ' if self.field else ''}{self.message}{named}"


class ManifestError(InputError):
    """A manifest has faults; all of them are listed."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults


class StoreError(InputError):
    """The run folder cannot be read or written, is in use, or belongs to another kind of run."""


class WeightsError(AgentJudgeError):
    """Model weights are missing or do not match their checksum."""


class RunStopped(AgentJudgeError):
    """The run was stopped because the judge's endpoint fails for good (bad key, empty account)."""


class ToolError(AgentJudgeError):
    """A tool could not do what the judge asked; the message goes back to the judge."""


class OutputFault(AgentJudgeError):
    """The editing model gave nothing to judge; `status` is the fate of every criterion."""

    def __init__(self, status: Literal["missing_output", "invalid_image"], message: str) -> None:
        super().__init__(message)
        self.status = status


class ReplyError(AgentJudgeError):
    """A final answer that is no verdict; the message names the exact fault for the judge."""


class ContradictionError(ReplyError):
    """The label does not follow from the answers along the ladder."""


class SampleError(AgentJudgeError):
    """One (sample, criterion) cannot be judged; `reason` is its fate."""

    reason: Reason = "internal_error"


class PictureError(SampleError):
    """A picture file is damaged, too large or no picture at all."""

    reason = "invalid_source"


class BoxError(SampleError):
    """A box is missing or does not lie in its picture."""

    reason = "invalid_box"


class GeometryError(SampleError):
    """The edited picture has another geometry than the source."""

    reason = "geometry_changed"


class JudgeError(SampleError):
    """The judge gave no usable verdict."""

    def __init__(self, reason: Reason, message: str, *, http_status: int | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.http_status = http_status
        """The endpoint's status code, where one ended the criterion."""

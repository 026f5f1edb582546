"""What an engine is: something that takes one sample after the other and gives back its records."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Protocol

from agent_judge.judging import Assignment
from agent_judge.settings import Settings
from agent_judge.settle import Judged

_REQUESTS_A_SPARE_SAMPLE = 4
"""For so many requests in flight one sample more is in work: while it is decoded, cropped or
written, another's request has its place. Memory grows by a quarter; one at a time has none."""


class Engine(Protocol):
    """Who judges samples for the runner."""

    @property
    def settings(self) -> Settings:
        """What is judged by."""

    @property
    def places(self) -> int:
        """Samples that may be in work at once."""

    def judge(
        self, assignment: Assignment, ended: Callable[[], bool]
    ) -> AsyncGenerator[Judged, None]:
        """Judge what is assigned of one sample, a record at a time.

        Args:
            assignment: the sample and its criteria.
            ended: whether the run has come to its end: no sample is begun after that.

        Raises:
            RunStopped: the endpoint fails for good; what was not yielded was not judged.
            StoreError: evidence or replies cannot be kept.
        """

    async def close(self) -> None:
        """Let go of connections."""


def places_for(jobs: int, endpoint: str) -> int:
    """Samples in work for so many jobs.

    Args:
        jobs: samples at once of the embedded judge, requests at once of an endpoint.
        endpoint: its host; empty for the embedded judge.

    Example:
        >>> places_for(2, ""), places_for(1, "host"), places_for(8, "host")
        (2, 1, 10)
    """
    spare = (jobs + _REQUESTS_A_SPARE_SAMPLE // 2) // _REQUESTS_A_SPARE_SAMPLE
    return jobs + (spare if endpoint else 0)

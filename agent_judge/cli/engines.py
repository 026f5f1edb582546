"""The engine that `--engine` names, set up before anything is written."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from agent_judge.engines.bench import bench_of, load_networks
from agent_judge.engines.engine import Engine
from agent_judge.engines.local import LocalEngine
from agent_judge.errors import InputError
from agent_judge.memory import one_arena_a_core
from agent_judge.settings import Settings
from agent_judge.store import Store

EngineFor: TypeAlias = Callable[[Store], Engine]
"""An engine whose evidence and replies go to a run folder; called inside the event loop."""


@contextmanager
def engines(settings: Settings) -> Iterator[tuple[Settings, EngineFor]]:
    """How samples are judged by these settings, and the settings with `run.jobs` as it is there.

    Args:
        settings: with `judge.model` filled in.

    Raises:
        InputError: the engine, its judge or a tool cannot be set up.
        WeightsError: weights that the settings name are missing or damaged.
    """
    if settings.run.engine == "local":
        load_networks(settings)
        yield settings, lambda store: local_engine(settings, store)
        return
    if importlib.util.find_spec("ray") is None:
        raise InputError("--engine ray needs Ray: pip install 'agent-judge[ray]'")
    from agent_judge.engines.ray_crew import crew_for
    from agent_judge.engines.ray_engine import RayEngine

    with crew_for(settings) as crew:
        yield crew.settings, lambda store: RayEngine(crew, store.replies, store.blobs)


def local_engine(settings: Settings, store: Store) -> LocalEngine:
    """The engine of this process."""
    one_arena_a_core()
    return LocalEngine(bench_of(settings, replies=store.replies, blobs=store.blobs))

"""Ray workers for a run, hired on this machine or on a cluster."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray._private import services
from ray._private import worker as ray_driver
from ray.exceptions import RayError, RayTaskError

from agent_judge.engines.ray_networks import FarNetworks, Networks, are_shared
from agent_judge.engines.ray_worker import Worker, version
from agent_judge.errors import AgentJudgeError, InputError
from agent_judge.judges.choose import jobs_of
from agent_judge.settings import MEASURED, Settings, ToolSettings

CPU_SHARE = 0.5
"""Of a core that Ray sets aside for a worker. There are no more workers than cores, so half of the
cores stay free for networks and for other people's work."""
GPU_SHARE = 0.5
"""Of a GPU that Ray sets aside for the tools' networks."""
_CONNECTED_WITHIN_S = 10.0
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"
"""How HTTP/2 begins, which Ray speaks; each side sends a frame of settings, whose type is 4."""
_HIRED_WITHIN_S = 600.0
_OBJECT_STORE_BYTES = 256 << 20
"""Of a cluster of our own: what is sent is a crop or a record, and is taken at once."""


@dataclass(eq=False)
class Hired:
    """A worker of the crew."""

    actor: Any
    """Handle of a `Worker`."""
    jobs: int
    """Its share of the run's."""
    ready: Any
    """What comes true once it is set up, or raises why it cannot be; see `told`."""
    is_lost: bool = False

    def dismiss(self) -> None:
        """End it: one that is out of reach may be alive."""
        with suppress(RayError):
            ray.kill(self.actor)


@dataclass(frozen=True, kw_only=True)
class Crew:
    """The workers of one run."""

    settings: Settings
    """With `run.jobs` filled in, which counts the workers' together."""
    networks: FarNetworks | None
    workers: tuple[Hired, ...]
    """Those hired first; one at least is ready."""

    def hire(self, jobs: int) -> Hired:
        """One more worker; it may take a while until Ray has room for it."""
        return _hire(self.settings, jobs, self.networks)


@contextmanager
def crew_for(settings: Settings) -> Iterator[Crew]:
    """Workers as the settings want them, until the end of the block.

    Args:
        settings: with `judge.model` filled in.

    Raises:
        InputError: no cluster, no room on it, or a worker cannot be set up.
        WeightsError: weights that the settings name are missing or damaged.
    """
    _connect(settings.run.ray_address)
    try:
        resources = ray.cluster_resources()
        networks = _networks(settings.tools, has_gpu=resources.get("GPU", 0) > 0)
        cores = max(1, int(resources.get("CPU", 0)))
        jobs = settings.run.jobs
        if jobs is None:
            jobs = cores if settings.judge.model == MEASURED else jobs_of(settings)
        run = settings.run.model_copy(update={"jobs": jobs})
        settings = settings.model_copy(update={"run": run})
        count = min(jobs, cores)
        shares = (jobs // count + (n < jobs % count) for n in range(count))
        workers = tuple(_hire(settings, share, networks) for share in shares)
        _await_one(workers)
        yield Crew(settings=settings, networks=networks, workers=workers)
    finally:
        ray.shutdown()


def told(err: RayError) -> AgentJudgeError:
    """Why a worker could not be set up."""
    cause = err.cause if isinstance(err, RayTaskError) else err
    what = " ".join(str(cause).split())
    if isinstance(cause, AgentJudgeError):
        return type(cause)(f"a Ray worker cannot be set up: {what}")
    return InputError(
        f"a Ray worker cannot be set up; is this agent-judge installed on every node? {what:.500}"
    )


def _connect(address: str | None) -> None:
    """Start a cluster of our own on this machine, or join the one at an address.

    Raises:
        InputError: there is none.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to Ray's makers
    # Whatever is asked for, Ray prints a paragraph on standard output when a worker is lost.
    ray_driver.print_to_stdstream = lambda *_, **__: None
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        own = {"include_dashboard": False, "object_store_memory": _OBJECT_STORE_BYTES}
        ray.init(address="local", **own, **quiet)
        return
    try:
        if address == "auto":  # what Ray remembers may be a cluster that is gone
            address = services.get_ray_address_from_environment(address, None)
        _expect_at(address)
        ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as err:
        what = " ".join(str(err).split())
        raise InputError(
            f"no Ray cluster at --ray-address {address!r}: {what:.300} (where it asks for a token: "
            "set RAY_AUTH_MODE=token)"
        ) from err


def _expect_at(address: str) -> None:
    """Connect once: Ray itself tries for minutes, past any Ctrl-C, and prints a line for each try.

    Raises:
        InputError: nothing listens there, or something else.
    """
    host, _, port = address.rpartition(":")
    if "/" in host or not host or not port.isdecimal():
        raise InputError(
            f"--ray-address {address!r}: expected HOST:PORT or auto. Start the run on a node of "
            "the cluster: Ray's client connection, ray://, is not used"
        )
    try:
        with socket.create_connection((host, int(port)), _CONNECTED_WITHIN_S) as there:
            if os.environ.get("RAY_USE_TLS", "0") == "0":
                there.sendall(_HELLO)
                if there.recv(9)[3:4] != b"\4":
                    raise ConnectionError("something else listens there")
    except (OSError, OverflowError) as err:
        raise InputError(f"no Ray cluster at --ray-address {address!r}: {err}") from err


def _networks(tools: ToolSettings, *, has_gpu: bool) -> FarNetworks | None:
    on_gpu = has_gpu and tools.device != "cpu"
    if tools.device == "cuda" and not on_gpu:
        raise InputError("tools.device is cuda, but the Ray cluster has no GPU: set it to auto")
    if not are_shared(tools, on_gpu=on_gpu):
        return None
    actor = (
        ray.remote(Networks)
        .options(
            num_cpus=CPU_SHARE,
            num_gpus=GPU_SHARE if on_gpu else 0,
            max_concurrency=64,  # calls that wait together run as one batch
            max_restarts=-1,
            max_task_retries=-1,
        )
        .remote(tools, Path.cwd())
    )
    try:
        ready = actor.get_ready.remote(on_gpu=on_gpu)
        detector, upscaler = ray.get(ready, timeout=_HIRED_WITHIN_S)
    except RayError as err:
        raise told(err) from err
    return FarNetworks(actor, tools, detector, upscaler)


def _hire(settings: Settings, jobs: int, networks: FarNetworks | None) -> Hired:
    run = settings.run.model_copy(update={"jobs": jobs})
    tools = settings.tools.model_copy(update={"device": "auto"})  # Ray shows a worker no GPU
    settings = settings.model_copy(update={"run": run, "tools": tools})
    # Spread: as many as there are cores, on whatever nodes they are.
    options = {"num_cpus": CPU_SHARE, "scheduling_strategy": "SPREAD"}
    actor = ray.remote(Worker).options(**options).remote(settings)
    ready = actor.get_ready.remote(version(settings.protocol), Path.cwd(), networks)
    return Hired(actor, jobs, ready)


def _await_one(workers: tuple[Hired, ...]) -> None:
    done, _ = ray.wait([worker.ready for worker in workers], timeout=_HIRED_WITHIN_S)
    if not done:
        raise InputError(
            f"the Ray cluster had no room for a worker ({CPU_SHARE} CPU) within "
            f"{_HIRED_WITHIN_S:.0f} s"
        )
    try:
        ray.get(done)
    except RayError as err:
        raise told(err) from err

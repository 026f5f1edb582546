"""Is this installation fit to judge? What `agent-judge doctor` tells about the machine."""

from __future__ import annotations

import importlib
import os
import platform
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Literal

from packaging.requirements import Requirement

from agent_judge.address import shown_address
from agent_judge.errors import AgentJudgeError

OPENCV_WHEELS = (
    "opencv-python",
    "opencv-python-headless",
    "opencv-contrib-python",
    "opencv-contrib-python-headless",
)
"""All of them install a folder `cv2`: two of them overwrite each other."""
_SHOWN = ("openai", "langgraph", "pydantic", "numpy", "opencv-python", "pillow", "scikit-image")
_SHOWN_MODELS = ("torch", "torchvision", "transformers", "groundingdino-py", "realesrgan")


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing looked at."""

    name: str
    state: Literal["ok", "note", "fault"]
    """A note is worth knowing; with a fault judging will fail."""
    message: str


def checks(env: Mapping[str, str]) -> Iterator[Check]:
    """Everything that is looked at, in order.

    Args:
        env: the environment, for what it says of the endpoint and of tracing.
    """
    yield Check(name="python", state="ok", message=platform.python_version())
    installed = {(dist.metadata["Name"] or "").lower() for dist in metadata.distributions()}
    yield Check(name="versions", state="ok", message=_versions(("agent-judge", *_SHOWN), installed))
    yield opencv_check(installed, importlib.import_module)
    yield _models_check(installed)
    yield clash_check(metadata.requires("agent-judge") or (), _version_of)
    yield _device_check()
    yield from _weights_checks()
    yield endpoint_check(env)
    if tracing := tracing_check(env):
        yield tracing


def opencv_check(installed: Collection[str], load: Callable[[str], object]) -> Check:
    """Whether OpenCV can be imported, and came from one wheel.

    Args:
        installed: names of the installed distributions, lower case.
        load: imports a module by name.
    """
    wheels = [name for name in OPENCV_WHEELS if name in installed]
    if len(wheels) > 1:
        told = (
            f"{' and '.join(wheels)} overwrite each other: pip uninstall -y {' '.join(wheels)} "
            "&& pip install opencv-python"
        )
        return Check(name="opencv", state="fault", message=told)
    try:
        version = getattr(load("cv2"), "__version__", "unknown")
    except ImportError as err:
        told = missing_library(err) or f"cannot be imported: {' '.join(str(err).split())}"
        return Check(name="opencv", state="fault", message=told)
    return Check(
        name="opencv",
        state="ok",
        message=f"{version} from {wheels[0] if wheels else 'an unknown wheel'}",
    )


def missing_library(err: ImportError) -> str | None:
    """One line that names the remedy when a system library is missing; None for other errors.

    OpenCV's wheel leaves libGL and glib to the system, and slim containers have neither.
    """
    text = str(err)
    if "cannot open shared object file" not in text:
        return None
    library = text.split(":")[0]
    return (
        f"the system library {library} is missing: apt-get install libgl1 libglib2.0-0 "
        "(or use opencv-python-headless in place of opencv-python)"
    )


def _versions(names: Collection[str], installed: Collection[str]) -> str:
    return ", ".join(f"{name} {metadata.version(name)}" for name in names if name in installed)


def _models_check(installed: Collection[str]) -> Check:
    missing = [name for name in _SHOWN_MODELS if name not in installed]
    if not missing:
        return Check(name="models", state="ok", message=_versions(_SHOWN_MODELS, installed))
    told = f"without {', '.join(missing)} there is no grounding: pip install 'agent-judge[models]'"
    return Check(name="models", state="note", message=told)


def clash_check(requires: Collection[str], version_of: Callable[[str], str | None]) -> Check:
    """Whether what is installed is of the versions that this package asks for.

    Args:
        requires: requirements as in the package's metadata, those of its extras among them.
        version_of: installed version of a distribution, None where it is missing.
    """
    clashes, fault = [], False
    for wanted in map(Requirement, requires):
        core, models = (
            wanted.marker is None or wanted.marker.evaluate({"extra": extra})
            for extra in ("", "models")
        )
        version = version_of(wanted.name)
        if version is None or not models or wanted.specifier.contains(version, prereleases=True):
            continue
        clashes.append(f"{wanted.name} {version} (needs {wanted.specifier})")
        fault |= core
    if not clashes:
        return Check(name="clashes", state="ok", message="none")
    told = f"{', '.join(clashes)}: pip install --upgrade 'agent-judge{'' if fault else '[models]'}'"
    return Check(name="clashes", state="fault" if fault else "note", message=told)


def _version_of(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _device_check() -> Check:
    try:
        from agent_judge.tools.loaded import device_for

        device = device_for("auto")
    except (AgentJudgeError, ImportError, OSError) as err:  # OSError: torch without its libraries
        return Check(name="device", state="fault", message=" ".join(str(err).split()))
    if device == "cpu":
        return Check(name="device", state="ok", message=f"cpu, {os.cpu_count()} cores")
    import torch

    return Check(name="device", state="ok", message=f"cuda, {torch.cuda.get_device_name(0)}")


def _weights_checks() -> Iterator[Check]:
    try:
        from agent_judge.tools.loaded import shared_upscaler
        from agent_judge.tools.super_resolution import DEFAULT_NETWORK

        loaded = shared_upscaler(DEFAULT_NETWORK)
        told = f"Real-ESRGAN {DEFAULT_NETWORK} by {loaded.runtime} on {loaded.device}"
        yield Check(name="enhance", state="ok", message=told)
    except (AgentJudgeError, ImportError, OSError) as err:
        yield Check(name="enhance", state="fault", message=" ".join(str(err).split()))
    from agent_judge.tools.weights import KNOWN, cache_folder, state_of

    for weights in (known for known in KNOWN if known.setting == "tools.detector"):
        states = {state_of(file, cache_folder()) for file in weights.files}
        ready = states == {"ready"}
        told = "ready" if ready else f"agent-judge weights fetch {weights.name} ({weights.what})"
        yield Check(name=weights.name, state="ok" if ready else "note", message=told)


def endpoint_check(env: Mapping[str, str]) -> Check:
    """What the environment says of the judge's endpoint; a key is named, never shown."""
    model, base_url = env.get("AGENT_JUDGE_MODEL"), env.get("OPENAI_BASE_URL")
    url = base_url and (shown_address(base_url) or "no address")
    key = "a key" if env.get("OPENAI_API_KEY") else "no key"
    told = f"model {model or 'not set'}, base URL {url or 'not set'}, {key} (from the environment)"
    return Check(name="endpoint", state="note" if model or base_url else "ok", message=told)


def tracing_check(env: Mapping[str, str]) -> Check | None:
    """A note when LangSmith tracing is asked for: it sends what the judge sees to a third party."""
    asked = [
        name
        for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING_V2")
        if env.get(name, "").lower() in ("1", "true")
    ]
    if not asked:
        return None
    told = f"{' and '.join(asked)}: instructions and verdicts go to LangSmith"
    return Check(name="tracing", state="note", message=told)

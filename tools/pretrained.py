"""Checkpoints of transformers from a folder, its cache or the hub, without waiting for no reply.

The libraries below try an unreachable hub again and again, file by file, for more than a minute.
So the hub is asked once, briefly, before they may.
"""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agent_judge.errors import WeightsError
from agent_judge.tools.weights import KNOWN

_TIMEOUT_S = 5.0


class Load(Protocol):
    """Loads by transformers: a tokenizer or processor, and a network."""

    def __call__(self, name: str, *, local_files_only: bool) -> tuple[Any, Any]:
        """Both, as transformers' `from_pretrained` gives them.

        Raises:
            ImportError: the extra `models` is not installed.
            Exception: there is no such checkpoint, or it is damaged.
        """


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """What kind of network is wanted."""

    what: str
    """Its kind, for messages."""
    setting: str
    """The setting that names it, for messages."""
    load: Load


def pretrained(name: str, wanted: Checkpoint) -> tuple[Any, Any]:
    """What `wanted.load` gives; what lies here is taken without asking the hub.

    Args:
        name: A folder, or a name on the hub.
        wanted: The kind of network.

    Raises:
        ImportError: the extra `models` is not installed.
        WeightsError: there is no such checkpoint here or on the hub.
    """
    is_folder = Path(name).is_dir()
    if not is_folder and not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", name):
        known = ", ".join(w.name for w in KNOWN if w.setting == wanted.setting)
        files = f"a known name ({known}), a .pth file or " if known else ""
        raise WeightsError(
            f"{wanted.setting} is {name!r}: neither {files}a folder that is there, "
            "nor a hub name OWNER/NAME"
        )
    try:
        return _load(name, wanted, local_files_only=True)
    except WeightsError:
        if is_folder:
            raise
    _expect_on_hub(name, wanted)
    return _load(name, wanted, local_files_only=False)


def _load(name: str, wanted: Checkpoint, *, local_files_only: bool) -> tuple[Any, Any]:
    try:
        return wanted.load(name, local_files_only=local_files_only)
    except (ImportError, MemoryError):
        raise
    except Exception as err:  # a damaged file can raise anything
        told = " ".join(str(err).split())[:200]
        raise WeightsError(
            f"transformers finds no {wanted.what} checkpoint at {name!r}: {told}"
        ) from err


def whole(kind: Any, name: str, local_files_only: bool) -> Any:  # noqa: ANN401 - untyped package
    """A network none of whose weights are made up.

    Transformers fills in at random what a checkpoint lacks, even all of it, and only warns.

    Args:
        kind: A class of transformers.
        name: A folder, or a name on the hub.
        local_files_only: Do not ask the hub.

    Raises:
        ValueError: the checkpoint is not of this kind.
        OSError: there is none.
    """
    net, told = kind.from_pretrained(
        name, local_files_only=local_files_only, output_loading_info=True
    )
    if missing := sorted(told["missing_keys"]):
        raise ValueError(f"it lacks {len(missing)} weights, {missing[0]!r} first")
    return net


def _expect_on_hub(name: str, wanted: Checkpoint) -> None:
    """One short request.

    Raises:
        WeightsError: the hub has no such model, or cannot be reached.
    """
    from huggingface_hub import constants, get_token

    told = "HF_HUB_OFFLINE is set"
    if not constants.HF_HUB_OFFLINE:
        url = f"{constants.ENDPOINT}/api/models/{name}"
        headers = {"authorization": f"Bearer {token}"} if (token := get_token()) else {}
        request = urllib.request.Request(url, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S):
                return
        except urllib.error.HTTPError as err:
            err.close()
            told = f"{constants.ENDPOINT} answers {err.code}"
        except OSError as err:
            told = f"{constants.ENDPOINT} cannot be reached: {getattr(err, 'reason', err)}"
    raise WeightsError(
        f"{wanted.setting} {name!r} is not on this machine, and {told}. Without a connection: "
        f"`hf download {name} --local-dir FOLDER` elsewhere, and set {wanted.setting} to that "
        "folder"
    )

"""Transformers' GroundingDino from a folder, its cache or the hub, without waiting for no reply.

The libraries below try an unreachable hub again and again, file by file, for more than a minute.
So the hub is asked once, briefly, before they may.
"""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from agent_judge.errors import WeightsError
from agent_judge.tools.weights import KNOWN

_TIMEOUT_S = 5.0


def pretrained(name: str) -> tuple[Any, Any]:
    """Tokenizer and network of a checkpoint; what lies here is taken without asking the hub.

    Args:
        name: A folder, or a name on the hub.

    Raises:
        ImportError: the extra `models` is not installed.
        WeightsError: there is no such checkpoint here or on the hub.
    """
    is_folder = Path(name).is_dir()
    if not is_folder and not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", name):
        known = ", ".join(w.name for w in KNOWN if w.setting == "tools.detector")
        raise WeightsError(
            f"tools.detector is {name!r}: neither a known name ({known}), a .pth file or a folder "
            "that is there, nor a hub name OWNER/NAME"
        )
    try:
        return _load(name, local_files_only=True)
    except (OSError, ValueError) as err:
        if is_folder:
            raise WeightsError(_no_checkpoint(name, err)) from err
    _expect_on_hub(name)
    try:
        return _load(name, local_files_only=False)
    except (OSError, ValueError) as err:
        raise WeightsError(_no_checkpoint(name, err)) from err


def _load(name: str, *, local_files_only: bool) -> tuple[Any, Any]:
    from transformers import AutoTokenizer, GroundingDinoForObjectDetection

    tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=local_files_only)
    net = GroundingDinoForObjectDetection.from_pretrained(name, local_files_only=local_files_only)
    return tokenizer, net


def _no_checkpoint(name: str, err: Exception) -> str:
    told = " ".join(str(err).split())[:200]
    return f"transformers finds no GroundingDino checkpoint at {name!r}: {told}"


def _expect_on_hub(name: str) -> None:
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
        f"tools.detector {name!r} is not on this machine, and {told}. Without a connection: "
        f"`hf download {name} --local-dir FOLDER` elsewhere, and set tools.detector to that folder"
    )

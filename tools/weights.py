"""Known weights: where they come from, where they lie, and whether they are what they should be.

Nothing is fetched unless the user asks for it, and nothing is used whose checksum is unknown.
"""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import platformdirs

from agent_judge.errors import WeightsError

Progress = Callable[[int, int], None]
"""Called with the bytes that have come and the bytes expected."""
State = Literal["ready", "missing", "wrong size"]
_CHUNK = 1 << 20
_TIMEOUT_S = 60.0


@dataclass(frozen=True, kw_only=True)
class WeightsFile:
    """One file, as its publisher released it."""

    name: str
    """File name in the cache."""
    url: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Files that are of use together, under one name."""

    name: str
    """What the user asks for: `tools.detector = "groundingdino-swint"`."""
    setting: Literal["tools.detector", "tools.enhancer"]
    """What it can be named in."""
    what: str
    licence: str
    origin: str
    """Page of the publisher."""
    files: tuple[WeightsFile, ...]
    """The network's file first."""


_BERT_VOCABULARY = WeightsFile(
    name="bert-base-uncased-vocab.txt",
    url="https://huggingface.co/google-bert/bert-base-uncased/resolve/"
    "86b5e0934494bd15c9632b12f734a8a67f723594/vocab.txt",
    sha256="07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    size_bytes=231_508,
)
_GROUNDING_DINO = "https://github.com/IDEA-Research/GroundingDINO"
_REAL_ESRGAN = "https://github.com/xinntao/Real-ESRGAN"

KNOWN: tuple[Weights, ...] = (
    Weights(
        name="groundingdino-swint",
        setting="tools.detector",
        what="GroundingDINO, Swin-T (OGC): the usual detector",
        licence="Apache-2.0",
        origin=_GROUNDING_DINO,
        files=(
            WeightsFile(
                name="groundingdino_swint_ogc.pth",
                url=f"{_GROUNDING_DINO}/releases/download/v0.1.0-alpha/groundingdino_swint_ogc.pth",
                sha256="3b3ca2563c77c69f651d7bd133e97139c186df06231157a64c507099c52bc799",
                size_bytes=693_997_677,
            ),
            _BERT_VOCABULARY,
        ),
    ),
    Weights(
        name="groundingdino-swinb",
        setting="tools.detector",
        what="GroundingDINO, Swin-B (CogCoOR): larger and slower",
        licence="Apache-2.0",
        origin=_GROUNDING_DINO,
        files=(
            WeightsFile(
                name="groundingdino_swinb_cogcoor.pth",
                url=f"{_GROUNDING_DINO}/releases/download/v0.1.0-alpha2/"
                "groundingdino_swinb_cogcoor.pth",
                sha256="46270f7a822e6906b655b729c90613e48929d0f2bb8b9b76fd10a856f3ac6ab7",
                size_bytes=938_057_991,
            ),
            _BERT_VOCABULARY,
        ),
    ),
    Weights(
        name="realesrgan-animevideov3",
        setting="tools.enhancer",
        what="Real-ESRGAN, the small video network: the publisher's file of `animevideov3`",
        licence="BSD-3-Clause",
        origin=_REAL_ESRGAN,
        files=(
            WeightsFile(
                name="realesr-animevideov3.pth",
                url=f"{_REAL_ESRGAN}/releases/download/v0.2.5.0/realesr-animevideov3.pth",
                sha256="b8a8376811077954d82ca3fcf476f1ac3da3e8a68a4f4d71363008000a18b75d",
                size_bytes=2_504_012,
            ),
        ),
    ),
    Weights(
        name="realesrgan-x4plus",
        setting="tools.enhancer",
        what="Real-ESRGAN, the large network: the publisher's file of `x4plus`",
        licence="BSD-3-Clause",
        origin=_REAL_ESRGAN,
        files=(
            WeightsFile(
                name="RealESRGAN_x4plus.pth",
                url=f"{_REAL_ESRGAN}/releases/download/v0.1.0/RealESRGAN_x4plus.pth",
                sha256="4fa0d38905f75ac06eb49a7951b426670021be3018265fd191d2125df9d682f1",
                size_bytes=67_040_989,
            ),
        ),
    ),
)


def cache_folder() -> Path:
    """Where fetched weights lie on this machine."""
    return platformdirs.user_cache_path("agent-judge", appauthor=False) / "weights"


def known(name: str) -> Weights:
    """The weights of that name.

    Raises:
        WeightsError: there are none; the message lists those that are.
    """
    for weights in KNOWN:
        if weights.name == name:
            return weights
    names = ", ".join(weights.name for weights in KNOWN)
    raise WeightsError(f"unknown weights {name!r}: known are {names}")


def state_of(file: WeightsFile, folder: Path) -> State:
    """Whether the file lies in the folder, by its size alone."""
    path = folder / file.name
    if not path.is_file():
        return "missing"
    return "ready" if path.stat().st_size == file.size_bytes else "wrong size"


def checked_files(weights: Weights, folder: Path) -> tuple[Path, ...]:
    """The paths of all files, after their checksums were compared.

    Raises:
        WeightsError: one is missing or damaged; the message says what to place where.
    """
    missing = [file for file in weights.files if state_of(file, folder) == "missing"]
    if missing:
        raise WeightsError(
            f"{weights.name} is not here: run `agent-judge weights fetch {weights.name}`. "
            f"{_by_hand(missing, folder)}"
        )
    for file in weights.files:
        path = folder / file.name
        if _sha256(path) != file.sha256:
            raise WeightsError(
                f"{path} is damaged (its sha256 is not {file.sha256}): delete it and run "
                f"`agent-judge weights fetch {weights.name}`"
            )
    return tuple(folder / file.name for file in weights.files)


def fetch(weights: Weights, folder: Path, progress: Progress | None = None) -> tuple[Path, ...]:
    """Downloads what is missing and returns the paths of all files, checked.

    Two fetches at once do no harm: each downloads beside the other, and a file appears whole.

    Args:
        weights: Which.
        folder: Where to; it is made.
        progress: Called as the bytes of each file come in.

    Raises:
        WeightsError: no connection, nowhere to write, or what came is not the known file.
    """
    wanted = [file for file in weights.files if state_of(file, folder) != "ready"]
    for number, file in enumerate(wanted):
        try:
            _download(file, folder, progress or (lambda done, total: None))
        except ConnectionError as err:
            raise WeightsError(f"{err}. {_by_hand(wanted[number:], folder)}") from err
    return checked_files(weights, folder)


def _download(file: WeightsFile, folder: Path, progress: Progress) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".fetch-", dir=folder) as own:
            part = Path(own) / file.name
            with part.open("wb") as target:
                for chunk in _chunks(file):
                    target.write(chunk)
                    progress(target.tell(), file.size_bytes)
            if _sha256(part) != file.sha256:
                raise WeightsError(
                    f"{file.url} gave another file than the known one: nothing was kept"
                )
            part.replace(folder / file.name)
    except ConnectionError:
        raise
    except OSError as err:
        raise WeightsError(
            f"{file.name} cannot be written to {folder}: {err.strerror or err}"
        ) from err


def _chunks(file: WeightsFile) -> Iterator[bytes]:
    """What comes in.

    Raises:
        ConnectionError: it does not come, or not all of it.
    """
    come = 0
    try:
        with urllib.request.urlopen(file.url, timeout=_TIMEOUT_S) as reply:
            while chunk := reply.read(_CHUNK):
                come += len(chunk)
                yield chunk
        if come < file.size_bytes:
            raise ConnectionError(f"the connection ended after {come} of {file.size_bytes} bytes")
    except (OSError, http.client.HTTPException) as err:
        if isinstance(err, urllib.error.HTTPError):
            err.close()
        raise ConnectionError(f"could not download {file.url}: {err}") from err


def _by_hand(files: Sequence[WeightsFile], folder: Path) -> str:
    each = (
        f"{file.url} ({file.size_bytes} bytes, sha256 {file.sha256}) to {folder / file.name}"
        for file in files
    )
    return f"Without a connection: download elsewhere, and copy {', and '.join(each)}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

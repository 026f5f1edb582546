"""Files at URLs (`s3://`, `gs://`, `https://`, whatever fsspec opens) as files of this machine.

Each URL has one place under the cache folder, spelled like the URL itself. A path there stands for
the URL everywhere; `bring` fetches what it stands for, once a process, when it is first looked at.
So all that reads pictures goes on reading local files, and two things carry over: the size, and in
place of the file's time a number made of the store's version (ETag, checksum, else time), which is
the same on every machine and changes exactly when the object does.

Which URLs may be fetched at all is decided in `roots`: nothing here looks at who asks.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import platformdirs

from agent_judge.errors import AgentJudgeError, InputError

MAX_FILE_BYTES = 1 << 30
"""Larger files are no pictures, and are neither read nor fetched."""
PLACE = platformdirs.user_cache_path("agent-judge", appauthor=False) / "remote"
"""Where the copies lie."""
_VERSION = ("ETag", "etag", "md5Hash", "checksum", "content_md5", "Content-MD5", "generation")
_TIMES = ("mtime", "LastModified", "last_modified", "Last-Modified", "updated", "created")
_GONE = (404, 410)
_LOOKS_ALONE = 16
"""Files of a folder that are asked for one by one before the folder is listed."""
_LISTS_NOTHING = ("http", "https")
_NEVER_IN_A_PART = ("?", "#", "\\", "%2e", "%2f", "%5c", "::")
"""What a store could take for something else than a name."""
_PART_BYTES = 1 << 20
_SECONDS = 1 << 31
"""Whole seconds up to 2038, which every file system keeps."""

_lock = threading.Lock()
_brought: set[str] = set()
_looks: Counter[str] = Counter()
_listed: dict[str, dict[str, Mapping[str, Any]]] = {}


def path_of(text: str | os.PathLike[str]) -> Path:
    """What a text means by a file: a path, or where the copy of a URL lies.

    Raises:
        ValueError: it looks like a URL and is none of a file.
    """
    return place_of(text) if isinstance(text, str) and is_url(text) else Path(text)


def shown(path: Path) -> str:
    """A path in words: the URL that it stands for, or itself."""
    return url_of(path) or str(path)


def is_url(text: str) -> bool:
    """Whether a text names a file by URL.

    Example:
        >>> is_url("s3://bucket/a.png"), is_url("a.png")
        (True, False)
    """
    return "://" in text


def place_of(url: str) -> Path:
    """Where the copy of a URL lies, or will lie; a local one (`file://`) is its file itself.

    Raises:
        ValueError: it is no plain URL of a file: a query, `..`, a chain of file systems; or it
            holds a password, which run folders and caches would keep.
    """
    scheme, _, rest = url.partition("://")
    if re.match("[^/]*:[^/]*@", rest):
        raise ValueError(
            f"{_without_secrets(url)!r:.80}: a URL with a password is kept nowhere; give it to the "
            "store's own library (docs/scale.md)"
        )
    if scheme == "file":
        return Path("/" + rest.lstrip("/"))
    parts = rest.rstrip("/").split("/")
    bad = any(word in rest.lower() for word in _NEVER_IN_A_PART) or not scheme.isalnum()
    if bad or not rest.isprintable() or not {"", ".", ".."}.isdisjoint(parts):
        raise ValueError(f"expected a plain URL of a file, got {_without_secrets(url)!r:.80}")
    return PLACE.joinpath(scheme, *parts)


def _without_secrets(url: str) -> str:
    """As it may be shown: a signature would stand in its query, a password before an `@`."""
    address, mark, _ = url.partition("?")
    return re.sub("://[^@]*:.*@", "://", address) + mark


def url_of(path: str | os.PathLike[str]) -> str | None:
    """The URL that a path stands for; None for any other path."""
    prefix, text = f"{PLACE}/", os.fspath(path)
    if not text.startswith(prefix) or not (text := os.path.normpath(text)).startswith(prefix):
        return None
    scheme, _, rest = text.removeprefix(prefix).partition("/")
    return f"{scheme}://{rest}" if rest else None


def bring(path: str | os.PathLike[str], *, most_bytes: float = MAX_FILE_BYTES) -> None:
    """Make what a path stands for be there as it is now; nothing for a path of this machine.

    Where the store has no such file, none is there afterwards. Of a file that is too large there is
    one of that size without content, which no reader takes.

    Args:
        path: any path.
        most_bytes: what is larger is not fetched.

    Raises:
        InputError: fsspec, or what it needs for this kind of store, is not installed.
        OSError: the store cannot be reached, or refuses.
    """
    url = url_of(path)
    if url is None or url in _brought:
        return
    copy = place_of(url)
    with store_errors(url):
        known = _look(url)
        if known is None:
            copy.unlink(missing_ok=True)
        else:
            stamp = _stamp(known)
            if stamp is None or not _is_there(copy, stamp, known.get("size")):
                _fetch(url, copy, stamp, known.get("size"), most_bytes)
    _brought.add(url)


@contextmanager
def store_errors(url: str) -> Iterator[None]:
    """Every store has its own library, and every library its own errors.

    Raises:
        OSError: whatever went wrong.
    """
    try:
        yield
    except AgentJudgeError:
        raise
    except Exception as err:
        if isinstance(err, OSError) and err.strerror:
            raise
        told = " ".join(str(err).split()) or type(err).__name__
        raise OSError(f"{url}: {told:.300}") from err


def file_system(url: str) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the file's name on it.

    Raises:
        InputError: it is no plain URL, or fsspec, or what it needs for this kind of store, is not
            installed.
    """
    try:
        place_of(url)
    except ValueError as err:
        raise InputError(str(err)) from err
    try:
        import fsspec
    except ImportError as err:
        raise InputError(f"{url!r} needs fsspec: pip install 'agent-judge[remote]'") from err
    try:
        system, name = fsspec.url_to_fs(url)
    except (ImportError, ValueError, TypeError) as err:  # TypeError: it needs more than a URL
        raise InputError(f"{url!r} cannot be opened: {err}") from err
    return system, str(name)


@contextmanager
def sent_whole(url: str) -> Iterator[Path]:
    """A path to write to, which is sent to a URL when all went well.

    Raises:
        InputError: fsspec, or what it needs for this kind of store, is not installed.
        OSError: the store cannot be reached, or refuses.
    """
    system, name = file_system(url)
    with TemporaryDirectory() as folder:
        half = Path(folder) / "half"
        yield half
        with store_errors(url):
            system.makedirs(name.rpartition("/")[0], exist_ok=True)
            system.put_file(str(half), name)


def _look(url: str) -> Mapping[str, Any] | None:
    """What the store says of a file; None where there is none.

    One by one at first; of a folder that is asked for again and again, all at once.
    """
    system, name = file_system(url)
    folder, scheme = name.rpartition("/")[0], url.partition(":")[0]
    with _lock:
        _looks[scheme + folder] += 1
        if scheme not in _LISTS_NOTHING and _looks[scheme + folder] > _LOOKS_ALONE:
            if scheme + folder not in _listed:
                _listed[scheme + folder] = _list(system, folder)
            return _listed[scheme + folder].get(name)
    try:
        found: Mapping[str, Any] = system.info(name)
    except FileNotFoundError as err:
        # Over HTTP, fsspec calls everything not found: no network, a bad key, a server at fault.
        cause = err.__cause__
        if scheme in _LISTS_NOTHING and getattr(cause, "status", None) not in _GONE:
            raise OSError(str(cause or err)) from err
        return None
    return found if found.get("type") == "file" else None


def _list(system: Any, folder: str) -> dict[str, Mapping[str, Any]]:  # noqa: ANN401 - fsspec's
    try:
        found = system.ls(folder, detail=True, refresh=True)
    except FileNotFoundError:
        return {}
    return {entry["name"]: entry for entry in found if entry.get("type") == "file"}


def _stamp(known: Mapping[str, Any]) -> int | None:
    """The number that stands for the file's time; None where the store tells no version."""
    for names in (_VERSION, _TIMES):
        told = {name: known[name] for name in names if known.get(name) is not None}
        if told:
            times = {
                name: value.timestamp() if isinstance(value, datetime) else str(value)
                for name, value in told.items()
            }
            return _time_ns(repr(sorted(times.items())).encode())
    return None


def _time_ns(version: bytes) -> int:
    return int.from_bytes(hashlib.sha256(version).digest()[:8]) % _SECONDS * 10**9


def _is_there(copy: Path, stamp: int, size: int | None) -> bool:
    try:
        status = copy.stat()
    except FileNotFoundError:
        return False
    return status.st_mtime_ns == stamp and size in (None, status.st_size)


def _fetch(url: str, copy: Path, stamp: int | None, size: int | None, most_bytes: float) -> None:
    system, name = file_system(url)
    copy.parent.mkdir(parents=True, exist_ok=True)
    half = copy.with_name(f".{os.getpid()}-{threading.get_ident()}")
    digest = hashlib.sha256()
    try:
        with half.open("wb") as file:
            if size is not None and size > most_bytes:
                file.truncate(size)
            else:
                with system.open(name, "rb") as remote:
                    while file.tell() <= most_bytes and (part := remote.read(_PART_BYTES)):
                        file.write(part)
                        digest.update(part)
        time_ns = _time_ns(digest.digest()) if stamp is None else stamp
        os.utime(half, ns=(time_ns, time_ns))
        half.replace(copy)
    finally:
        with suppress(OSError):
            half.unlink(missing_ok=True)

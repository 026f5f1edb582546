"""Flags that several verbs share, and the one place where Settings are made."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from agent_judge.errors import InputError
from agent_judge.records import Reason
from agent_judge.remote import bring, path_of, url_of
from agent_judge.rubrics.protocol import DEFAULT, DEFAULT_CRITERIA
from agent_judge.settings import DEFAULT_CONFIG, Settings, load_settings


def settings_of(
    manifest: Path | None,
    *,
    config: Path | None,
    assignments: Sequence[str],
    flags: Mapping[str, Any],
) -> Settings:
    """Settings from the configuration beside the manifest (or the named one), env and flags.

    Raises:
        InputError: an unreadable file, an unknown setting or a bad value.
    """
    if config is None and manifest is not None and url_of(manifest) is None:
        beside = manifest.parent / DEFAULT_CONFIG
        config = beside if beside.is_file() else None
    return load_settings(config=config, env=os.environ, flags=flags, assignments=assignments)


def manifest_at(text: str) -> Path:
    """The manifest that a path or URL names; one at a URL is fetched.

    Raises:
        InputError: it cannot be fetched.
    """
    path = root_at(text)
    try:
        bring(path, most_bytes=math.inf)
    except OSError as err:
        raise InputError(f"cannot read {text!r}: {err.strerror or err}") from err
    return path


def root_at(text: str) -> Path:
    """The folder that a path or URL names.

    Raises:
        InputError: it is no plain URL.
    """
    try:
        return path_of(text)
    except ValueError as err:
        raise InputError(str(err)) from err


def criteria_of(text: str | None) -> list[str] | None:
    """`IF,VC` as a list of words; the settings know which of them are criteria."""
    if text is None:
        return None
    return [word.strip() for word in text.split(",") if word.strip()]


def refuse_other_protocols(settings: Settings, verb: str) -> None:
    """A verb that knows the ladders of DLEBench alone.

    Raises:
        InputError: criteria of another protocol are asked for.
    """
    if not set(settings.criteria) <= set(DEFAULT_CRITERIA):
        ladders = " and ".join(DEFAULT_CRITERIA)
        raise InputError(
            f"{verb} is for the ladders of {DEFAULT} ({ladders}): the settings ask for protocol "
            f"{settings.protocol}"
        )


def words_of(text: str | None) -> frozenset[str]:
    """The words of a comma-separated list."""
    return frozenset(word.strip() for word in (text or "").split(",") if word.strip())


def reasons_of(text: str | None, flag: str) -> frozenset[Reason]:
    """A comma-separated list of reasons.

    Raises:
        InputError: a word that is no reason.
    """
    words, known = words_of(text), get_args(Reason)
    if unknown := sorted(words - set(known)):
        raise InputError(f"{flag}: unknown {', '.join(unknown)}; expected {', '.join(known)}")
    return frozenset(reason for reason in known if reason in words)

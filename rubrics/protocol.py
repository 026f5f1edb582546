"""The protocols: which criteria each has, and the rubrics behind them. Data, and one loader.

A protocol is a folder of this package: `protocol.toml` and a table for each of its criteria, which
holds over what `protocol.toml` says for all of them under `common`.
Everything else asks a criterion for its rubric; nothing asks for a protocol by name.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from agent_judge.records import Criterion
from agent_judge.rubrics.changes import changes_from
from agent_judge.rubrics.ladder import Ladder, ladder_from
from agent_judge.rubrics.measure import measure_from
from agent_judge.rubrics.rating import rating_from
from agent_judge.rubrics.rubric import Rubric

_FOLDER = Path(__file__).resolve().parent
_FORMS: Mapping[str, Callable[[Mapping[str, Any]], Rubric]] = {
    "ladder": ladder_from,
    "rating": rating_from,
    "changes": changes_from,
    "measure": measure_from,
}
DEFAULT = "dlebench"


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A way of evaluating edits: criteria, and how their figures come together."""

    name: str
    """That of its folder."""
    revision: int
    rubrics: Mapping[Criterion, Rubric]
    """By criterion, in the order of reports."""
    has_overall: bool
    """Whether the mean of the criteria's means is a figure of this protocol."""
    further: tuple[str, ...] = ()
    """Names of its figures beyond means, see `stats/further.py`."""

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria in the order of reports."""
        return tuple(self.rubrics)


@cache
def protocol_names() -> tuple[str, ...]:
    """The protocols that there are, the default first."""
    names = sorted(path.parent.name for path in _FOLDER.glob("*/protocol.toml"))
    return (DEFAULT, *(name for name in names if name != DEFAULT))


@cache
def load_protocol(name: str) -> Protocol:
    """The protocol of that name.

    Raises:
        KeyError: there is none.
    """
    if name not in protocol_names():
        raise KeyError(name)
    data = _table(name, "protocol")
    common = data.get("common", {})
    rubrics = [_rubric({**common, **_table(name, file)}) for file in data["criteria"]]
    return Protocol(
        name=name,
        revision=data["revision"],
        rubrics={rubric.criterion: rubric for rubric in rubrics},
        has_overall=data["overall"],
        further=tuple(data.get("further", ())),
    )


def protocol_of(criteria: Iterable[Criterion]) -> Protocol:
    """The protocol that some criteria belong to; the default one for none.

    Raises:
        KeyError: a criterion of no protocol.
        ValueError: criteria of two protocols, whose figures have nothing in common.
    """
    found = sorted({_protocol_name(criterion) for criterion in criteria})
    if len(found) > 1:
        raise ValueError(f"criteria of two protocols: {', '.join(found)}")
    return load_protocol(found[0] if found else DEFAULT)


def rubric_of(criterion: Criterion) -> Rubric:
    """The rubric of a criterion.

    Raises:
        KeyError: a criterion of no protocol.
    """
    return load_protocol(_protocol_name(criterion)).rubrics[criterion]


def place_of(criterion: Criterion) -> int:
    """Its place among its protocol's criteria, from 0: whatever lists criteria sorts by it.

    Raises:
        KeyError: a criterion of no protocol.
    """
    return load_protocol(_protocol_name(criterion)).criteria.index(criterion)


def all_criteria() -> tuple[Criterion, ...]:
    """The criteria of all protocols."""
    return tuple(c for name in protocol_names() for c in load_protocol(name).criteria)


def load_ladder(criterion: Criterion) -> Ladder:
    """The rubric of a criterion that has a ladder.

    Raises:
        KeyError: a criterion of no protocol.
    """
    ladder = rubric_of(criterion)
    assert isinstance(ladder, Ladder), f"{criterion} has no ladder"
    return ladder


@cache
def rubric_version(name: str = DEFAULT) -> str:
    """Revision and content hash of a protocol's rubric and prompt files: `dlebench-1-<8 hex>`.

    It goes into every record, so that verdicts under other words are never taken for the same.
    """
    protocol = load_protocol(name)
    forms = {rubric.form for rubric in protocol.rubrics.values()}
    files = [*(_FOLDER / name).glob("*.toml"), _FOLDER / "system.md"]
    files += [path for form in forms for path in (_FOLDER / "forms").glob(f"{form}_*.md")]
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.name):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return f"{name}-{protocol.revision}-{digest.hexdigest()[:8]}"


def version_of(criterion: Criterion) -> str:
    """The `rubric_version` of a criterion's protocol.

    Raises:
        KeyError: a criterion of no protocol.
    """
    return rubric_version(_protocol_name(criterion))


@cache
def _protocol_name(criterion: Criterion) -> str:
    for name in protocol_names():
        if criterion in load_protocol(name).rubrics:
            return name
    raise KeyError(criterion)


def _table(protocol: str, name: str) -> dict[str, Any]:
    path = _FOLDER / protocol / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _rubric(data: Mapping[str, Any]) -> Rubric:
    return _FORMS[data["form"]](data)


DEFAULT_CRITERIA = load_protocol(DEFAULT).criteria
"""The criteria with DLEBench's ladders."""

"""Judge cards: what an exam said about a judge, kept so that every later run can print it.

A card holds accuracy by mode, criterion and size bin. A run is told what to expect of its judge for
the sizes that the run itself has, which may be another mix than the exam's.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import platformdirs

from agent_judge.audit.score import ExamPart, Score
from agent_judge.errors import InputError
from agent_judge.records import Criterion, Mode, Record
from agent_judge.stats.size import SIZE_BINS, size_bin

FORMAT = 1
"""Of the card's JSON."""
NEVER_AUDITED = "this judge was never audited"


@dataclass(frozen=True, kw_only=True)
class Bin:
    """What is known of one size bin (or of all sizes)."""

    n_planned: int
    n_scored: int
    accuracy: float | None
    """Share of scored rows at the planted level, 0 to 1; None when nothing was scored."""
    low: float | None
    high: float | None
    """95 % interval; None where the exam had too few photographs."""

    @classmethod
    def of(cls, score: Score) -> Bin:
        """The part of a score that a card keeps."""
        return cls(
            n_planned=score.n_planned,
            n_scored=score.n_scored,
            accuracy=score.accuracy.value,
            low=score.accuracy.low,
            high=score.accuracy.high,
        )


@dataclass(frozen=True, kw_only=True)
class CardPart:
    """One mode and criterion of a card."""

    overall: Bin
    by_size: Mapping[str, Bin]
    spearman: float | None
    mae: float | None
    kappa: float | None
    confusion: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Card:
    """What an exam said about a judge."""

    judge: str
    versions: Mapping[str, str]
    """Of the package, the rubric and the model that answered."""
    exam: Mapping[str, Any]
    """Seed, rows and photographs of the exam."""
    parts: Mapping[tuple[Mode, Criterion], CardPart]


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """What a card says for a run's own sizes."""

    accuracy: float | None
    """Accuracy of scored rows, 0 to 1, weighted by the run's sizes; None when no size is known."""
    share_scored: float | None
    """Share of rows that the judge gave a level in the exam, weighted likewise, 0 to 1."""
    covered: float
    """Share of the run's rows whose size the card knows, 0 to 1."""


def make_card(
    judge: str,
    parts: Iterable[ExamPart],
    *,
    versions: Mapping[str, str],
    exam: Mapping[str, Any],
) -> Card:
    """The card of a judge from its scored exam."""
    return Card(
        judge=judge,
        versions=versions,
        exam=exam,
        parts={
            (part.mode, part.criterion): CardPart(
                overall=Bin.of(part.overall),
                by_size={size: Bin.of(s) for size, s in part.splits["size_bin"].items()},
                spearman=part.overall.spearman.value,
                mae=part.overall.mae.value,
                kappa=part.overall.kappa.value,
                confusion=part.overall.confusion,
            )
            for part in parts
        },
    )


def expectation(
    card: Card, mode: Mode, criterion: Criterion, sizes: Mapping[str, int]
) -> Expectation:
    """What the card lets a run expect.

    Args:
        card: of the run's judge.
        mode: of the run.
        criterion: one of the run.
        sizes: rows of the run by size bin (`size_mix`).
    """
    part = card.parts.get((mode, criterion))
    known = {} if part is None else part.by_size
    total = sum(sizes.values())
    weights = {size: n for size, n in sizes.items() if size in known}
    scored = {size: n for size, n in weights.items() if known[size].accuracy is not None}
    return Expectation(
        accuracy=_weighted(scored, {size: known[size].accuracy or 0.0 for size in scored}),
        share_scored=_weighted(
            weights, {size: known[size].n_scored / known[size].n_planned for size in weights}
        ),
        covered=sum(scored.values()) / total if total else 0.0,
    )


def size_mix(records: Iterable[Record]) -> Counter[str]:
    """How many records fall into each size bin."""
    return Counter(size_bin(record.area_pct) for record in records)


def describe(card: Card | None, records: Iterable[Record]) -> tuple[str, ...]:
    """What to print beside a run's headline, one line for each mode and criterion."""
    if card is None:
        return (NEVER_AUDITED,)
    groups: dict[tuple[Mode, Criterion], list[Record]] = {}
    for record in records:
        groups.setdefault((record.mode, record.criterion), []).append(record)
    return tuple(
        f"{criterion}, {mode} mode: {_in_words(card, mode, criterion, size_mix(rows))}"
        for (mode, criterion), rows in sorted(groups.items())
    )


def _in_words(card: Card, mode: Mode, criterion: Criterion, sizes: Mapping[str, int]) -> str:
    expected = expectation(card, mode, criterion, sizes)
    if expected.accuracy is None or expected.share_scored is None:
        return "never audited at these sizes"
    text = (
        f"right on {expected.accuracy:.0%} of the planted edits that it scored "
        f"({expected.share_scored:.0%} of all), at the sizes of this run"
    )
    return text if expected.covered == 1 else f"{text}; {expected.covered:.0%} of the rows have one"


def cards_folder() -> Path:
    """Where cards are kept unless another folder is named."""
    return platformdirs.user_data_path("agent-judge") / "cards"


def save_card(card: Card, folder: Path) -> Path:
    """Writes a card into a folder, in place of an older one of the same judge."""
    folder.mkdir(parents=True, exist_ok=True)
    path = _path(card.judge, folder)
    path.write_text(json.dumps(card_to_json(card), indent=1), encoding="utf-8")
    return path


def find_card(judge: str, folder: Path) -> Card | None:
    """The card of a judge; None when it was never audited.

    Raises:
        InputError: there is a file, but no card in it.
    """
    path = _path(judge, folder)
    return load_card(path) if path.exists() else None


def load_card(path: Path) -> Card:
    """The card in a file.

    Raises:
        InputError: it cannot be read or is no card of this format.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']!r}, expected {FORMAT}")
        parts: dict[tuple[Mode, Criterion], CardPart] = {}
        for mode, by_criterion in data["modes"].items():
            for criterion, part in by_criterion.items():
                parts[mode, criterion] = CardPart(
                    **part
                    | {
                        "overall": Bin(**part["overall"]),
                        "by_size": {size: Bin(**b) for size, b in part["by_size"].items()},
                        "confusion": tuple(map(tuple, part["confusion"])),
                    }
                )
        return Card(judge=data["judge"], versions=data["versions"], exam=data["exam"], parts=parts)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as err:
        raise InputError(f"{str(path)!r} is no judge card: {err}; audit the judge again") from err


def card_to_json(card: Card) -> dict[str, Any]:
    """The card as plain JSON types: what its file holds and what `--json` prints."""
    modes: dict[str, Any] = {}
    for (mode, criterion), part in card.parts.items():
        modes.setdefault(mode, {})[criterion] = asdict(part)
    return {
        "format": FORMAT,
        "judge": card.judge,
        "versions": dict(card.versions),
        "exam": dict(card.exam),
        "size_bins": list(SIZE_BINS),
        "modes": modes,
    }


def _path(judge: str, folder: Path) -> Path:
    # Two judges whose names differ only in odd characters must not share a file.
    digest = hashlib.sha256(judge.encode()).hexdigest()[:8]
    return folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '_', judge)[:80]}-{digest}.json"


def _weighted(weights: Mapping[str, int], values: Mapping[str, float]) -> float | None:
    total = sum(weights.values())
    return sum(weights[key] * values[key] for key in weights) / total if total else None

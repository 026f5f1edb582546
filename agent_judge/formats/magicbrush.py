"""MagicBrush: sessions of turns, each with a mask, and outputs that are named by their turn.

`ID_1.png` is the first turn. `ID_inde_N.png` is turn N on the true picture of the turn before,
`ID_iter_N.png` is turn N on the model's own. So an output's name alone tells its source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from agent_judge.errors import InputError, PictureError
from agent_judge.formats.entries import BadEntry, Entry, Fields, read_entries
from agent_judge.formats.importing import Draft, Import, ImportOptions
from agent_judge.formats.masks import boxes_of_mask, mask_of_file
from agent_judge.formats.pictures import Pictures

Setting = Literal["single", "multi"]
ALIASES = {
    "source": ("input", "source_img"),
    "reference": ("output", "target_img"),
    "instruction": ("instruction",),
    "mask": ("mask", "mask_img"),
}
_TABLES = ("edit_turns.json", "edit_sessions.json")
_CAPTIONS = "global_descriptions.json"
_TRUE_OUTPUT = re.compile(r"(?P<id>.+)-output(?P<turn>[1-9]\d*)")


@dataclass(frozen=True, kw_only=True)
class _Turn:
    """One turn as its annotation has it."""

    id: str
    number: int
    source: str
    reference: str
    instruction: str
    mask: str | None
    rest: Mapping[str, Any]


def import_magicbrush(
    data: Path, outputs: Path, *, setting: Setting = "single", options: ImportOptions
) -> Import:
    """Rows of MagicBrush.

    Args:
        data: a split's folder: `edit_turns.json` or `edit_sessions.json`, and `images/ID/`.
        outputs: `ID/ID_1.png`, `ID/ID_inde_2.png`, `ID/ID_iter_2.png`, ...
        setting: `single` gives a row a turn, each on the true picture before it; `multi` gives a
            row a session: the model's last picture against the first source, with all
            instructions.
        options: editor, field map, roots.

    Raises:
        InputError: a folder or the table is missing.
    """
    table = next((data / name for name in _TABLES if (data / name).is_file()), None)
    if table is None:
        raise InputError(f"{str(data)!r}: expected {' or '.join(_TABLES)} in it")
    before = Pictures(data / "images", "source", nested=True)
    after = Pictures(outputs, "output", nested=True)
    fields = Fields(ALIASES, options.mapping)
    captions = _captions(data / _CAPTIONS)

    def drafts(entry: Entry) -> Iterator[Draft]:
        turns = [_turn(replace(entry, value=value), fields) for value in entry.value]
        turns.sort(key=lambda turn: turn.number)
        first, last = turns[0], turns[-1]
        numbers = [turn.number for turn in turns]
        if setting == "multi" and numbers != list(range(1, len(turns) + 1)):
            raise BadEntry(f"expected the turns 1 to {len(turns)} of {first.id}, got {numbers}")
        boxes, odd = _boxes(turns, before)
        captioned = captions.get(last.id, {})
        yield Draft(
            values={
                **(last.rest if setting == "single" else {"turns": len(turns)}),
                "id": f"{last.id}-{last.number}" if setting == "single" else last.id,
                "source": before.path(f"{first.id}/{first.source}"),
                "edited": _output(last, setting, after),
                "reference": before.path(f"{last.id}/{last.reference}"),
                "instruction": _joined([turn.instruction for turn in turns]),
                "boxes": boxes or None,
                "box_format": "xyxy_norm" if boxes else None,
                "source_caption": captioned.get(first.source),
                "edited_caption": captioned.get(last.reference),
                "editor": options.editor or None,
            },
            odd=odd,
        )

    turns = _turn_by_turn(read_entries(table))
    return Import(
        turns if setting == "single" else _by_session(turns, fields),
        drafts,
        fields=fields,
        folders=[data / "images", outputs],
        roots=options.roots,
        outputs=after,
    )


def _turn_by_turn(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Turns, each as a session of one, of a table of turns or of sessions."""
    for entry in entries:
        for turn in entry.value if isinstance(entry.value, list) else [entry.value]:
            yield replace(entry, value=[turn])


def _by_session(entries: Iterable[Entry], fields: Fields) -> Iterator[Entry]:
    """Turns joined by the id in their names, wherever in the table they stand."""
    sessions: dict[str, list[Entry]] = {}
    for entry in entries:
        try:
            session = _turn(replace(entry, value=entry.value[0]), fields).id
        except BadEntry:  # told when its rows are made
            yield entry
        else:
            sessions.setdefault(session, []).append(entry)
    for session_turns in sessions.values():
        yield replace(session_turns[0], value=[turn.value[0] for turn in session_turns])


def _turn(entry: Entry, fields: Fields) -> _Turn:
    values = entry.values()
    reference = fields.text(values, "reference")
    name = _TRUE_OUTPUT.fullmatch(PurePosixPath(reference).stem)
    if name is None:
        raise BadEntry(f"expected a name as 139306-output2.png, got {reference!r}", "reference")
    mask = fields.take(values, "mask")
    return _Turn(
        id=name["id"],
        number=int(name["turn"]),
        source=fields.text(values, "source"),
        reference=reference,
        instruction=fields.text(values, "instruction"),
        mask=None if mask is None else str(mask),
        rest=fields.rest(values),
    )


def _output(turn: _Turn, setting: Setting, outputs: Pictures) -> str:
    """The output of a turn; its picture in the other setting is none of an unknown turn."""
    if turn.number == 1:
        return outputs.path(f"{turn.id}/{turn.id}_1")
    kinds = {"single": "inde", "multi": "iter"}
    paths = {
        name: outputs.path(f"{turn.id}/{turn.id}_{kind}_{turn.number}")
        for name, kind in kinds.items()
    }
    return paths[setting]


def _boxes(turns: Sequence[_Turn], pictures: Pictures) -> tuple[list[list[float]], tuple[str, ...]]:
    """The boxes of the turns' masks, and what is wrong with a mask."""
    boxes, odd = [], []
    for turn in turns:
        if turn.mask is None:
            continue
        path = pictures.find(f"{turn.id}/{turn.mask}")
        try:
            if path is None:
                raise ValueError(f"no mask {turn.mask!r}")
            boxes += boxes_of_mask(mask_of_file(path))
        except (ValueError, PictureError) as err:
            odd.append(f"{err}: no boxes of turn {turn.number}")
    return boxes, tuple(odd)


def _captions(path: Path) -> Mapping[str, Mapping[str, str]]:
    """Captions by session and file name, where the split has them."""
    if not path.is_file():
        return {}
    return {
        entry.key: entry.value
        for entry in read_entries(path)
        if entry.key is not None and isinstance(entry.value, Mapping)
    }


def _joined(instructions: Sequence[str]) -> str:
    """Instructions one after the other, each a sentence of its own."""
    if len(instructions) == 1:
        return instructions[0]
    texts = [text.strip() for text in instructions]
    return " ".join(text if text.endswith((".", "!", "?")) else f"{text}." for text in texts)

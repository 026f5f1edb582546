"""DICE: the differences that its detector found, one entry each, back to pairs.

Boxes of ADD and EDIT lie on the edited picture, of REMOVE on the source. They are shares of its
width and height, or pixels where a number is above 1; `0` and `1` are shares as good as `0.0`. The
name of an element may hold commas: "red, round vase".
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_judge.formats.entries import BadEntry, Entry, Fields, read_entries
from agent_judge.formats.importing import Draft, Import, ImportOptions
from agent_judge.formats.pictures import Pictures

ALIASES = {
    "source": ("original_path", "image_original", "original", "source"),
    "edited": ("edited_path", "image_edited", "edited"),
    "instruction": ("gt_prompt", "prompt", "instruction"),
    "command": ("operation", "command"),
    "difference": ("complete_difference", "difference", "differences"),
    "box": ("bbox", "box"),
    "coherent": ("coherent", "gt", "coherence_evaluation", "coherence"),
}
_DIFFERENCE = re.compile(
    r"\s*(?P<command>ADD|REMOVE|EDIT)\b\W*"
    r"(?P<element>.*?)"
    r"(?:[,\s]*(?:BOUNDING[_ ]BOX:)?\s*(?P<box>[\[(][-+\d.,\se]*[\])]))?\s*",
    re.IGNORECASE | re.DOTALL,
)
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
_ANSWER = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


def import_dice(table: Path, images: Path, *, options: ImportOptions) -> Import:
    """A row a pair, its differences kept as `differences`.

    A row gets boxes only from differences that its entries call coherent with the instruction:
    the others are what changed, not what was asked for.

    Args:
        table: `predicted_differences.json` or the like: the two paths, the instruction, and the
            difference as `operation` and `bbox`, as text, or as both.
        images: the folder that the paths start at.
        options: editor, field map, roots.
    """
    pictures = Pictures(images, "picture", nested=True)
    fields = Fields(ALIASES, options.mapping)
    alike: Counter[str] = Counter()

    def drafts(entry: Entry) -> Iterator[Draft]:
        found = [replace(entry, value=value).values() for value in entry.value]
        source, edited, instruction = _pair(found[0], fields)
        differences = [_difference(values, fields) for values in found]
        wanted = [d for d in differences if d.get("coherent") and "box" in d]
        formats = {d["box_format"] for d in wanted}
        if len(formats) > 1:
            raise BadEntry("boxes of one pair in shares and in pixels", "box")
        name = Path(edited).with_suffix("").as_posix().lstrip("/")
        alike[name] += 1
        checksum = hashlib.sha256(instruction.encode()).hexdigest()[:8]
        yield Draft(
            values={
                "id": name if alike[name] == 1 else f"{name}-{checksum}",
                "source": pictures.path(source),
                "edited": pictures.path(edited),
                "instruction": instruction,
                "boxes": [d["box"] for d in wanted] or None,
                "box_format": formats.pop() if formats else None,
                "targets": list(dict.fromkeys(d["element"] for d in wanted)) or None,
                "differences": differences,
                "editor": options.editor or None,
            }
        )

    return Import(
        _by_pair(read_entries(table), fields),
        drafts,
        fields=fields,
        folders=[images],
        roots=options.roots,
        outputs=pictures,
        only_outputs=False,
    )


def _by_pair(entries: Iterator[Entry], fields: Fields) -> Iterator[Entry]:
    """Entries of one pair joined, wherever in the table they stand."""
    pairs: dict[tuple[str, str, str], list[Entry]] = {}
    for entry in entries:
        try:
            pair = _pair(entry.values(), fields)
        except BadEntry:  # told when its row is made
            yield replace(entry, value=[entry.value])
        else:
            pairs.setdefault(pair, []).append(entry)
    for joined in pairs.values():
        yield replace(joined[0], value=[entry.value for entry in joined])


def _pair(values: Mapping[str, Any], fields: Fields) -> tuple[str, str, str]:
    return (
        fields.text(values, "source"),
        fields.text(values, "edited"),
        fields.text(values, "instruction"),
    )


def _difference(values: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """A difference as `{command, element, box, box_format, picture, coherent, ...}`."""
    text = fields.text(values, "difference")
    read = _DIFFERENCE.fullmatch(text)
    command = str(fields.take(values, "command") or (read and read["command"]) or "").upper()
    if command not in ("ADD", "REMOVE", "EDIT"):
        raise BadEntry(f"expected ADD, REMOVE or EDIT, got {command or text!r:.60}", "command")
    box = fields.take(values, "box")
    if box is None and read and read["box"]:
        box = [float(number) for number in _NUMBER.findall(read["box"])]
    coherent = _answer(fields.take(values, "coherent"))
    return {
        "command": command,
        "element": (read["element"] if read else text).strip().strip(","),
        "picture": "source" if command == "REMOVE" else "edited",
        **({} if box is None else _box(box)),
        **({} if coherent is None else {"coherent": coherent}),
        **fields.rest(values),
    }


def _box(value: object) -> dict[str, Any]:
    numbers = value if isinstance(value, list) else []
    if len(numbers) != 4 or not all(type(n) in (int, float) for n in numbers):
        raise BadEntry(f"expected four numbers, got {value!r:.60}", "box")
    shares = max(numbers) <= 1
    return {"box": numbers, "box_format": "xyxy_norm" if shares else "xyxy"}


def _answer(value: object) -> bool | None:
    """A coherence mark: 1, true, or a text whose last yes or no counts."""
    if isinstance(value, bool | int | float):
        return bool(value)
    answers = _ANSWER.findall(value) if isinstance(value, str) else []
    return answers[-1].lower() == "yes" if answers else None

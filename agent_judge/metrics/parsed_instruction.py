"""What an instruction asks for, taken apart: BPM's parse as a record, and its texts.

The model that parses it sees the instruction only, no picture. The question to it is rubric data
(`forms/measure_parse_system.md`); `judges/parse_reply.py` has the form of its answer and reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent_judge.metrics.region_rules import PositionWord, SizeWord

EditWord = Literal[
    "add", "remove", "replace", "change color", "change texture", "change size", "other"
]
"""What is to be done to the parts that are named."""

_MAX_PARTS = 16


@dataclass(frozen=True, kw_only=True)
class ParsedInstruction:
    """An instruction taken apart."""

    whole_picture: bool
    """The edit is global (style, weather, season): every part of the picture is edited."""
    original_parts: tuple[str, ...]
    """Phrases for what the source shows there; empty for an addition and a global edit."""
    edited_parts: tuple[str, ...]
    """Phrases for what the edited picture is to show there; empty for a removal, a global edit."""
    edit_type: EditWord
    reference_object: str | None
    """What an addition is placed by; None where nothing is named, and for every other edit."""
    size: SizeWord
    """How the target's size is to become; none where the instruction says nothing of it."""
    position: PositionWord
    """Where the edited object is to stand; none where the instruction says nothing of it."""

    def __post_init__(self) -> None:
        """Refuse parts that do not fit the kind of edit.

        Raises:
            ValueError: they do not; the message says which and what was expected.
        """
        before, after = bool(self.original_parts), bool(self.edited_parts)
        if len(self.original_parts) > _MAX_PARTS or len(self.edited_parts) > _MAX_PARTS:
            raise ValueError(f"at most {_MAX_PARTS} parts can be named")
        if self.whole_picture:
            if before or after:
                raise ValueError("an edit of the whole picture names no parts: leave both lists []")
            return
        wanted = {"add": (False, True), "remove": (True, False)}.get(self.edit_type, (True, True))
        for name, has, needs in zip(
            ("original_parts", "edited_parts"), (before, after), wanted, strict=True
        ):
            if has != needs:
                expected = "at least one phrase" if needs else "[]"
                raise ValueError(f"{name!r} of an edit {self.edit_type!r} must be {expected}")

    @property
    def asks_size(self) -> bool:
        """Whether the size rule applies: to changes of size only."""
        return self.edit_type == "change size" and self.size != "none"

    @property
    def asks_position(self) -> bool:
        """Whether the position rule applies: to additions that are placed by an object."""
        return self.reference_object is not None and self.position != "none"


def edit_texts(
    parsed: ParsedInstruction, *, source_caption: str | None, wanted_caption: str | None
) -> tuple[str | None, str | None] | None:
    """The texts between which the edit leads: of the source and of the edited picture.

    Args:
        parsed: the instruction.
        source_caption: a sentence about the source; used for global edits only.
        wanted_caption: a sentence about the wanted result; used for global edits only.

    Returns:
        Source text (None for an addition) and edited text (None for a removal), or None where a
        global edit has no captions: then nothing says where the edit leads.

    Example:
        >>> cup = ParsedInstruction(whole_picture=False, original_parts=("a red cup",),
        ...     edited_parts=("a blue cup",), edit_type="change color", reference_object=None,
        ...     size="none", position="none")
        >>> edit_texts(cup, source_caption=None, wanted_caption=None)
        ('a red cup', 'a blue cup')
    """
    if parsed.whole_picture:
        if source_caption is None or wanted_caption is None:
            return None
        return source_caption, wanted_caption
    original = ", ".join(parsed.original_parts) or None
    return original, ", ".join(parsed.edited_parts) or None

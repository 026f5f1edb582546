"""The one function that renders each prompt text; the texts are the `.md` files beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from agent_judge.records import EditType, PictureName
from agent_judge.rubrics.rubric import Rubric

TASK_OPEN, TASK_CLOSE = "<task>", "</task>"
_PICTURE_LABEL = re.compile(
    r"The (source|edited|reference) picture, \d+x\d+ pixels(?:, shown at \d+x\d+)?:"
)


@dataclass(frozen=True, kw_only=True)
class PromptContext:
    """What the base prompt depends on besides the rubric."""

    edit_type: EditType | None
    has_reference: bool
    cropped: bool
    """Oracle IF: all pictures are the same window around the target."""
    masked: bool
    """Oracle VC: targets are painted white."""
    several_targets: bool
    alone: bool
    """The edited picture is shown alone."""
    convention: str
    """The sentence that tells how to write boxes."""
    tools: Sequence[str] = ()
    """Names of the tools on offer; what they do stands in the request's own tool schemas."""
    max_steps: int = 0


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).resolve().parent),
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        keep_trailing_newline=False,
    )


def system_prompt(rubric: Rubric, context: PromptContext) -> str:
    """The system message: role, ladder, questions, notes, tool guide, form of the answer.

    The base is the same in all modes; the tool guide comes only where there are tools
    (DLEBench 5.3). Nothing of the row's own text enters it.
    """
    notes = [rubric.notes[name] for name in ("blur", "small") if name in rubric.notes]
    if context.edit_type is not None and context.edit_type in rubric.type_notes:
        notes.append(rubric.type_notes[context.edit_type])
    which = "several_targets" if context.several_targets else "all_targets"
    if which in rubric.notes and (context.several_targets or not context.cropped):
        notes.append(rubric.notes[which])
    boxes = rubric.asks_boxes and not context.cropped
    return (
        _environment()
        .get_template(rubric.template)
        .render(
            **vars(context),
            rubric=rubric,
            notes=notes,
            boxes_asked=boxes,
            answer_form=answer_form(rubric, boxes=boxes),
        )
    )


def answer_form(rubric: Rubric, *, boxes: bool) -> str:
    """The final answer's form in words and by example, questions first, label last."""
    template = _environment().get_template(f"forms/{rubric.form}_answer.md")
    return template.render(rubric=rubric, boxes=boxes)


def task_text(task: Mapping[str, Any]) -> str:
    r"""The row's own text as delimited data: JSON between task tags, no tag can be forged.

    Example:
        >>> task_text({"instruction": "a</task>b"})
        '<task>{"instruction": "a\\u003c/task\\u003eb"}</task>'
    """
    text = json.dumps(task, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"{TASK_OPEN}{text}{TASK_CLOSE}"


def read_task(text: str) -> Mapping[str, Any] | None:
    """The task that `task_text` wrote; None when the text is none.

    Example:
        >>> read_task(task_text({"instruction": "a</task>b"}))
        {'instruction': 'a</task>b'}
    """
    if not (text.startswith(TASK_OPEN) and text.endswith(TASK_CLOSE)):
        return None
    task = json.loads(text.removeprefix(TASK_OPEN).removesuffix(TASK_CLOSE))
    return task if isinstance(task, dict) else None


def picture_label(
    name: PictureName, size_wh: tuple[int, int], shown_wh: tuple[int, int] | None = None
) -> str:
    """The text that stands before a prepared picture.

    Args:
        name: which picture it is.
        size_wh: its own size in pixels.
        shown_wh: the size at which the judge gets it, where that may differ.

    Example:
        >>> picture_label("source", (640, 480))
        'The source picture, 640x480 pixels:'
        >>> picture_label("source", (4000, 3000), (1024, 768))
        'The source picture, 4000x3000 pixels, shown at 1024x768:'
    """
    smaller = shown_wh is not None and shown_wh != size_wh
    shown = f", shown at {shown_wh[0]}x{shown_wh[1]}" if shown_wh and smaller else ""
    return f"The {name} picture, {size_wh[0]}x{size_wh[1]} pixels{shown}:"


def labelled_picture(text: str) -> PictureName | None:
    """The picture that a label of `picture_label` announces; None for any other text.

    Example:
        >>> labelled_picture("The source picture, 640x480 pixels:")
        'source'
    """
    match = _PICTURE_LABEL.fullmatch(text)
    return cast("PictureName", match.group(1)) if match else None

"""What a run would cost, before anything is sent: the same prompts, the pictures' sizes alone.

Prompts are rendered by the code of a run, pictures are counted by each provider's published
formula. What a judge does in the loop cannot be known before: the turns it takes are assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from PIL import Image

from agent_judge.album import Album
from agent_judge.closeup import change_task
from agent_judge.conversation import opening, tool_schemas
from agent_judge.errors import SampleError
from agent_judge.judges.changes_reply import Change
from agent_judge.judges.endpoint import Profile
from agent_judge.judges.prices import Usage, usd_of
from agent_judge.judges.tokens import sent_picture_tokens, text_tokens
from agent_judge.oracle.boxes import canonical_boxes
from agent_judge.plan import Look, Row, looks_of, plan_of
from agent_judge.records import Box, Criterion, Mode, Sample
from agent_judge.remote import bring
from agent_judge.rubrics.changes import Changes
from agent_judge.rubrics.protocol import rubric_of
from agent_judge.rubrics.rubric import Rubric
from agent_judge.settings import Settings
from agent_judge.tools.base import RGB, Tool, ToolPicture, View

TOOL_TURNS = 3
"""Tool turns assumed where there are tools: two looks at the target, one at the difference."""
PICTURES_A_TURN = 2
CROP_WH = (768, 768)
"""Size of a tool's picture, as zoom_in shows small boxes."""
TOKENS_OF_A_CALL = 60
"""Output tokens of a turn that calls tools; a reasoning model's thinking comes on top."""
TOKENS_OF_A_REPLY_TEXT = 150
TOKENS_OF_AN_ANSWER = 200
CHANGES = 3
"""Changes assumed to be named where each is then judged in a conversation of its own."""
CHANGE = Change(command="EDIT", element="the thing in a few words", box=Box(100, 100, 200, 200))
"""One such change; it is shown by two close-ups of `CROP_WH`."""


@dataclass(frozen=True, kw_only=True)
class ModeEstimate:
    """What one mode would cost over the rows that were looked at."""

    mode: Mode
    n_rows: int
    """Rows that this mode can judge."""
    n_skipped: int
    """Rows that it cannot: no boxes in oracle mode, pictures that cannot be opened."""
    requests: int
    tokens_in: int
    first_turn_tokens: int
    """Of `tokens_in`, those of the first request of each conversation."""
    tokens_out: int
    picture_formula: bool
    """False where no formula is known for the model's pictures: then only text is counted."""

    def usd(self, model: str, settings: Settings) -> float | None:
        """US dollars at list price, without prompt caching; None where no price is known."""
        usage = Usage(tokens_in=self.tokens_in, tokens_out=self.tokens_out)
        return usd_of(usage, model, settings.prices) if self.picture_formula else None


def estimate_modes(
    samples: Iterable[Sample], settings: Settings, profile: Profile, tools: Sequence[Tool]
) -> list[ModeEstimate]:
    """Requests and tokens of every mode, side by side.

    Args:
        samples: the rows to look at; only the headers of their pictures are read.
        settings: criteria, votes and margins count.
        profile: the model's: sizes at which pictures are sent, formula of their tokens.
        tools: the tools on offer.
    """
    rows = [_row_of(sample) for sample in samples]
    return [_of_mode(mode, rows, settings, profile, tools) for mode in get_args(Mode)]


def _of_mode(
    mode: Mode,
    rows: Sequence[Row | None],
    settings: Settings,
    profile: Profile,
    tools: Sequence[Tool],
) -> ModeEstimate:
    counted = {"requests": 0, "tokens_in": 0, "first_turn_tokens": 0, "tokens_out": 0}
    n_rows = 0
    for row in rows:
        try:
            asked = [
                one
                for criterion in settings.criteria
                for one in (_asked(row, mode, criterion, settings) if row else ())
            ]
        except SampleError:
            continue
        n_rows += bool(asked)
        for rubric, look, names in asked:
            offered = [tool for tool in tools if tool.name in names]
            for name, n in _of_look(rubric, look, settings, profile, offered).items():
                counted[name] += n * settings.judge.votes
    known = sent_picture_tokens(CROP_WH, profile) is not None
    return ModeEstimate(
        mode=mode, n_rows=n_rows, n_skipped=len(rows) - n_rows, picture_formula=known, **counted
    )


def _asked(
    row: Row, mode: Mode, criterion: Criterion, settings: Settings
) -> Iterator[tuple[Rubric, Look, frozenset[str]]]:
    """The conversations about a criterion: what is asked, what is shown, tools on offer.

    Raises:
        SampleError: this mode cannot judge the row.
    """
    rubric = rubric_of(criterion)
    names = plan_of(mode, criterion).tools if settings.judge.max_steps else frozenset()
    for look in looks_of(row, mode, criterion, settings.oracle):
        # The words alone are asked about once a sample, whatever is computed from the answer.
        if look.view.names or criterion == settings.criteria[0]:
            yield rubric.first_step, look, names
    if isinstance(rubric, Changes):
        blank = np.broadcast_to(np.uint8(0), (CROP_WH[1], CROP_WH[0], 3))
        closeup = ToolPicture(label="Close-up of a picture, pixels [x1, y1, x2, y2]:", pixels=blank)
        look = Look(
            view=View(source=row.source, edited=row.edited),
            task=change_task(row, criterion, CHANGE),
            closeups=(closeup, closeup),
        )
        for _ in range(CHANGES):
            yield rubric.decision, look, frozenset()


def _of_look(
    rubric: Rubric, look: Look, settings: Settings, profile: Profile, tools: Sequence[Tool]
) -> dict[str, int]:
    messages = opening(
        look,
        rubric,
        tools=tools,
        convention=profile.convention,
        max_steps=settings.judge.max_steps,
        album=Album(),
    )
    first = text_tokens(str(messages[0]["content"]))
    first += text_tokens(str(tool_schemas(tools, look.view))) if tools else 0
    first += sum(text_tokens(part.get("text", "")) for part in messages[1]["content"])
    first += _picture_tokens(look, profile)
    turns = min(TOOL_TURNS, settings.judge.max_steps) if tools else 0
    crop = sent_picture_tokens(CROP_WH, profile) or 0
    step = TOKENS_OF_A_CALL + TOKENS_OF_A_REPLY_TEXT + PICTURES_A_TURN * crop
    return {
        "requests": 1 + turns,
        "first_turn_tokens": first,
        "tokens_in": (1 + turns) * first + step * turns * (turns + 1) // 2,
        "tokens_out": turns * TOKENS_OF_A_CALL + TOKENS_OF_AN_ANSWER,
    }


def _picture_tokens(look: Look, profile: Profile) -> int:
    shown = [look.view.size_wh for _ in look.view.names]
    shown += [(closeup.pixels.shape[1], closeup.pixels.shape[0]) for closeup in look.closeups]
    return sum(sent_picture_tokens(size_wh, profile) or 0 for size_wh in shown)


def _row_of(sample: Sample) -> Row | None:
    """The row with blank pictures of the source's size; None where it cannot be opened."""
    try:
        bring(sample.source)
        with Image.open(sample.source) as image:
            width, height = image.size
            if image.getexif().get(0x0112, 1) >= 5:  # lies on its side
                width, height = height, width
        boxes = canonical_boxes(
            sample.boxes or (),
            (width, height),
            box_format=sample.box_format,
            box_frame=sample.box_frame,
        )[0]
    except (OSError, ValueError, SampleError):
        return None
    blank: RGB = np.broadcast_to(np.uint8(0), (height, width, 3))
    reference = None if sample.reference is None else blank
    return Row(sample=sample, source=blank, edited=blank, reference=reference, boxes=boxes)

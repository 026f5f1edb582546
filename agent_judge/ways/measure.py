"""BPM's way: a criterion is computed from the edited region (seeds/000).

The instruction is taken apart by the judge, once a sample, where its words matter. Boxes are the
row's own in oracle mode; else Grounding finds what the words name. The rules for a missing box are
BPM's own and are said beside the figure; where nobody looked for a box there is no figure.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from agent_judge.case import Case
from agent_judge.errors import InputError, JudgeError, ToolError
from agent_judge.graph import Trace
from agent_judge.intake import Intake
from agent_judge.metrics.directional import directional_similarity
from agent_judge.metrics.masks import box_mask, write_mask
from agent_judge.metrics.networks import shared_clip, shared_segmenter
from agent_judge.metrics.pair import Mask
from agent_judge.metrics.parsed_instruction import ParsedInstruction, edit_texts
from agent_judge.metrics.preservation import preservation
from agent_judge.metrics.region_rules import Ruling, position_rule, size_rule
from agent_judge.plan import Look, plan_of
from agent_judge.records import Box, Evidence, Verdict
from agent_judge.settle import Judged
from agent_judge.tools.loaded import shared_detector
from agent_judge.tools.tiled_search import Found, search
from agent_judge.ways.verdicts import voted

_DIGITS = 6
_LONGEST_NAME = 150
"""Characters of a mask's file name: file systems take 255 bytes, with the ending."""
_Result = TypeVar("_Result")
Boxes = tuple[Box, ...]


async def by_measure(case: Case, intake: Intake, looks: tuple[Look, ...]) -> Judged:
    """Compute the criterion, as often as there are votes: words may be taken apart otherwise."""
    return await voted(case, intake, looks, functools.partial(_verdict, case, intake))


async def _verdict(case: Case, intake: Intake, look: Look, vote: int, trace: Trace) -> Verdict:
    facts = _Facts(case=case, intake=intake, look=look, vote=vote, trace=trace)
    level, told = await _MEASURES[case.criterion](facts)
    level = round(level, _DIGITS) + 0.0  # no negative zero
    return Verdict(
        level=level, label=case.rubric.label_of(level), answers=facts.answers(), explanation=told
    )


@dataclass(kw_only=True)
class _Facts:
    """What the measures of one sample and vote are computed from; found once."""

    case: Case
    intake: Intake
    look: Look
    vote: int
    trace: Trace
    words: ParsedInstruction | None = None
    """The instruction taken apart, once this criterion has asked for it."""

    @property
    def has_boxes(self) -> bool:
        """Whether the row's own boxes count."""
        return plan_of(self.case.mode, self.case.criterion).needs_boxes

    async def parsed(self) -> ParsedInstruction:
        """The instruction taken apart.

        Raises:
            JudgeError: the judge could not do it.
        """
        rubric = self.case.rubric.first_step

        async def ask() -> ParsedInstruction | JudgeError:
            try:
                answer = await self.case.ask(rubric, self.look, self.vote, self.trace)
            except JudgeError as err:
                return err
            assert isinstance(answer, ParsedInstruction)
            return answer

        found = await self._once(("parse", self.case.round, self.vote), ask)
        if isinstance(found, JudgeError):
            raise found
        self.words = found
        return found

    def answers(self) -> tuple[tuple[str, str], ...]:
        """The words taken apart as answers, where this criterion needed them."""
        given = {} if self.words is None else asdict(self.words)
        return tuple((name, _in_words(value)) for name, value in given.items())

    async def _once(self, key: tuple[Any, ...], work: Callable[[], Awaitable[_Result]]) -> _Result:
        if key not in self.case.shared:
            self.case.shared[key] = await work()
        found: _Result = self.case.shared[key]
        return found

    async def found(self, picture: Literal["source", "edited"], phrases: Sequence[str]) -> Boxes:
        """The best box of each phrase in a picture; none for a phrase that is not found.

        Raises:
            JudgeError: there is no detector, or it broke.
        """
        if not phrases:
            return ()
        tools = self.case.bench.settings.tools
        if tools.detector is None:
            raise JudgeError(
                "invalid_box",
                f"no boxes of {', '.join(map(repr, phrases))} in the {picture} picture are known, "
                "and there is no detector to find them: set tools.detector (agent-judge weights)",
            )

        async def look() -> tuple[Boxes, Evidence]:
            return await asyncio.to_thread(self._find, picture, phrases)

        boxes, evidence = await self._once(("boxes", picture, *phrases), look)
        if evidence not in self.trace.evidence:
            self.trace.evidence.append(evidence)
        return boxes

    def _find(
        self, picture: Literal["source", "edited"], phrases: Sequence[str]
    ) -> tuple[Boxes, Evidence]:
        tools = self.case.bench.settings.tools
        pixels = self.look.view.picture(picture)
        try:
            seen = search(pixels, phrases, shared_detector(tools.detector, tools.device)).found
        except ToolError as err:
            raise JudgeError("tool_failure", f"grounding: {err}") from err
        best: dict[str, Found] = {}
        for one in sorted(seen, key=lambda one: -one.score):
            best.setdefault(one.phrase, one)
        boxes = tuple(best[phrase].box for phrase in phrases if phrase in best)
        told = [{"box_px": [round(v, 1) for v in box.xyxy]} for box in boxes]
        return boxes, Evidence(
            tool="grounding",
            args={"picture": picture, "phrases": list(phrases)},
            text=json.dumps({"candidates": told}),
        )

    async def region(self) -> tuple[Boxes, Boxes]:
        """Boxes of the edited region as seen in the source and in the edited picture.

        Raises:
            JudgeError: nobody knows them.
        """
        if self.has_boxes:
            return self.intake.row.boxes, self.intake.row.boxes
        parsed = await self.parsed()
        if parsed.whole_picture:
            return (), ()
        before = await self.found("source", parsed.original_parts)
        after = await self.found("edited", parsed.edited_parts)
        if not before and not after:
            raise JudgeError("invalid_box", "grounding found nothing of what the words name")
        return before, after


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return "none" if value is None else str(value)


async def _size(facts: _Facts) -> tuple[float, str]:
    parsed = await facts.parsed()
    before: Boxes = ()
    after: Boxes = ()
    if parsed.asks_size:
        own = facts.intake.row.boxes if facts.has_boxes else None
        before = own or await facts.found("source", parsed.original_parts)
        after = await facts.found("edited", parsed.edited_parts)
    asked = parsed.size if parsed.asks_size else "none"
    return _told(size_rule(asked, before, after))


async def _position(facts: _Facts) -> tuple[float, str]:
    parsed = await facts.parsed()
    edited: Boxes = ()
    anchors: Boxes = ()
    if parsed.asks_position:
        edited = await facts.found("edited", parsed.edited_parts)
        anchors = await facts.found("source", [parsed.reference_object or ""])
    asked = parsed.position if parsed.asks_position else "none"
    return _told(position_rule(asked, edited, anchors, size_wh=facts.look.view.size_wh))


def _told(ruling: Ruling) -> tuple[float, str]:
    return ruling.score, ruling.told if ruling.measured else f"passes: {ruling.told}"


async def _modify(facts: _Facts) -> tuple[float, str]:
    tools, sample = facts.case.bench.settings.tools, facts.case.sample
    network = tools.clip
    if network is None:
        raise JudgeError("needs_lmm", "this takes a CLIP-family network: set tools.clip")
    parsed = await facts.parsed()
    texts = edit_texts(
        parsed, source_caption=sample.source_caption, wanted_caption=sample.edited_caption
    )
    if texts is None:
        told = "an edit of the whole picture needs source_caption and edited_caption in its row"
        raise JudgeError("needs_lmm", told)
    if texts[0] == texts[1]:
        raise JudgeError("unparseable", f"the words name no change: {texts[0]!r} twice")
    before, after = await facts.region()

    def compute() -> float | None:
        return directional_similarity(
            facts.intake.row.source,
            facts.intake.row.edited,
            boxes=(*before, *after),
            source_text=texts[0],
            edited_text=texts[1],
            encoder=shared_clip(network, tools.device),
        )

    similarity = await _in_thread(compute)
    step = f"from {texts[0] or 'nothing'!r} to {texts[1] or 'nothing'!r}"
    if similarity is None:
        return 0.0, f"the region is the same to the network: no step {step}"
    return similarity, f"cosine of the picture's step with the text's {step}"


async def _preserve(facts: _Facts) -> tuple[float, str]:
    before, after = await facts.region()
    if not before and not after:
        told = "the edit is of the whole picture: nothing lies outside the edited region"
        raise JudgeError("invalid_box", told)
    row = facts.intake.row

    def compute() -> tuple[float | None, float]:
        mask = _mask(facts, before, after)
        return preservation(row.source, row.edited, mask), float(mask.mean())

    kept, share = await _in_thread(compute)
    if kept is None:
        raise JudgeError("invalid_box", "the boxes cover the whole picture: nothing lies outside")
    return kept, f"mean distance of the pixels outside {100 * share:.2g} % of the picture"


def _mask(facts: _Facts, before: Boxes, after: Boxes) -> Mask:
    row, settings = facts.intake.row, facts.case.bench.settings
    if settings.tools.segmenter is None:
        mask = box_mask((*before, *after), row.view.size_wh)
    else:
        network = shared_segmenter(settings.tools.segmenter, settings.tools.device)
        mask = network.segment(row.source, before) | network.segment(row.edited, after)
    folder = settings.run.mask_out
    if folder is not None:
        path = folder / f"{_file_name(facts.case.sample.id)}.png"
        try:
            write_mask(mask, path)
        except OSError as err:
            raise InputError(f"--with-mask-out {str(path)!r}: {err.strerror or err}") from err
    return mask


def _file_name(id_: str) -> str:
    """A row's id as a file name; a long one ends in its hash."""
    name = quote(id_, safe=" ")
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:_LONGEST_NAME]}-{hashlib.sha256(id_.encode()).hexdigest()[:8]}"


async def _in_thread(work: Callable[[], _Result]) -> _Result:
    try:
        return await asyncio.to_thread(work)
    except ToolError as err:
        raise JudgeError("tool_failure", str(err)) from err


_MEASURES: Mapping[str, Callable[[_Facts], Awaitable[tuple[float, str]]]] = {
    "size": _size,
    "position": _position,
    "modify": _modify,
    "preserve": _preserve,
}

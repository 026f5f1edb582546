"""The LangGraph loop: judge <-> tools, until a label is named (DLEBench 4.2, Tool-driven Mode).

    judge --calls--> tools --> judge
    judge --answer with a fault--> judge
    judge --answer--> end

The state holds messages with references to pictures, never pixels, and counters. There is no
checkpointer: a criterion that was cut off starts again and takes its replies from the cache.
"""

from __future__ import annotations

import asyncio
import json
import logging
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, Any, Literal, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from agent_judge.album import Album
from agent_judge.conversation import (
    LAST_TURN,
    ask_again,
    opening,
    prompt_hash,
    tool_answers,
    tool_schemas,
    user_says,
)
from agent_judge.errors import (
    AgentJudgeError,
    ContradictionError,
    JudgeError,
    ReplyError,
    ToolError,
)
from agent_judge.judges.answers import answer_schema, read_answer
from agent_judge.judges.base import NEEDS_LMM, Judge, Ledger, Message, Reply, Request
from agent_judge.judges.endings import BAD_CALL, BLOCKED, LENGTH, REFUSED
from agent_judge.judges.spoken import declines, text_of
from agent_judge.judges.tool_calls import BAD_CALL_TOLD, ToolCall, read_tool_calls, written_call
from agent_judge.plan import Look
from agent_judge.records import Evidence, Reason, Verdict
from agent_judge.rubrics.protocol import version_of
from agent_judge.rubrics.rubric import Rubric
from agent_judge.tools.base import Tool, ToolReply, View
from agent_judge.tools.views_seen import with_views_seen

_BOX_ARGUMENTS = ("box", "region")
_log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Trace:
    """What happened in one conversation; it survives a judge that fails halfway."""

    ledger: Ledger = field(default_factory=Ledger)
    evidence: list[Evidence] = field(default_factory=list)
    replies: list[Message] = field(default_factory=list)
    """The assistant messages, verbatim."""
    prompt_hash: str = ""


@dataclass(frozen=True, kw_only=True)
class Loop:
    """What the nodes of one conversation work with."""

    judge: Judge
    rubric: Rubric
    look: Look
    tools: tuple[Tool, ...]
    album: Album
    trace: Trace
    max_steps: int
    format_retries: int
    vote: int = 0
    round: int = 0
    asker: str = ""
    """Row and criterion that the conversation is for."""


class LoopState(TypedDict):
    """The graph's state."""

    messages: Annotated[list[Message], operator.add]
    steps: int
    """Tool turns taken."""
    faults: int
    """Answers that could not be read."""
    contradictions: int
    answering: bool
    """An answer was asked for again: no tools are offered from here on."""
    calls: list[ToolCall]
    """What the judge asked for in its last message."""
    answer: Any
    """What was read out of the final answer; None before."""


async def run_loop(loop: Loop) -> Any:  # noqa: ANN401 - a verdict, or what another form reads
    """One conversation to its end: what the rubric's form reads out of the final answer.

    Raises:
        JudgeError: it ended without a verdict; `loop.trace` tells how far it came.
        RunStopped: the endpoint fails for good.
    """
    view, convention = loop.look.view, loop.judge.convention
    messages = opening(
        loop.look,
        loop.rubric,
        tools=loop.tools,
        convention=convention,
        max_steps=loop.max_steps,
        album=loop.album,
    )
    schemas = tool_schemas(loop.tools, view)
    loop.trace.prompt_hash = prompt_hash(str(messages[0]["content"]), schemas)
    state: LoopState = {
        "messages": messages,
        "steps": 0,
        "faults": 0,
        "contradictions": 0,
        "answering": False,
        "calls": [],
        "answer": None,
    }
    # A tool turn is two steps of the graph, a bad answer one; our own budgets end first.
    limit = 2 * (loop.max_steps + loop.format_retries + 2) + 4
    end = await _graph().ainvoke(state, {"recursion_limit": limit}, context=loop)
    return end["answer"]


@cache
def _graph() -> Any:  # noqa: ANN401 - langgraph's compiled graph has four type parameters
    graph = StateGraph(LoopState, context_schema=Loop)
    graph.add_node("judge", _ask_judge)
    graph.add_node("tools", _run_tools)
    graph.add_edge(START, "judge")
    graph.add_edge("tools", "judge")
    return graph.compile()


async def _ask_judge(
    state: LoopState, runtime: Runtime[Loop]
) -> Command[Literal["judge", "tools", "__end__"]]:
    loop = runtime.context
    offered = () if state["answering"] or state["steps"] >= loop.max_steps else loop.tools
    request = Request(
        messages=state["messages"],
        tools=tool_schemas(offered, loop.look.view),
        rubric_version=version_of(loop.rubric.criterion),
        answer_schema=answer_schema(loop.rubric, boxes=not loop.look.cropped),
        album=loop.album,
        ledger=loop.trace.ledger,
        vote=loop.vote,
        round=loop.round,
        asker=loop.asker,
    )
    reply = await loop.judge.reply(request)
    loop.trace.replies.append(reply.message)
    _stop_on_refusal(reply)
    taken = [c["id"] for m in state["messages"] for c in m.get("tool_calls") or ()]
    message, calls = read_tool_calls(reply.message, taken=taken)
    if calls and loop.tools and not offered:
        raise JudgeError("step_limit", f"no label after {state['steps']} tool turns")
    if calls and offered:
        return Command(update={"messages": [message], "calls": calls}, goto="tools")
    if not offered:  # a call that nobody offered is not replayed: it would stay unanswered
        message = {key: value for key, value in message.items() if key != "tool_calls"}
    read = _read_answer(message, state, loop, ending=reply.finish_reason)
    update = {**read, "messages": [message, *read.get("messages", ())]}
    return Command(update=update, goto="__end__" if "answer" in read else "judge")


def _stop_on_refusal(reply: Reply) -> None:
    refusal = reply.message.get("refusal")
    if refusal or reply.finish_reason == REFUSED:
        declined = reply.message.get(NEEDS_LMM) is True
        told = refusal or text_of(reply.message.get("content")) or "the model refused to answer"
        raise JudgeError("needs_lmm" if declined else "refused", str(told))
    if reply.finish_reason == BLOCKED:
        raise JudgeError("blocked", "the endpoint's content filter ended the reply")
    if reply.finish_reason == LENGTH:
        raise JudgeError(
            "truncated", "the reply was cut off at the token limit: raise judge.max_output_tokens"
        )


async def _run_tools(state: LoopState, runtime: Runtime[Loop]) -> dict[str, Any]:
    loop = runtime.context
    done = [await _run_call(call, loop) for call in state["calls"]]
    messages = tool_answers([call.id for call in state["calls"]], done)
    steps = state["steps"] + 1
    if steps >= loop.max_steps:
        messages.append(user_says(LAST_TURN))
    return {"messages": messages, "steps": steps, "calls": []}


async def _run_call(call: ToolCall, loop: Loop) -> Evidence:
    view = loop.look.view
    tools = {tool.name: tool for tool in loop.tools}
    args: Mapping[str, Any] = call.args
    try:
        if call.fault:
            raise ToolError(call.fault)
        if call.name not in tools:
            raise ToolError(f"there is no tool {call.name!r}; the tools are: {', '.join(tools)}")
        tool = tools[call.name]
        args = _canonical(call.args, loop)
        _require_all(args, tool.parameters(view))
        earlier = _same_call(call.name, args, loop.trace.evidence)
        if earlier is not None:
            return _repeated(earlier, trimmed="crops_trimmed" in loop.trace.ledger.flags)
        reply, images = await asyncio.to_thread(_use, tool, view, args, loop.album)
        reply = with_views_seen(reply, call.name, loop.trace.evidence)
    except ToolError as err:
        reply, images = ToolReply(data={"error": str(err)}), ()
    evidence = Evidence(
        tool=call.name,
        args=args,
        text=_as_text(loop.judge.convention.annotate(reply.data, view.size_wh)),
        images=images,
        labels=tuple(picture.label for picture in reply.pictures),
    )
    loop.trace.evidence.append(evidence)
    return evidence


def _use(
    tool: Tool, view: View, args: Mapping[str, Any], album: Album
) -> tuple[ToolReply, tuple[str, ...]]:
    """A tool's reply and the hashes of its pictures, which are kept.

    Raises:
        ToolError: the tool's own, for the judge.
        JudgeError: the tool broke; a verdict without its evidence would be another one.
    """
    try:
        reply = tool(view, args)
    except AgentJudgeError:
        raise
    except Exception as err:  # whatever a tool's libraries raise ends this criterion alone
        _log.debug("%s broke", tool.name, exc_info=True)
        raise JudgeError("tool_failure", f"{tool.name} broke: {err!r}") from err
    return reply, tuple(album.add_evidence(picture.pixels) for picture in reply.pictures)


def _canonical(args: Mapping[str, Any], loop: Loop) -> dict[str, Any]:
    out = dict(args)
    for name in _BOX_ARGUMENTS:
        if out.get(name) is None:
            out.pop(name, None)
            continue
        try:
            box = loop.judge.convention.decode(out[name], loop.look.view.size_wh)
        except (TypeError, ValueError) as err:
            raise ToolError(f"{name}: {err}") from err
        out[name] = [round(v, 3) for v in box.xyxy]
    return out


def _require_all(args: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    missing = [name for name in schema.get("required", ()) if args.get(name) is None]
    if missing:
        raise ToolError(f"missing: {', '.join(missing)}")


def _same_call(name: str, args: Mapping[str, Any], done: Sequence[Evidence]) -> Evidence | None:
    return next((e for e in done if e.tool == name and e.args == args), None)


def _repeated(earlier: Evidence, *, trimmed: bool) -> Evidence:
    """The same reply again; its pictures too only where older ones are left out of requests."""
    told = "its pictures are shown again" if trimmed else "its pictures came with that reply"
    data = {"repeated": f"same call as before: {told}", **json.loads(earlier.text)}
    if trimmed:
        return replace(earlier, text=_as_text(data))
    return Evidence(tool=earlier.tool, args=earlier.args, text=_as_text(data))


def _as_text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False)


def _read_answer(
    message: Message, state: LoopState, loop: Loop, *, ending: str | None
) -> dict[str, Any]:
    """What changes in the state: the answer, or what the judge is told instead."""
    content = text_of(message.get("content"))
    to_box = loop.judge.convention.reader(loop.look.view.size_wh)
    try:
        answer = read_answer(content, loop.rubric, to_box=None if loop.look.cropped else to_box)
    except ContradictionError as err:
        if state["contradictions"]:
            raise JudgeError("inconsistent", str(err)) from err
        return {"messages": [ask_again(str(err))], "contradictions": 1, "answering": True}
    except ReplyError as err:
        if state["faults"] >= loop.format_retries:
            reason: Reason = "refused" if declines(content or "") else "unparseable"
            raise JudgeError(reason, str(err)) from err
        tools_left = not state["answering"] and state["steps"] < loop.max_steps
        names = [tool.name for tool in loop.tools] if tools_left else []
        told = BAD_CALL_TOLD if names and ending == BAD_CALL else written_call(content or "", names)
        return {
            "messages": [user_says(told) if told else ask_again(str(err))],
            "faults": state["faults"] + 1,
            "answering": told is None,
        }
    if isinstance(answer, Verdict) and answer.label_only:
        loop.trace.ledger.flags.add("label_only")
    return {"answer": answer}

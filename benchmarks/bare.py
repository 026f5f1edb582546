"""The loop's libraries alone: the same turns through `openai` and LangGraph, and nothing else.

What they cost is the least that a loop built on them can cost.
"""

from __future__ import annotations

import asyncio
import json
import operator
import time
from typing import Annotated, Any, Literal, TypedDict

import httpx2
import openai
from langgraph.graph import START, StateGraph

CONVERSATIONS = 60
_TOOL = {"type": "function", "function": {"name": "zoom_in", "parameters": {"type": "object"}}}


class _State(TypedDict):
    messages: Annotated[list[dict[str, Any]], operator.add]


def bare_ms(base_url: str) -> float:
    """Processor time of a turn in milliseconds: a small request and its step through a graph."""
    return asyncio.run(_measured(base_url))


async def _measured(base_url: str) -> float:
    client = openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)
    opening = [{"role": "user", "content": "Criterion: Instruction Following"}]
    asked = 0

    async def judge(state: _State) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        body = {"model": "loopback", "messages": state["messages"], "tools": [_TOOL]}
        response = await client.post(
            "/chat/completions",
            cast_to=httpx2.Response,
            content=json.dumps(body).encode(),
            options={"headers": {"Content-Type": "application/json"}},
        )
        return {"messages": [response.json()["choices"][0]["message"]]}

    async def tools(state: _State) -> dict[str, Any]:
        calls = state["messages"][-1]["tool_calls"]
        answers = [{"role": "tool", "tool_call_id": c["id"], "content": "{}"} for c in calls]
        return {"messages": answers}

    async def after_judge(state: _State) -> Literal["tools", "__end__"]:
        return "tools" if state["messages"][-1].get("tool_calls") else "__end__"

    graph = StateGraph(_State)
    graph.add_node("judge", judge)
    graph.add_node("tools", tools)
    graph.add_edge(START, "judge")
    graph.add_conditional_edges("judge", after_judge)
    graph.add_edge("tools", "judge")
    compiled = graph.compile()
    await compiled.ainvoke({"messages": opening})
    asked, start = 0, time.thread_time()
    for _ in range(CONVERSATIONS):
        await compiled.ainvoke({"messages": opening})
    spent = time.thread_time() - start
    await client.close()
    return spent / asked * 1e3

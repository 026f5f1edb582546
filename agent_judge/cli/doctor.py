"""`agent-judge doctor`: is this installation fit to judge, and what can an endpoint's model do?"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_judge.cli.options import settings_of
from agent_judge.cli.terminal import shown
from agent_judge.errors import InputError
from agent_judge.installation import checks

if TYPE_CHECKING:
    from agent_judge.judges.probe import Findings


def doctor(
    base_url: Annotated[
        str | None, typer.Option(help="Ask this endpoint (about six small requests).")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Its model; default: the only one that it has.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Write a profile for `run --profile`.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="What was found as JSON.")] = False,
) -> None:
    """Check device, weights, versions and clashes; with --base-url or --model, an endpoint."""
    if base_url or model:
        _endpoint(base_url, model, out, as_json)
    elif out is not None:
        raise InputError("-o writes an endpoint's profile: pass --base-url and --model")
    else:
        _installation(as_json)


def _installation(as_json: bool) -> None:
    done = list(checks(os.environ))
    if as_json:
        print(json.dumps({"checks": [asdict(check) for check in done]}, indent=2))
    else:
        for check in done:
            mark = {"ok": "ok   ", "note": "note ", "fault": "FAULT"}[check.state]
            print(f"{mark} {check.name}: {check.message}")
    if any(check.state == "fault" for check in done):
        raise typer.Exit(2)


def _endpoint(base_url: str | None, model: str | None, out: Path | None, as_json: bool) -> None:
    findings = asyncio.run(_probe(base_url, model))
    if out is not None:
        try:
            out.write_text(findings.to_toml(), encoding="utf-8")
        except OSError as err:
            raise InputError(f"cannot write {str(out)!r}: {err.strerror}") from err
    if as_json:
        print(json.dumps(findings.to_json(), indent=2))
    else:
        print("\n".join(map(shown, _in_words(findings))))


async def _probe(base_url: str | None, model: str | None) -> Findings:
    from agent_judge.judges.endpoint import profile_for
    from agent_judge.judges.probe import probe
    from agent_judge.judges.transport import only_model

    flags = {"judge.base_url": base_url, "judge.model": model}
    settings = settings_of(None, config=None, assignments=(), flags=flags)
    judge = settings.judge.model_copy(update={"transport_retries": 1})  # a person is waiting
    name = judge.model or await only_model(judge)
    profile = profile_for(name, settings.endpoint)
    return await probe(name, judge, profile, prices=settings.prices)


def _in_words(found: Findings) -> Iterator[str]:
    def yes(value: bool) -> str:
        return "yes" if value else "NO"

    yield f"{found.model} at {found.endpoint}"
    yield f"calls tools               {yes(found.tools)}"
    yield f"keeps to a schema         {found.schema}"
    yield f"sees two pictures         {yes(found.two_pictures)}"
    yield f"sees tools' own pictures  {yes(found.images_in_tool_messages)}"
    yield f"writes boxes as           {found.coordinates or 'none that could be recognised'}"
    smallest = found.smallest_readable_px
    yield f"reads numbers down to     {'none' if smallest is None else f'{smallest} px'}"
    yield f"small details             {found.small_detail}"
    cost = "unknown price" if found.usd is None else f"${found.usd:.4f}"
    yield f"this took                 {found.requests} requests, {cost}"

"""`agent-judge doctor`: is this installation fit to judge?"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import Annotated

import typer

from agent_judge.installation import checks


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="The checks as JSON.")] = False,
) -> None:
    """Check device, weights, versions and clashes. Exit 2 when judging would fail."""
    done = list(checks(os.environ))
    if as_json:
        print(json.dumps({"checks": [asdict(check) for check in done]}, indent=2))
    else:
        for check in done:
            mark = {"ok": "ok   ", "note": "note ", "fault": "FAULT"}[check.state]
            print(f"{mark} {check.name}: {check.message}")
    if any(check.state == "fault" for check in done):
        raise typer.Exit(2)

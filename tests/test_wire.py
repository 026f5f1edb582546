"""The wire changes nothing: the embedded judge here, and the same judge behind an endpoint."""

import asyncio
import os
from pathlib import Path

import pytest

from agent_judge.manifest import read_manifest
from agent_judge.records import Record, Sample
from agent_judge.runner import evaluate_many
from agent_judge.settings import Settings
from agent_judge.testing.endpoint import LoopbackEndpoint
from agent_judge.testing.measured import measured

DEMO = Path(__file__).parents[1] / "eval_data" / "demo" / "manifest.jsonl"
OWN = os.environ.get("AGENT_JUDGE_PAIRS", "")
"""Any manifest with real pairs."""
NAME = "agent-judge-measured"
SAID = ("id", "criterion", "mode", "status", "reason", "level", "label", "answers", "explanation")
SEEN = ("per_target", "anomalies", "target_boxes", "evidence", "flags", "prompt_hash")


def judged(samples: list[Sample], **settings) -> list[dict[str, object]]:
    given = Settings.model_validate(settings)

    async def run() -> list[Record]:
        return [record async for record in evaluate_many(samples, given)]

    records = sorted(asyncio.run(run()), key=lambda r: (r.id, r.criterion))
    assert not [r.explanation for r in records if r.reason == "internal_error"]
    return [{name: _comparable(record, name) for name in (*SAID, *SEEN)} for record in records]


def _comparable(record: Record, name: str) -> object:
    value = getattr(record, name)
    if name == "flags":  # how the answer's form was asked for belongs to the wire
        return [flag for flag in value if not flag.startswith("schema:")]
    return value


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["oracle", "tool", "direct"])
@pytest.mark.parametrize(
    "manifest",
    [DEMO, pytest.param(OWN, marks=pytest.mark.skipif(not OWN, reason="no AGENT_JUDGE_PAIRS"))],
    ids=["demo", "own"],
)
def test_verdicts_and_evidence_are_the_same_over_a_socket(manifest, mode):
    samples = list(read_manifest(Path(manifest)))
    if manifest == DEMO:
        samples = samples[:8:2]
    here = judged(samples, mode=mode)
    with LoopbackEndpoint(measured, models=[NAME], keep=0) as endpoint:
        judge = {"model": NAME, "base_url": endpoint.base_url}
        there = judged(samples, mode=mode, judge=judge)
    assert there == here
    assert {record["status"] for record in here} >= {"scored"}

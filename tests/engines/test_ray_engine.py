"""The driver's side alone, with scripted workers: whenever one is lost, all counts once."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from agent_judge.errors import InputError, RunStopped
from agent_judge.judges.budget import Spent
from agent_judge.judging import Assignment
from agent_judge.records import Record, Sample
from agent_judge.settings import Settings
from agent_judge.settle import Judged

SAMPLE = Sample(id="a", source="s.png", edited="e.png", instruction="x")  # type: ignore[arg-type]
LOST = object()
"""In a script: the worker is lost here."""


@pytest.fixture(autouse=True)
def needs_ray():
    pytest.importorskip("ray", reason="the extra [ray] is not installed")


def judged(criterion, **more) -> Judged:
    record = Record(
        id="a", item="a", editor="", type=None, mode="tool", criterion=criterion, judge="m",
        **{"status": "missing_output", **more},
    )  # fmt: skip
    return Judged(record=record, round=0)


class Scripted:
    """A crew whose every worker says the next script's words."""

    def __init__(self, *scripts, max_usd=None):
        self.settings = Settings.model_validate(
            {
                "judge": {"model": "m", "base_url": "http://127.0.0.1:1/v1"},
                "run": {"jobs": 1, "max_usd": max_usd},
                "prices": {"m": {"input_per_mtok": 1, "output_per_mtok": 1}},
            }
        )
        self.scripts = list(scripts)
        self.asked: list[set[str]] = []
        self.answers: list[Any] = []
        self.workers = (self.hire(1),)

    def hire(self, jobs):
        from agent_judge.engines.ray_crew import Hired

        class Worker(Hired):
            def dismiss(self):
                pass

        ready = asyncio.get_running_loop().create_future()
        ready.set_result(None)
        actor = SimpleNamespace(
            judge=SimpleNamespace(remote=self.say),
            answer=SimpleNamespace(remote=lambda *args: self.answers.append(args[2])),
        )
        return Worker(actor, jobs, ready)

    async def say(self, number, task):
        from ray.exceptions import RayActorError

        async def reference(said):
            return said

        self.asked.append(set(task["rounds"]))
        for said in self.scripts.pop(0):
            if said is LOST:
                raise RayActorError
            yield reference(said)


async def judge(crew, sample=SAMPLE) -> list[Record]:
    from agent_judge.engines.ray_engine import RayEngine

    engine = RayEngine(crew, None, None)  # type: ignore[arg-type]
    assignment = Assignment(sample=sample, rounds={"IF": 0, "VC": 0})
    try:
        async with aclosing(engine.judge(assignment, lambda: False)) as judging:
            return [one.record async for one in judging]
    finally:
        await engine.close()


@pytest.mark.parametrize(
    ("scripts", "asked"),
    [
        ([[judged("IF"), judged("VC")]], [{"IF", "VC"}]),
        ([[LOST], [judged("IF"), judged("VC")]], [{"IF", "VC"}, {"IF", "VC"}]),
        ([[judged("IF"), LOST], [judged("VC")]], [{"IF", "VC"}, {"VC"}]),
        ([[judged("IF"), judged("VC"), LOST]], [{"IF", "VC"}]),  # all of it had come
        ([[judged("IF"), LOST], [LOST], [judged("VC")]], [{"IF", "VC"}, {"VC"}, {"VC"}]),
    ],
)
async def test_what_had_come_is_kept_and_only_the_rest_is_judged_again(scripts, asked):
    crew = Scripted(*scripts)
    records = await judge(crew)
    assert [record.criterion for record in records] == ["IF", "VC"]
    assert crew.asked == asked


async def test_a_sample_that_loses_every_worker_ends_alone():
    records = await judge(Scripted([judged("IF"), LOST], [LOST], [LOST], [LOST], [LOST]))
    assert [(r.criterion, r.reason) for r in records] == [("IF", None), ("VC", "internal_error")]


async def test_a_request_of_a_lost_worker_counts_as_the_dearest_so_far():
    from agent_judge.engines.ray_line import Paid, Turn

    crew = Scripted(
        [Turn(0), Paid(0, Spent(tokens=10, usd=0.4)), Turn(1), LOST],
        [Turn(0), judged("IF"), judged("VC")],
        max_usd=1.0,
    )
    await asyncio.wait_for(judge(crew), 10)
    assert crew.answers[:2] == [None, None]
    assert crew.answers[2].startswith("spent 0.8000 of 1 USD")


def refused(status) -> Judged:
    told = {"explanation": "HTTP 401: bad key", "flags": (f"http:{status}",)}
    return judged("IF", status="unscored", reason="endpoint_rejected", endpoint="h", **told)


@pytest.mark.parametrize(
    ("said", "stops"),
    [
        ([refused(401)] * 5, True),
        ([refused(402), refused(404), refused(403)] * 2, True),
        ([*[refused(401)] * 3, judged("IF"), *[refused(401)] * 2], True),  # asked nobody
        ([refused(401)] * 4, False),
        ([refused(400)] * 9, False),  # of this request alone
        ([*[refused(401)] * 4, judged("IF", judge_returned_model="m"), refused(401)], False),
    ],
)
async def test_the_breaker_counts_what_all_workers_were_refused(said, stops):
    """Five each would let sixteen workers send eighty requests with a bad key."""
    if stops:
        with pytest.raises(RunStopped, match="h refused 5 criteria in a row: HTTP 401: bad key"):
            await judge(Scripted(said))
    else:
        assert len(await judge(Scripted(said))) == len(said)


@pytest.mark.parametrize("name", ["source", "edited", "reference"])
async def test_a_picture_that_only_the_driver_sees_is_no_missing_output(tmp_path, name):
    paths = {key: tmp_path / f"{key}.png" for key in ("source", "edited", "reference")}
    sample = replace(SAMPLE, **paths)
    seen = {key: [1, 2, "sha"] for key in paths} | {name: None}
    said = replace(judged("IF"), inputs=seen)
    assert len(await judge(Scripted([said]), sample)) == 1  # it is nowhere
    paths[name].write_bytes(b"x")
    with pytest.raises(InputError, match=rf"does not see '.*{name}.png': put pictures on a shared"):
        await judge(Scripted([said]), sample)

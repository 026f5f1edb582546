"""One sample to its records: the three fates, several targets, votes, flags."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent_judge.album import key_of
from agent_judge.case import Bench
from agent_judge.errors import JudgeError, RunStopped, StoreError
from agent_judge.images import encode_png
from agent_judge.judging import Assignment, judge_sample, prepare
from agent_judge.records import Record, Sample
from agent_judge.settings import Settings
from agent_judge.settle import median_level
from agent_judge.tools.toolbox import build_tools
from tests.fakes import ScriptedJudge, Step, answers, calls, says


def a_scene(seed=1, size_wh=(200, 150)):
    rng = np.random.default_rng(seed)
    coarse = rng.integers(60, 190, (size_wh[1] // 10, size_wh[0] // 10, 3))
    return np.kron(coarse, np.ones((10, 10, 1))).astype(np.uint8)


def write(path: Path, pixels) -> Path:
    path.write_bytes(encode_png(pixels))
    return path


@pytest.fixture
def sample(tmp_path) -> Sample:
    source = a_scene()
    edited = source.copy()
    edited[60:80, 90:110] = (230, 10, 10)
    edited[5:9, 5:9] += 1  # a trace outside, so that the masked pictures are not identical
    return Sample(
        id="s",
        source=write(tmp_path / "source.png", source),
        edited=write(tmp_path / "edited.png", edited),
        instruction="make the square red",
        boxes=((90, 60, 110, 80),),
    )


async def judged(sample, by, blobs=None, **settings) -> list[Record]:
    given = Settings.model_validate(settings)
    bench = Bench(judge=by, tools=build_tools(), settings=given, blobs=blobs)
    assignment = Assignment(sample=sample, rounds=dict.fromkeys(given.criteria, 0))
    return [one.record async for one in judge_sample(await prepare(assignment), bench)]


async def test_a_verdict_is_scored_with_its_answers(sample):
    [record] = await judged(sample, ScriptedJudge([answers("IF", 2)]), criteria=["IF"])
    assert (record.status, record.level, record.label) == ("scored", 2, "Wrong Action")
    assert record.score_100 == 33.33
    assert record.answers[-1] == {"question": "action_right", "answer": "no"}
    assert (record.mode, record.box_origin, record.area_pct) == ("oracle", "given", 1.3333)
    assert record.target_boxes == ((90, 60, 110, 80),)


def as_missing(path):
    path.unlink()


def as_cut(path):
    path.write_bytes(path.read_bytes()[:200])


def as_text(path):
    path.write_text("hello", encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "damage", "status", "reason"),
    [
        ("edited", as_missing, "missing_output", None),
        ("edited", as_cut, "invalid_image", None),
        ("edited", as_text, "invalid_image", None),
        ("source", as_missing, "unscored", "invalid_source"),
        ("source", as_cut, "unscored", "invalid_source"),
    ],
)
async def test_bad_files_end_in_their_own_fate_without_a_request(
    sample, name, damage, status, reason
):
    damage(getattr(sample, name))
    judge = ScriptedJudge([answers("IF", 4)])
    records = await judged(sample, judge)
    assert [(r.status, r.reason) for r in records] == [(status, reason)] * 2
    assert not judge.requests


async def test_a_missing_reference_is_the_rows_fault(sample, tmp_path):
    sample = replace(sample, reference=tmp_path / "nowhere.png")
    records = await judged(sample, ScriptedJudge([answers("IF", 4)]))
    assert {r.reason for r in records} == {"invalid_source"}
    assert "reference" in records[0].explanation


async def test_oracle_without_usable_boxes_is_invalid_box_and_tool_mode_goes_on(sample):
    outside = replace(sample, boxes=((900, 900, 950, 950),))
    records = await judged(outside, ScriptedJudge([answers("IF", 4)]), mode="oracle")
    assert {r.reason for r in records} == {"invalid_box"}
    assert "200" in records[0].explanation
    [record] = await judged(
        outside, ScriptedJudge([answers("IF", 4)]), mode="tool", criteria=["IF"]
    )
    assert record.status == "scored"
    none = replace(sample, boxes=None)
    records = await judged(none, ScriptedJudge([answers("IF", 4)]), mode="oracle")
    assert {r.reason for r in records} == {"invalid_box"}


async def test_another_geometry_is_never_stretched(sample):
    write(sample.edited, a_scene(size_wh=(150, 300)))
    records = await judged(sample, ScriptedJudge([answers("IF", 4)]))
    assert {r.reason for r in records} == {"geometry_changed"}


async def test_identical_pictures_need_no_judge(sample):
    """Case J31."""
    sample.edited.write_bytes(sample.source.read_bytes())
    judge = ScriptedJudge([answers("IF", 4)])
    records = await judged(sample, judge)
    assert [r.label for r in records] == ["Localization Failure", "Perfect Consistency"]
    assert all("identical" in r.flags and r.attempts == 0 for r in records)
    assert not judge.requests


@pytest.mark.parametrize(
    ("levels", "ends"),
    [
        ((4, 2), (2, None)),
        ((3, 3), (3, None)),
        ((4, None), (None, "unparseable")),
        ((None, 1), (1, None)),
        ((1, 4), (1, None)),
    ],
    ids=["worst wins", "equal", "one unscored leaves it unscored", "level 1 decides", "level 1"],
)
@pytest.mark.slow
async def test_several_targets_are_judged_apart_and_the_worst_wins(sample, levels, ends):
    both = replace(sample, boxes=((90, 60, 110, 80), (80, 62, 130, 82)))
    lines = [says("mumble") if level is None else answers("IF", level) for level in levels]
    judge = ScriptedJudge(lines)
    [record] = await judged(both, judge, criteria=["IF"], judge={"format_retries": 0})
    assert (record.level, record.reason) == ends
    assert [t["level"] for t in record.per_target] == list(levels)
    assert len(judge.requests) == 2


async def test_a_count_is_judged_as_one_set(sample):
    both = replace(sample, boxes=((90, 60, 110, 80), (20, 20, 40, 40)), type="count")
    judge = ScriptedJudge([answers("IF", 4)])
    [record] = await judged(both, judge, criteria=["IF"])
    assert len(judge.requests) == 1
    assert [t["level"] for t in record.per_target] == [4, 4]


async def test_oracle_shows_crops_without_tools_and_masks_with_tools(sample):
    shown = []

    def look(request):
        urls = [
            p["image_url"]["url"]
            for p in request.messages[1]["content"]
            if p["type"] == "image_url"
        ]
        shown.append(({key_of(u): request.album.pixels(u) for u in urls}, request.tools))
        return answers("IF" if len(shown) == 1 else "VC", 4)

    await judged(sample, ScriptedJudge([look]), mode="oracle")
    (crops, no_tools), (masks, tools) = shown
    assert crops["source"].shape == crops["edited"].shape == (84, 84, 3)
    assert not no_tools
    assert masks["edited"].shape == (150, 200, 3)
    assert (masks["edited"][56:84, 86:114] == 255).all()
    assert [tool["function"]["name"] for tool in tools] == [
        "grounding",
        "zoom_in",
        "difference",
        "enhance",
    ]


async def test_a_tool_mode_judge_says_where_the_target_is(sample):
    line = answers("IF", 4, target_box=[91, 61, 109, 79])
    unboxed = replace(sample, boxes=None)
    [record] = await judged(unboxed, ScriptedJudge([line]), mode="tool", criteria=["IF"])
    assert (record.box_origin, record.target_boxes) == ("judge", ((91, 61, 109, 79),))


async def test_given_boxes_stay_unseen_outside_oracle_mode(sample):
    judge = ScriptedJudge([answers("IF", 4)])
    await judged(sample, judge, mode="tool", criteria=["IF"])
    assert "90" not in judge.requests[0].messages[1]["content"][0]["text"]


@pytest.mark.parametrize(
    ("levels", "median"),
    [
        ([2, 3, 2], 2),
        ([2, 3], 2),
        ([1, 4, 4], 4),
        ([4, None, 4], 4),
        ([4, None], None),
        ([None], None),
    ],
)
def test_votes_take_the_median_ties_to_the_lower(levels, median):
    assert median_level(levels) == median


async def test_votes_are_stored(sample):
    """Case J22."""
    judge = ScriptedJudge([answers("IF", 2), answers("IF", 3), answers("IF", 2)])
    [record] = await judged(sample, judge, criteria=["IF"], judge={"votes": 3})
    assert (record.level, record.vote_levels) == (2, (2, 3, 2))
    assert [r.vote for r in judge.requests] == [0, 1, 2]


async def test_a_judge_that_fails_leaves_its_reason_and_its_evidence(sample):
    script: list[Step] = [
        calls(("difference", {})),
        JudgeError("endpoint_rejected", "no", http_status=401),
    ]
    [record] = await judged(sample, ScriptedJudge(script), mode="tool", criteria=["IF"])
    assert (record.status, record.reason, record.explanation) == (
        "unscored",
        "endpoint_rejected",
        "no",
    )
    assert "http:401" in record.flags
    assert [e.tool for e in record.evidence] == ["difference"]
    assert record.attempts == 2


async def test_an_unexpected_fault_is_internal_error_with_its_traceback(sample):
    [record] = await judged(sample, ScriptedJudge([ZeroDivisionError("boom")]), criteria=["IF"])
    assert record.reason == "internal_error"
    assert "boom" in record.explanation
    assert "Traceback" in record.notes[-1]


@pytest.mark.parametrize("fault", [RunStopped("bad key"), StoreError("disk full")])
async def test_what_ends_the_run_is_no_fate_of_a_row(sample, fault):
    with pytest.raises(type(fault)):
        await judged(sample, ScriptedJudge([fault]))


@pytest.mark.slow
async def test_a_sample_that_takes_too_long_is_timeout(sample):
    import asyncio

    class Sleeper(ScriptedJudge):
        async def reply(self, request):
            await asyncio.sleep(60)

    records = await judged(sample, Sleeper([]), judge={"sample_timeout_s": 0.3})
    assert {r.reason for r in records} == {"timeout"}


async def test_evidence_pictures_are_kept_under_the_hash_of_their_bytes(sample):
    import hashlib

    kept = {}

    class Sink:
        def put_blob(self, sha256, data):
            kept[sha256] = data

    script = [calls(("difference", {})), answers("IF", 4)]
    [record] = await judged(sample, ScriptedJudge(script), Sink(), mode="tool", criteria=["IF"])
    named = [sha for e in record.evidence for sha in e.images]
    assert named
    assert set(named) == set(kept)
    assert all(hashlib.sha256(kept[sha]).hexdigest() == sha for sha in named)


@pytest.mark.parametrize(
    ("criterion", "level", "flag"),
    [
        ("IF", 4, None),
        ("IF", 1, "claims_no_edit_but_target_changed"),
        ("VC", 4, None),
        ("VC", 3, "claims_anomaly_but_unchanged_outside"),
        ("VC", 1, "claims_collapse_but_little_changed"),
    ],
)
@pytest.mark.slow
async def test_pixels_flag_a_verdict_and_never_override_it(sample, criterion, level, flag):
    judge = ScriptedJudge([answers(criterion, level)])
    [record] = await judged(sample, judge, criteria=[criterion], mode="tool")
    assert record.level == level
    assert [f for f in record.flags if f.startswith("claims")] == ([flag] if flag else [])

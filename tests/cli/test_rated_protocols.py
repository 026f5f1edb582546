"""The protocols whose criteria are numbers, from manifest to every verb, at a strict endpoint."""

import csv
import io
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from agent_judge.cli.standing import print_standing
from agent_judge.images import encode_png
from agent_judge.rubrics.protocol import load_protocol, rubric_of
from agent_judge.run import Run
from agent_judge.testing.answers import calls, criterion_of, says, task_of, verdict
from agent_judge.testing.dialects import strict_openai
from agent_judge.testing.endpoint import LoopbackEndpoint
from tests.cli.runs import agent_judge, records_of, write_manifest

pytestmark = pytest.mark.slow
PROTOCOLS = ["multi-reward", "twelve-factors"]
REFUSED = "make it rude"
LEVEL = 4
"""What the scripted judge gives; on every scale of these protocols."""


def rows(folder, *, editor="e"):
    """Edited, identical, gone, refused, and edited beside a reference; all with a box."""
    source = np.random.default_rng(5).integers(80, 150, (64, 80, 3)).astype(np.uint8)
    edited = source.copy()
    edited[20:30, 20:30] = (240, 10, 10)  # the target
    edited[50:58, 60:70] = (10, 10, 240)  # and collateral damage
    for name, pixels in (("source", source), ("edited", edited)):
        (folder / f"{name}.png").write_bytes(encode_png(pixels))
    row = {
        "source": "source.png",
        "edited": "edited.png",
        "instruction": "make it red",
        "type": "color",
        "editor": editor,
        "boxes": [[20, 20, 30, 30]],
    }
    return [
        {**row, "id": "plain"},
        {**row, "id": "same", "edited": "source.png"},
        {**row, "id": "gone", "edited": "none.png"},
        {**row, "id": "refused", "instruction": REFUSED},
        {**row, "id": "beside", "reference": "edited.png"},
    ]


@strict_openai
def judge(request):
    """Looks once where it may, then gives the level; declines one of the instructions."""
    if task_of(request).get("instruction") == REFUSED:
        return says(None, refusal="I decline.")
    if request.tools and not request.replies:
        return calls(("zoom_in", {"picture": "edited", "box": [10, 10, 40, 40]}))
    return verdict(criterion_of(request), LEVEL)


@pytest.fixture
def run(tmp_path):
    """Runs a manifest of these rows with a protocol; returns how it ended and the requests."""

    def go(protocol, *args, folder="run", manifest=None, policy=judge):
        manifest = manifest or write_manifest(tmp_path, rows(tmp_path))
        with LoopbackEndpoint(policy) as endpoint:
            base = ("--base-url", endpoint.base_url, "--judge", "m", "--protocol", protocol)
            done = agent_judge("run", manifest, "--out", tmp_path / folder, *base, *args)
            return done, endpoint.requests

    return go


def expected(protocol, criterion, id_):
    """The fate of a row: status, reason, level."""
    rubric = rubric_of(criterion)
    if id_ == "gone":
        return ("missing_output", None, None)
    if id_ == "refused" and rubric.subject != "edited":  # there the instruction is not shown
        return ("unscored", "refused", None)
    if id_ == "same" and rubric.when_identical is not None:
        return ("scored", None, rubric.when_identical)
    return ("scored", None, LEVEL)


@pytest.mark.parametrize("mode", ["tool", "oracle", "direct"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_row_ends_in_one_of_the_three_fates(tmp_path, run, protocol, mode):
    done, requests = run(protocol, "--mode", mode)
    assert done.returncode == 3, done.stderr  # the refusals
    records = records_of(tmp_path / "run")
    criteria = load_protocol(protocol).criteria
    ids = [row["id"] for row in rows(tmp_path)]
    assert set(records) == {(id_, criterion) for id_ in ids for criterion in criteria}
    for (id_, criterion), record in records.items():
        fate = (record.status, record.reason, record.level)
        assert fate == expected(protocol, criterion, id_), (id_, criterion)
        known = id_ == "same" and rubric_of(criterion).when_identical is not None
        assert ("identical" in record.flags) == known
        if rubric_of(criterion).subject != "edited":  # that picture is asked about once
            assert (record.attempts == 0) == (known or id_ == "gone")
        assert record.rubric_version.startswith(f"{protocol}-1-")
    assert sum(record.attempts for record in records.values()) == len(requests)
    with_tools = {criterion_of(r) for r in requests if r.tools}
    crops = {c for c in criteria if rubric_of(c).subject == "target"} if mode == "oracle" else set()
    assert with_tools == (set() if mode == "direct" else set(criteria) - crops)
    assert all(r.response_format["json_schema"]["strict"] for r in requests if r.response_format)


def test_the_twelve_factors_are_offline_beside_a_reference_and_online_without(run):
    _, requests = run("twelve-factors", "--mode", "direct")
    forms = {"ground truth": 0, "No picture of the wanted result": 0}
    for request in requests:
        system = str(request.messages[0]["content"])
        (form,) = [form for form in forms if form in system]
        forms[form] += 1
        assert (form == "ground truth") == any("reference" in p.label for p in request.pictures)
    assert all(forms.values())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_run_resumes_judges_again_on_request_and_reads_its_replies_again(tmp_path, run, protocol):
    first, *others = load_protocol(protocol).criteria
    done, requests = run(protocol, "--criteria", first)
    assert {criterion_of(r) for r in requests} == {first}
    done, requests = run(protocol)
    assert {criterion_of(r) for r in requests} == set(others)
    done, requests = run(protocol)
    assert "nothing left to judge" in done.stdout
    assert requests == []
    done, requests = run(protocol, "--rejudge", "plain")
    assert {criterion_of(r) for r in requests} == {first, *others}
    assert "rejudged" in records_of(tmp_path / "run")["plain", first].flags
    done = agent_judge("rescore", tmp_path / "run")
    assert (done.returncode, done.stdout) == (0, "0 records read otherwise today\n")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_median_of_the_votes_counts(tmp_path, run, protocol):
    criterion = load_protocol(protocol).criteria[0]
    said = iter([2, 4, 3] * 5)
    done, _ = run(
        protocol, "--criteria", criterion, "--votes", "3", "--mode", "direct", "--jobs", "1",
        policy=lambda request: verdict(criterion_of(request), next(said)),
    )  # fmt: skip
    record = records_of(tmp_path / "run")["plain", criterion]
    assert (record.level, set(record.vote_levels)) == (3, {2, 3, 4})
    assert "2 of 3" not in done.stdout
    told = agent_judge("show", tmp_path / "run", "plain").stdout
    best = rubric_of(criterion).scale.best
    assert f"(level 3 of {best:g}," in told
    assert "(1 of 3 agree)" in told


@pytest.mark.parametrize(
    ("protocol", "mark", "code"),
    [
        ("multi-reward", "quality=64", 0),  # 4 of 5 rows at 80, the missing one at 0
        ("multi-reward", "quality=65", 4),
        ("twelve-factors", "plausibility=40,overall=1", 0),  # 4 at 50 and one at 0
        ("twelve-factors", "plausibility=41", 4),
    ],
)
def test_a_mark_is_missed_or_reached_on_the_protocols_own_figures(run, protocol, mark, code):
    args = ("--mode", "direct", "--fail-under", mark, "--max-unscored", "1")
    done, _ = run(protocol, *args, policy=lambda request: verdict(criterion_of(request), LEVEL))
    assert done.returncode == code, done.stdout


def test_a_figure_of_another_protocol_is_no_mark(run):
    done, requests = run("multi-reward", "--fail-under", "overall=60")
    assert (done.returncode, requests) == (2, [])
    assert "expected following, preserving, quality with a number" in done.stderr


def test_the_closing_table_shows_the_figures_beyond_means(run):
    def never_refuses(request):
        return verdict(criterion_of(request), LEVEL)

    done, _ = run("multi-reward", "--mode", "direct", policy=never_refuses)
    (heads,) = [line for line in done.stdout.splitlines() if "yes, %" in line]
    assert heads.split("  ")[-1].strip() == "quality yes, %"
    assert "score = mean level / 5 * 100" in done.stdout
    assert "no exam tells how well this judge does here" in done.stdout
    args = ("--mode", "direct", "--criteria", "plausibility,alignment,completeness")
    done, _ = run("twelve-factors", *args, folder="other", policy=never_refuses)
    assert "Preservation mean level" not in done.stdout  # none of its criteria was asked for
    assert "Fidelity mean level" in done.stdout
    assert "score = (mean level - 1) / 6 * 100" in done.stdout


@pytest.mark.parametrize("width", [80, 100, 120])
def test_no_figure_is_cut_where_the_terminal_is_narrow(tmp_path, run, width):
    long = write_manifest(tmp_path, rows(tmp_path, editor="an editor with a long name " * 3))
    run(
        "twelve-factors", "--mode", "direct", manifest=long,
        policy=lambda request: verdict(criterion_of(request), 7),
    )  # fmt: skip
    finished, out = Run.open(tmp_path / "run"), io.StringIO()
    print_standing(Console(file=out, width=width), finished.summary(), finished)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    for criterion in load_protocol("twelve-factors").criteria:
        (line,) = [line for line in lines if f" {criterion} " in line]
        score = 100.0 if rubric_of(criterion).when_identical != 1 else 75.0  # identical: 1 of 7
        told = f"{score:.1f} {score / 100 * 6 + 1:.2f} {score:.1f}-{score:.1f} {score * 0.8:.1f}"
        assert line.split()[-5:] == ["4/5", *told.split()]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_export_has_every_record(tmp_path, run, protocol):
    run(protocol, "--mode", "direct")
    folder, criteria = tmp_path / "run", load_protocol(protocol).criteria
    lines = agent_judge("export", folder, "-o", tmp_path / "x.jsonl").returncode
    assert lines == 0
    jsonl = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    assert [row["criterion"] for row in jsonl] == 5 * list(criteria)
    agent_judge("export", folder, "--format", "csv", "-o", tmp_path / "x.csv")
    table = list(csv.DictReader(io.StringIO((tmp_path / "x.csv").read_text())))
    agent_judge("export", folder, "--format", "parquet", "-o", tmp_path / "x.parquet")
    parquet = pq.read_table(tmp_path / "x.parquet").to_pylist()
    for one, two, three in zip(jsonl, table, parquet, strict=True):
        assert one["level"] == three["level"] == (float(two["level"]) if two["level"] else None)
        assert one["answers"] == three["answers"]
    agent_judge("export", folder, "--format", "junit", "-o", tmp_path / "x.xml")
    xml = (tmp_path / "x.xml").read_text()
    assert xml.count("<testcase") == len(jsonl)


def test_rewards_hold_complete_rows_only_and_say_what_is_left_out(tmp_path, run):
    run("multi-reward", "--mode", "direct")
    out = tmp_path / "rewards.jsonl"
    done = agent_judge("export", tmp_path / "run", "--format", "rewards", "-o", out)
    assert done.stderr == (
        "rows left out, because they are not scored on all: 2 (missing_output 1, refused 1)\n"
    )
    found = {row["id"]: row for row in map(json.loads, out.read_text().splitlines())}
    assert list(found) == ["plain", "same", "beside"]
    assert found["plain"] == {
        "id": "plain",
        "source": str(tmp_path / "source.png"),
        "edited": str(tmp_path / "edited.png"),
        "instruction": "make it red",
        "editor": "e",
        "reward_text": "Instruction Following: 4; as scripted\nDetail Preserving: 4; as scripted\n"
        "Generation Quality: 4; as scripted",
        "rewards": {"following": 4, "preserving": 4, "quality": 4},
    }
    assert found["same"]["rewards"] == {"following": 0, "preserving": 5, "quality": 4}


def test_a_reason_of_several_lines_is_one_line_of_a_reward(tmp_path, run):
    def policy(request):
        return verdict(criterion_of(request), LEVEL, reason="first\n  second\tthird ")

    run("multi-reward", "--mode", "direct", policy=policy)
    done = agent_judge("export", tmp_path / "run", "--format", "rewards", "-o", tmp_path / "x")
    assert done.returncode == 0
    first = json.loads((tmp_path / "x").read_text().splitlines()[0])
    assert first["reward_text"].splitlines()[0] == "Instruction Following: 4; first second third"


def test_a_run_that_was_not_asked_for_all_rewards_has_no_row_of_them(tmp_path, run):
    run("multi-reward", "--mode", "direct", "--criteria", "following")
    done = agent_judge("export", tmp_path / "run", "--format", "rewards", "-o", tmp_path / "x")
    assert (tmp_path / "x").read_text() == ""
    assert "not run 3" in done.stderr


def test_runs_of_two_protocols_are_never_put_side_by_side(tmp_path, run):
    for protocol in PROTOCOLS:
        run(protocol, "--mode", "direct", folder=protocol)
    both = [tmp_path / protocol for protocol in PROTOCOLS]
    for verb in (("report",), ("compare",), ("compare", "--force")):
        done = agent_judge(*verb, *both)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "expected runs of one protocol" in done.stderr
    assert not (both[0] / "report").exists()
    done = agent_judge("merge", *both, "-o", tmp_path / "merged")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    done = agent_judge("export", both[1], "--format", "rewards", "-o", tmp_path / "x")
    assert (done.returncode, (tmp_path / "x").exists()) == (2, False)
    assert "twelve-factors has no reward texts; runs of multi-reward have" in done.stderr


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_shards_merge_runs_compare_and_people_agree(tmp_path, run, protocol):
    for number in (1, 2):
        run(protocol, "--mode", "direct", "--shard", f"{number}/2", folder=f"s{number}")
    done = agent_judge("merge", tmp_path / "s1", tmp_path / "s2", "-o", tmp_path / "a")
    assert done.returncode == 0
    criteria = load_protocol(protocol).criteria
    assert len(records_of(tmp_path / "a")) == 5 * len(criteria)
    last = criteria[-1]
    worse = write_manifest(tmp_path, rows(tmp_path, editor="f"))
    run(
        protocol, "--mode", "direct", folder="b", manifest=worse,
        policy=lambda request: verdict(criterion_of(request), 2),
    )  # fmt: skip
    done = agent_judge("compare", tmp_path / "a", tmp_path / "b", "--json")
    scale = rubric_of(last).scale
    found = {one["criterion"]: one for one in json.loads(done.stdout)["comparisons"]}
    assert tuple(found) == criteria
    wanted = scale.score_100(2) - scale.score_100(LEVEL)
    assert found[last]["difference_100"]["value"] == pytest.approx(wanted)
    labels = tmp_path / "labels.csv"
    labels.write_text(f"id,by,{last}\nplain,ann,5\nbeside,ann,4\nplain,bob,5\n")
    done = agent_judge("agree", tmp_path / "a", "--labels", labels, "--json")
    (group,) = [
        group
        for group in json.loads(done.stdout)["runs"][0]["groups"]
        if (group["criterion"], group["grouping"]) == (last, "all")
    ]
    assert (group["agreement"]["n"], group["agreement"]["n_raters"]) == (2, 2)
    assert group["agreement"]["bias"]["value"] == -0.5
    labels.write_text(f"id,by,{last}\nplain,ann,9\n")
    done = agent_judge("agree", tmp_path / "a", "--labels", labels)
    assert done.returncode == 2
    assert f"{last} must be a level from {scale.worst:g} to {scale.best:g}" in done.stderr
    done = agent_judge("agree", tmp_path / "a")
    assert f"nobody rated a row of '{tmp_path / 'a'}' for {criteria[0]} or" in done.stderr


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_embedded_judge_says_that_it_cannot(tmp_path, protocol):
    manifest = write_manifest(tmp_path, rows(tmp_path))
    args = ("--protocol", protocol, "--judge", "measured", "--max-unscored", "0")
    done = agent_judge("run", manifest, "--out", tmp_path / "run", *args)
    assert done.returncode == 0, done.stderr
    for (id_, criterion), record in records_of(tmp_path / "run").items():
        if id_ == "plain":
            assert record.reason == "needs_lmm"
        if id_ == "same" and rubric_of(criterion).when_identical is not None:
            assert record.level == rubric_of(criterion).when_identical


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_a_run_would_cost_is_told_before(tmp_path, protocol):
    manifest = write_manifest(tmp_path, rows(tmp_path))
    done = agent_judge("estimate", manifest, "--judge", "gpt-4.1", "--protocol", protocol)
    assert done.returncode == 0, done.stderr
    (direct,) = [line for line in done.stdout.splitlines() if line.startswith("direct")]
    n = len(load_protocol(protocol).criteria)
    assert direct.split()[1:3] == ["5", str(5 * n)]


@pytest.mark.parametrize("verb", ["audit", "annotate"])
def test_a_verb_of_the_ladders_alone_says_so_in_one_line(tmp_path, verb):
    manifest = write_manifest(tmp_path, rows(tmp_path))
    config = tmp_path / "agent-judge.toml"
    config.write_text('protocol = "multi-reward"\n')
    args = ("--out", tmp_path / "a", "--config", config) if verb == "audit" else (manifest,)
    done = agent_judge(verb, *args)
    assert done.returncode == 2
    assert done.stderr == (
        f"agent-judge: {verb} is for the ladders of dlebench (IF and VC): the settings ask for "
        "protocol multi-reward\n"
    )

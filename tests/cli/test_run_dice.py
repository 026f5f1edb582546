"""Protocol dice through the whole program: a planted pair to its report."""

import json
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from agent_judge.images import encode_png
from agent_judge.testing import LoopbackEndpoint, dice_like, fails, task_of
from tests.cli.runs import QUICK, agent_judge, records_of, write_manifest

pytestmark = pytest.mark.slow

TARGET = (60, 40, 80, 56)
ELSEWHERE = (10, 70, 22, 82)
PRICED = ("--set", 'prices."m"={input_per_mtok=1, output_per_mtok=1}')


@pytest.fixture
def manifest(tmp_path):
    """Two rows: the edit in its target and one elsewhere; and nothing changed."""
    source = np.random.default_rng(5).integers(80, 150, (96, 128, 3)).astype(np.uint8)
    edited = source.copy()
    for x1, y1, x2, y2 in (TARGET, ELSEWHERE):
        edited[y1:y2, x1:x2] = (240, 10, 10)
    for name, pixels in (("source", source), ("edited", edited)):
        (tmp_path / f"{name}.png").write_bytes(encode_png(pixels))
    shared = {"source": "source.png", "instruction": "make the square red", "boxes": [TARGET]}
    labels = [{"by": "p", "coherence": 0.5}]
    rows: list[dict[str, Any]] = [
        {"id": "both", "edited": "edited.png", **shared, "labels": labels},
        {"id": "none", "edited": "source.png", **shared},
    ]
    return write_manifest(tmp_path, rows)


def in_target(change):
    return abs(change["box_px"][0] - TARGET[0]) < 5


def run(manifest, out, endpoint, *more):
    given = ("--protocol", "dice", "--judge", "m", "--base-url", endpoint.base_url)
    return agent_judge("run", manifest, "--out", out, *given, *QUICK, *more)


@pytest.fixture
def run_dir(manifest, tmp_path):
    out = tmp_path / "run"
    with LoopbackEndpoint(dice_like(in_target)) as endpoint:
        assert run(manifest, out, endpoint, "--mode", "tool").returncode == 0
        assert (
            endpoint.count == 2 + 2
        )  # difference, names, two decisions; nothing for equal pictures
        assert run(manifest, out, endpoint, "--mode", "tool").returncode == 0
        assert endpoint.count == 4
    return out


def test_an_edit_in_the_target_and_one_elsewhere_are_half_coherent(run_dir):
    records = records_of(run_dir)
    both, none = records["both", "coherence"], records["none", "coherence"]
    assert (both.level, both.label) == (0.5, "1 of 2 coherent")
    assert {one["inside_target"]: one["label"] for one in both.per_target} == {
        True: "Coherent",
        False: "Incoherent",
    }
    assert (none.level, none.flags) == (0, ("identical", "no_change"))


def test_the_report_counts_what_lies_outside_and_how_well_boxes_fit(run_dir):
    assert agent_judge("report", run_dir).returncode == 0
    summary = json.loads((run_dir / "report" / "summary.json").read_text(encoding="utf-8"))
    assert summary["overall"]["coherence"]["mean_level"] == 0.25
    assert summary["overall"]["further"] == {
        "coherence_changes_a_row": 1,  # two and none
        "coherence_changes_outside_a_row": 0.5,
        "coherence_changes_outside_pct": 50,
        "coherence_detection_precision_pct": 50,  # of two named boxes one is the target's
        "coherence_detection_recall_pct": 50,  # of two rows' targets one is found
    }


def test_show_and_export_tell_each_change(run_dir, tmp_path):
    shown = agent_judge("show", run_dir, "both").stdout
    assert "EDIT region 1" in shown
    assert "Incoherent, outside the targets" in shown
    agent_judge("export", run_dir, "--format", "parquet", "-o", tmp_path / "x.parquet")
    lines = pq.read_table(tmp_path / "x.parquet").to_pylist()
    assert [line["level"] for line in lines] == [0.5, 0]
    assert {one["command"] for one in lines[0]["per_target"]} == {"EDIT"}


def test_people_and_another_run_can_be_compared_with(manifest, run_dir, tmp_path):
    agreed = agent_judge("agree", run_dir)
    assert agreed.returncode == 0, agreed.stderr
    with LoopbackEndpoint(dice_like()) as endpoint:
        other = tmp_path / "other"
        assert run(manifest, other, endpoint, "--mode", "tool").returncode == 0
    compared = agent_judge("compare", run_dir, other)
    assert compared.returncode == 0, compared.stderr
    assert "0 records read otherwise today" in agent_judge("rescore", run_dir).stdout


def test_a_row_that_broke_off_between_two_changes_takes_up_there(manifest, tmp_path):
    """What was named and decided comes out of the cache."""
    policy = dice_like(in_target)

    def breaks(request):
        decides = "difference" in task_of(request)
        second = decides and task_of(request)["difference"]["element"] == "region 2"
        return fails(500) if second else policy(request)

    with LoopbackEndpoint(breaks) as endpoint:
        run(manifest, tmp_path / "run", endpoint)
        record = records_of(tmp_path / "run")["both", "coherence"]
        assert (record.reason, len(record.per_target)) == ("transport", 2)
    with LoopbackEndpoint(policy) as endpoint:
        assert run(manifest, tmp_path / "run", endpoint).returncode == 0
        assert endpoint.count == 1
    assert records_of(tmp_path / "run")["both", "coherence"].level == 0.5


def test_a_cap_that_is_reached_between_two_changes_leaves_no_level(manifest, tmp_path):
    with LoopbackEndpoint(dice_like(in_target)) as endpoint:
        done = run(manifest, tmp_path / "run", endpoint, *PRICED, "--max-usd", "0.0003")
        assert endpoint.count < 4
    record = records_of(tmp_path / "run")["both", "coherence"]
    assert (record.status, record.reason, done.returncode) == ("unscored", "budget", 3)


def test_the_embedded_judge_declines_what_differs(manifest, tmp_path):
    out = tmp_path / "run"
    agent_judge("run", manifest, "--out", out, "--protocol", "dice", "--judge", "measured")
    records = records_of(out)
    assert records["both", "coherence"].reason == "needs_lmm"
    assert records["none", "coherence"].level == 0

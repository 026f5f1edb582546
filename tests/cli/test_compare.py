import json

import pytest

from agent_judge.rubrics.protocol import load_ladder
from agent_judge.store import Store
from tests.cli.calls import call
from tests.report.runs import BINDING, plan_rows, save, scored


def make(folder, levels, *, editor, boxes=False, binding=BINDING, **changes):
    """A run over the items 0, 1, ... with these IF levels; None is not run."""
    rows = [
        {
            "id": f"{editor} {i}",
            "item": f"item {i}",
            "editor": editor,
            "source": "s.png",
            "edited": "e.png",
            "instruction": "Paint it.",
            "type": "color" if i % 2 else "removal",
            **({"boxes": [[0, 0, 9, 9]]} if boxes else {}),
        }
        for i in range(len(levels))
    ]
    with Store.create(folder, binding) as store:
        plan_rows(store, rows)
        for row, level in zip(rows, levels, strict=True):
            if level is not None:
                label = load_ladder("IF").label_of(level)
                save(store, scored(row, "IF", level=level, label=label, **changes))
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    return (
        make(folder / "a", [1, 2, 3, 4, 4, 4, 2, None], editor="model-a"),
        make(folder / "b", [4, 2, 3, 1, 4, 4, 3, 4], editor="model-b"),
    )


def compared(capsys, *args):
    assert call("compare", *args, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_editing_models_are_paired_by_item(runs, capsys):
    found = compared(capsys, *runs)
    (one,) = found["comparisons"]

    assert (one["editor_a"], one["editor_b"]) == ("model-a", "model-b")
    assert (one["n_pairs"], one["n_only_a"], one["n_only_b"]) == (7, 0, 1)
    assert one["difference_100"]["value"] == pytest.approx(100 / 3 * (3 - 3 + 1) / 7)
    assert [(c["item"], c["level_a"], c["level_b"]) for c in one["changed"]] == [
        ("item 3", 4, 1),
        ("item 0", 1, 4),
        ("item 6", 2, 3),
    ]
    assert one["transitions"][3] == [1, 0, 0, 2]
    assert found["differ"] == {}


def test_items_with_the_higher_overall_figure_are_counted_where_all_criteria_are_scored(
    tmp_path, capsys
):
    """The ground-truth test; overall 4 + 1, 4 + 4, 1 + 1 against 1 + 4, 1 + 1, 4 + none."""
    runs = [tmp_path / "a", tmp_path / "b"]
    for folder, editor, levels, vc in (
        (runs[0], "model-a", [4, 4, 1], [1, 4, 1]),
        (runs[1], "model-b", [1, 1, 4], [4, 1, None]),
    ):
        make(folder, levels, editor=editor)
        with Store.create(folder, BINDING) as store:
            store.ask_for(["IF", "VC"])
            for row, level in zip(list(store.planned()), vc, strict=True):
                if level is not None:
                    label = load_ladder("VC").label_of(level)
                    save(store, scored(row.row, "VC", level=level, label=label))
    assert compared(capsys, *runs)["overall"] == {
        "n_items": 2,
        "n_higher_in_a": 1,
        "n_higher_in_b": 0,
    }
    assert call("compare", *runs) == 0
    told = "overall figure: higher in A for 1 of 2 items, in B for 0, the same for 1"
    assert told in capsys.readouterr().out


def test_the_terminal_shows_both_runs_and_what_changed(runs, capsys):
    assert call("compare", *runs, "--rows", 1) == 0
    shown = capsys.readouterr().out
    for text in (
        "A model-a (tool mode), B model-b (tool mode)",
        "7 pairs over 7 source pictures; scored in A only: 0, in B only: 1",
        "127.0.0.1:1",
        "A 4 Flawless Execution",
        "3 pairs changed level; the most changed:",
        "item 3",
    ):
        assert text in shown
    assert "item 0" not in shown
    assert "NOT OF ONE KIND" not in shown


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("rubric", {"binding": {**BINDING, "rubric": "dlebench-0"}}),
        ("judge", {"binding": {**BINDING, "judge": {**BINDING["judge"], "model": "other"}}}),
        ("judge.votes", {"binding": {**BINDING, "judge": {**BINDING["judge"], "votes": 3}}}),
        ("answered as", {"judge_returned_model": "gpt-test-2027"}),
        ("mode", {"boxes": True}),
    ],
)
@pytest.mark.slow
def test_runs_judged_in_another_way_are_refused_unless_told(runs, tmp_path, capsys, name, changed):
    other = make(tmp_path / "other", [1, 1, 2, 2, 3, 3, 4, 4], editor="model-c", **changed)
    assert call("compare", runs[0], other) == 2
    told = capsys.readouterr().err
    assert f"({name}: " in told or f"; {name}: " in told
    assert "--force" in told

    assert call("compare", runs[0], other, "--force") == 0
    assert f"NOT OF ONE KIND (--force): the runs differ in {name}" in capsys.readouterr().out
    assert set(compared(capsys, runs[0], other, "--force")["differ"]) == {name}


def test_items_judged_in_other_modes_are_refused_too(tmp_path, capsys):
    halves = []
    for name, boxed in (("a", 0), ("b", 1)):
        rows = [
            {
                "id": str(i),
                "source": "s",
                "edited": "e",
                "instruction": "x",
                **({"boxes": [[0, 0, 9, 9]]} if i % 2 == boxed else {}),
            }
            for i in range(4)
        ]
        with Store.create(tmp_path / name, BINDING) as store:
            plan_rows(store, rows)
            for row in rows:
                save(store, scored(row, "IF", level=3))
        halves.append(tmp_path / name)
    assert call("compare", *halves) == 2
    assert "(mode: oracle and tool)" in capsys.readouterr().err
    assert len(compared(capsys, *halves, "--force")["comparisons"]) == 2


def test_a_moved_endpoint_is_no_other_judge_and_other_settings_are_told(runs, tmp_path, capsys):
    judge = {**BINDING["judge"], "base_url": "http://elsewhere/v1"}
    binding = {**BINDING, "judge": judge, "oracle": {"mask_margin_px": 9}}
    other = make(tmp_path / "other", [1, 1, 2, 2, 3, 3, 4, 4], editor="c", binding=binding)
    assert call("compare", runs[0], other) == 0
    assert 'oracle: A null, B {"mask_margin_px": 9}' in capsys.readouterr().out


def test_runs_without_a_common_item_are_exit_2(runs, tmp_path, capsys):
    other = make(tmp_path / "other", [None], editor="c")
    assert call("compare", runs[0], other) == 2
    assert "no item was scored in both runs" in capsys.readouterr().err


def test_an_item_that_comes_twice_in_a_run_is_exit_2(tmp_path, capsys):
    rows = [
        {"id": str(i), "item": "same", "source": "s", "edited": "e", "instruction": "x"}
        for i in range(2)
    ]
    with Store.create(tmp_path / "run", BINDING) as store:
        plan_rows(store, rows)
        for row in rows:
            save(store, scored(row, "IF", level=3))
    assert call("compare", tmp_path / "run", tmp_path / "run") == 2
    assert "item 'same' comes twice" in capsys.readouterr().err


def test_text_from_data_cannot_steer_the_terminal(tmp_path, capsys):
    a = make(tmp_path / "a", [1, 2], editor="\x1b[2J[bold]a")
    assert call("compare", a, a) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "[bold]a" in shown

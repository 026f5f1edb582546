"""A row's line in the report's list."""

from agent_judge.report.rows import line_of, rows_of
from agent_judge.run import Run
from agent_judge.store import Store
from tests.report.runs import BINDING, drawn_rows, plan_rows


def test_a_label_without_one_of_the_levels_counts_for_the_other_alone(tmp_path):
    [row] = drawn_rows(tmp_path, 1)
    row["labels"] = [{"by": "ann", "IF": None, "VC": 3}, {"by": "bob", "IF": 2, "VC": 4}]
    with Store.create(tmp_path / "run", BINDING) as store:
        plan_rows(store, [row])
    run = Run.open(tmp_path / "run")
    with run.store:
        [line] = map(line_of, rows_of({"run": run}))
    assert line["human"] == {"IF": 2, "VC": 3.5}

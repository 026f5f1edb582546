"""`index.html`: the summary as plain HTML, and the frame into which the scripts draw the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from agent_judge.records import Criterion
from agent_judge.report.words import FATES, NOT_RUN, REASONS
from agent_judge.rubrics.protocol import protocol_of, rubric_of
from agent_judge.rubrics.rubric import Rubric
from agent_judge.run import Run
from agent_judge.settings import MEASURED
from agent_judge.stats.diagnosis import Diagnosis
from agent_judge.stats.further import digits_of, in_words
from agent_judge.stats.summary import RULES, UNNAMED_EDITOR

WEB = Path(__file__).parent / "web"
"""Template, style and scripts of the page."""
SCRIPTS = (
    "assets/vendor/d3.min.js",
    "assets/vendor/plot.umd.min.js",
    *(f"assets/{name}.js" for name in ("core", "query", "filters", "list")),
    *(f"assets/{name}.js" for name in ("viewer", "prepared", "row", "plots")),
    "data/about.js",
    "data/plots.js",
    "data/list.js",
    "assets/main.js",
)
"""In the order in which they run."""


def render_page(
    runs: Mapping[str, Run],
    summary: Mapping[str, Any],
    diagnosis: Diagnosis,
    *,
    judge_card: Callable[[Run], Sequence[str]],
    n_rows: int,
) -> str:
    """The page's HTML; every text from data is escaped.

    Args:
        runs: by the name they are shown under.
        summary: from `summary_of_runs`.
        diagnosis: from `diagnose_runs`.
        judge_card: what an audit says of a run's judge, in lines.
        n_rows: planned rows of all runs.
    """
    criteria = _criteria(runs)
    environment = Environment(
        loader=FileSystemLoader(WEB),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["figure"] = _figure
    environment.globals.update(shade=_shade, in_words=in_words, digits_of=digits_of)
    return environment.get_template("index.html.j2").render(
        runs=[{**_facts(name, run), "card": judge_card(run)} for name, run in runs.items()],
        summary=summary,
        groups=list(_groups(summary, diagnosis)),
        left_out=list(_left_out(summary, criteria)),
        rubrics={c: rubric_of(c) for c in criteria},
        has_overall=protocol_of(criteria).has_overall,
        scripts=SCRIPTS,
        rules=RULES,
        criteria=criteria,
        n_rows=n_rows,
        n_not_run=sum(summary["overall"][c]["n_not_run"] for c in criteria),
        n_planned=summary["overall"]["n_planned"],
        version=metadata.version("agent-judge"),
    )


def _criteria(runs: Mapping[str, Run]) -> tuple[Criterion, ...]:
    """The criteria of the runs' protocol, asked for or not."""
    return next(iter(runs.values())).protocol.criteria


def _shade(bin_: int, n_bins: int) -> int:
    """The colour of a bin, 1 (worst) to 7 (best); a scale of four takes every other one."""
    return 1 + round(6 * bin_ / (n_bins - 1))


def _figure(value: float | None, digits: int = 1) -> str:
    return "\N{EN DASH}" if value is None else f"{value:.{digits}f}"


def _facts(name: str, run: Run) -> dict[str, Any]:
    """What a run was made with."""
    binding = run.store.binding
    judge = binding.get("judge", {})
    return {
        "name": name,
        "folder": str(run.folder.resolve()),
        "judge": judge.get("model"),
        "where": "(embedded)" if judge.get("model") == MEASURED else _at(run.endpoints),
        "mode": binding.get("mode"),
        "criteria": run.criteria,
        "rubric": binding.get("rubric"),
        "binding": binding,
    }


def _at(endpoints: Sequence[str]) -> str:
    return f"at {', '.join(endpoints)}" if endpoints else ""


def _groups(summary: Mapping[str, Any], diagnosis: Diagnosis) -> Iterable[dict[str, Any]]:
    """One group for each editor and mode: what a figure may be given for."""
    sentences = {
        (one.editor or UNNAMED_EDITOR, one.mode): one.bottleneck.sentence
        for one in diagnosis.editors
    }
    for editor, of_editor in summary["by_editor"].items():
        for mode, standing in of_editor["by_mode"].items():
            sentence = sentences[editor, mode]
            yield {"editor": editor, "mode": mode, "bottleneck": sentence, **standing}


def _left_out(
    summary: Mapping[str, Any], criteria: Sequence[Criterion]
) -> Iterable[dict[str, Any]]:
    """Every way in which criteria ended without a level, with its counts."""
    counts = {c: summary["overall"][c] for c in criteria}
    fates = (
        ("missing_output", "n_missing_output", FATES["missing_output"]),
        ("invalid_image", "n_invalid_image", FATES["invalid_image"]),
        ("not run", "n_not_run", NOT_RUN),
    )
    for name, key, meaning in fates:
        if any(counts[c][key] for c in criteria):
            yield {"name": name, "meaning": meaning, "n": {c: counts[c][key] for c in criteria}}
    for reason in summary["reasons"]:
        n = {c: counts[c]["reasons"].get(reason, 0) for c in criteria}
        yield {"name": reason, "meaning": REASONS[reason], "n": n}


def about(runs: Mapping[str, Run]) -> dict[str, Any]:
    """What the scripts know besides the rows."""
    return {
        "runs": list(runs),
        "criteria": [c for c in _criteria(runs) if any(c in run.criteria for run in runs.values())],
        "rubrics": {c: _rubric_data(rubric_of(c)) for c in _criteria(runs)},
        "meanings": dict([*FATES.items(), *REASONS.items(), ("not_run", NOT_RUN)]),
    }


def _rubric_data(rubric: Rubric) -> dict[str, Any]:
    scale = rubric.scale
    return {
        "name": rubric.name,
        "worst": scale.worst,
        "best": scale.best,
        "bins": list(scale.bins),
        "whole": scale.whole,
        "levels": rubric.levels_text(),
        "questions": dict(rubric.questions_text()),
    }

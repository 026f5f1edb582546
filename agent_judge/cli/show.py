"""`agent-judge show`: how one row was judged, with the evidence for it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from agent_judge.cli.terminal import shown_lines
from agent_judge.errors import InputError
from agent_judge.records import Criterion, Evidence, Record
from agent_judge.report.steps import summary_of, text_of
from agent_judge.rubrics.protocol import all_criteria, rubric_of
from agent_judge.run import Run
from agent_judge.store import PlannedRow, Saved

_LONGEST_TEXT = 600


def show(
    run_dir: Annotated[Path, typer.Argument(help="Folder given to `run --out`.")],
    id_: Annotated[str, typer.Argument(metavar="ID", help="The row's id in the manifest.")],
    criterion: Annotated[Criterion | None, typer.Option(help="One of them; default: all.")] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="The record, raw replies and versions; a list without --criterion."
        ),
    ] = False,
) -> None:
    """Show verdict, answers, evidence, flags and cost of one row."""
    run = Run.open(run_dir)
    row = _planned_row(run, id_)
    if criterion and criterion not in run.criteria:
        asked = ", ".join(run.criteria)
        raise InputError(f"--criterion {criterion}: the criteria of this run are {asked}")
    criteria = [criterion] if criterion else list(run.criteria)
    found = {c: run.store.latest(id_, c) for c in criteria}
    if as_json:
        shown = [verdict_json(saved, run) for saved in found.values() if saved is not None]
        if criterion and not shown:
            raise InputError(f"{id_!r} has no record for {criterion}: it was not run")
        print(json.dumps(shown[0] if criterion else shown, ensure_ascii=False, indent=2))
        return
    lines = [*_heading(row), *_verdicts(found, run)]
    print(shown_lines("\n".join(lines)))


def verdict_json(saved: Saved, run: Run) -> dict[str, Any]:
    """The record with what stands behind it.

    Returns:
        The record's fields, then `replies` (the text of each assistant message), `messages` (the
        messages verbatim, with look and vote), `round` and `versions`.
    """
    record = saved.record
    return {
        **record.to_json(),
        "replies": [text_of(reply["message"]) for reply in saved.replies],
        "messages": list(saved.replies),
        "round": saved.round,
        "versions": {
            "agent_judge": run.store.meta("version"),
            "rubric": record.rubric_version,
            "prompt": record.prompt_hash,
            "tools": run.store.binding.get("tools_revision"),
            "judge": record.judge,
            "judge_returned_model": record.judge_returned_model,
        },
    }


def _planned_row(run: Run, id_: str) -> PlannedRow:
    row = next((row for row in run.rows() if row.id == id_), None)
    if row is not None:
        return row
    close = difflib.get_close_matches(id_, [row.id for row in run.rows()], n=3)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
    raise InputError(f"no row {id_!r} in {str(run.folder)!r}{hint}")


def _heading(row: PlannedRow) -> Iterator[str]:
    known = [row.id, row.row.get("type"), row.row.get("editor"), f"mode {row.mode}"]
    yield " · ".join(str(word) for word in known if word)
    yield f"instruction: {row.row['instruction']}"
    for name in ("source", "edited", "reference"):
        if path := row.row.get(name):
            yield f"{name}: {path}"
    for label in row.row.get("labels") or ():
        levels = ", ".join(f"{c} {label[c]}" for c in all_criteria() if label.get(c) is not None)
        yield f"label by {label.get('by', 'unknown')}: {levels}"


def _verdicts(found: Mapping[Criterion, Saved | None], run: Run) -> Iterator[str]:
    for criterion, saved in found.items():
        yield ""
        if saved is None:
            yield f"{criterion}: not run"
            continue
        yield from _verdict(saved.record)
        yield from _evidence(saved.record.evidence, run)
        yield from _remarks(saved.record)
        yield f"  cost: {_cost(saved.record)}"


def _verdict(record: Record) -> Iterator[str]:
    if record.level is None:
        yield f"{record.criterion}: {record.status}" + (
            f", {record.reason}" if record.reason else ""
        )
    else:
        yield (
            f"{record.criterion}: {record.label} "
            f"(level {record.level:g} of {rubric_of(record.criterion).scale.best:g}, "
            f"{record.score_100:g} of 100)"
        )
    if record.explanation:
        yield f"  {_short(record.explanation)}"
    for answer in record.answers:
        yield f"  {answer['question']}: {answer['answer']}"
    for target in record.per_target:
        what = f"{target['command']} {target['element']}" if "command" in target else "target"
        outside = ", outside the targets" if target.get("inside_target") is False else ""
        yield f"  {what} {_box(target['box'])}: {target['label'] or 'no level'}{outside}"
    told = any("command" in target for target in record.per_target)
    for anomaly in () if told else record.anomalies:
        yield f"  anomaly: {anomaly['what']}" + (
            f" at {_box(anomaly['box'])}" if anomaly.get("box") else ""
        )
    votes = record.vote_levels
    if len(votes) > 1:
        said = ", ".join("none" if level is None else f"{level:g}" for level in votes)
        agree = (
            f" ({votes.count(record.level)} of {len(votes)} agree)"
            if record.level is not None
            else ""
        )
        yield f"  votes: {said}{agree}"


def _evidence(evidence: Sequence[Evidence], run: Run) -> Iterator[str]:
    for number, one in enumerate(evidence, start=1):
        args = ", ".join(f"{key}={_plain(value)}" for key, value in one.args.items())
        yield f"  step {number}: {one.tool}({args})"
        yield f"    {_short(summary_of(one.text))}"
        for sha256, label in zip(one.images, one.labels, strict=True):
            path = run.store.blobs.path(sha256)
            yield f"    {label}: {path}{'' if path.is_file() else ' (gone)'}"


def _remarks(record: Record) -> Iterator[str]:
    if record.flags:
        yield f"  flags: {', '.join(record.flags)}"
    for note in record.notes:
        yield f"  note: {_short(note)}"


def _cost(record: Record) -> str:
    parts = [f"{record.seconds:.1f} s"]
    if record.attempts:
        parts += [f"{record.attempts} requests to {record.endpoint}"]
        parts += [
            f"{'unknown' if n is None else format(n, ',')} tokens {way}"
            for n, way in ((record.tokens_in, "in"), (record.tokens_out, "out"))
        ]
        parts += ["price unknown" if record.usd is None else f"${record.usd:.4f}"]
    return ", ".join(parts)


def _box(box: Iterable[float]) -> str:
    return "[" + ", ".join(f"{v:g}" for v in box) + "]"


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(text: str) -> str:
    text = text.strip().replace("\n", "\n    ")
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + " … (--json shows all)"

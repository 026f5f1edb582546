"""What a report shows of one row: a line for the list, and the whole for its own page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from agent_judge.errors import OutputFault, SampleError
from agent_judge.intake import Intake, take_in
from agent_judge.records import Criterion, Evidence, Record, Sample
from agent_judge.report.pictures import Shelf, is_shown_by_browsers, size_in_header
from agent_judge.report.prepared import prepared_of
from agent_judge.report.steps import steps_of, summary_of
from agent_judge.rubrics.protocol import all_criteria, rubric_of
from agent_judge.run import Run
from agent_judge.settings import OracleSettings
from agent_judge.store import PlannedRow, Saved

PICTURES = ("source", "edited", "reference")
_SHOWN_TEXT = 300
"""Characters of an instruction in the list."""


@dataclass(frozen=True, kw_only=True)
class ReportRow:
    """A planned row with the last verdict on each criterion."""

    run: Run
    run_name: str
    planned: PlannedRow
    oracle: OracleSettings
    """The run's margins of crops and masks."""
    kept_size_wh: tuple[int, int] | None
    """Width and height of the source as the run kept them; None for rows that it did not read."""
    thumbnail: bytes | None
    """The row in small as the run kept it (WebP)."""
    saved: Mapping[Criterion, Saved | None]
    """By criterion that the run asked for; None where it was not run."""

    @property
    def records(self) -> tuple[Record, ...]:
        """The records that exist."""
        return tuple(saved.record for saved in self.saved.values() if saved is not None)

    @property
    def files(self) -> dict[str, Path]:
        """The row's pictures by name, as the manifest has them."""
        given = self.planned.row
        return {name: Path(given[name]) for name in PICTURES if given.get(name)}

    @cached_property
    def size_wh(self) -> tuple[int, int] | None:
        """Width and height of the source, where it is known."""
        return self.kept_size_wh or size_in_header(self.files["source"])

    def is_noted(self, picture: str) -> bool:
        """Whether the judge got the picture otherwise than its file shows it: turned, scaled."""
        prefix = f"{picture}: "
        return any(note.startswith(prefix) for record in self.records for note in record.notes)

    @property
    def needs_pixels(self) -> bool:
        """Whether the report cannot show the row without decoding its pictures."""
        return self.thumbnail is None or any(
            self.is_noted(name) or not is_shown_by_browsers(path)
            for name, path in self.files.items()
        )

    def take_in(self) -> Intake | None:
        """The row decoded and brought into the source's frame; None where it cannot be judged."""
        given, files = self.planned.row, self.files
        sample = Sample(
            id=self.planned.id,
            source=files["source"],
            edited=files["edited"],
            reference=files.get("reference"),
            instruction=given["instruction"],
            boxes=given.get("boxes"),
            box_format=given.get("box_format") or "xyxy",
            box_frame=given.get("box_frame"),
        )
        try:
            return take_in(sample)
        except (SampleError, OutputFault):
            return None


def rows_of(runs: Mapping[str, Run]) -> Iterator[ReportRow]:
    """The planned rows of all runs, in order."""
    for name, run in runs.items():
        oracle = OracleSettings.model_validate(run.store.binding.get("oracle", {}))
        criteria, sizes_wh = run.criteria, run.store.sizes_wh()
        for planned in run.rows():
            yield ReportRow(
                run=run,
                run_name=name,
                planned=planned,
                oracle=oracle,
                kept_size_wh=sizes_wh.get(planned.id),
                thumbnail=run.store.thumbnail(planned.id),
                saved={c: run.store.latest(planned.id, c) for c in criteria},
            )


def line_of(row: ReportRow) -> dict[str, Any]:
    """The row's line in the list: what can be filtered and sorted by."""
    given = row.planned.row
    areas = [record.area_pct for record in row.records if record.area_pct is not None]
    return {
        "run": row.run_name,
        "id": row.planned.id,
        "item": given.get("item") or row.planned.id,
        "editor": given.get("editor") or "",
        "type": given.get("type") or "",
        "mode": row.planned.mode,
        "instruction": given["instruction"][:_SHOWN_TEXT],
        "area_pct": areas[0] if areas else None,
        "flags": sorted({flag for record in row.records for flag in record.flags}),
        "human": _human_levels(given),
        "fates": {criterion: _fate(saved) for criterion, saved in row.saved.items()},
    }


def _fate(saved: Saved | None) -> dict[str, Any]:
    if saved is None:
        return {"status": "not_run"}
    record = saved.record
    fate = {"status": record.status, "reason": record.reason, "level": record.level}
    return {key: value for key, value in fate.items() if value is not None}


def _human_levels(given: Mapping[str, Any]) -> dict[str, float]:
    """The mean of the human labels of each criterion."""
    means: dict[str, float] = {}
    for criterion in all_criteria():
        said = [label.get(criterion) for label in given.get("labels") or ()]
        levels = [level for level in said if level in rubric_of(criterion).scale]
        if levels:
            means[criterion] = sum(levels) / len(levels)
    return means


def page_of(row: ReportRow, intake: Intake | None, shelf: Shelf) -> dict[str, Any]:
    """Everything the row's own page shows besides its line.

    Args:
        row: the row.
        intake: its pictures, decoded; None where they cannot be judged.
        shelf: where the pictures go.
    """
    given = row.planned.row
    extras = ("targets", "source_caption", "edited_caption", "labels")
    return {
        "instruction": given["instruction"],
        "size": row.size_wh,
        "given": {key: given[key] for key in extras if given.get(key)},
        "pictures": {
            name: _picture(name, path, row, intake, shelf) for name, path in row.files.items()
        },
        "verdicts": {
            criterion: _verdict(saved, row, shelf)
            for criterion, saved in row.saved.items()
            if saved is not None
        },
    }


def _picture(
    name: str, path: Path, row: ReportRow, intake: Intake | None, shelf: Shelf
) -> dict[str, Any]:
    """The address of a picture, as the judge's frame has it, and the file it comes from."""
    url = None
    if intake is not None and (row.is_noted(name) or not is_shown_by_browsers(path)):
        url = _converted(name, path, intake, shelf)
    return {"url": url or shelf.url(path), "file": str(path)}


def _converted(name: str, path: Path, intake: Intake, shelf: Shelf) -> str | None:
    """The picture as the judge got it, where the file itself would look different in a browser."""
    row = intake.row
    pixels = {"source": row.source, "edited": row.edited, "reference": row.reference}[name]
    return None if pixels is None else shelf.write_jpeg(path, pixels)


def _verdict(saved: Saved, row: ReportRow, shelf: Shelf) -> dict[str, Any]:
    record = saved.record.to_json()
    del record["evidence"]
    steps = [
        {
            "vote": step.vote,
            "look": step.look,
            "about": step.about,
            "said": step.said,
            "tools": [_tool(one, row, shelf) for one in step.evidence],
        }
        for step in steps_of(saved)
    ]
    prepared = row.size_wh and prepared_of(saved.record, row.size_wh, row.oracle)
    return {"record": record, "round": saved.round, "prepared": prepared, "steps": steps}


def _tool(evidence: Evidence, row: ReportRow, shelf: Shelf) -> dict[str, Any]:
    store = row.run.store
    return {
        "tool": evidence.tool,
        "args": dict(evidence.args),
        "summary": summary_of(evidence.text),
        "reply": evidence.text,
        "pictures": [
            {"url": shelf.url(store.blobs.path(sha256)), "label": label}
            for sha256, label in zip(evidence.images, evidence.labels, strict=True)
        ],
    }

"""`agent-judge audit`: let a judge sit an exam of planted edits, and write its judge card."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.console import Console

from agent_judge.audit.card import cards_folder, make_card, save_card
from agent_judge.audit.photographs import read_photographs
from agent_judge.audit.plant import plant_exam
from agent_judge.audit.score import ExamPart, score_exam, to_json
from agent_judge.cli.engines import engines
from agent_judge.cli.judging import DONE, Again, Rows, binding_of, judge_into, plan_rows
from agent_judge.cli.options import criteria_of, refuse_other_protocols, settings_of
from agent_judge.cli.tables import plain_table, table_console, with_interval
from agent_judge.errors import InputError
from agent_judge.manifest import check_manifest
from agent_judge.records import Mode, Record
from agent_judge.rubrics.protocol import rubric_version
from agent_judge.run import Run
from agent_judge.runner import model_for
from agent_judge.settings import Settings
from agent_judge.store import Store


def audit(
    out: Annotated[Path, typer.Option(help="Folder for the exam and its runs; resumed.")],
    judge: Annotated[str | None, typer.Option(help="measured, or a model's name.")] = None,
    base_url: Annotated[str | None, typer.Option(help="OpenAI-compatible endpoint.")] = None,
    rows: Annotated[int, typer.Option(min=1, help="Edited pictures to plant.")] = 120,
    seed: Annotated[int, typer.Option(help="Another seed is another exam of the same kind.")] = 0,
    photos: Annotated[
        Path | None, typer.Option(help="JSONL of photographs with boxes; default: built-in ones.")
    ] = None,
    modes: Annotated[str, typer.Option(help="Modes to sit the exam in.")] = "oracle,tool,direct",
    criteria: Annotated[str | None, typer.Option(help="IF,VC or one of them.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Samples judged at once.")] = None,
    cards: Annotated[
        Path | None,
        typer.Option(help="Folder for the judge card; run and report take the same option."),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="TOML, as for run.")] = None,
    assignment: Annotated[
        list[str] | None, typer.Option("--set", metavar="TABLE.KEY=VALUE", help="Any setting.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Plant edits of known IF and VC, let a judge sit the exam, write its judge card."""
    flags = {
        "judge.model": judge,
        "judge.base_url": base_url,
        "criteria": criteria_of(criteria),
        "run.jobs": jobs,
    }
    settings = settings_of(None, config=config, assignments=assignment or [], flags=flags)
    refuse_other_protocols(settings, "audit")
    asked = [mode for mode in get_args(Mode) if mode in modes.split(",")]
    if not asked or set(modes.split(",")) - set(asked):
        raise InputError(f"--modes {modes!r}: expected {','.join(get_args(Mode))} or some of them")
    console = table_console(stderr=as_json)
    exam = Rows(manifest=_planted(out, rows, seed, photos, console))
    settings = model_for(settings, out / asked[0])
    records: list[Record] = []
    for mode in asked:
        code = _sit(exam, out / mode, settings.model_copy(update={"mode": mode}), console, records)
        if code != DONE:
            raise typer.Exit(code)
    parts = score_exam(records, exam, seed=seed)
    told = {"seed": seed, "rows": rows, "photographs": photos.name if photos else "built-in"}
    card = make_card(str(settings.judge.model), parts, versions=_versions(records), exam=told)
    path = save_card(card, cards or cards_folder())
    scores = json.dumps(to_json(parts), indent=1)
    (out / "scores.json").write_text(scores + "\n", encoding="utf-8")
    if as_json:
        print(scores)
    else:
        _print(console, parts, asked)
    console.print(
        f"by level, size, type and degradation, with confusions: {out / 'scores.json'}",
        soft_wrap=True,
    )
    console.print(f"judge card: {path}", soft_wrap=True)


def _planted(out: Path, n_rows: int, seed: int, photos: Path | None, console: Console) -> Path:
    """The exam's manifest; planted once for the same arguments."""
    folder = out / "exam"
    recipe = {"rows": n_rows, "seed": seed, "photos": str(photos)}
    marker = folder / "recipe.json"
    manifest = folder / "manifest.jsonl"
    if manifest.exists() and marker.exists():
        if json.loads(marker.read_text(encoding="utf-8")) != recipe:
            raise InputError(f"{str(out)!r} holds another exam: pass another --out")
    else:
        console.print(f"planting {n_rows} edits")
        photographs = read_photographs(photos) if photos else None
        manifest = plant_exam(folder, n_rows=n_rows, seed=seed, photographs=photographs)
        marker.write_text(json.dumps(recipe), encoding="utf-8")
    check_manifest(manifest)
    return manifest


def _sit(
    exam: Rows, folder: Path, settings: Settings, console: Console, records: list[Record]
) -> int:
    console.print(f"judge {settings.judge.model}, mode {settings.mode}")
    with (
        engines(settings) as (settings, engine_for),
        closing(Store.create(folder, binding_of(settings))) as store,
    ):
        plan_rows(exam, settings, store, Again())
        code = asyncio.run(judge_into(store, engine_for, Again(), console))
        records.extend(Run(store).records())
    return code


def _versions(records: Sequence[Record]) -> dict[str, str]:
    models = sorted({r.judge_returned_model for r in records if r.judge_returned_model})
    return {
        "agent-judge": metadata.version("agent-judge"),
        "rubric": rubric_version(),
        "returned_model": ", ".join(models),
    }


def _print(console: Console, parts: Sequence[ExamPart], modes: Sequence[Mode]) -> None:
    """One line for each mode and criterion; the splits are in the file."""
    table = plain_table("mode", "criterion", "accuracy [95 %]", "scored")
    for part in sorted(parts, key=lambda part: (modes.index(part.mode), part.criterion)):
        score = part.overall
        scored = f"{score.n_scored}/{score.n_planned}"
        table.add_row(part.mode, part.criterion, with_interval(score.accuracy), scored)
    console.print(table)
    for part in parts:
        if not part.overall.separates:
            console.print(
                f"{part.mode} {part.criterion}: this judge does not tell better edits from worse "
                "ones: its levels say nothing",
                soft_wrap=True,
            )

"""Run folders for tests of what reads them: records written into a store, with real evidence."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_judge.album import Album
from agent_judge.images import encode_png, load_image
from agent_judge.records import Box, Criterion, Evidence, Record
from agent_judge.rubrics.protocol import load_ladder, rubric_version
from agent_judge.store import PlannedRow, Store
from agent_judge.tools.base import Tool, View
from agent_judge.tools.difference import DifferenceTool
from agent_judge.tools.zoom_in import ZoomInTool
from tests.pictures import scene

DEMO = Path(__file__).parents[2] / "eval_data" / "demo"
JUDGE = "gpt-test"
BINDING: Mapping[str, Any] = {
    "mode": "auto",
    "judge": {"model": JUDGE, "base_url": "http://127.0.0.1:1/v1", "max_steps": 8},
    "rubric": rubric_version(),
    "tools_revision": 1,
}


def demo_rows() -> list[dict[str, Any]]:
    """The rows of the demo set, with absolute paths."""
    lines = (DEMO / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for row in rows:
        for name in ("source", "edited", "reference"):
            if name in row:
                row[name] = str(DEMO / row[name])
    return rows


def drawn_rows(folder: Path, n: int) -> list[dict[str, Any]]:
    """Rows over one small drawn pair: a disc became white. Quick to judge and to show."""
    drawn = scene((160, 120))
    edited = drawn.pixels.copy()
    x1, y1, x2, y2 = (int(v) for v in drawn.boxes[0].xyxy)
    edited[y1:y2, x1:x2] = 255
    for name, pixels in (("source", drawn.pixels), ("edited", edited)):
        (folder / f"{name}.png").write_bytes(encode_png(pixels))
    return [
        {
            "id": f"row {i}",
            "item": f"item {i // 2}",
            "editor": f"editor {i % 2}",
            "source": str(folder / "source.png"),
            "edited": str(folder / "edited.png"),
            "instruction": f"Paint disc {i} white.",
            "type": "color",
            "boxes": [[x1, y1, x2, y2]],
            "labels": [{"by": "planted", "IF": 4 - i % 4, "VC": 4}],
        }
        for i in range(n)
    ]


def make_run(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """A run in which every row got the levels of its first label; returns the folder."""
    with Store.create(folder, BINDING) as store:
        plan_rows(store, rows)
        for row in rows:
            evidence = looked_at(row, store)
            for criterion in ("IF", "VC"):
                save(store, scored(row, criterion, evidence=evidence))
    return folder


def plan_rows(store: Store, rows: list[dict[str, Any]]) -> None:
    store.plan(
        PlannedRow(id=row["id"], mode=mode_of(row), row=row, seq=seq)
        for seq, row in enumerate(rows)
    )
    store.ask_for(("IF", "VC"))


def mode_of(row: Mapping[str, Any]) -> Any:
    return "oracle" if row.get("boxes") else "tool"


def looked_at(row: Mapping[str, Any], store: Store) -> tuple[Evidence, ...]:
    """What zoom_in and difference answer on the row's pictures."""
    view = View(source=load_image(row["source"]), edited=load_image(row["edited"]))
    album = Album(store.blobs)
    box = (row.get("boxes") or [[0, 0, 40, 40]])[0]
    return (
        use(ZoomInTool(), view, {"picture": "source", "box": box}, album),
        use(ZoomInTool(), view, {"picture": "edited", "box": box}, album),
        use(DifferenceTool(), view, {}, album),
    )


def use(tool: Tool, view: View, args: Mapping[str, Any], album: Album) -> Evidence:
    reply = tool(view, args)
    return Evidence(
        tool=tool.name,
        args=args,
        text=json.dumps(reply.data),
        images=tuple(album.add_evidence(picture.pixels) for picture in reply.pictures),
        labels=tuple(picture.label for picture in reply.pictures),
    )


def scored(row: Mapping[str, Any], criterion: Criterion, **changes: Any) -> Record:
    """The record with the row's first label as its level."""
    ladder = load_ladder(criterion)
    label = (row.get("labels") or [{}])[0]
    level = label.get(criterion, 3)
    boxes = tuple(tuple(box) for box in row.get("boxes") or ())
    values: dict[str, Any] = {
        "status": "scored",
        "level": level,
        "label": ladder.label_of(level),
        "score_100": round(ladder.scale.score_100(level), 2),
        "explanation": label.get("why", ""),
        "answers": tuple({"question": q, "answer": a} for q, a in ladder.path_to(level).items()),
        "target_boxes": boxes,
        "box_origin": "given" if boxes else None,
        "area_pct": round(sum(Box(*b).area for b in boxes) / 2500, 4) if boxes else None,
        "vote_levels": (level,),
        "judge_returned_model": "gpt-test-2026-01-01",
        "prompt_hash": "0" * 64,
        "tokens_in": 5210,
        "tokens_out": 311,
        "usd": 0.0123,
        "seconds": 3.21,
        "attempts": 3,
    }
    return record(row, criterion, **{**values, **changes})


def record(row: Mapping[str, Any], criterion: Criterion, **fields: Any) -> Record:
    return Record(
        id=row["id"],
        item=row.get("item", row["id"]),
        editor=row.get("editor", ""),
        type=row.get("type"),
        mode=mode_of(row),
        criterion=criterion,
        judge=JUDGE,
        endpoint="127.0.0.1:1",
        rubric_version=rubric_version(),
        **fields,
    )


def save(store: Store, saved: Record) -> None:
    """Keep a record with the replies that its evidence answers to."""
    calls = [
        {
            "id": f"call_{i}",
            "type": "function",
            "function": {"name": one.tool, "arguments": json.dumps(dict(one.args))},
        }
        for i, one in enumerate(saved.evidence)
    ]
    final = {"answers": {a["question"]: a["answer"] for a in saved.answers}, "label": saved.label}
    messages = [
        *(
            {"role": "assistant", "content": "I look closer.", "tool_calls": [call]}
            for call in calls
        ),
        {"role": "assistant", "content": json.dumps(final)},
    ]
    store.save(
        saved,
        round_=0,
        inputs={},
        replies=[{"vote": 0, "look": 0, "message": message} for message in messages],
    )

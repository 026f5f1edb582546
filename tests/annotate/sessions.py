"""Rows to rate, and sessions over them."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_judge.annotate.journal import Journal
from agent_judge.annotate.round import draw_round
from agent_judge.annotate.server import AnnotationServer
from agent_judge.annotate.session import Session
from agent_judge.images import encode_png
from agent_judge.manifest import read_manifest
from tests.pictures import scene

FLAWLESS = {"target_edited": "yes", "action_right": "yes", "rest_kept": "yes"}
WRONG = {"target_edited": "yes", "action_right": "no"}
PERFECT = {"scene_kept": "yes", "anomalies": "none"}
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


def write_rows(folder: Path, n: int, **first: object) -> Path:
    """A manifest of rows over one small pair; the last row has no boxes, the first `first`."""
    drawn = scene((160, 120))
    edited = drawn.pixels.copy()
    x1, y1, x2, y2 = (int(v) for v in drawn.boxes[0].xyxy)
    edited[y1:y2, x1:x2] = 255
    for name, pixels in (("source", drawn.pixels), ("gpt-secret", edited)):
        (folder / f"{name}.png").write_bytes(encode_png(pixels))
    rows: list[dict[str, object]] = [
        {
            "id": f"gpt-secret-{i}",
            "editor": "gpt-secret",
            "source": "source.png",
            "edited": "gpt-secret.png",
            "instruction": f"Paint disc {i} white.",
            "type": "color",
            "boxes": [[x1, y1, x2, y2]],
            "labels": [{"by": "gpt-secret", "IF": 1, "VC": 1}],
        }
        for i in range(n)
    ]
    rows[0] |= first
    del rows[-1]["boxes"]
    manifest = folder / "manifest.jsonl"
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return manifest


@contextmanager
def open_session(manifest: Path, *, n_calibration: int = 2) -> Iterator[Session]:
    """A session whose journal and labels lie beside the manifest."""
    round_ = draw_round(read_manifest(manifest), size=None, seed=0, n_calibration=n_calibration)
    with Journal.open(manifest.with_name("labels.journal.jsonl")) as journal:
        yield Session(round_, journal, manifest.with_name("labels.csv"), now=lambda: "2026-11-29")


@contextmanager
def served(manifest: Path) -> Iterator[tuple[Session, AnnotationServer]]:
    """A session and the server of its page, in a thread."""
    with open_session(manifest) as session, AnnotationServer(session, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield session, server
        finally:
            server.shutdown()
            thread.join()


def said(by: str = "ann", **changes: object) -> dict[str, object]:
    """What a page sends when a rater found nothing wrong."""
    good = {"answers": {"IF": FLAWLESS, "VC": PERFECT}, "boxes": [], "comment": ""}
    return {"by": by, **good, "saw_difference": False, **changes}


def number_of(session: Session, id_: str) -> int:
    """The number under which a page knows a row."""
    return [sample.id for sample in session.round.rows].index(id_)

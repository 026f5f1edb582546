"""A contact sheet of a labelled manifest, so that a person can check every level by eye.

`python -m agent_judge.audit.contact_sheet MANIFEST FOLDER` writes `page_000.png`, ... into FOLDER:
one strip a row with source, edited and reference (targets framed), the same window of each
enlarged, and what the label says.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from agent_judge.images import load_image
from agent_judge.records import Box

CELL_PX = 250
CAPTION_PX = 44
STRIPS_PER_PAGE = 6
FRAME = (255, 0, 255)


def contact_sheet(manifest: Path, folder: Path) -> list[Path]:
    """Writes the pages of a manifest into a folder and returns their paths.

    Args:
        manifest: JSONL whose rows have `boxes` (pixels of the source, xyxy) and `labels`.
        folder: made when missing.

    Raises:
        PictureError: a picture of the manifest cannot be read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in manifest.read_text(encoding="utf-8").splitlines()]
    pages = []
    for number, part in enumerate(_parts(rows)):
        strips = [strip(row, manifest.parent) for row in part]
        page = Image.new("RGB", (strips[0].width, sum(s.height for s in strips)))
        for i, image in enumerate(strips):
            page.paste(image, (0, i * image.height))
        pages.append(folder / f"page_{number:03d}.png")
        page.save(pages[-1])
    return pages


def strip(row: Mapping[str, Any], folder: Path) -> Image.Image:
    """One row of a manifest: its pictures, their crops, its labels in words."""
    names = [row[key] for key in ("source", "edited", "reference") if row.get(key)]
    source, *others = (Image.fromarray(load_image(folder / name)) for name in names)
    pictures = [source, *(other.resize(source.size) for other in others)]
    boxes = [Box(*box) for box in row["boxes"]]
    out = Image.new("RGB", (6 * CELL_PX, CELL_PX + CAPTION_PX), "black")
    for i, picture in enumerate(pictures):
        out.paste(_framed(picture, boxes), (i * CELL_PX, 0))
        out.paste(_enlarged(picture, boxes), ((3 + i) * CELL_PX, 0))
    pen = ImageDraw.Draw(out)
    keys = ("id", "photograph", "plant", "rest", "degradation", "size_bin")
    pen.text((4, CELL_PX), " | ".join(str(row[key]) for key in keys if key in row), fill="grey")
    pen.text((4, CELL_PX + 14), f"{row['type']}: {row['instruction']}", fill="white")
    label = "; ".join(f"IF {x['IF']}, VC {x['VC']}: {x.get('why', '')}" for x in row["labels"])
    pen.text((4, CELL_PX + 28), label, fill="yellow")
    return out


def _framed(picture: Image.Image, boxes: Sequence[Box]) -> Image.Image:
    scale = CELL_PX / max(picture.size)
    small = picture.resize((round(picture.width * scale), round(picture.height * scale)))
    pen = ImageDraw.Draw(small)
    for box in boxes:
        pen.rectangle(
            [v * scale + d for v, d in zip(box.xyxy, (-3, -3, 3, 3), strict=True)], outline=FRAME
        )
    return small


def _enlarged(picture: Image.Image, boxes: Sequence[Box]) -> Image.Image:
    around = boxes[0]
    for box in boxes[1:]:
        around = around.union(box)
    around = around.grow(max(8, 0.3 * max(around.width, around.height)))
    window = picture.crop((int(around.x1), int(around.y1), int(around.x2), int(around.y2)))
    scale = CELL_PX / max(window.size)
    size_wh = (max(1, round(window.width * scale)), max(1, round(window.height * scale)))
    return window.resize(size_wh, Image.Resampling.BICUBIC)


def _parts(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), STRIPS_PER_PAGE):
        yield rows[start : start + STRIPS_PER_PAGE]


def main(argv: Sequence[str] | None = None) -> None:
    """The command line of this module; `argv` is the process's when None."""
    parser = argparse.ArgumentParser(description="Contact sheet of a labelled manifest.")
    parser.add_argument("manifest", type=Path)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args(argv)
    contact_sheet(args.manifest, args.folder)


if __name__ == "__main__":
    main()

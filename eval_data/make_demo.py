"""Makes eval_data/demo: twelve edited pictures whose right IF and VC levels are known.

Run it from the repository: `python eval_data/make_demo.py [FOLDER]`. The photographs come with
scikit-image (licences in demo/README.md); nothing is downloaded and nothing is
random. Every reference is made apart from the right edit: other shade, other fill, other drawing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import skimage
from numpy.typing import ArrayLike
from PIL import Image

from agent_judge.audit import collapse, motifs, paint
from agent_judge.audit.paint import RGB, Mask
from agent_judge.audit.photographs import builtin_photographs
from agent_judge.records import Box

SOURCES = {
    "coffee": "coffee.png",
    "astronaut": "astronaut.png",
    "rocket": "rocket.jpg",
    "camera": "camera.png",
    "chelsea": "chelsea.png",
}
GREEN, BLUE, RED = (40, 150, 60), (35, 80, 190), (200, 30, 35)
HANDLE = "handle of the cup"
TAG = "name tag on the suit"
PATCH = "round patch on the suit"
LEFT_POLE = "white pole on top of the left tower"
RIGHT_POLE = "white pole on top of the right tower"
LEFT_BOOSTER = "left booster of the shuttle model"
RIGHT_BOOSTER = "right booster of the shuttle model"
TOWER = "tall tower"
HEAP = "white heap on the lawn"
NOSE = "nose of the cat"
NAME = "name on the tag"
OUTLINES: dict[str, ArrayLike] = {
    thing.name: np.reshape(thing.polygons[0], (-1, 2))
    for photograph in builtin_photographs()
    for thing in photograph.objects
}
OUTLINES[NAME] = [(285, 366), (302, 368), (318, 368), (316, 373), (313, 375), (285, 371)]
TAG_INSIDE = [(282, 343), (324, 349), (326, 361), (311, 374), (285, 371)]
BUTTONS = [(162, 294), (168, 292), (174, 289), (181, 286)]
BALL = Box(321, 224, 338, 241)


def outline(image: RGB, name: str) -> Mask:
    """The pixels of a hand-drawn outline."""
    height, width = image.shape[:2]
    return paint.polygon_mask(OUTLINES[name], (width, height))


def cloth(image: RGB, name: str) -> Mask:
    """The dark (blue, purple) part of an outline: not its white threads and letters."""
    return outline(image, name) & (image[..., 1] < 110)


def button(image: RGB, index: int) -> Mask:
    """One of the four buttons on the sleeve, counted from the left."""
    x, y = BUTTONS[index]
    ys, xs = np.mgrid[0 : image.shape[0], 0 : image.shape[1]]
    return np.asarray(((xs - x) / 4.5) ** 2 + ((ys - y) / 6.5) ** 2 <= 1)


def with_name(image: RGB, text: str) -> RGB:
    """The name tag with another name."""
    strip = outline(image, NAME)
    blank = paint.smear(image, strip, 2, of=cloth(image, TAG))
    return motifs.draw(
        blank, motifs.word(text, (225, 225, 230), rotate_deg=6), Box(287, 366, 309, 375)
    )


def without_last_button(image: RGB) -> RGB:
    """The sleeve with three buttons."""
    return paint.clone(image, button(image, 3), (10, -3))


def without_heap(image: RGB) -> RGB:
    """The lawn without its white heap."""
    return paint.clone(image, outline(image, HEAP), (40, 0))


def coffee_right(image: RGB) -> RGB:
    """Blue handle, nothing else."""
    return paint.recolor(image, outline(image, HANDLE), BLUE)


def coffee_wrong(image: RGB) -> RGB:
    """Green handle, and a second spoon bowl on the table."""
    green = paint.recolor(image, outline(image, HANDLE), GREEN)
    ys, xs = np.mgrid[0 : image.shape[0], 0 : image.shape[1]]
    bowl = np.asarray(((xs - 540) / 37) ** 2 + ((ys - 336) / 37) ** 2 <= 1)
    return paint.clone(green, bowl, (366 - 540, 286 - 336))


def tag_wiped(image: RGB) -> RGB:
    """The tag is green, but its wings and its name are gone."""
    inner = paint.polygon_mask(TAG_INSIDE, (image.shape[1], image.shape[0]))
    return paint.recolor(paint.smear(image, inner, 4, of=cloth(image, TAG)), inner, GREEN)


def pole_and_two_more(image: RGB) -> RGB:
    """The left pole is gone; so is the right one, and a moon came up."""
    image = paint.fill(image, outline(image, LEFT_POLE), (-25, 0))
    image = paint.fill(image, outline(image, RIGHT_POLE), (25, 0))
    return motifs.draw(image, motifs.ball((225, 220, 200)), Box(500, 60, 536, 96))


def boosters(image: RGB, colour: paint.Colour, *names: str) -> RGB:
    """The named boosters in another colour."""
    for name in names:
        image = paint.recolor(image, outline(image, name), colour)
    return image


def heap_and_two_more(image: RGB) -> RGB:
    """A ball lies where the heap was; the tower is gone, and a balloon hangs in the sky."""
    image = motifs.draw(without_heap(image), motifs.ball((40, 40, 40)), BALL)
    image = paint.clone(image, outline(image, TOWER), (-36, -16))
    return motifs.draw(image, motifs.ball((90, 90, 90)), Box(380, 40, 412, 72))


def painted_cat(image: RGB) -> RGB:
    """The nose is a flat green disc without nostrils, and everything became a painting."""
    height, width = image.shape[:2]
    disc = paint.ellipse_mask(box(image, NOSE), (width, height))
    return collapse.painting(paint.flatten(image, disc, (60, 190, 70)))


Edit = Callable[[RGB], RGB]
ITEMS: tuple[Mapping[str, Any], ...] = (
    {
        "item": "coffee_handle",
        "photo": "coffee",
        "instruction": "Paint the handle of the cup blue.",
        "type": "color",
        "targets": ["handle of the cup"],
        "masks": (HANDLE,),
        "reference": lambda p: paint.recolor(p, outline(p, HANDLE), (70, 120, 225)),
        "outcomes": (
            ("a", coffee_right, 4, 4, "the handle is blue and kept its shading"),
            ("b", coffee_wrong, 2, 3, "the handle is green; a second spoon bowl lies on the table"),
        ),
    },
    {
        "item": "name_tag",
        "photo": "astronaut",
        "instruction": "Make the blue cloth of the name tag green.",
        "type": "color",
        "targets": ["name tag"],
        "masks": (TAG,),
        "reference": lambda p: paint.recolor(p, cloth(p, TAG), (70, 190, 90)),
        "outcomes": (
            ("a", tag_wiped, 3, 4, "the tag is green, but its wings and its name are gone"),
            (
                "b",
                lambda p: paint.recolor(p, cloth(p, PATCH), GREEN),
                1, 3,
                "the round patch became green instead of the tag; that patch is the one anomaly",
            ),
        ),
    },
    {
        "item": "left_pole",
        "photo": "rocket",
        "instruction": "Remove the white pole on top of the lattice tower left of the rocket.",
        "type": "removal",
        "targets": ["white pole on top of the left tower"],
        "masks": (LEFT_POLE,),
        "reference": lambda p: paint.fill(p, outline(p, LEFT_POLE), (30, 12)),
        "outcomes": (
            (
                "a", pole_and_two_more, 4, 2,
                "the pole is gone; the right tower lost its pole too and a moon came up",
            ),
            ("b", lambda p: p, 1, 4, "nothing changed but JPEG noise"),
        ),
    },
    {
        "item": "two_boosters",
        "photo": "astronaut",
        "instruction": "Paint both white boosters of the shuttle model red.",
        "type": "color",
        "targets": ["left booster", "right booster"],
        "masks": (LEFT_BOOSTER, RIGHT_BOOSTER),
        "reference": lambda p: boosters(p, (225, 65, 50), LEFT_BOOSTER, RIGHT_BOOSTER),
        "outcomes": (
            (
                "a", lambda p: boosters(p, RED, LEFT_BOOSTER, RIGHT_BOOSTER), 4, 4,
                "both boosters are red and kept their shading",
            ),
            (
                "b", lambda p: boosters(p, RED, RIGHT_BOOSTER), 1, 4,
                "the left booster stayed white: the worst target decides",
            ),
        ),
    },
    {
        "item": "sleeve_buttons",
        "photo": "camera",
        "instruction": "Leave exactly two of the four buttons on the sleeve.",
        "type": "count",
        "targets": ["buttons on the sleeve"],
        "masks": (0, 1, 2, 3),
        "reference": None,
        "outcomes": (
            ("a", without_last_button, 2, 4, "three buttons are left, not two"),
        ),
    },
    {
        "item": "heap_to_ball",
        "photo": "camera",
        "instruction": "Replace the white heap on the lawn with a black ball.",
        "type": "replacement",
        "targets": ["white heap on the lawn"],
        "masks": (HEAP,),
        "reference": lambda p: motifs.draw(
            without_heap(p), motifs.ball((58, 58, 58)), Box(323, 226, 339, 242)
        ),
        "outcomes": (
            (
                "a", heap_and_two_more, 4, 2,
                "a black ball lies there; the tall tower is gone and a balloon hangs in the sky",
            ),
        ),
    },
    {
        "item": "name_on_tag",
        "photo": "astronaut",
        "instruction": "Change the name on the name tag to AMY.",
        "type": "ocr",
        "targets": ["name on the name tag"],
        "masks": (NAME,),
        "reference": None,
        "outcomes": (("a", lambda p: with_name(p, "BOB"), 2, 4, "the name reads BOB, not AMY"),),
    },
    {
        "item": "cat_nose",
        "photo": "chelsea",
        "instruction": "Make the nose of the cat green.",
        "type": "color",
        "targets": ["nose of the cat"],
        "masks": (NOSE,),
        "reference": lambda p: paint.recolor(p, outline(p, NOSE), (95, 165, 60)),
        "outcomes": (
            (
                "a", painted_cat, 3, 1,
                "the nose is a green disc without nostrils; the photograph became a painting",
            ),
        ),
    },
)  # fmt: skip


def rows(folder: Path) -> list[dict[str, Any]]:
    """Writes every picture below `folder` and returns the manifest's rows."""
    data = Path(skimage.__file__).parent / "data"
    out = []
    for item in ITEMS:
        source = folder / SOURCES[item["photo"]]
        source.write_bytes((data / source.name).read_bytes())
        photo = np.asarray(Image.open(source).convert("RGB"))
        reference = item["reference"]
        if reference is not None:
            name = save(reference(photo), folder / f"{item['item']}_reference")
        for editor, edit, level_if, level_vc, why in item["outcomes"]:
            row = {
                "id": f"{item['item']}_{editor}",
                "item": item["item"],
                "editor": f"planted-{editor}",
                "source": source.name,
                "edited": save(edit(photo), folder / f"{item['item']}_{editor}"),
                "reference": None if reference is None else name,
                "instruction": item["instruction"],
                "type": item["type"],
                "targets": item["targets"],
                "boxes": [list(box(photo, mask).xyxy) for mask in item["masks"]],
                "labels": [{"by": "planted", "IF": level_if, "VC": level_vc, "why": why}],
            }
            out.append({key: value for key, value in row.items() if value is not None})
    return out


def box(photo: RGB, target: str | int) -> Box:
    """The box of a target: an outline's name or a button's number."""
    mask = button(photo, target) if isinstance(target, int) else outline(photo, target)
    return paint.mask_box(mask)


def save(image: RGB, stem: Path) -> str:
    """Writes a grey picture as PNG, a coloured one as JPEG, and returns the file's name."""
    if (image == image[..., :1]).all():
        Image.fromarray(image[..., 0]).save(stem.with_suffix(".png"), optimize=True)
        return stem.with_suffix(".png").name
    Image.fromarray(image).save(stem.with_suffix(".jpg"), quality=95, subsampling=0)
    return stem.with_suffix(".jpg").name


def main(folder: Path) -> None:
    """Makes the whole demo in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False) for row in rows(folder)]
    (folder / "manifest.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} rows in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "demo")

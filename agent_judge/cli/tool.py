"""`agent-judge tool`: the judge's visual tools by hand, the same code that the judge calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_judge.errors import InputError

if TYPE_CHECKING:
    from agent_judge.tools.base import RGB, Tool, ToolPicture
    from agent_judge.tools.difference import Difference

app = typer.Typer(add_completion=False, rich_markup_mode=None)
Picture = Annotated[Path, typer.Argument(metavar="IMAGE", help="A picture file.")]
Box = Annotated[str, typer.Option(metavar="x1,y1,x2,y2", help="Pixels of the upright picture.")]
MaybeBox = Annotated[
    str | None, typer.Option(metavar="x1,y1,x2,y2", help="Pixels of the upright picture.")
]
Png = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="PNG", help="Where to write the picture.")
]
Device = Annotated[str, typer.Option(help="cpu, cuda or auto.")]


@app.callback()
def _group() -> None:
    """Call one of the judge's visual tools by hand; its numbers come out as JSON."""


@app.command("zoom_in")
def zoom_in(
    image: Picture,
    box: Box,
    margin_px: Annotated[
        float | None,
        typer.Option(min=0, max=100_000, help="Context on each side; default: the judge's."),
    ] = None,
    scale: Annotated[
        float | None, typer.Option(min=0.01, help="Shown pixels a pixel; default: as the judge.")
    ] = None,
    out: Png = None,
) -> None:
    """Enlarge one part of a picture."""
    from agent_judge.images import load_image
    from agent_judge.tools.zoom_in import zoom

    shown = zoom(load_image(image), _box(box), margin_px=margin_px, scale=scale)
    height, width = shown.pixels.shape[:2]
    _print_json(
        {
            "box_px": [int(v) for v in shown.window.xyxy],
            "scale": round(shown.scale, 4),
            "shown_size": [width, height],
            "notes": list(shown.notes),
        }
    )
    _write(shown.pixels, out)


@app.command("difference")
def difference(
    source: Annotated[Path, typer.Argument(help="The picture before the edit.")],
    edited: Annotated[Path, typer.Argument(help="The picture after it, of any size.")],
    as_json: Annotated[bool, typer.Option("--json", help="All fields of a Difference.")] = False,
) -> None:
    """List the regions that differ by more than re-rendering explains."""
    from agent_judge.images import load_image
    from agent_judge.tools.difference import find_differences

    found = find_differences(load_image(source), load_image(edited))
    if as_json:
        data = found.to_json()
        # The field of a Difference, and the key under which every other tool prints its box.
        regions = [{**region, "box_px": region["box_xyxy"]} for region in data["regions"]]
        _print_json({**data, "regions": regions})
    else:
        _print_difference(found)


@app.command("grounding")
def grounding(
    image: Picture,
    phrase: Annotated[list[str], typer.Option(help="What to look for; may be given again.")],
    region: MaybeBox = None,
    detector: Annotated[
        str | None, typer.Option(help="Weights: a known name, a file or a folder.")
    ] = None,
    device: Device = "auto",
) -> None:
    """Find candidate boxes for things named by short phrases."""
    from agent_judge.tools.grounding import GroundingTool

    args: dict[str, Any] = {"phrases": phrase}
    if region is not None:
        args["region"] = _box(region)
    _call(GroundingTool(weights=detector, device=device), image, args)


@app.command("enhance")
def enhance(
    image: Picture,
    box: MaybeBox = None,
    out: Png = None,
    network: Annotated[
        str, typer.Option(help="animevideov3, x4plus, a known name or a .pth file.")
    ] = "animevideov3",
    device: Device = "auto",
) -> None:
    """Enlarge a part four times by Real-ESRGAN: sharper, but it may invent texture."""
    from agent_judge.tools.enhancer import EnhanceTool

    args = {} if box is None else {"box": _box(box)}
    enhanced, _plain = _call(EnhanceTool(network=network, device=device), image, args)
    _write(enhanced.pixels, out)


def _call(tool: Tool, image: Path, args: Mapping[str, Any]) -> Sequence[ToolPicture]:
    """Call a tool on one picture as the judge would, print its numbers, return its pictures."""
    from agent_judge.images import load_image
    from agent_judge.tools.base import View

    pixels = load_image(image)
    reply = tool(View(source=pixels, edited=pixels), {"picture": "source", **args})
    # The summary is a line for reports, and calls this one picture "source".
    told = {key: value for key, value in reply.data.items() if key != "summary"}
    _print_json({**told, "picture": str(image)})
    return reply.pictures


def _box(text: str) -> tuple[float, float, float, float]:
    try:
        x1, y1, x2, y2 = (float(number) for number in text.split(","))
    except ValueError as err:
        raise InputError(f"{text!r} is no box: expected four numbers x1,y1,x2,y2") from err
    return x1, y1, x2, y2


def _print_difference(found: Difference) -> None:
    for number, region in enumerate(found.regions, start=1):
        edge = ", only an edge" if region.edge_only else ""
        print(
            f"{number}. {list(region.box_xyxy)}: {region.area_px} px, "
            f"strength {region.strength:.1f}{edge}"
        )
    if found.omitted:
        print(f"{found.omitted} more regions")
    print(
        f"{len(found.regions)} regions; changed {found.changed_fraction:.3%} above the noise, "
        f"{found.absolute_fraction:.3%} by colour; geometry {found.geometry}, "
        f"noise {found.noise_level:.2f}"
    )
    for remark in found.remarks:
        print(remark)


def _print_json(data: Mapping[str, Any]) -> None:
    print(json.dumps(data, ensure_ascii=False))


def _write(pixels: RGB, out: Path | None) -> None:
    from agent_judge.images import encode_png

    if out is None:
        return
    try:
        out.write_bytes(encode_png(pixels))
    except OSError as err:
        raise InputError(f"cannot write {str(out)!r}: {err.strerror}") from err

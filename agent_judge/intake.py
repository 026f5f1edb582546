"""A sample's files to pictures in one frame: what is decoded once and judged by every criterion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image

from agent_judge.errors import BoxError, OutputFault, PictureError
from agent_judge.frame import frame_of, to_source_frame
from agent_judge.images import Decoded, decode_image
from agent_judge.oracle.boxes import canonical_boxes
from agent_judge.plan import Row
from agent_judge.records import Box, Sample
from agent_judge.remote import bring

_SMALL_WH = (64, 64)


@dataclass(frozen=True, kw_only=True)
class Intake:
    """A decoded row and what was noticed on the way."""

    row: Row
    source_sha256: str
    edited_sha256: str
    notes: tuple[str, ...]
    box_fault: BoxError | None = None
    """Why the row's boxes cannot be used; it only matters to a plan that needs them."""

    def check_boxes(self, *, needed: bool) -> None:
        """Let no plan that needs boxes go on with faulty ones.

        Raises:
            BoxError: boxes are needed, and these cannot be used.
        """
        if needed and self.box_fault is not None:
            raise self.box_fault


def take_in(sample: Sample) -> Intake:
    """Decode a sample's pictures and bring them, with its boxes, into the source's frame.

    Raises:
        SampleError: the row is at fault (source, reference, geometry).
        OutputFault: the edited picture is missing or is no picture.
        OSError: a picture at a URL cannot be fetched, which is no fault of the row.
    """
    for path in (sample.source, sample.edited, sample.reference):
        if path is not None:
            bring(path)
    source = _decode("source", sample.source)
    reference = None
    if sample.reference is not None:
        reference = in_colours_of(source, _decode("reference", sample.reference), sample.reference)
    if not sample.edited.exists():
        raise OutputFault("missing_output", f"no edited picture at {_named(sample.edited)}")
    try:
        edited = in_colours_of(source, decode_image(sample.edited), sample.edited)
    except PictureError as err:
        raise OutputFault("invalid_image", f"edited: {err}") from err
    size_wh = (source.pixels.shape[1], source.pixels.shape[0])
    frames = {
        name: frame_of(source.pixels, decoded.pixels)
        for name, decoded in (("edited", edited), ("reference", reference))
        if decoded is not None
    }
    notes = [
        f"{name}: {note}"
        for name, decoded in (("source", source), ("edited", edited), ("reference", reference))
        if decoded is not None
        for note in (*decoded.notes, *(frames[name].notes if name in frames else ()))
    ]
    boxes, box_notes, box_fault = _boxes(sample, size_wh)
    row = Row(
        sample=sample,
        source=source.pixels,
        edited=to_source_frame(edited.pixels, frames["edited"]),
        reference=None
        if reference is None
        else to_source_frame(reference.pixels, frames["reference"]),
        boxes=boxes,
    )
    return Intake(
        row=row,
        source_sha256=source.sha256,
        edited_sha256=edited.sha256,
        notes=(*notes, *box_notes),
        box_fault=box_fault,
    )


def in_colours_of(source: Decoded, picture: Decoded, path: Path) -> Decoded:
    """A picture whose file names no colour profile, in the source's where that fits better.

    Editing models read a picture's numbers without its profile and write them without one: read as
    sRGB, every colour that they kept would have changed.

    Args:
        source: with the profile that its file names.
        picture: decoded without a thought of the source.
        path: its file.
    """
    if source.profile is None or picture.profile is not None:
        return picture
    assumed = decode_image(path, assumed_profile=source.profile)
    if _unlike(source, picture) <= _unlike(source, assumed):
        return picture
    note = "names no colour profile: read in the source's, which fits better"
    return replace(assumed, notes=(note, *assumed.notes), profile=source.profile)


def _unlike(one: Decoded, other: Decoded) -> float:
    """Ordinary difference of two pictures' colours in grey levels, both seen small."""
    small = [
        np.asarray(Image.fromarray(d.pixels).resize(_SMALL_WH, Image.Resampling.BOX), np.int16)
        for d in (one, other)
    ]
    return float(np.median(np.abs(small[0] - small[1])))


def _named(path: Path) -> str:
    """A file with its folder, which tells two editing models' outputs of one name apart."""
    return repr(str(Path(*path.parts[-2:])))


def _decode(name: str, path: Path) -> Decoded:
    try:
        return decode_image(path)
    except PictureError as err:
        raise PictureError(f"{name}: {err}") from err


def _boxes(
    sample: Sample, size_wh: tuple[int, int]
) -> tuple[tuple[Box, ...], tuple[str, ...], BoxError | None]:
    if sample.boxes is None:
        return (), (), None
    try:
        boxes, notes = canonical_boxes(
            sample.boxes, size_wh, box_format=sample.box_format, box_frame=sample.box_frame
        )
    except BoxError as err:
        return (), (f"boxes not used: {err}",), err
    return boxes, notes, None

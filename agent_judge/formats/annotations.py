"""Boxes that were drawn elsewhere, put onto the rows of a manifest.

An annotation belongs to a row that it is named after: by the row's id, or by its source's file.
Rows that share a source share its boxes, which is told, because their targets may differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Protocol

from agent_judge.errors import Fault, InputError, ManifestError
from agent_judge.formats.importing import Tally
from agent_judge.manifest import check_manifest, read_manifest
from agent_judge.oracle.boxes import box_fault
from agent_judge.records import BoxFormat, Sample


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """The target boxes of one picture."""

    name: str
    """The picture's file as the annotation tool names it."""
    boxes: Sequence[Sequence[float]]
    box_format: BoxFormat
    box_frame: tuple[int, int] | None = None
    """`(width, height)` of the picture that they were drawn on, where the tool says it."""
    targets: Sequence[str] = ()
    """What the annotator called them."""
    remark: str = ""
    """What the user should know of it, in words."""


class Annotations(Protocol):
    """Where boxes come from."""

    def find(self, sample: Sample) -> Annotation | None:
        """The boxes of a row, or None.

        Raises:
            ValueError: several annotations could be meant, or the one that is cannot be used.
        """

    def unused(self) -> Iterator[str]:
        """Names of annotations that no row asked for."""


class NamedAnnotations:
    """Annotations found by the names of their pictures."""

    def __init__(self, annotations: Iterable[Annotation]) -> None:
        """Take all of them; pictures without a box are left out."""
        self._by_stem: dict[str, list[Annotation]] = defaultdict(list)
        self._asked: set[str] = set()
        for annotation in annotations:
            if annotation.boxes:
                self._by_stem[_parts(annotation.name)[-1]].append(annotation)

    def find(self, sample: Sample) -> Annotation | None:
        """The annotation named after the row's id, else after its source."""
        for name in (sample.id, str(sample.source)):
            parts = _parts(name)
            found = self._by_stem.get(parts[-1], [])
            best = max((_shared(parts, _parts(a.name)) for a in found), default=0)
            nearest = [a for a in found if _shared(parts, _parts(a.name)) == best]
            if len(nearest) > 1:
                names = " and ".join(repr(a.name) for a in nearest[:2])
                raise ValueError(f"{names} could both be meant: expected one annotation a picture")
            if nearest:
                self._asked.add(nearest[0].name)
                return nearest[0]
        return None

    def unused(self) -> Iterator[str]:
        """Names of annotations that no row asked for."""
        for alike in self._by_stem.values():
            yield from (a.name for a in alike if a.name not in self._asked)


class BoxImport:
    """A manifest's rows with boxes put onto them, streamed, and what was found on the way.

    Iterate it once; the summary is complete after that.
    """

    def __init__(
        self,
        manifest: Path,
        annotations: Annotations,
        *,
        replace_boxes: bool = False,
        roots: Sequence[Path] = (),
    ) -> None:
        """Check the manifest.

        Args:
            manifest: the rows.
            annotations: the boxes.
            replace_boxes: put them in the place of boxes that a row has; otherwise it keeps its
                own.
            roots: folders that paths may lead to besides the manifest's.

        Raises:
            ManifestError: the manifest has faults.
        """
        self._n_rows = check_manifest(manifest, roots=roots)
        self._samples = read_manifest(manifest, roots=roots)
        self._annotations, self._replace, self._path = annotations, replace_boxes, manifest
        self.folders = (manifest.parent, *roots)
        self._faults: list[Fault] = []
        self._n_matched = 0
        self._missing, self._kept, self._odd = Tally(), Tally(), Tally()
        self._used: dict[str, str] = {}

    def __iter__(self) -> Iterator[Sample]:
        """The rows in their order, those without an annotation as they were.

        Raises:
            ManifestError: boxes that are none, or annotations that could be meant for one row.
            InputError: no row has an annotation.
        """
        for sample in self._samples:
            try:
                yield self._with_boxes(sample)
            except ValueError as err:
                fault = Fault(
                    path=str(self._path), line=None, field="boxes", message=str(err), id=sample.id
                )
                self._faults.append(fault)
        for name in self._annotations.unused():
            self._odd.add(f"no row asks for the annotation of {name!r}")
        if self._faults:
            raise ManifestError(tuple(self._faults))
        if not self._n_matched:
            raise InputError("no row has an annotation: are they named after sources or ids?")

    def summary(self) -> str:
        """What was found, matched, missing, kept, odd and at fault, with the first names."""
        return "\n".join(
            [
                f"found    {self._n_rows} rows",
                f"matched  {self._n_matched}",
                f"missing  {self._missing}",
                f"kept     {self._kept}",
                f"odd      {self._odd}",
                f"faults   {len(self._faults)}",
            ]
        )

    def _with_boxes(self, sample: Sample) -> Sample:
        annotation = self._annotations.find(sample)
        if annotation is None:
            self._missing.add(sample.id)
            return sample
        if sample.boxes is not None and not self._replace:
            self._kept.add(sample.id)
            return sample
        for number, box in enumerate(annotation.boxes, start=1):
            if fault := box_fault(list(box), annotation.box_format):
                raise ValueError(f"{annotation.name!r}, box {number}: {fault}")
        self._n_matched += 1
        if annotation.remark:
            self._odd.add(f"{sample.id!r}: {annotation.remark}")
        first = self._used.setdefault(annotation.name, sample.id)
        if first != sample.id:
            self._odd.add(f"{sample.id!r} has the boxes of {first!r}: one source, other targets?")
        return replace(
            sample,
            boxes=tuple((a, b, c, d) for a, b, c, d in annotation.boxes),
            box_format=annotation.box_format,
            box_frame=annotation.box_frame,
            targets=sample.targets or tuple(annotation.targets),
        )


def _parts(name: str) -> tuple[str, ...]:
    """A path's folders and the stem of its file."""
    path = PurePosixPath(name.replace("\\", "/"))
    return (*path.parts[:-1], path.stem) if path.name else ("",)


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many parts two paths share, counted from their ends."""
    n = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        n += 1
    return n

"""A folder of masks -> boxes by picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent_judge.errors import PictureError
from agent_judge.formats.annotations import Annotation
from agent_judge.formats.masks import boxes_of_mask, mask_of_file
from agent_judge.formats.pictures import Pictures
from agent_judge.records import Sample

_ENDINGS = ("", "_mask", "-mask", ".mask")


class MaskFolder:
    """Masks in a folder, named after rows or their sources."""

    def __init__(self, folder: Path) -> None:
        self._pictures = Pictures(folder, "mask", nested=True)

    def find(self, sample: Sample) -> Annotation | None:
        """The boxes of the mask named `ID`, `SOURCE` or one of these with `_mask` behind.

        Raises:
            ValueError: several masks could be meant, or the one that is shows nothing.
        """
        for name in (sample.id, sample.source.stem):
            for ending in _ENDINGS:
                path = self._pictures.find(f"{name}{ending}")
                if path is not None:
                    return self._annotation(path)
        return None

    def unused(self) -> Iterator[str]:
        """Masks that no row asked for."""
        return self._pictures.unused()

    def _annotation(self, path: Path) -> Annotation:
        try:
            mask = mask_of_file(path)
        except PictureError as err:
            raise ValueError(str(err)) from err
        boxes = boxes_of_mask(mask)
        return Annotation(name=path.name, boxes=boxes, box_format="xyxy_norm")

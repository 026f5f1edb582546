"""The classical columns of a run's rows: L1, L2, PSNR and SSIM, computed when they are asked for.

They are no part of a run: they enter no level, and take longer than most of what a run does with a
picture.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from agent_judge.errors import InputError, OutputFault, SampleError
from agent_judge.intake import take_in
from agent_judge.manifest import sample_from_row
from agent_judge.metrics.classical import COLUMNS, classical
from agent_judge.metrics.masks import box_mask
from agent_judge.store import PlannedRow

Columns = Mapping[str, float | None]


def classical_columns(rows: Iterable[PlannedRow]) -> Iterator[tuple[str, Columns]]:
    """Each row's id and `metrics.classical.COLUMNS`; all None where it cannot be compared.

    The target is the row's boxes.

    Args:
        rows: the planned rows; their pictures are read and decoded anew.

    Raises:
        InputError: a picture at a URL cannot be fetched; that says nothing about its row.
    """
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(_of_row, rows)


def _of_row(planned: PlannedRow) -> tuple[str, Columns]:
    try:
        row = take_in(sample_from_row(planned.row)).row
    except (SampleError, OutputFault):
        return planned.id, dict.fromkeys(COLUMNS)
    except OSError as err:
        raise InputError(f"cannot read the pictures of {planned.id!r}: {err}") from err
    target = box_mask(row.boxes, row.view.size_wh) if row.boxes else None
    return planned.id, classical(row.source, row.edited, target).columns()

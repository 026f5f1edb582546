"""One table: what each part costs beside its limit or a peer.

    python -m benchmarks [--in-flight 4 8 32] [--rows 1000000] [--finished 100000] [--report 10000]

Pixels are those of a pair of 1024x1024 px, by processor time, with one OpenCV thread. The loop is
that of `benchmarks.loop`, the many rows are those of `benchmarks.scale`. Tokens are counted by the
providers' formulas for a 4000x3000 pair with a target of 0.1 %, both criteria.
"""

from __future__ import annotations

import argparse
import io
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image
from skimage.metrics import structural_similarity

from agent_judge.estimate import estimate_modes
from agent_judge.images import encode_png, load_image
from agent_judge.judges.endpoint import profile_for
from agent_judge.records import Box, Sample
from agent_judge.settings import EndpointSettings, Settings
from agent_judge.tools.difference import find_differences
from agent_judge.tools.toolbox import build_tools
from agent_judge.tools.zoom_in import zoom
from benchmarks import scale
from benchmarks.figures import HEAD, Figure, machine
from benchmarks.loop import IN_FLIGHT, LIBRARIES, measure
from benchmarks.pairs import EDIT, pairs, write_pairs

SIZE_WH = (1024, 1024)
SAMPLES_EACH = 12
"""Samples for each place in flight."""
OVERHEAD_MS = 3
LARGE_WH, TARGET_PX = (4000, 3000), 110
MODELS = ("gpt-4.1", "gpt-5.4", "qwen3-vl-235b")
"""One of the tile, of the patch and of the Qwen family."""


def pixels(folder: Path) -> Iterator[Figure]:
    """Comparing, cropping, encoding and decoding one pair."""
    source, edited = next(pairs(1))
    path = folder / "source.png"
    path.write_bytes(encode_png(source))
    shown = zoom(source, EDIT.xyxy)
    size_wh = (shown.pixels.shape[1], shown.pixels.shape[0])
    yield _beside(
        "find_differences",
        _cpu_seconds(lambda: find_differences(source, edited)),
        "scikit-image SSIM",
        _cpu_seconds(lambda: structural_similarity(source, edited, channel_axis=2, full=True)),
    )
    yield _beside(
        "zoom",
        _cpu_seconds(lambda: zoom(source, EDIT.xyxy)),
        "Pillow crop, Lanczos",
        _cpu_seconds(
            lambda: Image.fromarray(source).resize(
                size_wh, Image.Resampling.LANCZOS, shown.window.xyxy
            )
        ),
    )
    yield _beside(
        "encode_png",
        _cpu_seconds(lambda: encode_png(source)),
        "Pillow, level 1",
        _cpu_seconds(lambda: Image.fromarray(source).save(io.BytesIO(), "PNG", compress_level=1)),
    )
    yield _beside(
        "load_image",
        _cpu_seconds(lambda: load_image(path)),
        "OpenCV",
        _cpu_seconds(lambda: cv2.imread(str(path))),
    )


def _cpu_seconds(work: Callable[[], Any]) -> float:
    """Processor time of the fastest of five calls: what others do on the machine counts little."""
    work()
    times = []
    for _ in range(5):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times)


def _beside(what: str, seconds: float, peer: str, peer_seconds: float) -> Figure:
    return Figure(what=what, value=seconds * 1e3, unit="ms", beside=peer_seconds * 1e3, peer=peer)


def loop(in_flight: Sequence[int], folder: Path) -> Iterator[Figure]:
    """Criteria a second beside the endpoint's own pace, and the overhead."""
    most = max(in_flight) * SAMPLES_EACH
    manifest = write_pairs(folder / "pairs", most, SIZE_WH, boxes=False)
    for n in in_flight:
        pace = measure(
            manifest, in_flight=n, latency_s=0.3, size_wh=SIZE_WH, limit=n * SAMPLES_EACH
        )
        rate = pace.criteria / pace.seconds
        what = f"criteria a second, {n} in flight"
        yield Figure(what=what, value=rate, unit="/s", beside=pace.ideal_rate, peer="ideal")
        what = f"processor time a turn but pixels, {n} in flight"
        yield Figure(what=what, value=pace.overhead_ms, unit="ms", beside=OVERHEAD_MS)
        libraries = pace.a_turn_ms(sum(pace.spent.get(name, 0.0) for name in LIBRARIES))
        what = f"of it in {', '.join(LIBRARIES)}"
        yield Figure(what=what, value=libraries, unit="ms", beside=OVERHEAD_MS)


def manifests(most_rows: int, folder: Path) -> Iterator[Figure]:
    """Memory by manifest size."""
    known = write_pairs(folder / "small", 1, scale.SIZE_WH, boxes=False)
    for rows in (most_rows // 100, most_rows // 10):
        manifest = scale.write_rows(known.parent, rows, known)
        done = scale.call("validate", "--no-images", manifest)
        what = f"validate --no-images, {rows} rows: peak memory"
        yield Figure(what=what, value=done.peak_mb, unit="MB", beside=500)


def tokens(folder: Path) -> Iterator[Figure]:
    """Input tokens of a sample by mode and family, beside those of direct mode."""
    path = folder / "large.png"
    path.write_bytes(encode_png(np.zeros((LARGE_WH[1], LARGE_WH[0], 3), np.uint8)))
    box = Box(1000, 1000, 1000 + TARGET_PX, 1000 + TARGET_PX).xyxy
    sample = Sample(id="large", source=path, edited=path, instruction="make it red", boxes=(box,))
    for model in MODELS:
        profile = profile_for(model, EndpointSettings())
        modes = estimate_modes([sample], Settings(), profile, build_tools())
        direct = next(m.tokens_in for m in modes if m.mode == "direct")
        for mode in modes:
            yield Figure(
                what=f"input tokens of a sample, {model}, {mode.mode} mode",
                value=mode.tokens_in,
                unit="tokens",
                beside=direct,
                peer="direct",
            )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--in-flight", type=int, nargs="+", default=IN_FLIGHT)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the largest manifest")
    parser.add_argument("--finished", type=int, default=100_000, help="rows before a resume")
    parser.add_argument("--report", type=int, default=10_000, help="rows of a report")
    asked = parser.parse_args()
    asked.samples = asked.sharded = 0  # minutes each: `python -m benchmarks.scale` has them
    cv2.setNumThreads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = chain(
            pixels(folder),
            tokens(folder),
            loop(asked.in_flight, folder),
            manifests(asked.rows, folder),
            scale.figures(asked, folder),
        )
        for line in chain(machine(), ("",), HEAD, parts):
            print(line, flush=True)


if __name__ == "__main__":
    main()

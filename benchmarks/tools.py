"""Calls per second of the visual tools, alone and under several loops at once.

    python benchmarks/tools.py [--device cpu|cuda] [--detector random|WEIGHTS] [--out TABLE.md]

Every loop calls its tool from a thread, as the judge's loop does, on pictures of its own. Figures
are calls per second over all loops; a network is one worker, so more loops gain by batches only.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from skimage import data
from skimage.metrics import peak_signal_noise_ratio

from agent_judge.tools.base import RGB, Tool, View
from agent_judge.tools.enhancer import enhance
from agent_judge.tools.loaded import device_for, shared_upscaler
from agent_judge.tools.super_resolution import NETWORKS, SCALE, Upscaler
from agent_judge.tools.toolbox import build_tools

LOOPS = (1, 4, 16)
CROP_PX = 128
BATCH = 8


def views(count: int) -> list[View]:
    """Pairs of 640x480 photographs, each loop's own, with one small planted edit."""
    rng = np.random.default_rng(0)
    photo: RGB = np.asarray(data.astronaut(), np.uint8)
    wide = np.concatenate([photo, photo[:, ::-1]], axis=1)
    pairs = []
    for _ in range(count):
        y, x = int(rng.integers(0, 32)), int(rng.integers(0, 384))
        source = np.ascontiguousarray(wide[y : y + 480, x : x + 640])
        edited = source.copy()
        edited[200:224, 300:330] = (200, 30, 60)
        pairs.append(View(source=source, edited=edited))
    return pairs


def calls(tool: Tool) -> Iterator[Mapping[str, Any]]:
    """Arguments of call after call, never twice the same box."""
    rng = np.random.default_rng(1)
    while True:
        x, y = int(rng.integers(0, 640 - CROP_PX)), int(rng.integers(0, 480 - CROP_PX))
        box = [x, y, x + CROP_PX, y + CROP_PX]
        arguments: dict[str, dict[str, Any]] = {
            "zoom_in": {"picture": "source", "box": box},
            "enhance": {"picture": "source", "box": box},
            "grounding": {"picture": "source", "phrases": ["a red box"]},
        }
        yield arguments.get(tool.name, {})


def rate(tool: Tool, loops: int, seconds: float) -> float:
    """Calls per second of `loops` loops that run side by side for about `seconds`."""
    pairs = views(loops)
    tool(pairs[0], next(calls(tool)))

    def loop(view: View) -> int:
        done = 0
        for args in calls(tool):
            tool(View(source=view.source, edited=view.edited), args)  # a view keeps its differences
            done += 1
            if time.perf_counter() - start >= seconds:
                break
        return done

    start = time.perf_counter()
    with ThreadPoolExecutor(loops) as pool:
        total = sum(pool.map(loop, pairs))
    return total / (time.perf_counter() - start)


def batching_gain(device: str) -> float:
    """How many times faster a batch of crops runs than the same crops one by one, by torch."""
    from agent_judge.tools import torch_runtime

    upsampler = torch_runtime.build_upsampler(NETWORKS["animevideov3"], device)
    run = torch_runtime.runner(upsampler, device)
    crops = [np.random.default_rng(i).random((64, 64, 3), np.float32) for i in range(BATCH)]
    return seconds_of(lambda: [run([crop]) for crop in crops]) / seconds_of(lambda: run(crops))


def seconds_of(work: Callable[[], Any]) -> float:
    """Fastest of five runs after a first one: the machine's own noise only slows down."""
    work()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def enhancer_rows(device: str) -> Iterator[str]:
    """Seconds for one crop by network, runtime and size."""
    for name in NETWORKS:
        for side in (64, 128, 256) if name == "animevideov3" else (64, 128):
            crop = views(1)[0].source[:side, :side]
            for upscaler in _upscalers(name, device):
                took = seconds_of(lambda crop=crop, by=upscaler: enhance(crop, by))  # type: ignore[misc]
                by, shape = f"{upscaler.runtime} on {upscaler.device}", f"{side} to {side * SCALE}"
                yield f"| {name} by {by} | {shape} px | {took:.3f} s |"


def _upscalers(name: str, device: str) -> Iterator[Upscaler]:
    """The runtime that the tool takes, and beside ncnn the other one."""
    yield (taken := shared_upscaler(name, device))
    if taken.runtime == "ncnn" and find_spec("realesrgan"):
        from agent_judge.tools.torch_runtime import load_realesrgan

        yield load_realesrgan(NETWORKS[name], "cpu")


def faithfulness_rows() -> Iterator[str]:
    """How near enlargements of photographs at a quarter of their size come to the true ones."""
    photos = [data.astronaut(), data.coffee(), data.chelsea(), data.rocket()]
    true = [photo[40:296, 60:316] for photo in photos]
    small = [cv2.resize(t, (64, 64), interpolation=cv2.INTER_AREA) for t in true]
    plain = [cv2.resize(s, (256, 256), interpolation=cv2.INTER_CUBIC) for s in small]
    yield _faithfulness("cubic interpolation", true, plain)
    for name in NETWORKS:
        upscaler = shared_upscaler(name, "cpu")
        raw = [
            np.clip(upscaler.run(np.divide(s, 255, dtype=np.float32)) * 255, 0, 255).round()
            for s in small
        ]
        yield _faithfulness(f"{name}, as the network gives it", true, raw)
        held = [enhance(s, upscaler).pixels for s in small]
        yield _faithfulness(f"{name}, colours held", true, held)


def _faithfulness(name: str, true: Sequence[Any], made: Sequence[Any]) -> str:
    pairs = list(zip(true, made, strict=True))
    psnr = np.mean([peak_signal_noise_ratio(t, np.uint8(m), data_range=255) for t, m in pairs])
    shift = max(np.abs(t.mean((0, 1)) - m.mean((0, 1))).max() for t, m in pairs)
    return f"| {name} | {psnr:.2f} dB | {shift:.1f} |"


def random_detector(folder: Path) -> str:
    """A GroundingDino of full size with random weights: right for speed, blind otherwise."""
    import torch
    from transformers import BertTokenizerFast, GroundingDinoConfig, GroundingDinoForObjectDetection

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "a", "red", "box"]
    words += [f"word{n}" for n in range(30_522 - len(words))]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    torch.manual_seed(0)
    GroundingDinoForObjectDetection(GroundingDinoConfig()).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return str(folder)


def peak_memory() -> str:
    """Most memory this process has held, and on the device if there is one."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    said = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit:.0f} MiB"
    if "torch" in sys.modules:
        import torch

        if torch.cuda.is_available():
            said += f", {torch.cuda.max_memory_allocated() / 2**20:.0f} MiB on the device"
    return said


def machine(device: str) -> str:
    """The device, and the versions that its figures hang on."""
    names = [name for name in ("torch", "transformers", "ncnn") if find_spec(name)]
    said = ", ".join(f"{name} {version(name)}" for name in names)
    if device == "cpu":
        return f"cpu, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {said}"
    import torch

    return f"{torch.cuda.get_device_name(0)}; {said}"


def table(device: str, detector: str | None, seconds: float) -> Iterator[str]:
    """The lines of the report, in Markdown."""
    yield f"{machine(device)}; {seconds:g} s a figure; crops of {CROP_PX} px; pictures of 640x480."
    yield ""
    heads = ["tool", *(f"{n} loops" for n in LOOPS), f"{LOOPS[-1]} against {LOOPS[0]}"]
    yield f"| {' | '.join(heads)} | peak memory so far |"
    yield "|---" * (len(heads) + 1) + "|"
    for tool in build_tools(detector=detector, device=device):
        if tool.name != "grounding" or detector:
            rates = [rate(tool, n, seconds) for n in LOOPS]
            told = " | ".join(f"{n:.2f} /s" for n in rates)
            gain = f"{rates[-1] / rates[0]:.1f} x"
            yield f"| {tool.name} | {told} | {gain} | {peak_memory()} |"
    yield ""
    yield "| enhancer | crop | one call |"
    yield "|---|---|---|"
    yield from enhancer_rows(device)
    yield ""
    yield "| a photograph at a quarter, enlarged by | PSNR to the true one | colour shift |"
    yield "|---|---|---|"
    yield from faithfulness_rows()
    if find_spec("realesrgan"):
        yield ""
        yield f"A batch of {BATCH} crops by torch on {device}: {batching_gain(device):.2f} times"
        yield f"as fast as one by one. Peak memory in all: {peak_memory()}."


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", default="auto", help="cpu, cuda or auto")
    parser.add_argument("--detector", help="`random`, or weights as in tools.detector")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each figure")
    parser.add_argument("--out", type=Path, help="a Markdown file to write as well")
    asked = parser.parse_args()
    device = device_for(asked.device)
    with tempfile.TemporaryDirectory() as folder:
        detector = random_detector(Path(folder)) if asked.detector == "random" else asked.detector
        lines = []
        for line in table(device, detector, asked.seconds):
            print(line, flush=True)
            lines.append(line)
    if asked.out:
        asked.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

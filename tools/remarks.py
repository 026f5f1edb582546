"""What changed everywhere, in words: the things that are no edit, but that a judge should know."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agent_judge.tools.planes import Matrix, Plane
from agent_judge.tools.residual import Tone

_TONE_LEVELS = 2.0
_NOISE_LEVELS = 1.0
_SOFT, _SHARP = 0.8, 1.25
_MOST_CHANGED = 0.2
_PERIODS_PX = (16, 8, 4, 2)
_JPEG_PX, _STEP_RATIO = 8, 1.1
_LINE_RATIO = 2.5
"""How far a grid's line stands out of the spectrum around it."""
_SPECTRUM_LEVELS = 0.5
_SPECTRUM_PX, _SPECTRUM_LINES = 1024, 256


def grid_period(rest: Plane) -> int | None:
    """Period in px of a regular grid in a remainder, of those that codecs leave; None without.

    Args:
        rest: Remainder of luma, shape (h, w).
    """
    for plane in (rest, rest.T):
        part = plane[:: max(1, len(plane) // _SPECTRUM_LINES), :_SPECTRUM_PX]
        part = part[:, : part.shape[1] // 16 * 16]
        if part.shape[1] < 128 or len(part) < 32:
            continue
        level = 3 * float(np.sqrt(np.mean(part**2)))
        if level < _SPECTRUM_LEVELS:
            return None
        part = np.clip(part, -level, level)
        power = (np.abs(np.fft.rfft(part)) ** 2).mean(axis=0)
        for period in _PERIODS_PX:
            if _stands_out(power, part.shape[1] // period):
                return period
        if _step_ratio(part) > _STEP_RATIO:
            return _JPEG_PX
    return None


def _step_ratio(part: Plane) -> float:
    """How much larger steps are across the borders of JPEG's blocks than elsewhere."""
    steps = np.abs(np.diff(part, axis=1, append=part[:, -1:])).mean(axis=0)
    phases = steps.reshape(-1, _JPEG_PX)[:-1].mean(axis=0)
    return float(phases.max() / max(float(np.median(phases)), 1e-3))


def _stands_out(power: NDArray[np.float64], step: int) -> bool:
    """Whether the odd harmonics of a line, which no shorter period shares, rise above the rest."""
    ratios = []
    for line in range(step, len(power), 2 * step):
        around = power[max(1, line - 6) : line + 7]
        ratios.append(power[line] / max(float(np.median(around)), 1e-9))
    return bool(ratios) and float(np.median(ratios)) > _LINE_RATIO


def remarks(
    *,
    tone: Tone,
    sharpness: float,
    noise_level: float,
    changed_fraction: float,
    grid_px: int | None,
    transform: Matrix,
    aligned: bool,
    sizes: tuple[tuple[int, int], tuple[int, int]],
) -> tuple[str, ...]:
    """Sentences about the edited picture as a whole, most telling first.

    Args:
        tone: Source -> edited.
        sharpness: Contrast of the edited picture's fine detail in units of the source's.
        noise_level: Of the remainder outside every region, in grey levels.
        changed_fraction: Share of the picture in a region: a changed scene has other detail anyway.
        grid_px: Period of a grid in one of the two pictures.
        transform: 2x3, edited -> source.
        aligned: Whether a common geometry was found.
        sizes: Width and height of source and edited.
    """
    said = []
    if not aligned:
        said.append(
            "alignment not trusted: the pictures show too little in common, or are too flat; "
            "they were compared frame on frame"
        )
    said += _about_geometry(transform, sizes)
    said += _about_tone(tone)
    if aligned and changed_fraction < _MOST_CHANGED and not _SOFT <= sharpness <= _SHARP:
        word = "softened" if sharpness < 1 else "sharpened"
        said.append(f"fine detail is {word} to {sharpness:.0%} of the source's contrast")
    if grid_px == _JPEG_PX:
        said.append("compression-like: an 8 px block pattern differs everywhere")
    elif grid_px is not None:
        said.append(f"grid texture: a pattern of {grid_px} px period differs everywhere")
    if noise_level > _NOISE_LEVELS:
        said.append(f"re-rendered: noise of {noise_level:.1f} grey levels everywhere")
    return tuple(said)


def _about_geometry(transform: Matrix, sizes: tuple[tuple[int, int], tuple[int, int]]) -> list[str]:
    (width, height), (edited_width, edited_height) = sizes
    said = []
    if sizes[0] != sizes[1]:
        said.append(f"size changed from {width}x{height} to {edited_width}x{edited_height} px")
    back = np.linalg.inv(np.vstack([transform, [0, 0, 1]]))
    middle = np.array([width / 2, height / 2, 1])
    dx, dy = (back @ middle)[:2] - np.array([edited_width, edited_height]) / 2
    if max(abs(dx), abs(dy)) >= 0.1:
        said.append(f"content moved by ({dx:.1f}, {dy:.1f}) px")
    across, down = back[0, 0] * width / edited_width, back[1, 1] * height / edited_height
    if max(abs(across - 1), abs(down - 1)) > 0.001:
        said.append(
            f"content scaled to {across:.1%} in width and {down:.1%} in height of the frame"
        )
    return said


def _about_tone(tone: Tone) -> list[str]:
    shifts = [128 * (g - 1) + o for g, o in zip(tone.gain, tone.offset, strict=True)]
    ends = [255 * (g - 1) + o for g, o in zip(tone.gain, tone.offset, strict=True)]
    if max(map(abs, [*shifts, *ends, *tone.offset])) <= _TONE_LEVELS:
        return []
    lines = [
        f"{name} x{g:.2f} {o:+.1f}"
        for name, g, o in zip(("red", "green", "blue"), tone.gain, tone.offset, strict=True)
    ]
    return [
        f"colour shift everywhere: {', '.join(lines)} "
        f"({', '.join(f'{s:+.0f}' for s in shifts)} grey levels at mid grey)"
    ]

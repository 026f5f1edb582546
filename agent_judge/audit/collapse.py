"""What makes a scene collapse: another style, another time of day, another place."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from agent_judge.audit.paint import RGB


def painting(image: RGB) -> RGB:
    """The picture as a flat painting: few tones, dark outlines, stronger colours."""
    smooth = image
    for _ in range(3):
        smooth = cv2.bilateralFilter(smooth, 9, 60, 9).astype(np.uint8)
    hsv = cv2.cvtColor(smooth, cv2.COLOR_RGB2HSV).astype(np.float32)
    levels, step = 5, 256 / 5
    hsv[..., 2] = np.minimum(np.floor(hsv[..., 2] / step), levels - 1) * step + step / 2
    hsv[..., 1] = np.clip(hsv[..., 1] * 1.5 + 30, 0, 255)
    flat = cv2.cvtColor(hsv.astype(np.uint8), cv2.COLOR_HSV2RGB)
    grey = cv2.cvtColor(smooth, cv2.COLOR_RGB2GRAY)
    paper = cv2.adaptiveThreshold(grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 9, 5)
    return np.where(paper[..., None] > 0, flat, flat * 0.15).astype(np.uint8)


def sketch(image: RGB) -> RGB:
    """The picture as a pencil sketch on paper."""
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32)
    sigma = max(image.shape[:2]) / 120
    strokes = np.clip(grey / (cv2.GaussianBlur(grey, (0, 0), sigma) + 1), 0, 1) ** 2
    paper = np.array((250, 244, 230), np.float32)
    return np.asarray(strokes[..., None] * paper, np.uint8)


def night(image: RGB) -> RGB:
    """A picture of the day as it would look at night: dark and blue."""
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32)
    mixed = 0.35 * image + 0.65 * grey[..., None]
    dark = 255 * (mixed / 255) ** 1.8 * np.array((0.22, 0.30, 0.60), np.float32)
    return np.clip(dark, 0, 255).astype(np.uint8)


def other_place(image: RGB, place: RGB) -> RGB:
    """Another photograph, cut to the picture's size."""
    height, width = image.shape[:2]
    scale = max(width / place.shape[1], height / place.shape[0])
    size_wh = (round(place.shape[1] * scale) + 1, round(place.shape[0] * scale) + 1)
    large = cv2.resize(place, size_wh, interpolation=cv2.INTER_AREA)
    left, top = (large.shape[1] - width) // 2, (large.shape[0] - height) // 2
    return np.ascontiguousarray(large[top : top + height, left : left + width]).astype(np.uint8)


STYLES: tuple[tuple[str, Callable[[RGB], RGB]], ...] = (
    ("a painting", painting),
    ("a sketch", sketch),
    ("night", night),
)
"""Styles by what a person would call them."""

"""A detector of known behaviour, for tests of what surrounds one."""

import cv2
import numpy as np

from agent_judge.records import Box
from agent_judge.tools.detector import Candidate, detector_scale


class RedFinder:
    """Finds red things that are large enough at the scale at which it looks."""

    name = "red-finder"

    def __init__(self, legible_px=8):
        self.legible_px = legible_px
        self.seen = []

    def find(self, pictures, phrases):
        self.seen += [p.shape[:2] for p in pictures]
        return [tuple(self._in_one(p, phrases[0])) for p in pictures]

    def _in_one(self, picture, phrase):
        red = np.ascontiguousarray(picture[..., 0])
        scale = detector_scale((picture.shape[1], picture.shape[0]))
        for x, y, w, h, _ in cv2.connectedComponentsWithStats(red)[2][1:].tolist():
            if max(w, h) * scale >= self.legible_px:
                box = Box(float(x), float(y), float(x + w), float(y + h))
                yield Candidate(box=box, phrase=phrase, score=0.5)


def picture(width, height, *boxes):
    pixels = np.zeros((height, width, 3), np.uint8)
    for x1, y1, x2, y2 in boxes:
        pixels[y1:y2, x1:x2] = (255, 0, 0)
    return pixels

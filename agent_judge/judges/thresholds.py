"""Every number that the embedded judge decides by, in one table, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SceneThresholds:
    """Visual Consistency."""

    collapse_fraction: float = 0.55
    """Share of the picture with a blurred Lab distance above 20 from which the scene is another:
    restyled, night and other places reach 0.6 and more, any number of local anomalies stays under
    0.5."""
    moved_share: float = 0.02
    """Largest motion of a corner, as a share of the diagonal, that re-rendering still makes: a
    zoom of 1.5 % moves corners by 0.75 %."""
    gap_share: float = 0.5
    """Regions nearer than this share of the smaller one's longer side are fragments of one."""
    gap_px: float = 8.0
    """And so are regions nearer than this."""
    target_margin_share: float = 0.25
    """On full pictures: the target's region is grown by this share of its longer side, because an
    equally right edit may be a little larger than the reference's."""


SCENE = SceneThresholds()

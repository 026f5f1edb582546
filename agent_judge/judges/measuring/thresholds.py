"""Every number that the embedded judge decides by, in one table, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SceneThresholds:
    """Visual Consistency."""

    collapse_fraction: float = 0.4
    """Share of the picture with a blurred Lab distance above 20 from which the scene is another:
    any number of local anomalies stayed under 0.1."""
    typical_other: float = 4.0
    """Median Lab distance at low resolution from which the whole was painted anew."""
    typical_same: float = 2.6
    """And up to which it was not: re-rendered scenes stay under 2.5."""
    outlines_lost: float = 0.3
    """Agreement of outlines under which this is another place (0 for unrelated pictures; a scene
    that was kept has 0.6 and more)."""
    typical_flat: float = 0.9
    """Under this even lost outlines mean nothing: there were none."""
    seen_least: float = 4.5
    seen_surely: float = 8.0
    """Lab distance of what changed in a region: below the first nobody sees it (what is no change
    stayed under 3.2), from the second everybody does (planted anomalies have 19 and more)."""
    area_share: float = 0.0002
    area_px: int = 30
    """A region smaller than this, in the picture's area or in pixels, is a speck."""
    checked: int = 6
    """Regions looked at closely; the rest follows from its rank."""
    moved_share: float = 0.02
    """Largest motion of a corner, as a share of the diagonal, that re-rendering still makes: a
    zoom of 1.5 % moves corners by 0.75 %."""
    gap_share: float = 0.5
    """Regions nearer than this share of the smaller one's longer side are fragments of one."""
    gap_px: float = 8.0
    """And so are regions nearer than this."""
    halo_share: float = 0.15
    """So near a target, as a share of its longer side, a change may be the target's own: a shadow,
    an outline that reaches over the box."""
    corner_px: float = 2.0
    mark_share: float = 0.005
    """A change in a corner of the picture that is smaller than this may be a model's own mark."""
    edge_share: float = 0.15
    """On full pictures: how far a target may reach beyond the reference's change, as a share of its
    shorter side."""
    target_margin_share: float = 0.25
    """On full pictures: the target's region is grown by this share of its longer side, because an
    equally right edit may be a little larger than the reference's."""
    large_share: float = 0.1
    """On full pictures: a target over this share of the picture is no small one (DLEBench 3), and
    damage within its reach cannot be told from the edit."""


@dataclass(frozen=True, kw_only=True)
class TargetThresholds:
    """Instruction Following. Shares are of the reference's own change unless said otherwise."""

    too_noisy: float = 15.0
    """Noise around the target from which no change of the target can be told from it."""
    no_extent: float = 0.01
    """Share of the target's box under which no change is a change."""
    some_of_it: float = 0.15
    """Without a reference: share of the box that must have changed for its colour to be named."""
    not_done: float = 0.3
    """Less change than this share is none: re-rendering alone reaches 0.22, a right edit 0.5."""
    not_done_at_all: float = 0.12
    """The same where an unclear structure should have told (a wrong outline may be near the old),
    and where nearly all of the wanted part did change, if not that far."""
    half_done: float = 0.5
    """Up to here it is open whether something was done."""
    elsewhere: float = 0.3
    """So much change beside the wanted part may be the edit itself, at another place."""
    most_of_it: float = 0.6
    """Share of the wanted part that must have changed for the change to speak for all of it."""
    left_little: float = 0.2
    """So near the reference that it is the same result; right removals stay under 0.18."""
    spread: float = 0.05
    """Area changed that the reference kept, as a share of the wanted part's: right edits stay under
    0.03, an outline that grew reaches 0.05 and more."""
    one_colour: float = 22.0
    """Lab distance within which two patches are two shades of one colour."""
    other_colour: float = 32.0
    """Lab distance from which they are two colours."""
    one_tone: float = 6.0
    """Lab distance within which a part has the colour that it had: only its noise is another."""
    name_doubt: float = 6.0
    """By how much another name must fit better before a colour is called wrong."""
    least_px: int = 9
    detail_px: int = 60
    """On fewer pixels nobody sees whether detail survived."""
    detail_to_lose: float = 3.0
    """Standard deviation of lightness in the source that is detail."""
    shading_kept: float = 0.72
    shading_lost: float = 0.64
    """Correlation of lightness with source or reference: recoloured things 0.75 and more, flat ones
    0.62 and less."""
    pattern_px: int = 60
    same_pattern: float = 0.2
    other_pattern: float = 0.3
    clear_outline: float = 1.2
    """How clearly a thing must stand out (`Figure.clear`): under it an outline is a guess."""
    same_outline: float = 0.9
    other_outline: float = 0.82
    """Overlap at one size: two renderings of one shape 0.84 and mostly 0.95 and more, a disc and a
    square 0.8 and less."""
    stands_out: float = 1.5
    gone: float = 0.3
    same_letters: float = 0.7
    other_letters: float = 0.5
    """Correlation of lettering at one size: one word 0.76 and more, two words 0.45 and less."""
    clearly_more: float = 0.15
    same_fill: float = 12.0
    stands_there: float = 17.0
    """Lab distance to the reference's fill, texture blurred away: other fills of the same hole stay
    under 10, another thing has 20 and more."""
    same_thing: float = 0.42
    other_thing: float = 0.75
    """What is left to the reference: another shade of the same thing has 0.32 and less, another
    thing 0.57 and more."""
    recognised: float = 0.5
    unrecognised: float = 0.25
    """Share of the reference's edges that are there: a right thing has 0.57 and more, a smudge
    0.14 and less."""
    against: float = -0.1
    """Edges that run against the reference's are those of another thing; a smudge has none."""
    smudged: float = 0.44
    """Slopes of colour beside the reference's, under which there are no edges of another thing
    either: smudges 0.39 and less, other things 0.48 and more."""
    poorest: float = 0.4
    """Detail of a pattern as a share of the reference's, or the reverse, that is another's."""


SCENE = SceneThresholds()
TARGET = TargetThresholds()

"""The published ImagenHub ratings and VIEScore's scores on them; their licence keeps them outside
this repository, so the tests skip where they are missing."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from agent_judge.stats.agreement import agreement, rater_spearman
from agent_judge.stats.measures import measure, spearman
from agent_judge.stats.ratings import parse_ratings

FOLDER = Path(__file__).parents[2].parent / "shared" / "data" / "ratings"

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"needs the ImagenHub ratings in {FOLDER}, which are not committed"
)


@pytest.fixture(scope="module")
def semantic():
    """Semantic score by (item, editing model), one value a rater."""
    scores: dict[tuple[str, str], list[float]] = {}
    for n in (1, 2, 3):
        path = FOLDER / "imagenhub_text_guided" / f"Text-Guided_IE_rater{n}.tsv"
        for rating in parse_ratings(path.read_text(encoding="utf-8"), by=f"rater{n}"):
            if rating.criterion == "IF":
                scores.setdefault((rating.item, rating.editor), []).append(rating.value)
    return scores


@pytest.fixture(scope="module")
def viescore():
    """GPT-4o's two semantic scores by editing model and item, of which the lower counts."""
    path = FOLDER / "viescore_judge_scores.json"
    methods = json.loads(path.read_text(encoding="utf-8"))["results_gpt4o_0shot"]
    return {
        editor: {item: min(pair) for item, pair in scores["SC"].items()}
        for editor, scores in methods["ImagenHub_Text-Guided_IE"].items()
    }


def test_every_picture_has_three_ratings_of_three_steps(semantic):
    assert len(semantic) == 179 * 9
    assert {len(values) for values in semantic.values()} == {3}
    assert {value for values in semantic.values() for value in values} == {0, 0.5, 1}


def test_rater_correlations_over_eight_methods_are_the_published_ones(semantic):
    table = np.array([values for (_, editor), values in semantic.items() if editor != "Imagic"])
    found = [measure(spearman, table[:, a], table[:, b]) for a, b in combinations(range(3), 2)]

    assert len(table) == 1432
    assert found == pytest.approx([0.728, 0.668, 0.747], abs=5e-4)
    assert rater_spearman(table) == pytest.approx((0.728 + 0.668 + 0.747) / 3, abs=5e-4)


@pytest.mark.parametrize(
    ("editor", "published"),
    [("InstructPix2Pix", 0.687), ("MagicBrush", 0.644), ("Pix2PixZero", 0.055)],
)
def test_viescores_agreement_with_the_raters_is_the_published_one(
    semantic, viescore, editor, published
):
    scores = viescore[editor]
    found = agreement(
        list(scores.values()),
        [semantic[item, editor] for item in scores],
        clusters=[item.split("_")[1] for item in scores],  # sample_<source picture>_<turn>.jpg
        same_scale=False,
        n_resamples=200,
    )

    assert (found.n, found.n_clusters, found.n_raters) == (179, 116, 3)
    assert found.spearman.value == pytest.approx(published, abs=5e-4)
    assert found.spearman.low < published < found.spearman.high

import io

import numpy as np
import pytest
from PIL import Image

from agent_judge.annotate.pictures import Pictures, difference_overlay
from agent_judge.records import Sample
from tests.pictures import encoded, resized, scene

SCENE = scene((160, 120)).pixels


def decoded(data):
    return np.asarray(Image.open(io.BytesIO(data)))


def shown_row(sample):
    found = Pictures().row(sample)
    assert found is not None
    return found


def row(folder, *, source=SCENE, edited=SCENE, suffix="png", **changes):
    (folder / f"s.{suffix}").write_bytes(encoded(source, suffix.upper()))
    (folder / f"e.{suffix}").write_bytes(encoded(edited, suffix.upper()))
    fields = {"id": "a", "source": folder / f"s.{suffix}", "edited": folder / f"e.{suffix}"}
    return Sample(**{**fields, "instruction": "x", **changes})


def test_files_that_browsers_show_are_sent_as_they_are(tmp_path):
    sample = row(tmp_path, suffix="webp")
    shown = shown_row(sample)

    assert shown.pictures["source"].data == sample.source.read_bytes()
    assert shown.pictures["source"].mime == "image/webp"
    assert shown.size_wh == (160, 120)
    assert list(shown.pictures) == ["source", "edited"]


def test_others_are_sent_as_png_in_the_sources_frame(tmp_path):
    shown = shown_row(row(tmp_path, edited=resized(SCENE, (320, 240)), suffix="tiff"))

    assert {picture.mime for picture in shown.pictures.values()} == {"image/png"}
    assert (decoded(shown.pictures["source"].data) == SCENE).all()
    assert decoded(shown.pictures["edited"].data).shape == SCENE.shape


def test_an_edited_picture_of_another_size_is_shown_at_the_sources(tmp_path):
    shown = shown_row(row(tmp_path, edited=resized(SCENE, (80, 60))))
    assert decoded(shown.pictures["edited"].data).shape == SCENE.shape


@pytest.mark.parametrize("fault", ["source", "edited", "gone"])
def test_a_row_that_cannot_be_judged_cannot_be_rated(tmp_path, fault):
    sample = row(tmp_path)
    if fault == "gone":
        sample.edited.unlink()
    else:
        getattr(sample, fault).write_bytes(b"no picture")
    pictures = Pictures()

    assert pictures.row(sample) is None
    assert pictures.difference(sample) is None


def test_the_overlay_is_clear_but_where_pictures_differ():
    edited = SCENE.copy()
    edited[40:60, 50:80] = 255 - edited[40:60, 50:80]
    alpha = decoded(difference_overlay(SCENE, edited))[..., 3].copy()

    assert (alpha[45:55, 55:75] > 0).all()
    alpha[38:62, 48:82] = 0
    assert not alpha.any()


def test_noise_of_re_encoding_is_no_difference():
    again = decoded(encoded(SCENE, "JPEG", quality=95))
    alpha = decoded(difference_overlay(SCENE, again))[..., 3]
    assert (alpha > 64).mean() < 0.01

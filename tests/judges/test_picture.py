"""Pictures as data URLs: type, size, encoding."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from agent_judge.images import encode_png
from agent_judge.judges.coordinates import Convention
from agent_judge.judges.picture import FORMS, LOSSLESS, Form, data_url, fits_as_png
from tests.pictures import backdrop, scene

NOISE = np.random.default_rng(1).integers(0, 256, (300, 400, 3)).astype(np.uint8)


def opened(url):
    head, _, data = url.partition(",")
    return head, Image.open(io.BytesIO(base64.b64decode(data, validate=True)))


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_type_and_size_are_as_declared(form):
    head, image = opened(data_url(NOISE, form, Convention(max_side_px=200)))
    assert head == f"data:image/{form.format};base64"
    assert image.format == form.format.upper()
    assert image.size == (round(200 * form.scale), round(150 * form.scale))


def test_lossless_at_full_size_keeps_every_pixel():
    _, image = opened(data_url(NOISE, LOSSLESS, Convention()))
    assert np.array_equal(np.asarray(image), NOISE)


def test_jpeg_keeps_the_colour_of_a_single_pixel_wide_line():
    pixels = np.full((40, 40, 3), 128, np.uint8)
    pixels[:, 20] = (220, 20, 20)
    _, image = opened(data_url(pixels, Form("jpeg", 95), Convention()))
    red, green, _ = np.asarray(image)[20, 20].astype(int)
    assert red - green > 150


def test_forms_get_smaller_from_first_to_last():
    sizes = [len(data_url(NOISE, form, Convention())) for form in FORMS]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("pixels", [backdrop((900, 700)), NOISE, scene((40, 30)).pixels])
def test_whether_a_png_is_too_large_is_told_from_a_part_of_it(pixels):
    n_bytes = len(encode_png(pixels))
    assert fits_as_png(pixels, 1.1 * n_bytes, Convention())
    assert not fits_as_png(pixels, 0.9 * n_bytes, Convention())


def test_a_picture_that_is_shown_smaller_has_a_smaller_png():
    assert fits_as_png(NOISE, len(encode_png(NOISE)) / 3, Convention(max_side_px=200))

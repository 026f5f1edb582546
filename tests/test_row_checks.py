import pytest

from agent_judge.images import encode_png
from agent_judge.records import Sample
from agent_judge.row_checks import check_rows
from tests.pictures import backdrop, scene

PIXELS = scene().pixels


@pytest.fixture
def sample(tmp_path):
    """Makes a sample over drawn pictures; `edited` may be pixels, bytes or None for no file."""

    def make(edited=None, *, source=PIXELS, **row):
        n = len(list(tmp_path.iterdir()))
        paths = [tmp_path / f"{n}_{name}.png" for name in ("source", "edited")]
        for path, data in zip(paths, (source, edited), strict=True):
            if data is not None:
                path.write_bytes(data if isinstance(data, bytes) else encode_png(data))
        values = {"id": f"row{n}", "instruction": "x", **row}
        return Sample(source=paths[0], edited=paths[1], **values)

    return make


def touched(pixels):
    changed = pixels.copy()
    changed[20:40, 30:60] = 255
    return changed


def test_good_row_gives_nothing(sample):
    assert list(check_rows([(1, sample(touched(PIXELS), boxes=((30, 20, 60, 40),)))])) == []


@pytest.mark.parametrize(
    ("edited", "row", "told"),
    [
        (None, {}, "missing_output"),
        (b"no picture", {}, "invalid_image"),
        (backdrop((320, 100), 1), {}, "geometry_changed"),
        (touched(PIXELS), {"boxes": ((400, 10, 500, 20),)}, "invalid_box"),
        (touched(PIXELS), {"source": b"none"}, "invalid_source"),
    ],
)
def test_what_would_end_a_row_is_a_fault(sample, edited, row, told):
    (found,) = check_rows([(1, sample(edited, **row))])
    assert found.weight == "fault"
    assert told in found.message


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize(
    ("edited", "told"),
    [(PIXELS, "identical"), (255 - PIXELS, "unrelated pair")],
)
@pytest.mark.slow
def test_odd_pairs_are_warnings(sample, edited, told, deep):
    (found,) = check_rows([(1, sample(edited))], deep=deep)
    assert found.weight == "warning"
    assert found.message.startswith(told)


def test_findings_come_in_the_order_of_the_rows(sample):
    rows = [(i + 1, sample(None, id=f"r{i}")) for i in range(30)]
    assert [(f.line, f.id) for f in check_rows(rows)] == [(i + 1, f"r{i}") for i in range(30)]

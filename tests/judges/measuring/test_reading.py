import pytest

from agent_judge.judges.measuring.laid_over import to_lab
from agent_judge.judges.measuring.reading import canonical, is_other, read_line, reader_version
from agent_judge.records import Box
from tests.judges.measuring.staged import drawn, ground, plate

BOX = Box(40, 40, 124, 70)


def lab(pixels):
    return to_lab(pixels.astype("float32"))


@pytest.mark.skipif(reader_version() is None, reason="reading needs the [ocr] extra")
class TestReading:
    @pytest.mark.parametrize("word", ["OPEN", "Hotel", "Bus 42"])
    @pytest.mark.slow
    def test_a_line_is_read(self, word):
        shown = read_line(lab(plate(ground(), word, BOX)), BOX)
        assert shown is not None
        assert canonical(shown) == canonical(word)

    def test_where_nothing_is_written_nothing_is_read(self):
        bare = drawn(ground(), "rectangle", BOX, (238, 236, 225))
        assert read_line(lab(bare), BOX) is None

    def test_a_box_outside_the_picture_holds_nothing(self):
        assert read_line(lab(ground()), Box(500, 500, 520, 510)) is None

    def test_a_box_at_the_border_is_read_as_far_as_it_goes(self):
        assert read_line(lab(ground()), Box(-5, -5, 6, 4)) is None


@pytest.mark.parametrize(
    ("first", "second"), [("OPEN", "open"), ("TO GO", "togo!"), ("HOTEL", "H0TE1"), ("", "...")]
)
def test_case_spaces_marks_and_look_alikes_do_not_count(first, second):
    assert canonical(first) == canonical(second)


@pytest.mark.parametrize(
    ("first", "second", "other"),
    [
        ("OPEN", "CLOSED", True),
        ("TAXI", "EXIT", True),
        ("TAXI", "TAX", False),
        ("BUS", "BUS1", False),
        ("", "BUS", True),
    ],
)
def test_two_readings_are_of_two_texts_or_of_one_misread(first, second, other):
    assert is_other(first, second) is other

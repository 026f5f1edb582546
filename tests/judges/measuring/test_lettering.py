import pytest

from agent_judge.judges.measuring.laid_over import to_lab
from agent_judge.judges.measuring.lettering import same_letters
from agent_judge.records import Box
from tests.judges.measuring.staged import drawn, ground, plate, rendered_anew

BOX = Box(40, 40, 124, 70)


def lab(pixels):
    return to_lab(pixels.astype("float32"))


def alike(first, second):
    found = same_letters(first, second, BOX)
    assert found is not None
    return found


def reads(word, **kwargs):
    return lab(plate(ground(), word, BOX, **kwargs))


@pytest.mark.parametrize("word", ["OPEN", "TAXI", "ZOO"])
def test_one_word_reads_the_same_in_other_ink_size_and_paper(word):
    other = reads(word, ink=(150, 20, 25), paper=(250, 220, 120), fullness=0.6)
    assert alike(reads(word), other) > 0.7


def test_one_word_reads_the_same_after_jpeg():
    again = lab(rendered_anew(plate(ground(), "EXIT", BOX), quality=60))
    assert alike(reads("EXIT"), again) > 0.9


@pytest.mark.parametrize(("first", "second"), [("OPEN", "EXIT"), ("SALE", "STOP"), ("ZOO", "TEA")])
def test_two_words_do_not(first, second):
    assert alike(reads(first), reads(second)) < 0.5


def test_a_bare_plate_has_no_letters():
    bare = lab(drawn(ground(), "rectangle", BOX, (238, 236, 225)))
    assert same_letters(bare, reads("OPEN"), BOX) is None
    assert same_letters(reads("OPEN"), bare, BOX) is None


def test_a_plate_of_a_few_pixels_has_no_letters():
    tiny = Box(40, 40, 48, 43)
    assert same_letters(reads("OPEN"), reads("OPEN"), tiny) is None

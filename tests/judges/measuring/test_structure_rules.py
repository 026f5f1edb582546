import numpy as np
import pytest

from agent_judge.judges.measuring.structure_rules import (
    judge_count,
    judge_material,
    judge_shape,
    judge_text,
)
from agent_judge.records import Box
from tests.judges.measuring.staged import (
    BLUE,
    BOX,
    GREY,
    RED,
    YELLOW,
    case,
    disc,
    drawn,
    ground,
    level,
    patterned,
    plate,
)

CALM = (ground() // 12 + 110).astype(np.uint8)
PALE_RED = (215, 70, 70)
PLATE = Box(40, 40, 124, 70)
PLACES = [Box(16 + 28 * i, 40, 34 + 28 * i, 58) for i in range(5)]


class TestMaterial:
    source = drawn(CALM, "rectangle", BOX, RED)
    reference = patterned(CALM, "chequers", cell_px=6)

    @pytest.mark.parametrize(("pattern", "wanted"), [("chequers", 4), ("stripes", 2), ("bars", 2)])
    def test_the_way_a_pattern_runs_decides(self, pattern, wanted):
        edited = patterned(CALM, pattern, cell_px=5)
        assert level(judge_material(case(self.source, edited, self.reference))) == wanted

    def test_a_pattern_beyond_the_reference_s_part_took_more_with_it(self):
        part = Box(70, 50, 90, 70)
        reference = patterned(self.source, "chequers", part)
        all_over = patterned(CALM, "chequers")
        assert level(judge_material(case(self.source, all_over, reference))) == 3

    def test_a_flat_part_has_too_little_detail_to_be_that_pattern(self):
        edited = drawn(CALM, "rectangle", BOX, GREY)
        assert level(judge_material(case(self.source, edited, self.reference))) != 4

    def test_a_pattern_of_few_pixels_is_left_open(self):
        tiny = Box(76, 56, 83, 63)
        source, right = drawn(CALM, "rectangle", tiny, RED), patterned(CALM, "bars", tiny, 2)
        assert level(judge_material(case(source, right, right, boxes=(tiny,)))) is None

    def test_without_a_reference_pixels_cannot_tell(self):
        assert level(judge_material(case(self.source, self.reference))) is None


class TestShape:
    source = disc(CALM, RED)
    reference = drawn(CALM, "rectangle", BOX.grow(-4), PALE_RED)

    @pytest.mark.parametrize(
        ("edited", "wanted"),
        [
            (drawn(CALM, "rectangle", BOX.grow(-1), RED), 4),
            (drawn(CALM, "triangle", BOX, RED), 2),
            (disc(CALM, RED), 1),
            (disc(CALM, RED, BOX.grow(-5)), 1),
            (drawn(CALM, "rectangle", BOX.grow(-1), BLUE), 3),
        ],
        ids=["square", "triangle", "unchanged", "a smaller disc", "a blue square"],
    )
    @pytest.mark.slow
    def test_the_outline_decides_and_the_colour_is_to_be_kept(self, edited, wanted):
        assert level(judge_shape(case(self.source, edited, self.reference))) == wanted

    def test_a_reference_of_the_same_outline_tells_nothing(self):
        reference = disc(CALM, RED, BOX.grow(-5))
        assert judge_shape(case(self.source, disc(CALM, RED), reference)) is None

    def test_an_outline_that_does_not_stand_out_tells_nothing(self):
        faint = drawn(CALM, "rectangle", BOX, (126, 126, 126))
        for edited, reference in ((CALM, self.reference), (self.reference, faint)):
            assert judge_shape(case(self.source, edited, reference)) is None

    def test_without_a_reference_it_tells_nothing(self):
        assert judge_shape(case(self.source, self.reference)) is None


class TestCount:
    @staticmethod
    def things(which, colour=RED, strange=0):
        picture = CALM
        for n, i in enumerate(which):
            picture = disc(picture, BLUE if n < strange else colour, PLACES[i])
        return picture

    def judged(self, edited, reference, n=4, asked=""):
        pictures = (self.things(range(n)), edited, reference)
        return judge_count(case(*pictures, asked=asked, boxes=PLACES[:n]))

    @pytest.mark.parametrize(("which", "wanted"), [((0, 3), 4), ((1,), 2), ((0, 1, 2, 3), 1)])
    def test_without_a_reference_the_number_of_the_text_decides(self, which, wanted):
        asked = "Remove some of the four balls until exactly two are left."
        assert level(self.judged(self.things(which), None, asked=asked)) == wanted

    def test_a_text_and_a_reference_of_two_numbers_leave_it_open(self):
        verdict = self.judged(self.things((0, 1)), self.things((0, 1, 2)), asked="Leave only two.")
        assert level(verdict) is None

    @pytest.mark.parametrize(
        ("which", "wanted"),
        [((0, 1, 2), 4), ((1, 2, 3), 4), ((0, 1), 2), ((0,), 2), ((0, 1, 2, 3), 1)],
        ids=["three", "another three", "two", "one", "still four"],
    )
    def test_only_the_exact_number_is_right(self, which, wanted):
        assert level(self.judged(self.things(which), self.things((0, 1, 2), PALE_RED))) == wanted

    def test_the_right_number_of_other_things_lost_their_identity(self):
        others = self.things((0, 1, 2), BLUE)
        assert level(self.judged(others, self.things((0, 1, 2)))) == 3

    def test_one_odd_thing_among_the_right_number_is_left_open(self):
        odd = self.things((0, 1, 2), strange=1)
        assert level(self.judged(odd, self.things((0, 1, 2)))) is None

    def test_the_old_number_of_odd_things_is_left_open(self):
        odd = self.things((0, 1, 2, 3), strange=2)
        assert level(self.judged(odd, self.things((0, 1, 2)))) is None

    def test_a_reference_of_the_same_number_tells_nothing(self):
        assert level(self.judged(self.things((0, 1)), self.things(range(4)))) is None

    def test_without_a_reference_it_tells_nothing(self):
        assert self.judged(self.things((0, 1)), None) is None

    def test_without_boxes_nobody_knows_what_is_counted(self):
        pictures = (self.things(range(4)), self.things((0, 1)), self.things((0, 1)))
        assert judge_count(case(*pictures, boxes=PLACES[:4], boxed=False)) is None


class TestText:
    source = plate(CALM, "OPEN", PLATE)
    reference = plate(CALM, "TAXI", PLATE, ink=(120, 20, 25), fullness=0.62)

    def judged(self, edited, reference=reference):
        return judge_text(case(self.source, edited, reference, boxes=(PLATE,)))

    @pytest.mark.parametrize(
        ("edited", "wanted"),
        [
            (plate(CALM, "TAXI", PLATE), 4),
            (plate(CALM, "SALE", PLATE), 2),
            (plate(CALM, "OPEN", PLATE), 1),
            (plate(CALM, "OPEN", PLATE, ink=(20, 80, 45)), 1),
            (plate(CALM, "TAXI", PLATE, paper=YELLOW), 3),
        ],
        ids=["right", "another word", "unchanged", "the old word in other ink", "yellow plate"],
    )
    @pytest.mark.slow
    def test_the_letters_decide_and_the_plate_is_to_be_kept(self, edited, wanted):
        assert level(self.judged(edited)) == wanted

    @pytest.mark.parametrize(
        ("edited", "wanted"),
        [
            (plate(CALM, "TAXI", PLATE), 4),
            (plate(CALM, "SALE", PLATE), 2),
            (plate(CALM, "OPEN", PLATE, ink=(20, 80, 45)), 1),
            (plate(CALM, "TAXI", PLATE, paper=YELLOW), 3),
        ],
        ids=["right", "another word", "the old word in other ink", "yellow plate"],
    )
    @pytest.mark.parametrize("boxed", [True, False], ids=["box", "no box"])
    @pytest.mark.slow
    def test_without_a_reference_it_is_read(self, edited, wanted, boxed):
        pytest.importorskip("rapidocr_onnxruntime", reason="reading needs the [ocr] extra")
        asked = "Change the text on the plate from OPEN to TAXI."
        read = case(self.source, edited, asked=asked, boxes=(PLATE,), boxed=boxed)
        assert level(judge_text(read)) == wanted

    def test_a_word_that_may_be_misread_is_not_judged_by_reading(self):
        near = plate(CALM, "TAX", PLATE)
        asked = "Change the text on the plate from OPEN to TAXI."
        assert judge_text(case(self.source, near, asked=asked, boxes=(PLATE,))) is None

    def test_without_a_box_letters_are_not_laid_over_each_other(self):
        bare = drawn(CALM, "rectangle", PLATE, (238, 236, 225))
        unboxed = case(self.source, bare, self.reference, boxes=(PLATE,), boxed=False)
        assert judge_text(unboxed) is None

    def test_a_bare_plate_tells_nothing(self):
        bare = drawn(CALM, "rectangle", PLATE, (238, 236, 225))
        assert self.judged(bare) is None

    def test_a_reference_that_reads_as_the_source_tells_nothing(self):
        assert level(self.judged(self.source, self.source)) is None

    def test_without_a_reference_it_tells_nothing(self):
        assert self.judged(self.reference, None) is None

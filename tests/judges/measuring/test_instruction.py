import pytest

from agent_judge.judges.measuring.instruction import kind_of, wanted_number, wanted_text


@pytest.mark.parametrize(
    ("instruction", "kind"),
    [
        ("Remove the dog", "removal"),
        ("please erase the dog on the left", "removal"),
        ("Get rid of the sign", "removal"),
        ("Make the dog brown", "color"),
        ("Please paint the wall white", "color"),
        ("Make the dog bigger", "other"),
        ("Add a red hat", "other"),
        ("Do not remove the dog", "other"),
        ("", "other"),
    ],
)
def test_without_a_type_removals_and_colour_edits_are_known_by_wording(instruction, kind):
    assert kind_of({"instruction": instruction}) == kind


def test_a_given_type_is_believed():
    assert kind_of({"instruction": "Remove the dog", "type": "count"}) == "count"


@pytest.mark.parametrize(
    ("instruction", "text"),
    [
        ("Change the text on the plate from OPEN to CLOSED.", "CLOSED"),
        ("Change 'open' to 'we are closed'", "we are closed"),
        ("Replace the word \u201cTea\u201d with \u201cCoffee\u201d", "Coffee"),
        ('Make the sign read "Exit 12" instead of "Way in"', "Exit 12"),
        ("Make the shirt say TEAM A", "TEAM A"),
        ("Change OPEN into CLOSED and SALE into SOLD", None),
        ("Translate the sign into French", None),
        ("Remove the word OPEN from the driver's plate", None),
        ("Make it bigger", None),
        ("", None),
    ],
)
def test_the_wanted_text_is_quoted_or_in_capitals(instruction, text):
    assert wanted_text(instruction) == text


@pytest.mark.parametrize(
    ("instruction", "number"),
    [
        ("Remove some of the 5 cups until exactly 1 is left.", 1),
        ("Add to the 3 cups so that there are 6.", 6),
        ("Leave only Three cups", 3),
        ("Keep exactly ten cups", 10),
        ("Remove two cups", None),
        ("There are 5 cups; leave 2", None),
        ("Make exactly one cup red and keep two", None),
    ],
)
def test_the_wanted_number_is_what_shall_be_there_in_all(instruction, number):
    assert wanted_number(instruction) == number

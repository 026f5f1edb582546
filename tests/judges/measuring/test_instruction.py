import pytest

from agent_judge.judges.measuring.instruction import kind_of


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

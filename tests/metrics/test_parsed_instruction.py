import pytest

from agent_judge.metrics.parsed_instruction import ParsedInstruction, edit_texts

CUP = {
    "whole_picture": False,
    "original_parts": ("a red cup",),
    "edited_parts": ("a blue cup",),
    "edit_type": "change color",
    "reference_object": None,
    "size": "none",
    "position": "none",
}
ADD = {**CUP, "original_parts": (), "edited_parts": ("a cat",), "edit_type": "add"}
REMOVE = {**CUP, "edited_parts": (), "edit_type": "remove"}
GLOBAL = {**CUP, "whole_picture": True, "original_parts": (), "edited_parts": ()}


def parsed(values=CUP, **changes):
    return ParsedInstruction(**{**values, **changes})


@pytest.mark.parametrize("values", [CUP, ADD, REMOVE, GLOBAL, {**GLOBAL, "edit_type": "other"}])
def test_parts_that_fit_their_edit_are_taken(values):
    parsed(values)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({**ADD, "original_parts": ("a dog",)}, r"'original_parts' of an edit 'add' must be \[\]"),
        ({**ADD, "edited_parts": ()}, "'edited_parts' of an edit 'add' must be at least one"),
        (
            {**REMOVE, "edited_parts": ("grass",)},
            r"'edited_parts' of an edit 'remove' must be \[\]",
        ),
        ({**REMOVE, "original_parts": ()}, "'original_parts' of an edit 'remove' must be at least"),
        ({**CUP, "original_parts": ()}, "'change color' must be at least one phrase"),
        ({**CUP, "edited_parts": ()}, "'change color' must be at least one phrase"),
        ({**GLOBAL, "edited_parts": ("snow",)}, "whole picture names no parts"),
        ({**CUP, "edited_parts": ("x",) * 17}, "at most 16 parts"),
    ],
)
def test_parts_that_contradict_their_edit_are_refused(values, told):
    with pytest.raises(ValueError, match=told):
        parsed(values)


@pytest.mark.parametrize(
    ("values", "size", "position"),
    [
        (CUP, False, False),
        ({**CUP, "edit_type": "change size", "size": "bigger"}, True, False),
        ({**CUP, "edit_type": "change size"}, False, False),
        ({**CUP, "size": "bigger"}, False, False),
        ({**ADD, "reference_object": "the sofa", "position": "left"}, False, True),
        ({**ADD, "reference_object": "the sofa"}, False, False),
        ({**ADD, "position": "left"}, False, False),
    ],
)
def test_rules_apply_to_the_edits_that_they_are_for(values, size, position):
    assert (parsed(values).asks_size, parsed(values).asks_position) == (size, position)


@pytest.mark.parametrize(
    ("values", "captions", "texts"),
    [
        (CUP, (None, None), ("a red cup", "a blue cup")),
        (CUP, ("a table", "another"), ("a red cup", "a blue cup")),
        (
            {**CUP, "original_parts": ("a cup", "a jug")},
            (None, None),
            ("a cup, a jug", "a blue cup"),
        ),
        (ADD, (None, None), (None, "a cat")),
        (REMOVE, (None, None), ("a red cup", None)),
        (GLOBAL, ("a street", "a street in snow"), ("a street", "a street in snow")),
        (GLOBAL, ("a street", None), None),
        (GLOBAL, (None, "a street in snow"), None),
    ],
)
def test_texts_of_an_edit_are_its_parts_or_the_captions_of_a_global_one(values, captions, texts):
    found = edit_texts(parsed(values), source_caption=captions[0], wanted_caption=captions[1])
    assert found == texts

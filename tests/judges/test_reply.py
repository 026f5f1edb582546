"""Replies read right, or refused with the exact fault; never a level that was not given."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_judge.errors import ContradictionError, ReplyError
from agent_judge.judges.coordinates import Convention
from agent_judge.judges.reply import NOT_REACHED, answer_schema, read_verdict
from agent_judge.judges.spoken import declines, text_of
from agent_judge.records import Box
from agent_judge.rubrics.protocol import load_ladder

IF, VC = load_ladder("IF"), load_ladder("VC")
WRONG = {"answers": {"target_edited": "yes", "action_right": "no"}, "label": "Wrong Action"}
BARE = json.dumps(WRONG)


def level_of(text, ladder=IF):
    return read_verdict(text, ladder, to_box=None).level


@pytest.mark.parametrize("ladder", [IF, VC])
@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_every_level_is_read_with_the_answers_that_lead_to_it(ladder, level):
    answers = ladder.path_to(level)
    text = json.dumps({"answers": answers, "label": ladder.label_of(level)})
    verdict = read_verdict(text, ladder, to_box=None)
    assert (verdict.level, verdict.label) == (level, ladder.label_of(level))
    assert dict(verdict.answers) == answers


@pytest.mark.parametrize(
    "text",
    [
        f"Here is my verdict.\n```json\n{BARE}\n```\nI hope this helps.",
        f"Here is my verdict.\r\n```JSON\r\n{BARE}\r\n```\r\nDone.",
        f"```\n{BARE}\n```",
        f"<think>It may be Flawless Execution? No.</think>{BARE}",
        f"the tag was opened by the template: Flawless Execution\n</think>\n{BARE}",
        f"<thinking>\nLabel: Over Modification\n</thinking>\n\n{BARE}",
        f"<|channel|>analysis<|message|>hm<|end|><|channel|>final<|message|>{BARE}",
        f"◁think▷hm◁/think▷{BARE}",
        f"<|begin_of_box|>{BARE}<|end_of_box|>",
        f"{BARE}<think>was that right? Flawless Execution",
        json.dumps(BARE),
        json.dumps([WRONG]),
        json.dumps({"final_answer": WRONG}),
        BARE.replace('"label"', '"Label"'),
        BARE.replace("Wrong Action", "**wrong-action**"),
        BARE.replace("Wrong Action", "WRONG_ACTION"),
        BARE.replace("Wrong Action", "WrongAction."),
        BARE.replace("Wrong Action", "Label: Wrong Action"),
        BARE.replace("Wrong Action", "2 - Wrong Action"),
        BARE.replace("Wrong Action", "Wrong Action (level 2)"),
        BARE.replace("Wrong Action", "Wrong Action: it is green"),
        BARE.replace('"no"', "false").replace('"yes"', '"Yes."'),
        BARE.replace('"no"', '"No - it is green"'),
        BARE.replace("}, ", ', "rest_kept": "not reached"}, '),
        BARE.replace("}, ", ', "rest_kept": null}, "explanation": "two\nlines", '),
        json.dumps(
            {
                "answers": [
                    {"question": "target_edited", "answer": "yes"},
                    {"question": "action_right", "answer": "no"},
                ],
                "label": "Wrong Action",
            }
        ),
        f'{{"answers": "yes | no", "label": "A | B"}} is the form. {BARE}',
        f"{BARE}\n\nFinal label: Wrong Action",
        f"It could be Flawless Execution, or Over Modification. {BARE}",
        f'{{"label": "Flawless Execution"}}\nOn a closer look, my final answer:\n{BARE}',
        f"{{the set}} and {{}} first, then {BARE}",
    ],
)
def test_the_same_verdict_is_read_from_every_dress(text):
    verdict = read_verdict(text, IF, to_box=None)
    assert verdict.level == 2
    assert dict(verdict.answers) == WRONG["answers"]


@pytest.mark.parametrize(
    "text",
    [
        "Wrong Action",
        "**Wrong Action**",
        "wrong_action.",
        "`wrong-action`",
        "Label: Wrong Action",
        "**Label:** Wrong Action",
        "## Final label: **Wrong Action**",
        "The final verdict is Wrong Action.",
        "Therefore, the label is: Wrong Action",
        "Flawless Execution would need a red cup.\n\nVerdict: Wrong Action - it is green.",
        "Label: Flawless Execution\nOn reflection it is green.\nFinal label: Wrong Action",
        "Level 2: Wrong Action",
        "Label: Wrong Action (2/4)",
        "```\nWrong Action\n```",
        "Flawless Execution: no\nWrong Action: yes",
        "~~Flawless Execution~~\nWrong Action",
        '{"label": "Wrong Action"}',
    ],
)
def test_a_label_that_is_plainly_stated_counts_without_answers(text):
    verdict = read_verdict(text, IF, to_box=None)
    assert (verdict.level, verdict.answers) == (2, ())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (None, "empty"),
        ("", "empty"),
        (" \n", "empty"),
        ("<think>Wrong Action", "only thinking"),
        ("<think>Wrong Action</think>", "only thinking"),
        ('{"label": "Wrong Action", "why": "colour is "red""}', "cannot be read"),
        ("LABLE = flawles execution", "no label"),
        ("I am sorry, I cannot help with this image.", "no label"),
        ("2", "no label"),
        ("Level: 2", "no label"),
        ("Label: 8.5", "no label"),
        ("Label: Wrong Act", "no label"),
        ("Flawless Exec", "no label"),
        ("Over", "no label"),
        ("not Wrong Action", "no label"),
        ("Label: not Wrong Action", "no label"),
        ("It is Wrong Action because the cup is green", "no label"),
        ("Label: Wrong Action would be too harsh.", "no label"),
        ("Label: Flawless Execution? No.", "no label"),
        ("judge-4 overloaded, Flawless Execution not available", "no label"),
        ("Flawless Execution / Over Modification", "no label"),
        ("Label: Wrong Action (level 3)", "no label"),
        ("3 - Wrong Action", "no label"),
        ("Label: Perfect Consistency", "no label"),
        ("~~Wrong Action~~", "no label"),
        ("Wrong Action: no\nLocalization Failure: no", "no label"),
        ("Over Modification: yes\nWrong Action - does not apply", "no label"),
        ("Levels:\nFlawless Execution\nLocalization Failure", "two different"),
        ("* Flawless Execution: as told\n* Localization Failure: unchanged", "two different"),
        ("1. Flawless Execution\n2. Wrong Action", "two different"),
        ("Label: Wrong Action\nLabel: Over Modification", "two different"),
        ("Label: Wrong Action\nBut it might be Over Modification after all.", "another label"),
        ('{"label": "Wrong Action"} {"label": "Over Modification"}', "two different"),
        ('{"label": "Wrong Action", "label": "Over Modification"}', "given twice"),
        (f'{{"draft": {BARE}, "final": {{"label": "Over Modification"}}}}', "two different"),
        (f'{{"label": "Over Modification", "revised": {BARE}}}', "two different"),
        ('{"label": "Wrong Action (ruled out)"}', "exactly one"),
        ('{"answers": {}, "answers": {"target_edited": "no"}, "label": "Wrong Action"}', "twice"),
        ('{"label": 2}', "no text"),
        ('{"label": "2"}', "'2'"),
        ('{"label": null}', "missing"),
        ('{"answers": {"target_edited": "no"}}', "missing"),
        ('{"label": ["Wrong Action"]}', "no text"),
        ('{"label": "Wrong"}', "exactly one"),
        ('{"label": "Wrong Action | Over Modification"}', "exactly one"),
        ('{"answers": {"target_edited": "yes"}, "label": "Wrong Action"}', "'action_right'"),
        (BARE.replace('"no"', '"maybe"'), "'maybe'"),
        (BARE.replace('"no"', '"nothing"'), "'nothing'"),
        (BARE[:-5], "cannot be read"),
        (BARE[:40] + " Wrong Action", "cannot be read"),
        ('{"verdict": "great"}', "no label"),
    ],
)
def test_what_is_no_clear_verdict_never_becomes_a_level(text, fault):
    with pytest.raises(ReplyError, match=fault) as raised:
        read_verdict(text, IF, to_box=None)
    assert not isinstance(raised.value, ContradictionError)


def test_a_label_that_its_answers_do_not_lead_to_is_a_contradiction_of_its_own():
    text = BARE.replace('"label": "Wrong Action"', '"label": "Flawless Execution"')
    with pytest.raises(ContradictionError, match="lead to the label 'Wrong Action'"):
        read_verdict(text, IF, to_box=None)


def test_answers_behind_the_end_of_the_walk_are_not_kept():
    text = json.dumps(
        {
            "answers": {"target_edited": "no", "action_right": "yes", "rest_kept": "odd"},
            "label": "Localization Failure",
        }
    )
    assert read_verdict(text, IF, to_box=None).answers == (("target_edited", "no"),)


@pytest.mark.parametrize(
    "hostile",
    [
        "{" * 100_000,
        '{"a":' * 50_000,
        '{"label":' + "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        "x" * 10_000_000,
        "<think>" * 25_000,
        "</think>" * 20_000,
        "wrong-" * 30_000,
        "Label: Wrong Action" + " " * 150_000 + "x",
        "label:" * 30_000,
        '{"label": ' + "9" * 5000 + "}",
        '{"label": NaN}',
        '{"a": 1}' * 1000,
        '{"label": "Wrong \ud800Action"}',
        "\x00\ud800",
        "label " * 20_000 + "\n" * 20_000,
    ],
    ids=range(16),
)
def test_a_hostile_reply_is_a_reply_error_and_nothing_worse(hostile):
    with pytest.raises(ReplyError):
        read_verdict(hostile, IF, to_box=None)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300) | st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["label", "answers", "anomalies", "target_box", "x"]), inner),
    max_leaves=12,
).map(json.dumps))  # fmt: skip
@pytest.mark.slow
def test_any_text_is_a_verdict_or_a_reply_error(text):
    try:
        verdict = read_verdict(text, VC, to_box=lambda n: None)
    except ReplyError:
        return
    assert verdict.label in VC.labels


def test_boxes_come_back_in_canonical_pixels():
    def to_box(numbers):
        return Convention(system="yxyx_1000").decode(numbers, (2000, 1000))

    target = read_verdict(
        json.dumps({**WRONG, "target_box": [100, 200, 300, 400]}), IF, to_box=to_box
    ).target_box
    assert target == Box(400, 100, 800, 300)
    text = json.dumps(
        {
            "answers": {"scene_kept": "yes", "anomalies": "several"},
            "anomalies": [
                {"what": "a bird is gone", "box": [0, 0, 500, 500]},
                {"what": "sign changed", "box": None},
                "the door moved",
                {"what": " "},
            ],
            "label": "Multiple Anomalies",
        }
    )
    assert read_verdict(text, VC, to_box=to_box).anomalies == (
        {"what": "a bird is gone", "box": [0, 0, 1000, 500]},
        {"what": "sign changed", "box": None},
        {"what": "the door moved", "box": None},
    )


@pytest.mark.parametrize(
    "box",
    [
        "[1, 2, 3]",
        "[5, 5, 1, 1]",
        f"[1, 2, 3, {'9' * 4000}]",
        "[NaN, 0, 1, 1]",
        "[1e300, 0, 1, 1]",
        '"x"',
        "[true, 0, 1, 1]",
        "{}",
    ],
    ids=range(8),
)
def test_a_box_that_is_none_does_not_cost_the_verdict(box):
    text = BARE[:-1] + f', "target_box": {box}}}'
    verdict = read_verdict(text, IF, to_box=lambda n: Convention().decode(n, (9, 9)))
    assert (verdict.level, verdict.target_box) == (2, None)


@pytest.mark.parametrize("ladder", [IF, VC])
@pytest.mark.parametrize("boxes", [True, False])
def test_the_schema_is_strict_and_puts_evidence_before_the_label(ladder, boxes):
    schema = answer_schema(ladder, boxes=boxes)

    def check(node):
        if isinstance(node, dict) and node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
        for inner in node.values() if isinstance(node, dict) else ():
            check(inner)

    check(schema)
    assert next(iter(schema["properties"])) == "answers"
    assert list(schema["properties"])[-1] == "label"
    assert schema["properties"]["label"]["enum"] == list(ladder.labels)
    assert ("box" in json.dumps(schema)) is boxes
    for question in ladder.questions:
        enum = schema["properties"]["answers"]["properties"][question.id]["enum"]
        assert enum == [*question.outcomes, NOT_REACHED]


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        ("I am sorry, I cannot help with this image.", True),
        ("I'm sorry, but I can\u2019t assist with that request.", True),
        ("I won't comply.", True),
        ("I apologize, but this content is beyond me.", True),
        ("I cannot tell whether the cup changed.", False),
        ("Sorry: Wrong Action", False),
        ("The instruction cannot be verified.", False),
        ("", False),
    ],
)
def test_a_refusal_in_words_is_told_from_a_bad_answer(text, refuses):
    assert declines(text) is refuses


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        (None, None),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ([{"type": "refusal", "refusal": "no"}], None),
        (7, None),
    ],
)
def test_text_is_taken_from_either_form_of_content(content, text):
    assert text_of(content) == text

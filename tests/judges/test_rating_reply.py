"""Replies of a judge that gives numbers: the right one, or the exact fault, never a guess."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_judge.errors import ContradictionError, ReplyError
from agent_judge.judges.answers import answer_schema
from agent_judge.judges.rating_reply import read_verdict
from agent_judge.rubrics.protocol import load_protocol, rubric_of
from agent_judge.rubrics.rating import Rating

RATINGS = [
    rubric
    for name in ("multi-reward", "twelve-factors")
    for rubric in load_protocol(name).rubrics.values()
]
FOLLOWING = rubric_of("following")  # 0 to 5, with a yes or no
FACTOR = rubric_of("seamlessness")  # 1 to 7, the number alone
BARE = '{"reason": "a halo {1} around it, score: 2 at best", "score": 4}'
BOTH = '{"reason": "blue, not red", "yes_no": "yes", "score": 4}'


def read(text, rating=FACTOR):
    assert isinstance(rating, Rating)
    return read_verdict(text, rating, to_box=None)


@pytest.mark.parametrize("rating", RATINGS, ids=lambda rating: rating.criterion)
def test_every_number_of_every_scale_is_read_with_its_reason(rating):
    for level in rating.scale.levels:
        text = json.dumps({"reason": "so", **rating.path_to(level), "score": level})
        verdict = read(text, rating)
        assert (verdict.level, verdict.label) == (level, rating.answered_as(level))
        assert dict(verdict.answers) == rating.path_to(level)
        assert (verdict.explanation, verdict.label_only) == ("so", False)


@pytest.mark.parametrize(
    "text",
    [
        BARE,
        f"Here it is.\n```json\n{BARE}\n```\nDone.",
        f"```\n{BARE}\n```",
        f"<think>Score: 2? or 7?</think>{BARE}",
        f"<thinking>\nScore: 2\n</thinking>\n{BARE}",
        f"<|channel|>analysis<|message|>2<|end|><|channel|>final<|message|>{BARE}",
        f"{BARE}<think>was that right? Score: 2",
        json.dumps(BARE),
        f"[{BARE}]",
        f'{{"answer": {BARE}}}',
        BARE.replace('"score"', '" Score "'),
        BARE.replace('"score"', '"rating"'),
        BARE.replace('"reason"', '"justification"'),
        BARE.replace('"score"', '"scale": "1-7", "score"'),
        BARE.replace(": 4}", ': 4, "sub": {"score": 2}}'),
        BARE.replace(": 4}", ': 4, "score": 4}'),
        BARE.replace(": 4}", ': 4, "rating": null}'),
        BARE.replace(": 4}", ": 4.0}"),
        *(
            BARE.replace(": 4}", f": {json.dumps(value)}}}")
            for value in ("4", " 4 ", "4.", "**4**", "+4", "4.0", "4/7", "4 / 7", "4 out of 7")
        ),
        BARE.replace(": 4}", ': "\uff14"}'),  # a full-width four is a four
        f"{BARE}\n{BARE}",
        f"{BARE}\nScore: 4/7",
        f"{BARE}\nScore: 3 would be too low.",
        f"{BARE}\nSo my score is 4.",
        BARE.replace('"score"', '"level"'),
        f'{{"score": 2}}\nOn a closer look, my final answer:\n{BARE}',
        f'The form is {{"reason": "...", "score": whole number from 1 to 7}}.\n{BARE}',
    ],
)
def test_the_same_number_is_read_from_every_dress(text):
    verdict = read(text)
    assert verdict.level == 4
    assert type(verdict.level) is int
    assert verdict.explanation == "a halo {1} around it, score: 2 at best"


@pytest.mark.parametrize(
    "line",
    [
        "Score: 4",
        "**Score:** 4",
        "**Score: 4**",
        "## Final score: **4/7**",
        "score = 4",
        "Score - 4",
        "SCORE 4",
        "My score is 4.",
        "The final rating is: 4 out of 7",
        "> *Rating*: _4_",
    ],
)
def test_a_line_that_states_a_number_counts_and_the_others_are_the_reason(line):
    verdict = read(f"A halo; 2 borders, 90 % done.\n\n{line}\n")
    assert (verdict.level, verdict.explanation) == (4, "A halo; 2 borders, 90 % done.")
    assert not verdict.label_only


@pytest.mark.parametrize(
    "text", ["4", " 4.\n", "**4**", "4/7", "4 out of 7", "Score: 4", '{"score": 4}']
)
def test_a_number_without_a_reason_is_taken_and_said_to_be_that(text):
    verdict = read(text)
    assert (verdict.level, verdict.label_only) == (4, True)


@pytest.mark.parametrize(
    "value",
    [
        "8.5", "85", "8/10", "810", "3.5", "3,5", "4/10", "4/5", "4 of 5", "0", "8", "-4",
        "4.000000001", "1e0", "0x4", "1-7", "3-4", "3 or 4", "3/4/7", "4/7/2026", "4%", "80%", "~4",
        ">4", "4+", "4?", "four", "IV", "\u00bd", "\u2463", "\u2074", "4\ufe0f\u20e3", "\u22124",
        "\u20134", "- 4", "4 stars", "4 points of 7", "#4", "$4", "4 4", "44", "1_0", "NaN", "inf",
        "Infinity", "high", "", "null", "true", "yes", "[4]", "{4}", "9" * 5000, "-1", ".5",
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["json", "line", "alone"])
def test_what_is_no_level_of_the_scale_never_becomes_one(value, form):
    text = {
        "json": json.dumps({"reason": "so", "score": value}),
        "line": f"so\nScore: {value}",
        "alone": value,
    }[form]
    with pytest.raises(ReplyError, match=r"'score'|empty"):
        read(text)


@pytest.mark.parametrize(
    "value",
    [
        "true", "false", "NaN", "Infinity", "-Infinity", "1e400", "4e5", "-0.5", "3.5", "9" * 400,
        "null", "[4]", "[4, 5]", "[]", "{}", '{"value": 4}', '"a\\nb"',
    ],
)  # fmt: skip
def test_a_value_that_is_no_level_is_told_back(value):
    with pytest.raises(ReplyError, match="'score'"):
        read(f'{{"reason": "so", "score": {value}}}')


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (None, "empty"),
        ("", "empty"),
        ("<think>Score: 4</think>", "only thinking"),
        ('{"reason": "it is "red"", "score": 4}', "cannot be read"),
        ('{"reason": "so", "score": 4', "cannot be read"),
        ("{'reason': 'so', 'score': 4}", "cannot be read"),
        ('{"reason": "so", "score": ' + "9" * 5000 + "}", "cannot be read"),
        ('{"reason": "so"}', "missing"),
        ('{"reason": "so\nScore: 4\n"}', "missing"),
        ('{"a": {"b": {"score": 4}}}', "missing"),
        ("I would give it a 4.", "missing"),
        ("It earns a score of 4 out of 7 from me.", "missing"),
        ("2 borders and 4 halos", "missing"),
        ("1. Score: 4", "missing"),
        ("I am sorry, I cannot help with this image.", "missing"),
        ("Score: 4, no, rather 5", "whole number"),
        ("Score: 4 or so", "whole number"),
        ("Score: between 4 and 5", "whole number"),
        ("Score: 4\nScore: 5", "two different"),
        ("Score: 4\nScore: 8/10", "two different"),
        ("Score: 4/7\nFinal score: 4/5", "two different"),
        ("Score: 4\nOverall score: 3.5", "two different"),
        ('{"score": 4, "score": 5}', "given twice"),
        ('{"score": 4, "Score": 5}', "given twice"),
        ('{"score": 4, "rating": 5}', "given twice"),
        ('{"score": 4} {"score": 5}', "two different"),
        ('[{"score": 4}, {"score": 5}]', "two different"),
        ('{"following": {"score": 4}, "quality": {"score": 5}}', "two different"),
        (f"Score: 2\n{BARE}", "two different"),
        (f"{BARE}\nScore: 5", "two different"),
        (f"{BARE}\n**Final score: 8.5**", "two different"),
        (f"{BARE}\nActually, the score is 3.", "two different"),
        (f"{BARE} No, wait. Score: 5", "two different"),
        ('{"level": 3, "label": "Over Modification"}', "missing"),  # that is 3 of another ladder
        ('{"score": NaN}', "whole number"),
    ],
)
def test_what_is_no_clear_number_is_asked_again_with_the_fault(text, fault):
    with pytest.raises(ReplyError, match=fault) as raised:
        read(text)
    assert not isinstance(raised.value, ContradictionError)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (BOTH, "yes"),
        (BOTH.replace('"yes"', '"No."'), "no"),
        (BOTH.replace('"yes"', '"**YES**"'), "yes"),
        (BOTH.replace('"yes"', "false"), "no"),
        (BOTH.replace("yes_no", "yes/no"), "yes"),
        (BOTH.replace("yes_no", "Yes or no"), "yes"),
        (BOTH.replace('"yes"', '"yes", "answer": "no hat is seen"'), "yes"),
        ("blue, not red\nYes/no: **no**\nScore: 4/5", "no"),
        ("no red hat\nAnswer: yes\nScore: 4", "yes"),
        ("blue\nYes.\nScore: 4", "yes"),
        ("reason: blue\nyes_no: no\nscore: 4", "no"),
    ],
)
def test_the_yes_or_no_is_the_label_beside_the_number(text, label):
    verdict = read(text, FOLLOWING)
    assert (verdict.level, verdict.label, verdict.answers) == (4, label, (("yes_no", label),))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("4", "'yes_no' must be 'yes' or 'no', but is missing"),
        ("yes", "'score' is missing"),
        ('{"score": 4}', "'yes_no' must be"),
        (BOTH.replace('"yes"', "null"), "is missing"),
        (BOTH.replace('"yes"', "1"), "was '1'"),
        (BOTH.replace('"yes"', '"eyes"'), "was 'eyes'"),
        (BOTH.replace('"yes"', '"no, the eyes are still blue"'), "was 'no, the eyes"),
        (BOTH.replace('"yes"', '"yes | no"'), "was 'yes | no'"),
        (BOTH.replace('"yes"', '"yes", "yes/no": "no"'), "given twice"),
        (BOTH.replace('"yes"', '"yes", "yes_no": "no"'), "given twice"),
        (f"{BOTH}\n{BOTH.replace('yes', 'no')}", "two different"),
        ("Answer: yes\nAnswer: no\nScore: 4", "two different"),
        ("The eyes are still blue: yes and no\nScore: 4", "'yes_no' must be"),
        (BOTH.replace("4", "7"), "from 0 to 5, but was '7'"),
        (BOTH.replace("4", '"4/7"'), "but was '4/7'"),
        (BOTH.replace("4", '"8/10"'), "but was '8/10'"),
        (BOTH.replace("4", '"810"'), "but was '810'"),
    ],
)
def test_a_yes_or_no_that_is_none_is_asked_again(text, fault):
    with pytest.raises(ReplyError, match=fault.replace("|", r"\|")):
        read(text, FOLLOWING)


@pytest.mark.parametrize(("yes_no", "score"), [("yes", 0), (True, "0/5"), ("no", 5), (False, 5)])
def test_yes_at_the_worst_and_no_at_the_best_contradict_each_other(yes_no, score):
    with pytest.raises(ContradictionError, match="contradict"):
        read(json.dumps({"reason": "so", "yes_no": yes_no, "score": score}), FOLLOWING)


@pytest.mark.parametrize(("yes_no", "score"), [("no", 0), ("yes", 1), ("no", 4), ("yes", 5)])
def test_what_does_not_contradict_itself_stands(yes_no, score):
    verdict = read(json.dumps({"reason": "so", "yes_no": yes_no, "score": score}), FOLLOWING)
    assert (verdict.level, verdict.label) == (score, yes_no)


@pytest.mark.parametrize(
    "hostile",
    [
        "{" * 100_000,
        '{"a":' * 50_000,
        '{"score":' + "[" * 100_000,
        "x" * 10_000_000,
        "<think>" * 25_000,
        "score" + " " * 150_000 + "x",
        "score:" * 30_000,
        "the " * 40_000 + "score",
        "Score: " + "4" * 150_000,
        "Score: 4" + " " * 150_000 + "x",
        "yes/no " * 25_000,
        '{"a": 1}' * 1000,
        '{"score": "\ud800"}',
        "\x00\ud800",
        "score " * 20_000 + "\n" * 20_000,
    ],
    ids=range(15),
)
def test_a_hostile_reply_is_a_reply_error_and_nothing_worse(hostile):
    with pytest.raises(ReplyError):
        read(hostile)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300) | st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["score", "rating", "yes_no", "reason", "x"]), inner),
    max_leaves=12,
).map(json.dumps))  # fmt: skip
@pytest.mark.slow
def test_any_text_is_a_number_on_the_scale_or_a_reply_error(text):
    for rating in (FOLLOWING, FACTOR):
        try:
            verdict = read(text, rating)
        except ReplyError:
            continue
        assert verdict.level in rating.scale


@pytest.mark.parametrize("rating", RATINGS, ids=lambda rating: rating.criterion)
def test_the_schema_is_strict_offers_every_level_and_puts_the_reason_first(rating):
    schema = answer_schema(rating, boxes=True)
    assert schema["additionalProperties"] is False
    assert schema["required"] == list(schema["properties"])
    assert list(schema["properties"]) == ["reason", *rating.questions_text(), "score"]
    assert schema["properties"]["score"] == {"type": "integer", "enum": [*rating.scale.levels]}

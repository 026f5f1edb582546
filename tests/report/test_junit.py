import io
from xml.etree import ElementTree

from agent_judge.report.junit import write_junit
from tests.report.runs import record, scored

ROW = {"id": "a <b>", "editor": "e & f", "instruction": "x"}


def cases(*records):
    out = io.StringIO()
    write_junit(records, out)
    return [
        (suite.get("name"), case.get("name"), [(child.tag, child.get("type")) for child in case])
        for suite in ElementTree.fromstring(out.getvalue())
        for case in suite
    ]


def test_every_fate_has_its_outcome():
    suite = "e & f (tool mode)"
    assert cases(
        *(scored(ROW, "IF", level=level, label="L") for level in (4, 3, 2, 1)),
        record(ROW, "VC", status="missing_output"),
        record(ROW, "VC", status="unscored", reason="transport"),
    ) == [
        (suite, "a <b> IF", []),
        (suite, "a <b> IF", []),
        (suite, "a <b> IF", [("failure", "scored")]),
        (suite, "a <b> IF", [("failure", "scored")]),
        (suite, "a <b> VC", [("failure", "missing_output")]),
        (suite, "a <b> VC", [("error", "transport")]),
    ]


def test_editors_and_modes_are_suites_of_their_own():
    other = {**ROW, "editor": "", "boxes": [[0, 0, 1, 1]]}
    suites = {suite for suite, *_ in cases(scored(ROW, "IF"), scored(other, "IF"))}
    assert suites == {"e & f (tool mode)", "(unnamed) (oracle mode)"}


def test_what_xml_cannot_hold_is_replaced():
    bad = {**ROW, "id": "a\x00\ud800\x1b\ufffe"}
    ((_, name, _),) = cases(scored(bad, "IF", level=1, label="L", explanation="\x08"))
    assert name == "a\ufffd\ufffd\ufffd\ufffd IF"


def test_no_records_are_a_document_too():
    assert cases() == []

"""Records as JUnit XML, which CI systems show as tests: one test case per (id, criterion).

A test must pass or fail; a scale has several levels. Those in its lower half fail (of a ladder the
two lower ones: the edit is not what was asked for, or the scene has several anomalies), and so does
a row whose editing model gave nothing to judge. What could not be judged is an error: neither a
pass nor a failure of the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from io import TextIOBase
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

from agent_judge.records import Record
from agent_judge.rubrics.protocol import rubric_of
from agent_judge.stats.summary import UNNAMED_EDITOR

LOWEST_PASS_100 = 50
"""The lowest score that passes."""
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(records: Iterable[Record], out: TextIOBase) -> None:
    """One `testsuite` for each editor and mode, in the order in which they first come."""
    xml = XMLGenerator(out, encoding="UTF-8", short_empty_elements=True)
    xml.startDocument()
    _start(xml, "testsuites", name="agent-judge")
    suites: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        suites.setdefault((record.editor, record.mode), []).append(record)
    for (editor, mode), group in suites.items():
        suite = f"{editor or UNNAMED_EDITOR} ({mode} mode)"
        _start(xml, "testsuite", name=suite)
        for record in group:
            _case(record, suite, xml)
        xml.endElement("testsuite")
    xml.endElement("testsuites")
    xml.endDocument()


def _case(record: Record, suite: str, xml: XMLGenerator) -> None:
    name = f"{record.id} {record.criterion}"
    _start(xml, "testcase", name=name, classname=suite, time=f"{record.seconds:.3f}")
    for kind, message in _outcome(record):
        _start(xml, kind, message=message, type=record.reason or record.status)
        xml.characters(_clean(record.explanation))
        xml.endElement(kind)
    xml.endElement("testcase")


def _outcome(record: Record) -> Iterator[tuple[str, str]]:
    """The element that says how a test case failed; none when it passed."""
    if record.level is not None:
        if rubric_of(record.criterion).scale.score_100(record.level) < LOWEST_PASS_100:
            yield "failure", f"{record.label} (level {record.level:g})"
    elif record.status == "unscored":
        yield "error", f"not judged: {record.reason}"
    else:
        yield "failure", f"the editing model gave nothing to judge: {record.status}"


def _start(xml: XMLGenerator, tag: str, **attributes: str) -> None:
    cleaned = {name: _clean(value) for name, value in attributes.items()}
    xml.startElement(tag, AttributesImpl(cleaned))


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)

"""Questions made of a document's sentences: plain English and Chinese, and nothing of what is no
statement.
"""

from __future__ import annotations

import pytest

from citewell.skills.answer.document_questions import propose_questions
from citewell.types import Document, Section


def questions(text: str) -> list[str]:
    document = Document("T", "text/plain", "en", text, (Section((), 0, len(text)),))
    return [each.question for each in propose_questions(document, 20)]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The refund is made within 14 days.", "When is the refund made?"),
        (
            "Encrypted sticks can be borrowed for 5 days.",
            "How long can encrypted sticks be borrowed?",
        ),
        ("Filters are cleaned every two weeks.", "How often are filters cleaned?"),
        ("Passwords have at least 14 characters.", "How many characters do passwords have?"),
        ("A fleet must have at least five bikes.", "How many bikes must a fleet have?"),
        ("A widget is a small box on a page.", "What is a widget?"),
        ("Inspections a year | Basic: 2 | Plus: 4", "What are the inspections a year for Basic?"),
        ("Wheelbase | DR2-S: 180 cm | DR2-L: 210 cm", "What is the wheelbase for DR2-S?"),
        ("Noise | Value: 62 dB", "What is the noise?"),
        ("电子发票在签收后7天内开具。", "电子发票在签收后多少天内开具？"),
        ("客服人员每周休息一天半。", "客服人员每周休息多少天？"),
        ("参观须提前3个工作日预约。", "参观须提前几个工作日预约？"),
    ],
)
def test_what_is_asked(text: str, question: str) -> None:
    assert questions(text) == [question]


@pytest.mark.parametrize(
    "text",
    [
        "If it rains the game is played within 14 days.",
        "It is closed for 5 days.",
        "Our study has three limits.",
        "在二号仓库四周的现场试用中，时间降至71秒。",
        "No figure is here.",
        "请先关机10秒再开机。",
        "停用超过30天时，应充电。",
        "第3版于2026年1月20日发布。",
    ],
)
def test_what_is_not_asked(text: str) -> None:
    assert questions(text) == []


def test_rows_of_tables_come_last() -> None:
    text = "Noise | Value: 62 dB\n\nThe refund is made within 14 days."
    assert questions(text) == ["When is the refund made?", "What is the noise?"]


def test_as_many_as_wanted_spread_over_the_document() -> None:
    text = "\n\n".join(f"Part{n} is checked within {n} days." for n in range(10, 30))
    document = Document("T", "text/plain", "en", text, (Section((), 0, len(text)),))
    found = propose_questions(document, 5)
    assert len(found) == 5
    assert [text[each.start : each.end].split()[0] for each in found] == [
        f"Part{n}" for n in (10, 14, 18, 22, 26)
    ]

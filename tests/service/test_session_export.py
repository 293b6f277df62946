"""A conversation as Markdown, Word and PDF: what stands in each, and what is read as no markup."""

from __future__ import annotations

import zipfile
from functools import partial
from io import BytesIO
from typing import Any

import docx
import pypdfium2
import pytest
import typst
from lxml import etree

from citewell.errors import InvalidInput
from citewell.service.sessions.exchanges import Exchange, pair_exchanges
from citewell.service.sessions.export.conversation import Conversation, build_conversation
from citewell.service.sessions.export.markdown import write_markdown
from citewell.service.sessions.export.pdf import write_pdf
from citewell.service.sessions.export.word import W, write_word
from citewell.store.session_rows import SessionInfo
from citewell.types import Answer, Citation, Message, Sentence, Trace

HOSTILE = "#let x = 1 <script>alert(1)</script> $y$ \\input{a} \x07\u202e"
ANSWER = """It is **warm**[1] for *ten* years.[2] [9]

- one [1]
    1. deep

| a | b |
| --- | --- |
| 1 | `x` |
"""


def cite(n: int, **changes: Any) -> Citation:
    values: dict[str, Any] = {
        "n": n, "doc_id": "d", "title": "Manual", "uri": "/srv/ann/manual.pdf", "page": 3,
        "section": "Manual › Care", "quote": f"Quote {n}.", "start": 0, "end": 8,
    }  # fmt: skip
    return Citation(**values | changes)


def answer(text: str = ANSWER, **changes: Any) -> Answer:
    web = cite(2, title=HOSTILE, uri="https://a.example/x?y=1&z=2", page=None)
    values: dict[str, Any] = {
        "answer": text, "citations": [cite(1), web], "status": "fallback", "confidence": 0.5,
        "agent": "qa",
        "sentences": [
            Sentence(text="It is warm", verdict="supported"),
            Sentence(text="for ten years.", verdict="unsupported"),
            Sentence(text="one", verdict="partly"),
        ],
        "data": {
            "columns": ["Month", "Cost"], "sql": "SELECT '```'",
            "rows": [["2025-05", None], ["2025-06", 12.5], *[["2025-07", 3.0]] * 60],
        },
    }  # fmt: skip
    return Answer(**values | changes)


def talk(*exchanges: Exchange, title: str = HOSTILE) -> Conversation:
    info = SessionInfo(
        session_id="ses_1", user_id="ann", title=title, agent="qa", current_state="OPEN",
        messages=2, last_updated=1_000_000_000,
    )  # fmt: skip
    return build_conversation(info, exchanges)


ENGLISH = talk(
    Exchange("How *warm*?", ANSWER, 1_700_000_000, answer()), Exchange("And then?", "Gone. [1]")
)
QUOTED = cite(1, title="退换货政策", quote="自签收次日起15天内")
RETURNS = answer("15天内可以**无理由**退货。[1]", citations=[QUOTED])
CHINESE = talk(
    Exchange("国内订单签收后多少天内可以退货？", "15天内。[1]", 1.7e9, RETURNS), title="退货"
)


def test_markdown() -> None:
    text = write_markdown(ENGLISH).decode()
    assert text.startswith("# \\#let x = 1 \\<script\\>")
    assert "## How \\*warm\\*?\n\nIt is **warm**[^1] for *ten* years.[^2] \\[9\\]" in text
    assert "- one [^1]\n    1. deep" in text
    assert "| 1 | `x` |" in text
    assert "> ⚠ This answer is not certain." in text
    assert "> ⚠ Not proved: “for ten years.”" in text
    assert "> ⚠ Only partly proved: “one”" in text
    assert "> ⚠ The sources of this answer are no longer kept." in text
    assert "| 2025-05 |  |\n| 2025-06 | 12\\.5 |\n| 2025-07 | 3 |" in text
    assert "| … and 12 more rows |  |" in text
    assert "````sql\nSELECT '```'\n````" in text
    assert "\n[^1]: Manual · p. 3 · Care: “Quote 1\\.”\n" in text.replace(
        "“Quote 1.", "“Quote 1\\."
    )
    assert "<https://a.example/x?y=1&z=2>: “Quote 2." in text
    for gone in ("<script>", "\x07", "\u202e", "/srv/ann"):
        assert gone not in text
    assert write_markdown(ENGLISH) == text.encode()


def test_word_has_real_footnotes() -> None:
    """One for each mark, in the part of the file that holds footnotes; Chinese as it is."""
    body = write_word(ENGLISH)
    document = docx.Document(BytesIO(body))
    texts = [each.text for each in document.paragraphs]
    assert texts[0].startswith("#let x = 1 <script>")
    assert "It is warm for ten years. [9]" in texts
    assert "•\tone " in texts
    assert [len(each.rows) for each in document.tables] == [2, 52]
    assert document.core_properties.author == "Citewell"
    with zipfile.ZipFile(BytesIO(body)) as file:
        notes = etree.fromstring(file.read("word/footnotes.xml"))
        main = etree.fromstring(file.read("word/document.xml"))
    told = ["".join(each.itertext()) for each in notes]
    assert told[:4] == ["", "", *told[2:4]]
    assert told[2] == " Manual · p. 3 · Care: “Quote 1.”"
    assert told[4] == told[2]
    marks = [each.get(f"{{{W}}}id") for each in main.iter(f"{{{W}}}footnoteReference")]
    assert marks == ["1", "2", "3"]
    assert "自签收次日起15天内" in _footnotes(write_word(CHINESE))


def _footnotes(body: bytes) -> str:
    with zipfile.ZipFile(BytesIO(body)) as file:
        return file.read("word/footnotes.xml").decode()


def read_pdf(body: bytes) -> str:
    document = pypdfium2.PdfDocument(body)
    text = "".join(page.get_textpage().get_text_range() for page in document)
    document.close()
    return text


def test_pdf() -> None:
    text = read_pdf(write_pdf(ENGLISH))
    for there in ("How *warm*?", "<script>alert(1)</script>", "Quote 1.", "SELECT", "2025-06"):
        assert there in text
    assert "/srv/ann" not in text


def test_pdf_of_chinese() -> None:
    """Its glyphs are in the file."""
    if not any("CJK" in each or "Hei" in each for each in typst.Fonts().families()):
        pytest.skip("no Chinese font on this machine")
    text = read_pdf(write_pdf(CHINESE))
    assert "自签收次日起15天内" in text.replace(" ", "").replace("\r\n", "")


def test_a_machine_without_chinese_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says which to install, and that Word needs none."""
    monkeypatch.setattr(typst, "compile", partial(typst.compile, ignore_system_fonts=True))
    with pytest.raises(InvalidInput) as refused:
        write_pdf(CHINESE)
    assert refused.value.code == "no_font"
    assert "fonts-noto-cjk" in refused.value.hint
    assert "Word" in refused.value.hint
    assert "How *warm*?" in read_pdf(write_pdf(ENGLISH))


def test_pictures_among_the_letters_go_by_their_names() -> None:
    assert "Good [thumbs up sign]?" in read_pdf(write_pdf(talk(Exchange("Good 👍🏽?", "Yes."))))


def test_answers_find_their_questions() -> None:
    """The same question asked twice, and an answer whose trace is gone."""

    def trace(n: int, text: str) -> Trace:
        return Trace(
            trace_id=f"tr_{n}", agent="qa", question="Q", collection="c", session_id="s",
            created_at=float(n), steps=[], prompts=[], answer=answer(text),
        )  # fmt: skip

    said = [
        Message(role=role, content=text)
        for role, text in (
            ("user", "Q"), ("assistant", "old"), ("user", "Q"), ("assistant", "same"),
            ("user", "Q"), ("assistant", "same"), ("user", "open"),
        )
    ]  # fmt: skip
    found = pair_exchanges(said, [trace(1, "same"), trace(2, "same")])
    assert [(each.question, each.said, each.at) for each in found] == [
        ("Q", "old", 0.0), ("Q", "same", 1.0), ("Q", "same", 2.0), ("open", "", 0.0),
    ]  # fmt: skip

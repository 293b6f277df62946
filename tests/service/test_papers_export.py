"""A reading session as Markdown: everything is in it, nothing that is data is read as Markdown,
twice is the same.
"""

from __future__ import annotations

from typing import Any

import pytest
from markdown_it import MarkdownIt

from citewell.agents.paper.paper_state import Exchange, PaperInfo
from citewell.service.papers.export_session import escape_markdown, render_session
from citewell.service.papers.reading_sessions import PaperSession
from citewell.skills.paper.reading_context import (
    Plan,
    PlanStep,
    Report,
    ReportPart,
    Suggestion,
    Term,
)
from citewell.types import Citation, Sentence

HOSTILE = [
    "</p><script>alert(1)</script>",
    "![x](http://evil.example/x.png)",
    "[x](javascript:alert(1))",
    "words\n# Heading\n\n## Another",
    "words\n---\n",
    "words\n===",
    "`code` ``` fence",
    "<!-- comment",
    "[^a1-1]: a false footnote",
    "[1]: http://evil.example",
    "&lt;b&gt; &amp; &#60;",
    "1. one\n2. two",
    "12) twelve",
    "- item",
    "+ item",
    "> quote",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "*strong* **words** _here_ __there__ ~~gone~~",
    "https://evil.example and www.evil.example",
    "<https://evil.example>",
    "a\\*b\\",
    "    indented",
    "\x1b[31mred\x1b[0m \u202egnirts \x00",
    "$\\frac{a}{b}$",
    "[ ] not a box",
    "灯塔【1】（一）：*甲*",
]
QUOTE = "The model *learns* from 1,000 trips."


def citation(n: int, quote: str = QUOTE, **changes: Any) -> Citation:
    values = {
        "n": n,
        "doc_id": "doc_1",
        "title": "T",
        "uri": "paper:0/x.pdf",
        "page": 3,
        "section": "3 Method",
        "quote": quote,
    }
    return Citation(**(values | {"start": 0, "end": len(quote)} | changes))


def session(words: str = "Plain words.", **changes: Any) -> PaperSession:
    """One with something in every place, all of it `words`."""
    proved = Sentence(text=words, citations=[1], verdict="supported")
    doubtful = Sentence(text="It flies.", verdict="unsupported")
    report = Report(
        lang="en",
        parts=[ReportPart(slot="problem", sentences=[proved, doubtful])],
        terms=[Term(term=words, sentence=proved)],
        questions=[Suggestion(question=words, section=words, page=2, citations=[1])],
        question=words,
        citations=[citation(1, words, section=words)],
    )
    step = PlanStep(
        step_id="s1",
        section=words,
        role="method",
        start=0,
        end=9,
        first_page=2,
        last_page=3,
        minutes=4.0,
        why=words,
        quote=words,
    )
    read = step.model_copy(update={"step_id": "s2", "done_at": 1.0, "section": "Read"})
    exchange = Exchange(
        turn=0,
        question=words,
        clarified=words,
        agents=["methods"],
        answer=f"{words} [1]\nIt flies.",
        status="answered",
        confidence=0.5,
        sentences=[proved, doubtful],
        citations=[citation(1, words, section=words)],
    )
    values: dict[str, Any] = {
        "session_id": "ses_1",
        "user_id": "local",
        "title": words,
        "current_state": "CONTROL_ROUTING",
        "paper": PaperInfo(
            doc_id="doc_1", collection="papers", name=words, title=words, authors=[words], pages=6
        ),
        "report": report,
        "plan": Plan(interest=words, lang="en", steps=[step, read]),
        "answers": [exchange],
        "last_updated": 1_700_000_000.0,
    }
    return PaperSession(**(values | changes))


def tags(text: str) -> dict[str, int]:
    """How often each kind of block and span is in the Markdown."""
    counted: dict[str, int] = {}
    for token in (
        MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    ):
        for each in [token, *(token.children or [])]:
            if each.type not in {
                "text",
                "inline",
                "softbreak",
                "text_special",
            } and not each.type.endswith("_close"):
                counted[each.type] = counted.get(each.type, 0) + 1
    return counted


@pytest.mark.parametrize("words", HOSTILE)
def test_data_is_never_markdown(words: str) -> None:
    """Whatever stands everywhere, the page has the parts that plain words give it."""
    assert tags(render_session(session(words))) == tags(render_session(session()))


@pytest.mark.parametrize("words", HOSTILE)
def test_escaped_words_are_shown_as_they_are(words: str) -> None:
    """What a reader sees is the text, on one line, without what a terminal would obey."""
    [_, inline, _] = MarkdownIt("commonmark").parse(escape_markdown(words))
    shown = "".join(child.content for child in inline.children or [])
    visible = "".join(
        letter for letter in words.replace("\n", " ") if letter.isprintable() and letter != "\u202e"
    )
    assert shown == " ".join(visible.split())


def test_all_of_it_is_there() -> None:
    """Quotes with their pages, boxes, minutes, footnotes, what is not supported, and with what it
    was made.
    """
    text = render_session(session())
    for part in (
        "# Plain words.",
        "### Problem",
        "Plain words. \\[1\\] It flies. *(⚠ not supported by the paper)*",
        "- \\[1\\] p. 3, Plain words.: “Plain words.”",
        "- [ ] **Plain words.** (pp. 2–3, 4 min): Plain words.",
        "- [x] **Read** (pp. 2–3, 4 min): Plain words.",
        "4 of 8 minutes left",
        "### 1\\. Plain words.",
        "Plain words.[^a1-1]\n\nIt flies. *(⚠ not supported by the paper)*",
        "[^a1-1]: p. 3, Plain words.: “Plain words.”",
        "session ses\\_1, last changed 2023-11-14 22:13 UTC.",
    ):
        assert part in text
    assert text == render_session(session())


def test_a_session_at_its_beginning_and_in_chinese() -> None:
    """Without a report it says so; Chinese papers are told of in Chinese."""
    bare = render_session(session(report=None, plan=None, answers=[]))
    assert "The report has not been made yet." in bare
    assert "##" not in bare
    chinese = session("方法来自三个仓库的拣选记录。")
    chinese = chinese.model_copy(
        update={"report": chinese.report and chinese.report.model_copy(update={"lang": "zh"})}
    )
    text = render_session(chinese)
    assert "## 导读报告" in text
    assert "第 2–3 页, 4 分钟" in text
    assert "⚠ 论文未支持此句" in text


def test_an_answer_that_is_none() -> None:
    """A refusal is marked, and its words are there."""
    refused = (
        session()
        .answers[0]
        .model_copy(
            update={
                "status": "refused",
                "answer": "The paper does not say.",
                "sentences": [],
                "citations": [],
            }
        )
    )
    text = render_session(session(answers=[refused]))
    assert "*no answer from the paper*\n\nThe paper does not say." in text
    assert "[^" not in text

"""How an answer looks on a terminal: the text with its marks, the numbered sources with their
quotes, then the small print. What proves a sentence stands under it by number, word for word.
"""

from __future__ import annotations

import re
import time

from rich.console import Console
from rich.text import Text

from citewell.errors import CitewellError
from citewell.interfaces.cli.data.data_answer import format_feedback_hint, show_data, show_followed
from citewell.interfaces.cli.output.terminal import (
    format_minute,
    print_error,
    print_warning,
    strip_controls,
    style_text,
    write_paragraph,
)
from citewell.service.ask.snapshot import translate_reason
from citewell.text.line_breaks import join_wrapped_lines
from citewell.text.sentences import detect_language
from citewell.types import Answer, Citation, Followed, Status, Verdict

MARKS: dict[Verdict, str] = {"supported": "✓", "partly": "~", "unsupported": "?"}
WORDS = {
    "en": {
        "sources": "Sources",
        "page": "p. {}",
        "weak": "weak",
        "orders": "its passage gives orders to machines; none was followed",
        "confidence": "confidence {:.2f}",
        "quote": "“{}”",
        "fetched": "fetched {}",
        "as_of": "as of {}",
        "chosen": "{}: {}",
        "confirmed": "follows what {names} confirmed on {day}: {question} ({item})",
        "rule": "follows the correction that {names} reviewed on {day}: {question} ({item})",
        "somebody": "somebody",
        "whole_table": "Over all rows of {name}: citewell data ask QUESTION --source {name}",
        "tables": "Perhaps the tables {name} tell it: citewell data ask QUESTION --source {name}",
        "documents": "Perhaps the documents tell it: citewell ask QUESTION -a qa -c {name}",
        "and": ", ",
    },
    "zh": {
        "sources": "来源",
        "page": "第 {} 页",
        "weak": "较弱",
        "orders": "该段落含有对机器的指令，均未执行",
        "confidence": "置信度 {:.2f}",
        "quote": "“{}”",
        "fetched": "抓取于 {}",
        "as_of": "截至 {}",
        "chosen": "{}：{}",
        "confirmed": "依据{names}于 {day} 确认的内容：{question}（{item}）",
        "rule": "依据{names}于 {day} 审核的更正：{question}（{item}）",
        "somebody": "有人",
        "whole_table": "就 {name} 的全部行提问：citewell data ask 问题 --source {name}",
        "tables": "表 {name} 或许有答案：citewell data ask 问题 --source {name}",
        "documents": "文档或许有答案：citewell ask 问题 -a qa -c {name}",
        "and": "、",
    },
}
STATUSES: dict[str, dict[Status, str]] = {
    "zh": {
        "answered": "已回答",
        "refused": "拒答",
        "clarify": "反问",
        "fallback": "未能证实",
        "error": "错误",
    }
}
_NUMBERS = re.compile(r"(?:\s?\[\d+\])+")


def show_answer(answer: Answer, console: Console | None) -> None:
    """Print `answer` to `console` (None: its warnings and its error only, for `--json`)."""
    for warning in answer.warnings:
        print_warning(warning)
    if answer.status == "error":
        info = answer.error_info or {}
        print_error(
            CitewellError(
                info.get("message") or answer.answer or "failed", hint=info.get("hint", "")
            )
        )
        return
    if console is None:
        return
    lang = detect_language(answer.answer)
    words = WORDS[lang]
    write_paragraph(console, mark_sentences(answer))
    if answer.agent == "data":
        show_data(console, answer, lang)
        show_followed(console, answer, lang)
    elif answer.citations:
        console.print()
        write_paragraph(console, words["sources"], "bold")
        for citation in answer.citations:
            show_citation(console, citation, words)
    console.print()
    for followed in answer.followed if answer.agent != "data" else ():
        write_paragraph(console, format_followed(followed, words), "green")
    if answer.elsewhere is not None:
        whole = "tables" if answer.status == "refused" else "whole_table"
        key = whole if answer.elsewhere.source else "documents"
        name = answer.elsewhere.source or answer.elsewhere.collection
        write_paragraph(console, words[key].format(name=strip_controls(name)), "cyan")
    write_paragraph(console, _format_footer(answer, lang), "dim")
    if answer.agent == "data" and answer.status == "answered" and answer.trace_id:
        write_paragraph(console, format_feedback_hint(answer, lang), "dim")


def format_followed(followed: Followed, words: dict[str, str]) -> str:
    """Whose word an answer follows, since when, and on which question."""
    return words[followed.kind].format(
        names=words["and"].join(followed.confirmed_by) or words["somebody"],
        day=time.strftime("%Y-%m-%d", time.localtime(followed.confirmed_at)),
        question=" ".join(followed.question.split()),
        item=followed.item_id,
    )


def mark_sentences(answer: Answer) -> Text:
    """The answer's text, with each sentence's verdict as a mark behind its citation numbers."""
    whole, text, at = strip_controls(answer.answer), Text(), 0
    for sentence in answer.sentences:
        start = whole.find(strip_controls(sentence.text), at)
        if start < 0:
            continue
        end = start + len(strip_controls(sentence.text))
        numbers = _NUMBERS.match(whole, end)
        stop = numbers.end() if numbers else end
        text.append(whole[at:end]).append(whole[end:stop], "cyan").append(
            f" {MARKS[sentence.verdict]}", "dim"
        )
        at = stop
    return text.append(whole[at:])


def show_citation(
    console: Console, citation: Citation, words: dict[str, str], indent: int = 0
) -> None:
    """Number and place, and below them the quote."""
    place = [words["page"].format(citation.page)] if citation.page is not None else []
    # many a document's first heading is its title
    section = citation.section.removeprefix(citation.title).removeprefix(" › ")
    place += [section] if section else []
    place += [words["weak"]] if citation.status == "weak" else []
    place += [words["orders"]] if citation.gives_orders else []
    if citation.fetched_at is not None:
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(citation.fetched_at))
        place += [citation.uri, words["fetched"].format(day)]
    if citation.as_of is not None:
        place.append(words["as_of"].format(format_minute(citation.as_of)))
    head = style_text(f"[{citation.n}] ", "cyan") + style_text(
        " · ".join([citation.title or citation.uri, *place])
    )
    write_paragraph(console, head, indent=indent)
    write_paragraph(
        console, words["quote"].format(join_wrapped_lines(citation.quote)), "dim", indent=indent + 4
    )


def _format_footer(answer: Answer, lang: str) -> str:
    words = WORDS[lang]
    reason = translate_reason(answer.agent_reason, lang)
    parts = [words["chosen"].format(answer.agent, reason)] if reason else []
    parts += (
        []
        if answer.status == "answered"
        else [STATUSES.get(lang, {}).get(answer.status, answer.status)]
    )
    if answer.status in {"answered", "fallback"}:  # of a refusal: that there was an answer
        parts.append(words["confidence"].format(answer.confidence))
    if "total" in answer.usage.seconds:
        parts.append(f"{answer.usage.seconds['total']:.1f} s")
    return " · ".join([*parts, *filter(None, [answer.trace_id, answer.session_id])])

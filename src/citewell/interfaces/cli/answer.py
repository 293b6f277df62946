"""How an answer looks on a terminal: the text with its marks, the numbered sources with their quotes, then the small print.

The one rule: what proves a sentence stands under it by number, word for word.
"""

from __future__ import annotations

import re
import time

from rich.console import Console
from rich.text import Text

from citewell.errors import CitewellError
from citewell.ingest.sentences import language
from citewell.interfaces.cli.terminal import fail, plain, styled, warn, write
from citewell.types import Answer, Citation, Verdict

MARKS: dict[Verdict, str] = {"supported": "✓", "partly": "~", "unsupported": "?"}
WORDS = {
    "en": {
        "sources": "Sources",
        "page": "p. {}",
        "weak": "weak",
        "confidence": "confidence {:.2f}",
        "quote": "“{}”",
        "fetched": "fetched {}",
        "chosen": "{}: {}",
    },
    "zh": {
        "sources": "来源",
        "page": "第 {} 页",
        "weak": "较弱",
        "confidence": "置信度 {:.2f}",
        "quote": "“{}”",
        "fetched": "抓取于 {}",
        "chosen": "{}：{}",
    },
}
_NUMBERS = re.compile(r"(?:\s?\[\d+\])+")


def show_answer(answer: Answer, console: Console | None) -> None:
    """Print `answer` to `console` (None: its warnings and its error only, for `--json`)."""
    for warning in answer.warnings:
        warn(warning)
    if answer.status == "error":
        info = answer.error_info or {}
        fail(CitewellError(info.get("message") or answer.answer or "failed", hint=info.get("hint", "")))
        return
    if console is None:
        return
    words = WORDS[language(answer.answer)]
    write(console, marked(answer))
    if answer.citations:
        console.print()
        write(console, styled(words["sources"], "bold"))
    for citation in answer.citations:
        _show_citation(console, citation, words)
    console.print()
    write(console, styled(_small_print(answer, words), "dim"))


def marked(answer: Answer) -> Text:
    """The answer's text, with each sentence's verdict as a quiet mark behind its citation numbers."""
    whole, text, at = plain(answer.answer), Text(), 0
    for sentence in answer.sentences:
        start = whole.find(plain(sentence.text), at)
        if start < 0:
            continue
        end = start + len(plain(sentence.text))
        numbers = _NUMBERS.match(whole, end)
        stop = numbers.end() if numbers else end
        text.append(whole[at:end]).append(whole[end:stop], "cyan").append(f" {MARKS[sentence.verdict]}", "dim")
        at = stop
    return text.append(whole[at:])


def _show_citation(console: Console, citation: Citation, words: dict[str, str]) -> None:
    place = [words["page"].format(citation.page)] if citation.page is not None else []
    section = citation.section.removeprefix(citation.title).removeprefix(" › ")  # many a document's first heading is its title
    place += [section] if section else []
    place += [words["weak"]] if citation.status == "weak" else []
    if citation.fetched_at is not None:
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(citation.fetched_at))
        place += [citation.uri, words["fetched"].format(day)]
    head = styled(f"[{citation.n}] ", "cyan") + styled(" · ".join([citation.title or citation.uri, *place]))
    write(console, head)
    write(console, styled(words["quote"].format(" ".join(citation.quote.split())), "dim"), indent=4)


def _small_print(answer: Answer, words: dict[str, str]) -> str:
    parts = [words["chosen"].format(answer.agent, answer.agent_reason)] if answer.agent_reason else []
    parts += [] if answer.status == "answered" else [answer.status]
    parts.append(words["confidence"].format(answer.confidence))
    if "total" in answer.usage.seconds:
        parts.append(f"{answer.usage.seconds['total']:.1f} s")
    return " · ".join([*parts, *filter(None, [answer.trace_id, answer.session_id])])

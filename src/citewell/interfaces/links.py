"""An answer as Markdown for programs that show no citations of their own: `[1]` becomes a link with
its brackets (`[[1]](url)`: Open WebUI takes a bare `[1]` for a source of its own), the sources
stand at the end. The text between the links is the answer's own, unchanged but for pictures: a
sentence of somebody's document must not have a reader's program load an address.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from urllib.parse import quote, urlencode

from citewell.service.ask.locate import hash_words
from citewell.store.library.containers import INSIDE
from citewell.text.sentences import detect_language
from citewell.types import Answer, Citation

LONGEST_QUOTE = 300  # characters of a quote in the list of sources
HEADINGS = {"en": "Sources", "zh": "来源"}
# where the list begins
SOURCES = re.compile(rf"\n\*\*(?:{'|'.join(HEADINGS.values())})\*\*\n\n1\. ")
# a number as `link_citations` writes it, or wrote it
NUMBER_LINK = re.compile(r"\[{1,2}(\d{1,3})\]{1,2}\([^()\s]*\)")
_CODE = r"```.*?(?:```|\Z)|`[^`\n]*`"
_MARK = re.compile(rf"(?P<code>{_CODE})|(?P<picture>!)(?=\[)|\[(?P<n>\d{{1,3}})\](?!\()", re.DOTALL)
_SPECIAL = re.compile(r"([\\`*_\[\]<>])")


@dataclass(frozen=True, slots=True)
class Mark:
    """A link in the text: `text[start:end]` is `[[n]](url)`."""

    start: int
    end: int
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class Linked:
    """`text` is the body and the list of sources; `marks` are the links of the body, in order."""

    text: str
    body: int
    marks: list[Mark]

    @property
    def pieces(self) -> list[str]:
        """The text cut behind each sentence's links and before the list; joined, the text."""
        ends = [mark.end for mark in self.marks if self.text[mark.end : mark.end + 1] != "["]
        cuts = sorted({0, *ends, self.body, len(self.text)})
        return [self.text[start:end] for start, end in pairwise(cuts)]


def build_citation_url(citation: Citation, base: str) -> str:
    """Where a citation can be looked at: a page of the web at its own address, all else on this
    server's page (`base`, which ends with a slash), at the sentence. Without a server a file of
    this machine has one too; what has none has an empty one.
    """
    if citation.uri.startswith(("http://", "https://")):
        return _quote_url(citation.uri)
    if not base:
        path = PurePath(citation.uri.partition(INSIDE)[0])
        page = f"#page={citation.page}" if citation.page else ""
        return path.as_uri() + page if path.is_absolute() else ""
    if citation.origin == "table":
        return f"{base}#/data/{quote(citation.doc_id, safe='')}"
    if citation.origin == "memory":
        return f"{base}#/memory"
    if not citation.doc_id.startswith("doc_"):  # a reviewed correction
        return f"{base}#/knowledge"
    return f"{base}#/source/{citation.doc_id}{_encode_place(citation)}"


def _encode_place(citation: Citation) -> str:
    """What the page needs to open it at the sentence, and to see whether that has changed."""
    place: dict[str, object] = {"page": citation.page} if citation.page else {}
    if citation.end > citation.start:
        place |= {"start": citation.start, "end": citation.end}
        place |= {"words": hash_words(citation.quote)} if citation.quote else {}
    return f"?{urlencode(place)}" if place else ""


def link_citations(answer: Answer, base: str, *, sources: bool = True) -> Linked:
    """The answer with its citations as links, and, where they are wanted, the list of them."""
    cited = {citation.n: citation for citation in answer.citations}
    text, marks, at, done = "", [], 0, 0
    for found in _MARK.finditer(answer.answer):
        plain = answer.answer[done : found.start()]
        text, at, done = text + plain, at + len(plain), found.end()
        citation = cited.get(int(found["n"])) if found["n"] else None
        url = build_citation_url(citation, base) if citation else ""
        shown = f"[[{found['n']}]]({url})" if url else "\\!" if found["picture"] else found[0]
        if citation and url:
            marks.append(Mark(at, at + len(shown), url, citation.title))
        text, at = text + shown, at + len(shown)
    text += answer.answer[done:]
    body = len(text)
    if sources and answer.citations:
        text += format_source_list(answer.citations, base, detect_language(answer.answer))
    return Linked(text, body, marks)


def format_source_list(citations: Sequence[Citation], base: str, lang: str) -> str:
    """The list of sources: a numbered line for each, with its quote."""
    lines = [f"\n\n**{HEADINGS.get(lang, HEADINGS['en'])}**\n"]
    for citation in citations:
        words = escape_markdown(truncate_text(citation.quote, LONGEST_QUOTE))
        lines.append(
            format_source_line(citation, base, lang)
            + (f"：“{words}”" if lang == "zh" else f': "{words}"')
        )
    return "\n".join(lines)


def format_source_line(citation: Citation, base: str, lang: str = "en") -> str:
    """`1. [Title](url), page 3, Section`."""
    title, url = (
        escape_markdown(citation.title or citation.doc_id),
        build_citation_url(citation, base),
    )
    page = f"第 {citation.page} 页" if lang == "zh" else f"page {citation.page}"
    section = escape_markdown(citation.section) if citation.section != citation.title else ""
    parts = [f"[{title}]({url})" if url else title, page if citation.page else "", section]
    return f"{citation.n}. " + ("，" if lang == "zh" else ", ").join(part for part in parts if part)


def truncate_text(text: str, most: int) -> str:
    """On one line, with an ellipsis where it was longer."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def escape_markdown(text: str) -> str:
    """On one line, and read by Markdown as it stands."""
    flat = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return _SPECIAL.sub(r"\\\1", flat)


def unlink_citations(text: str) -> str:
    """The answer without `link_citations`, for programs that send it back in conversations."""
    found = SOURCES.search(text)
    return NUMBER_LINK.sub(r"[\1]", text[: found.start()] if found else text).strip()


def _quote_url(url: str) -> str:
    """An address that a Markdown link can hold."""
    return quote(url, safe=":/?#[]@!$&'*+,;=%~-._")

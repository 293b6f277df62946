"""The evidence for what the reader has marked: the marked text, and what of the paper explains it.
The marked text comes first and is never left out; what explains it follows, nearest first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from citewell.ingest.paper.shape import Equation, Float, Reference
from citewell.skills.evidence.passages import Passage
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.span_pick import Pick, Span, find_paragraph, list_sentence_spans
from citewell.text.sentences import count_tokens

PARAGRAPH_SHARE: Final = 0.4  # of what is left behind the marked text
MOST_SYMBOLS: Final = 8
NEAR: Final = 6_000  # characters, about a page: a letter may mean something else further off
_SHORT = re.compile(r"\b(?:[A-Z][A-Za-z]*[A-Z][A-Za-z0-9]*|[A-Z]{2,}s?)(?:-[A-Z0-9][\w]*)*\b")
_SYMBOL = re.compile(r"(?<![\w'’.-])(?:[B-HJ-Zb-hj-z]|[α-ωΑ-Ω])(?:[₀-₉′']|\d|_\w)?(?![\w'’])")


def build_selection_passages(span: Span, book: OpenPaper, budget: int) -> list[Passage]:
    """The sentences that the marking touches, whole; the rest of its paragraph; where its
    abbreviations and symbols are explained; captions and entries of what it mentions.
    """
    pick = Pick(book, book.document.text[span[0] : span[1]], budget)
    _add_marked(pick, span)
    pick.group()
    start, _ = find_paragraph(book, span[0])
    _, end = find_paragraph(book, span[1] - 1)
    pick.best(
        _exclude_marked(list_sentence_spans(book, start, end), span),
        int(PARAGRAPH_SHARE * pick.left),
    )
    pick.group()
    for said in _find_mention_targets(span, book):
        pick.take(said)
    pick.group()
    for said in _find_explanations(pick, span):
        pick.take(said)
    return pick.passages()


def _add_marked(pick: Pick, span: Span) -> None:
    """As much of it as fits, from its beginning; of a too long sentence the marked words."""
    first = find_paragraph(pick.book, span[0])[0]
    last = find_paragraph(pick.book, span[1] - 1)[1]
    touched = [
        s for s in list_sentence_spans(pick.book, first, last) if s[0] < span[1] and span[0] < s[1]
    ]
    for at, (start, end) in enumerate(touched):
        if not pick.take((start, end)):
            cut = (max(start, span[0]), min(end, span[1]))
            if not pick.take(cut) and not at:
                pick.left = count_tokens(pick.words(cut))  # it alone may cost more than the budget
                pick.take(cut)
            break


def _exclude_marked(spans: list[Span], span: Span) -> list[Span]:
    return [s for s in spans if s[1] <= span[0] or span[1] <= s[0]]


def _find_mention_targets(span: Span, book: OpenPaper) -> list[Span]:
    """Captions, equations and entries that the marked text points to."""
    paper = book.paper
    found: list[Span] = []
    for mention in paper.mentions:
        if mention.start < span[1] and span[0] < mention.end:
            there: Sequence[Float | Equation | Reference] = paper.floats
            if mention.kind != "float":
                there = paper.equations if mention.kind == "equation" else paper.references
            found += [(there[i].start, there[i].end) for i in mention.targets]
    return list(dict.fromkeys(found))


def _find_explanations(pick: Pick, span: Span) -> list[Span]:
    """For each abbreviation and symbol marked the first sentence that says what it is."""
    words = pick.words(span)
    wanted = [_build_definition_pattern(term) for term in dict.fromkeys(_SHORT.findall(words))]
    signs = list(dict.fromkeys(_SYMBOL.findall(words)))[:MOST_SYMBOLS]
    wanted += map(_build_symbol_pattern, signs)
    text, parts, found = pick.book.document.text, pick.book.paper.parts, list[Span]()
    running = [(p.start, p.end) for p in parts if p.role not in {"references", "front"}]
    for pattern in wanted:
        there = [match.start() for a, b in running for match in pattern.finditer(text, a, b)]
        near = sorted(there, key=lambda at: (abs(at - span[0]) > NEAR, at))
        for at in near[:1]:
            start, end = find_paragraph(pick.book, at)
            found += [s for s in list_sentence_spans(pick.book, start, end) if s[0] <= at < s[1]]
    return _exclude_marked(list(dict.fromkeys(found)), span)


def _build_definition_pattern(term: str) -> re.Pattern[str]:
    """`Large Language Models (LLMs)`, `LLM (large language model)`, `LLMs are ...`,
    `HLR（Hierarchical ...）`.
    """
    name = re.escape(term.removesuffix("s")) + "s?"
    return re.compile(
        rf"[^\W\d_]{{2,}}[)]?\s?[(（]\s*{name}\s*[)）,;，]"
        rf"|\b{name}\s?[(（](?=[^\W\d_]{{2,}}(?:[\s-]|[\u4e00-\u9fff]))(?!\w+ et al)"
        rf"|\b{name}\s+(?:stands? for|denotes?|refers? to|is an?|is "
        rf"the|are)\b|{name}\s?(?:是指|指的是|表示|是一)"
    )


def _build_symbol_pattern(sign: str) -> re.Pattern[str]:
    """`where m is the mass`, `K denotes`, `let X be`, `其中s₁为`."""
    name, of = re.escape(sign), r"(?:\([^)]{1,12}\))?"
    return re.compile(
        rf"(?<![\w'’]){name}{of}\s+(?:is|are|denotes?|represents?|stands? for|be|means|specifies)\b"
        rf"|(?:\band|,)\s+{name}{of}\s+(?:the|an?)\b"
        rf"|\b(?:let|given|where)\s+(?:an?\s+)?{name}(?!\w)"
        rf"|(?<![A-Za-z]){name}{of}\s?(?:为|是|表示|代表|指)|(?:记|令|设){name}(?![A-Za-z])"
    )

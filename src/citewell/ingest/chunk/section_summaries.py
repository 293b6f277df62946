"""Summaries of sections, taken from their own sentences: what sections are searched by before a
chat model has written better. A summary holds whole sentences of its section, in their order, and
costs no model. Headings are not in it: they stand above it in `heading_path`, which is searched and
embedded with every chunk.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from citewell.ingest.chunk.chunkers import chunk_document
from citewell.ingest.chunk.pieces import Embed, is_code
from citewell.text.language import CJK, HAN, count_tokens, estimate_tokens, get_line_joiner
from citewell.text.sentences import split_sentences
from citewell.types import Chunk, Document

LONG: Final = 2_000_000  # characters of a document whose sentences are not all held at once
SUMMARY_TOKENS: Final = 90  # of a summary at most
# that one summary stands for: of a section with more, each such part has its own
MOST_CHUNKS: Final = 12
_SHORTEST, _LONGEST = 4, 60  # tokens of a sentence that may be taken
# how a sentence ends that is no heading, row or line of code
_FULL: Final = re.compile(r"[.!?。！？；;…][\"'”’」』）)\]]*\Z")
# what the first and second sentence of a section gain for their place
_LEADING: Final = (0.5, 0.25)
_TERM_ASCII: Final = re.compile(r"[a-z0-9]{2,}")
_TERM: Final = re.compile(rf"[^\W_{CJK}]{{2,}}|(?=([{HAN}]{{2}}))")


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    terms: frozenset[str]
    tokens: float


def chunk_with_summaries(
    document: Document, tokens: int, overlap: int, strategy: str, embed: Embed | None = None
) -> list[Chunk]:
    """The chunks of `document`, then the summaries of its sections."""
    return add_summaries(
        document,
        chunk_document(document, tokens=tokens, overlap=overlap, strategy=strategy, embed=embed),
    )


def chunk_without_text(document: Document, *ways: Any) -> list[Chunk]:
    """As `chunk_with_summaries`, but only summaries have their text: that of the others stands in
    the document, which the caller has.
    """
    return [
        piece if piece.kind == "summary" else replace(piece, text="")
        for piece in chunk_with_summaries(document, *ways)
    ]


def add_summaries(document: Document, chunks: Sequence[Chunk]) -> list[Chunk]:
    """`chunks`, then a summary for each section, or group of small ones, that is cut into several.
    A summary's span is that of the chunks it stands for.
    """
    parts = [part for part in _split_parts(chunks) if len(part) > 1]
    if not parts:
        return list(chunks)
    by_line = is_code(document.media_type)

    texts = [slice(part[0].start, part[-1].end) for part in parts]

    def bodies() -> Iterator[list[_Sentence]]:
        return (_build_sentences(document.text[each], by_line=by_line) for each in texts)

    # of a long document one at a time, and its terms before: all of them take twenty times its
    # memory
    kept = [] if len(document.text) > LONG else [*bodies()]
    every = (
        (sentence.terms for body in kept for sentence in body)
        if kept
        else _collect_terms(document.text, texts, by_line)
    )
    known, total = Counter[str](), 0
    for terms in every:
        known.update(terms)
        total += 1
    each = zip(parts, kept or bodies(), strict=True)
    summaries = [
        _build_summary(document, part, _select_sentences(body, known, total)) for part, body in each
    ]
    return [*chunks, *summaries]


def _split_parts(chunks: Sequence[Chunk]) -> Iterator[list[Chunk]]:
    """Chunks of one section, in even parts of at most MOST_CHUNKS."""
    for _, same in groupby(
        sorted(chunks, key=lambda chunk: (chunk.section, chunk.start)),
        key=lambda chunk: chunk.section,
    ):
        own = list(same)
        size = math.ceil(len(own) / math.ceil(len(own) / MOST_CHUNKS))
        for at in range(0, len(own), size):
            yield own[at : at + size]


def _build_summary(document: Document, part: Sequence[Chunk], text: str) -> Chunk:
    first, end = part[0], max(chunk.end for chunk in part)
    text = text or _get_first_words(document.text[first.start : end])
    return Chunk(
        text,
        first.start,
        end,
        first.section,
        first.heading_path,
        first.page,
        count_tokens(text),
        kind="summary",
    )


def _get_first_words(text: str) -> str:
    """What stands at the beginning, where no sentence may be taken (too long, or mere words)."""
    taken: list[str] = []
    left = float(SUMMARY_TOKENS)
    for match in re.finditer(rf"[{CJK}]|[^\s{CJK}]+\s*|\s+", text):
        left -= estimate_tokens(match.group()[:200])
        if left < 0 and taken:
            break
        taken.append(match.group()[:200])
    return " ".join("".join(taken).split())


def _build_sentences(text: str, *, by_line: bool = False) -> list[_Sentence]:
    return [
        _Sentence(one, _extract_terms(one), estimate_tokens(one))
        for one in _split_sentences(text, by_line)
    ]


def _split_sentences(text: str, by_line: bool) -> Iterator[str]:
    """Its sentences, each on one line."""
    return (
        " ".join(text[start:end].split())
        for start, end in (_find_lines(text) if by_line else split_sentences(text))
    )


def _collect_terms(text: str, parts: Sequence[slice], by_line: bool) -> Iterator[frozenset[str]]:
    return (_extract_terms(one) for part in parts for one in _split_sentences(text[part], by_line))


def _extract_terms(text: str) -> frozenset[str]:
    if text.isascii():
        return frozenset(_TERM_ASCII.findall(text.lower()))
    return frozenset(match[1] or match[0].casefold() for match in _TERM.finditer(text))


def _find_lines(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in re.finditer(r"\S[^\n]*", text))


def _select_sentences(body: Sequence[_Sentence], known: Counter[str], total: int) -> str:
    """Greedy choice under a budget: each step takes the sentence that adds most of the section's
    own terms for its length (Lin and Bilmes 2010, budgeted maximisation). A term counts by how many
    sentences of the section hold it, and by how few of the document do.
    """
    held = Counter(term for sentence in body for term in sentence.terms)
    value = {
        term: count * math.log(1 + total / known[term])
        for term, count in held.items()
        if count > 1 or len(body) < 4
    }
    fit = {n for n, sentence in enumerate(body) if _SHORTEST <= sentence.tokens <= _LONGEST}
    open_ones = {n for n in fit if _FULL.search(body[n].text)} or fit
    weighty = [sentence.terms & value.keys() for sentence in body]
    covered: set[str] = set()
    taken: list[int] = []
    left = float(SUMMARY_TOKENS)
    while open_ones := {n for n in open_ones if body[n].tokens <= left}:
        gains = {
            n: _compute_gain(n, weighty[n] - covered, value) / math.sqrt(body[n].tokens)
            for n in open_ones
        }
        best = max(gains, key=lambda n: (gains[n], -n))
        if gains[best] <= 0:
            break
        taken.append(best)
        open_ones.remove(best)
        covered |= body[best].terms
        left -= body[best].tokens
    return _join_texts([body[n].text for n in sorted(taken)])


def _compute_gain(place: int, terms: AbstractSet[str], value: dict[str, float]) -> float:
    leading = _LEADING[place] if place < len(_LEADING) else 0.0
    return (1 + leading) * sum(map(value.__getitem__, terms))


def _join_texts(texts: Sequence[str]) -> str:
    whole = ""
    for text in texts:
        whole += get_line_joiner(whole, text) + text
    return whole

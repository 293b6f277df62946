"""What stands before the paper proper: title, authors, keywords, and the words of the abstract. A
title or a name is taken from the page; what the file merely claims about itself counts only for the
title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from citewell.ingest.paper.author_names import extract_people
from citewell.ingest.paper.section_headings import Line, iterate_lines
from citewell.ingest.paper.shape import Part
from citewell.text.language import HAN
from citewell.types import Document

_KEYWORDS = re.compile(
    r"(?:Key\s?-?words?(?: and phrases)?|KEY\s?WORDS|Index Terms|INDEX "
    r"TERMS|[【\[]?\s*关\s*键\s*[词字]\s*[】\]]?)"
    r"\s*[:：.—–-]*\s*"
)
_LABEL = re.compile(
    r"(?:Abstract|ABSTRACT|Summary|SUMMARY|[【\[]?\s*(?:中文)?摘\s*要\s*[】\]]?)\s*[:：.—–-]*\s*"
)
_FULL_NAME = re.compile(r"[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w.'’-]*){1,3}(?=[,.]| and )")
_NOT_TITLE = re.compile(
    r"arxiv|doi|https?:|www\.|vol\.|proceedings|issn|published|preprint|学报|第.{1,4}卷",
    re.IGNORECASE,
)
_LONGEST_TITLE: Final = 300
_HEAD: Final = 6_000  # characters of a document in which its title stands
_FIRST_LINES: Final = 12
_MOST_KEYWORDS: Final = 20
_LONGEST_KEYWORD: Final = 60


@dataclass(frozen=True, slots=True)
class Front:
    title: str
    authors: tuple[str, ...] = ()
    title_span: tuple[int, int] | None = None
    authors_span: tuple[int, int] | None = None
    keywords: tuple[str, ...] = ()


def extract_front_matter(document: Document, parts: Sequence[Part]) -> Front:
    """Title, authors and keywords, with where they stand."""
    first = [part for part in parts if part.role == "front"]
    span = _find_title_span(document)
    title = document.title
    if span is None and first:
        span = _find_first_line(document.text, first[0])
        title = " ".join(document.text[slice(*span)].split()) if span else title
    keywords = _find_keywords(document.text, parts)
    if span is None or not first:
        return Front(title, title_span=span, keywords=keywords)
    names, place = _find_authors(document, span[1], max(part.end for part in first))
    return Front(title, tuple(names), span, place, keywords)


def _find_title_span(document: Document) -> tuple[int, int] | None:
    """Where the title's words stand, whatever line ends are between them."""
    words = document.title.split()
    if not words or len(document.title) > 2 * _LONGEST_TITLE:
        return None
    match = re.search(r"\s+".join(map(re.escape, words)), document.text[:_HEAD])
    return match.span() if match else None


def _find_first_line(text: str, part: Part) -> tuple[int, int] | None:
    for n, line in enumerate(iterate_lines(text, part.start, part.end)):
        if n >= _FIRST_LINES:
            return None
        if 4 <= len(line.text) <= _LONGEST_TITLE and not _NOT_TITLE.search(line.text):
            return line.start, line.end
    return None


def _find_authors(
    document: Document, start: int, end: int
) -> tuple[list[str], tuple[int, int] | None]:
    """The people of the lines below the title; the first line of something else ends them."""
    known: list[str] = []
    names: list[str] = []
    taken: list[Line] = []
    for n, line in enumerate(iterate_lines(document.text, start, end)):
        if n >= _FIRST_LINES:
            break
        if not known and len(line.text.split()) > 4:
            known = _find_full_names(document.text)
        found = extract_people(line.text, known)
        if found:
            names += found
            taken.append(line)
        elif taken:
            break
    return names, (taken[0].start, taken[-1].end) if taken else None


def _find_full_names(text: str) -> list[str]:
    """Names written out in the last half of a document, where its references are."""
    return list(dict.fromkeys(_FULL_NAME.findall(text[len(text) // 2 :])))


def _find_keywords(text: str, parts: Sequence[Part]) -> tuple[str, ...]:
    for line in _iterate_early_lines(text, parts):
        match = _KEYWORDS.match(line.text)
        if match and match.end() < len(line.text):
            words = re.split(r"[;；,，、·•]|\s{2,}", line.text[match.end() :])
            found = [word.strip(" .。") for word in words]
            return tuple(word for word in found if 0 < len(word) <= _LONGEST_KEYWORD)[
                :_MOST_KEYWORDS
            ]
    return ()


def _iterate_early_lines(text: str, parts: Sequence[Part]) -> Iterator[Line]:
    for part in parts:
        if part.role in {"front", "abstract"} or (part.start == 0 and part.role == "other"):
            yield from iterate_lines(text, part.start, min(part.end, part.start + 2 * _HEAD))


def find_abstract(text: str, parts: Sequence[Part]) -> tuple[int, int] | None:
    """The words of the first abstract, without its heading and the keywords below it."""
    first = next((n for n, part in enumerate(parts) if part.role == "abstract"), None)
    if first is None:
        return None
    last = first
    while (
        last + 1 < len(parts)
        and parts[last + 1].role == "abstract"
        and not _LABEL.match(parts[last + 1].heading)
    ):
        last += 1
    start, end = parts[first].start, parts[last].end
    label = _LABEL.match(text, start)
    start = (
        label.end()
        if label
        else start + len(parts[first].heading)
        if text.startswith(parts[first].heading, start)
        else start
    )
    for line in iterate_lines(text, start, end):
        if _KEYWORDS.match(line.text) or re.match(
            rf"(?:中图分类号|文献标识码|基金项目|[{HAN}]*引用格式|ACM Reference|CCS )", line.text
        ):
            end = line.start
            break
    words = text[start:end]
    low, high = start + len(words) - len(words.lstrip()), start + len(words.rstrip())
    return (low, high) if low < high else None

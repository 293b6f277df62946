"""Where the sections of a paper begin: the parser's, and, where it found none or missed one,
heading lines of the text itself. A line is a heading only if it stands alone and its number, its
name or what is around it says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from citewell.ingest.paper.section_roles import classify_heading
from citewell.text.language import HAN
from citewell.types import Document

_LINE = re.compile(r"[^\n]+")
_NESTED: Final = " ::: "
_END: Final = (".", ",", ";", ":", "?", "!", "。", "，", "；", "：", "？", "！", "、")
_DECIMAL = re.compile(
    rf"(\d{{1,2}}(?:\.\d{{1,2}}){{0,3}})[.、]?\s*(?:(?<=\s)|(?=[{HAN}]))([A-Z{HAN}].{{1,90}})$"
)
_ROMAN = re.compile(r"([IVX]{1,5})\.\s+([A-Z].{1,80})$")
_LETTER = re.compile(r"([A-Z])\.\s+([A-Z].{1,80})$")
_CHAPTER = re.compile(
    r"第\s*[一二三四五六七八九十百\d]{1,4}\s*章\s*(.{0,40})$|"
    r"(?i:chapter)\s+(?:\d+|[IVX]+)\b.{0,80}$"
)
_ORDINAL = re.compile(rf"[一二三四五六七八九十]{{1,3}}[、.．]\s*[{HAN}].{{0,40}}$")
_ORDINAL_BELOW = re.compile(rf"[（(][一二三四五六七八九十]{{1,3}}[）)]\s*[{HAN}].{{0,40}}$")
_APPENDIX = re.compile(r"(?:Appendix|APPENDIX|附\s*录)\s*[A-Z一二三\d]?\b.{0,80}$")
_INLINE_ABSTRACT = re.compile(
    r"(?:Abstract|ABSTRACT|Summary|SUMMARY)\s*(?:[:.：]|[-—–]{1,2})\s*\S|"
    r"[【\[]?\s*摘\s*要\s*[】\]]?\s*[:：\s]\s*\S"
)
_CITES = re.compile(r"\b(?:1[89]|20)\d\d[a-z]?\b")
_DIGITS = re.compile(r"\d+")
_LONGEST: Final = 100
_PARAGRAPH: Final = 200  # a line this long is a whole paragraph
_MOST_SKIPPED: Final = 2  # numbers of headings that may have been lost before the next
# headings that name a part of a paper; with fewer the parser's sections are none of a paper
_FEWEST_KNOWN: Final = 2
_FRONT: Final = 12_000  # characters in which title, authors and abstract stand


@dataclass(frozen=True, slots=True)
class Piece:
    """A section: `path` from the top heading down, empty before the first."""

    path: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Line:
    start: int
    end: int
    text: str


def iterate_lines(text: str, start: int = 0, end: int | None = None) -> Iterator[Line]:
    """The lines that are not blank, white space around them left out."""
    for match in _LINE.finditer(text, start, len(text) if end is None else end):
        inner = match.group().strip()
        if inner:
            first = match.start() + len(match.group()) - len(match.group().lstrip())
            yield Line(first, first + len(inner), inner)


def find_sections(document: Document) -> list[Piece]:
    """The sections in order; they cover the text."""
    text = document.text
    if not text:
        return []
    given = _remove_root_title(
        [Piece(section.heading_path, section.start, section.end) for section in document.sections]
    )
    known = sum(classify_heading(piece.path[-1])[1] >= 2 for piece in given if piece.path)
    if known < _FEWEST_KNOWN or document.media_type == "text/plain":
        own = _detect_sections(text)
        given = (
            own
            if sum(classify_heading(piece.path[-1])[1] >= 2 for piece in own if piece.path) > known
            else given
        )
    given = given or [Piece((), 0, len(text))]
    return _nest_subsections(
        [
            part
            for piece in _close_gaps(given, len(text))
            for part in _split_at_headings(text, piece)
        ]
    )


def _remove_root_title(given: list[Piece]) -> list[Piece]:
    """Without a title that is the heading of all others (Markdown, HTML, Word): what stands under
    it alone is the front.
    """
    paths = [piece.path for piece in given if piece.path]
    if (
        len({path[0] for path in paths}) != 1
        or sum(len(path) > 1 for path in paths) < _FEWEST_KNOWN
    ):
        return given
    return [Piece(piece.path[1:], piece.start, piece.end) for piece in given]


def _close_gaps(given: Sequence[Piece], length: int) -> list[Piece]:
    """`given` in order and without gaps."""
    ordered = sorted(given, key=lambda piece: piece.start)
    starts = [0, *(piece.start for piece in ordered[1:]), length]
    return [
        Piece(piece.path, starts[n], starts[n + 1])
        for n, piece in enumerate(ordered)
        if starts[n] < starts[n + 1]
    ]


def _split_at_headings(text: str, piece: Piece) -> Iterator[Piece]:
    """A section parted before headings inside it that the parser took for text."""
    start, path = piece.start, piece.path
    for line in iterate_lines(text, piece.start, piece.end):
        if line.start == piece.start or (line.start == start and path):
            if line.start == 0 and not path and _match_known_heading(text, line):
                path = (line.text,)
            continue
        name = _match_known_heading(text, line)
        if name and not (path and path[-1] == name):
            if start < line.start:
                yield Piece(path, start, line.start)
            start, path = line.start, (name,)
    yield Piece(path, start, piece.end)


def _match_known_heading(text: str, line: Line) -> str:
    """The heading that a line is by its name alone, or empty."""
    if line.start < _FRONT and _INLINE_ABSTRACT.match(line.text):
        return re.split(r"[:.：—–\s](?!\s*要)", line.text, maxsplit=1)[0]
    if len(line.text) > _LONGEST or line.text.endswith(_END):
        return ""
    role, strength = classify_heading(line.text)
    if role is None or strength < 3:
        return ""
    numbered = _DECIMAL.match(line.text) or _ROMAN.match(line.text)
    if role == "references":
        return line.text if _CITES.search(text, line.end, line.end + 600) else ""
    if role == "abstract":
        return line.text if line.start < _FRONT and line.text.lower() != "summary" else ""
    return line.text if role == "other" and not numbered and _is_own_line(text, line) else ""


def _is_own_line(text: str, line: Line) -> bool:
    """Whether blank lines stand around a line, or it is in a text whose lines are paragraphs."""
    return (
        text[max(0, line.start - 2) : line.start].strip() == ""
        and "\n" in text[line.end : line.end + 1]
    )


def _nest_subsections(given: list[Piece]) -> list[Piece]:
    """Sections `4.2` that stand beside `4` put below it."""
    found: list[Piece] = []
    top = ""
    for piece in given:
        match = _DECIMAL.match(piece.path[0]) if piece.path else None
        number = match[1].split(".")[0] if match else ""
        if match and "." not in match[1].rstrip("."):
            top = piece.path[0]
        elif (
            match
            and "." in match[1]
            and len(piece.path) == 1
            and top.startswith(number)
            and _DIGITS.match(top)
        ):
            same = _DIGITS.match(top)
            if same and same[0] == number:
                piece = Piece((top, *piece.path), piece.start, piece.end)  # noqa: PLW2901 - the same piece, nested
        found.append(piece)
    return found


def _detect_sections(text: str) -> list[Piece]:
    """The sections of a text in which no parser saw any."""
    every = list(iterate_lines(text))
    wide = 4 * sum(len(line.text) > _PARAGRAPH for line in every) > len(every)
    heads: list[tuple[int, tuple[str, ...]]] = []
    state = _Numbers()
    for n, line in enumerate(every):
        level = state.level(line.text)
        if _NESTED in line.text and len(line.text) < 2 * _LONGEST:
            heads.append((line.start, tuple(part.strip() for part in line.text.split(_NESTED))))
        elif level or (wide and _is_title_line(every, n)):
            above = heads[-1][1] if heads and level > 1 else ()
            heads.append((line.start, (*above[: level - 1], line.text)))
    bounds = [start for start, _ in heads] + [len(text)]
    first = [Piece((), 0, bounds[0])] if bounds[0] else []
    return first + [Piece(path, start, bounds[n + 1]) for n, (start, path) in enumerate(heads)]


def _is_title_line(every: Sequence[Line], n: int) -> bool:
    """Whether a short line between paragraphs stands above one, behind the end of another."""
    line = every[n].text
    if (
        len(line) > 80
        or line.endswith(_END)
        or not (line[0].isupper() or line[0] > "\u3400")
        or n + 1 == len(every)
    ):
        return False
    behind = n == 0 or every[n - 1].text.endswith(_END) or len(every[n - 1].text) <= 80
    return behind and (len(every[n + 1].text) > 80 or _is_title_line(every, n + 1))


class _Numbers:
    """Which numbered line is the next heading; items of lists are sentences, or do not go on."""

    def __init__(self) -> None:
        self._at: list[int] = []
        self._listed = False  # in the list of references, where numbers mean something else
        self._roman = False

    def level(self, line: str) -> int:
        """1 for a heading of the first level, 2 below it; 0 where a line is none."""
        if len(line) > _LONGEST or line.endswith(_END):
            return 0
        role, strength = classify_heading(line)
        if role and strength == 3 and (role != "abstract" or len(line) < 20):
            self._listed = role == "references"
            self._match_decimal(line, strict=False)
            match = _DECIMAL.match(line)
            return match[1].count(".") + 1 if match else 1
        if _CHAPTER.match(line) or _APPENDIX.match(line):
            self._at, self._listed = [], False
            return 1
        if self._listed:
            return 0
        if _ROMAN.match(line):
            self._roman = True
            return 1
        if _ORDINAL.match(line):
            return 1
        if _ORDINAL_BELOW.match(line) or (self._roman and _LETTER.match(line)):
            return 2
        return self._match_decimal(line, strict=True)

    def _match_decimal(self, line: str, *, strict: bool) -> int:
        match = _DECIMAL.match(line)
        if not match:
            return 0
        number = [int(part) for part in match[1].split(".")]
        depth = len(number)
        last = (
            self._at[depth - 1]
            if len(self._at) >= depth and self._at[: depth - 1] == number[:-1]
            else 0
        )
        near = (
            number[:-1] == self._at[: depth - 1] and last < number[-1] <= last + 1 + _MOST_SKIPPED
        )
        if strict and not near:
            return 0
        self._at = number
        return depth

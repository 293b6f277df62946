"""Lines of a PDF joined to paragraphs: a break that the page's width made goes, a break that the writer made stays.

The one rule: a break is the writer's if the next line's first word would still have fitted, or if place or type change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Final

from citewell.ingest.lines import LIST_ITEM
from citewell.ingest.pdf_lines import Line
from citewell.ingest.script import is_cjk, seam

_SENTENCE_END: Final = tuple(".!?。！？：:；;”」)）")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)+|[^\W_]+")
_LAST = re.compile(r"[^\W\d_]+\Z")
_FIRST = re.compile(r"[^\W_]+")
_AROUND: Final = 6  # lines before and after that show how wide the column is
_FEWEST: Final = 3  # lines that make a column: less is a title or a label, which does not go on elsewhere
_ADDRESS: Final = ("/", "@", "www.", "://")


@dataclass(slots=True)
class Paragraph:
    """`pieces`: (page, text) in order; more than one where it runs over a page's end. `first`: index of its first line."""

    first: int
    pieces: list[tuple[int, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)

    def add(self, page: int, bridge: str, text: str) -> None:
        """Go on with `text`, on the same page or the next."""
        last_page, last = self.pieces[-1]
        if page == last_page:
            self.pieces[-1] = (page, last + bridge + text)
        else:
            self.pieces[-1] = (last_page, last + bridge)
            self.pieces.append((page, text))

    def cut(self, count: int) -> None:
        """Take the last `count` characters away."""
        page, last = self.pieces[-1]
        self.pieces[-1] = (page, last[: len(last) - count])


def join(lines: Sequence[Line], stops: set[int], inside: set[int]) -> list[Paragraph]:
    """Paragraphs of `lines`. At the indexes in `stops` one begins, at those `inside` a heading none does."""
    words = _vocabulary(lines)
    spacing = _spacing(lines)
    found: list[Paragraph] = []
    for n, line in enumerate(lines):
        before = lines[n - 1] if n else None
        if before is None or n in stops:
            found.append(Paragraph(n, [(line.page, line.text)]))
        elif n in inside:
            _bridge(found[-1], line, words)
        elif before.fixed and line.fixed and before.page == line.page:
            found[-1].add(line.page, "\n", line.text)
        elif before.hyphen and line.page - before.page <= 1:
            found[-1].add(line.page, "-" if _keeps_hyphen(found[-1].pieces[-1][1], line.text, words) else "", line.text)
        elif _breaks(lines, n, spacing):
            found.append(Paragraph(n, [(line.page, line.text)]))
        else:
            _bridge(found[-1], line, words)
    return found


def _vocabulary(lines: Sequence[Line]) -> set[str]:
    """The document's words in lower case, without the halves of those broken at a line's end."""
    words: set[str] = set()
    broken = False
    for line in lines:
        found = _WORD.findall(line.text)
        ends_broken = line.hyphen or line.text.endswith("-")
        words.update(word.lower() for word in found[1 if broken else 0 : -1 if ends_broken else None])
        broken = ends_broken
    return words


def _bridge(paragraph: Paragraph, line: Line, words: set[str]) -> None:
    """Join a soft-wrapped line; a plain hyphen at the end before it is a word's own or a broken word's."""
    text = paragraph.pieces[-1][1]
    if text.endswith("-") and line.text[0].isalpha() and text[-2:-1].isalpha():
        if not _keeps_hyphen(text[:-1], line.text, words):
            paragraph.cut(1)
        paragraph.add(line.page, "", line.text)
    elif text[-1] in "/_=&-" and (text[-1] == "/" or any(sign in text.rsplit(maxsplit=1)[-1] for sign in _ADDRESS)):
        paragraph.add(line.page, "", line.text)  # a path or an address, broken where it has room
    else:
        paragraph.add(line.page, seam(text, line.text), line.text)


def _keeps_hyphen(left: str, right: str, words: set[str]) -> bool:
    """Whether the word broken between `left` and `right` has a hyphen of its own: the document's other words tell."""
    tail = left.rsplit(maxsplit=1)[-1] if left.split() else ""
    last, first = _LAST.search(left), _FIRST.match(right)
    if any(sign in tail for sign in _ADDRESS) or last is None or first is None:
        return True
    one, two = last.group().lower(), first.group().lower()
    if one + two in words:
        return False
    if f"{one}-{two}" in words:
        return True
    compound = "-" in tail or right[first.end() :].startswith("-")
    words_both = one in words and two in words
    return not first.group()[0].islower() or (words_both and (compound or (len(one) > 3 and len(two) > 3)))


def _spacing(lines: Sequence[Line]) -> float:
    """The usual distance of baselines, in type sizes."""
    pairs = pairwise(lines)
    ratios = [
        (a.end - b.y0) / a.size
        for a, b in pairs
        if a.page == b.page and a.size == b.size > 0 and 0 < a.end - b.y0 < 2.5 * a.size
    ]
    return median(ratios) if ratios else 1.2


def _breaks(lines: Sequence[Line], n: int, spacing: float) -> bool:
    """Whether a new paragraph begins at line `n`."""
    before, line = lines[n - 1], lines[n]
    if abs(before.size - line.size) > 0.08 * max(before.size, line.size) or (before.bold and not line.starts_bold):
        return True
    if (before.fixed != line.fixed and abs(before.x0 - line.x0) > 1) or LIST_ITEM.match(line.text):
        return True
    ended = before.text.endswith(_SENTENCE_END) and not any(sign in before.text.rsplit(maxsplit=1)[-1] for sign in _ADDRESS)
    down = before.end - line.y0
    if line.page != before.page or down < -0.5 * line.size:  # a new page or column
        return ended or line.page - before.page > 1 or len(_column(lines, n)) < _FEWEST or _fits(lines, n)
    if down > 1.3 * spacing * before.size:
        return True
    if ended and abs(line.x0 - before.x0) > 0.8 * line.size and not LIST_ITEM.match(before.text):
        return True
    return _fits(lines, n)


def _fits(lines: Sequence[Line], n: int) -> bool:
    """Whether the first word of line `n` would have fitted at the end of the line before, so that someone broke it there."""
    before, line = lines[n - 1], lines[n]
    right = max(other.x1 for other in _column(lines, n))
    first = 2 if is_cjk(line.text[0]) else len(line.text.split(maxsplit=1)[0])
    wraps = before.end < before.y0
    width = 0.5 * before.size if wraps else (before.x1 - before.x0) / max(1, len(before.text))
    room = right - before.x1
    if line.text[0].islower() and not before.text.endswith(_SENTENCE_END) and room < 0.4 * (right - before.x0):
        return False  # a sentence goes on: the line was left short for some other reason
    return room > (first + 2) * width and room > 1.5 * before.size


def _column(lines: Sequence[Line], n: int) -> list[Line]:
    """The lines around, of the same type and column, as the one before line `n`; that one included."""
    before = lines[n - 1]
    around = [other for other in lines[max(0, n - 1 - _AROUND) : n + _AROUND] if other.page == before.page]
    return [other for other in around if other.size == before.size and abs(other.x0 - before.x0) < 4 * before.size]

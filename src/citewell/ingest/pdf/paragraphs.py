"""Lines of a PDF joined to paragraphs: a break that the page's width made goes, a break that the
writer made stays. A break is the writer's if the next line's first word would still have fitted, or
if place or type change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from citewell.ingest.pdf.lines import Line
from citewell.text.language import get_line_joiner, is_cjk
from citewell.text.line_breaks import LIST_ITEM
from citewell.types import Box

_SENTENCE_END: Final = tuple(".!?。！？：:；;”」)）")
_MAYBE_END: Final = "”」)）"  # ends a sentence only where another begins
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)+|[^\W_]+")
_LAST = re.compile(r"[^\W\d_]+\Z")
_FIRST = re.compile(r"[^\W_]+")
_AROUND: Final = 6  # lines before and after that show how wide the column is
_ROWS: Final = 2.5  # type sizes from a line to the next of its column at most
# lines that make a column: less is a title or a label, which does not go on elsewhere
_FEWEST: Final = 3
_ADDRESS: Final = ("/", "@", "www.", "://")


@dataclass(slots=True)
class Paragraph:
    """`pieces`: (page, text) in order; more than one where it runs over a page's end. `first`,
    `last`: indexes of its first and last line. `places`: which span of its text each line is.
    """

    first: int
    last: int
    pieces: list[tuple[int, str]]
    places: list[tuple[int, int, Line]]
    length: int

    @staticmethod
    def of(index: int, line: Line) -> Paragraph:
        return Paragraph(
            index, index, [(line.page, line.text)], [(0, len(line.text), line)], len(line.text)
        )

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)

    def add(self, index: int, line: Line, bridge: str) -> None:
        """Go on with a line, on the same page or the next."""
        self.last = index
        self.places.append(
            (self.length + len(bridge), self.length + len(bridge) + len(line.text), line)
        )
        self._append(line.page, bridge, line.text)

    def join(self, other: Paragraph, bridge: str) -> None:
        """Go on with another paragraph."""
        start = self.length + len(bridge)
        self.places += [(start + low, start + high, line) for low, high, line in other.places]
        self.last = other.last
        for n, (page, text) in enumerate(other.pieces):
            self._append(page, "" if n else bridge, text)

    def drop_end(self, count: int) -> None:
        """Take the last `count` characters away."""
        page, last = self.pieces[-1]
        self.pieces[-1] = (page, last[: len(last) - count])
        self.length -= count
        low, high, line = self.places[-1]
        self.places[-1] = (low, min(high, self.length), line)

    def boxes(self) -> list[Box]:
        """Where its lines stand, with offsets from its start."""
        return [
            Box(low, high, line.page, *line.box) for low, high, line in self.places if low < high
        ]

    def _append(self, page: int, bridge: str, text: str) -> None:
        last_page, last = self.pieces[-1]
        if page == last_page:
            self.pieces[-1] = (page, last + bridge + text)
        else:
            self.pieces[-1] = (last_page, last + bridge)
            self.pieces.append((page, text))
        self.length += len(bridge) + len(text)


def join_lines(lines: Sequence[Line], stops: set[int], inside: set[int]) -> list[Paragraph]:
    """Paragraphs of `lines`; one begins at each of `stops`, none `inside` a heading."""
    words = collect_vocabulary(lines)
    spacing = _compute_line_spacing(lines)
    found: list[Paragraph] = []
    for n, line in enumerate(lines):
        before = lines[n - 1] if n else None
        if before is None or n in stops or before.row or line.row or before.aside != line.aside:
            found.append(Paragraph.of(n, line))
        elif n in inside:
            _join_line(found[-1], n, line, words)
        elif before.fixed and line.fixed and before.page == line.page:
            found[-1].add(n, line, "\n")
        elif before.hyphen and line.page - before.page <= 1 and not _is_other_size(before, line):
            found[-1].add(n, line, get_bridge(found[-1], before, line, words))
        elif _is_paragraph_start(lines, n, spacing):
            found.append(Paragraph.of(n, line))
        else:
            _join_line(found[-1], n, line, words)
    return found


def _join_line(paragraph: Paragraph, index: int, line: Line, words: set[str]) -> None:
    """Join a soft-wrapped line; a hyphen before it is a word's own or a broken word's."""
    text = paragraph.pieces[-1][1]
    if (
        text.endswith("-")
        and line.text[0].isalpha()
        and text[-2:-1].isalpha()
        and not _should_keep_hyphen(text[:-1], line.text, words)
    ):
        paragraph.drop_end(1)
    paragraph.add(index, line, _get_seam(text, line))


def _get_seam(text: str, line: Line) -> str:
    if text.endswith("-") and line.text[0].isalpha() and text[-2:-1].isalpha():
        return ""
    if text[-1] in "/_=&-" and (
        text[-1] == "/" or any(sign in text.rsplit(maxsplit=1)[-1] for sign in _ADDRESS)
    ):
        return ""  # a path or an address, broken where it has room
    return get_line_joiner(text, line.text)


def get_bridge(paragraph: Paragraph, last: Line, line: Line, words: set[str]) -> str:
    """What stands between a paragraph's last line and `line`, with which it goes on."""
    if not last.hyphen:
        return _get_seam(paragraph.pieces[-1][1], line)
    return "-" if _should_keep_hyphen(paragraph.pieces[-1][1], line.text, words) else ""


def is_unfinished(line: Line) -> bool:
    """Whether a paragraph does not seem to end with `line`."""
    return line.hyphen or not _is_sentence_end(line)


def _is_sentence_end(line: Line) -> bool:
    """Whether a line ends as a sentence does; a full stop in an address does not count."""
    return line.text.endswith(_SENTENCE_END) and not any(
        sign in line.text.rsplit(maxsplit=1)[-1] for sign in _ADDRESS
    )


def collect_vocabulary(lines: Sequence[Line]) -> set[str]:
    """The document's words in lower case, without the halves of those broken at a line's end."""
    words: set[str] = set()
    broken = False
    for line in lines:
        found = _WORD.findall(line.text)
        ends_broken = line.hyphen or line.text.endswith("-")
        words.update(
            word.lower() for word in found[1 if broken else 0 : -1 if ends_broken else None]
        )
        broken = ends_broken
    return words


def _should_keep_hyphen(left: str, right: str, words: set[str]) -> bool:
    """Whether a word broken between `left` and `right` has its own hyphen: other words tell."""
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
    return not first.group()[0].islower() or (
        words_both and (compound or (len(one) > 3 and len(two) > 3))
    )


def _compute_line_spacing(lines: Sequence[Line]) -> float:
    """The usual distance of baselines, in type sizes."""
    pairs = (
        (a, b)
        for a, b in pairwise(lines)
        if a.page == b.page and a.size == b.size > 0 and not a.row
    )
    ratios = [(a.y0 - b.y0) / a.size for a, b in pairs if 0 < a.y0 - b.y0 < 2.5 * a.size]
    return median(ratios) if ratios else 1.2


def _is_paragraph_start(lines: Sequence[Line], n: int, spacing: float) -> bool:
    """Whether a new paragraph begins at line `n`."""
    before, line = lines[n - 1], lines[n]
    if _is_other_size(before, line) or (before.bold and not line.starts_bold):
        return True
    if (before.fixed != line.fixed and abs(before.x0 - line.x0) > 1) or LIST_ITEM.match(line.text):
        return True
    ended = _is_sentence_end(before) and not (
        line.text[0].islower() and before.text[-1] in _MAYBE_END
    )
    down = before.y0 - line.y0
    if line.page != before.page or down < -0.5 * line.size:  # a new page or column
        return (
            ended
            or line.page - before.page > 1
            or len(_get_column_lines(lines, n)) < _FEWEST
            or _can_fit_before(lines, n)
        )
    if down > 1.3 * spacing * before.size:
        return True
    if ended and abs(line.x0 - before.x0) > 0.8 * line.size and not LIST_ITEM.match(before.text):
        return True
    return _can_fit_before(lines, n)


def _is_other_size(before: Line, line: Line) -> bool:
    return abs(before.size - line.size) > 0.08 * max(before.size, line.size)


def _can_fit_before(lines: Sequence[Line], n: int) -> bool:
    """Whether the first word of line `n` would have fitted at the end of the line before, so that
    someone broke it there.
    """
    before, line = lines[n - 1], lines[n]
    right = max(other.x1 for other in _get_column_lines(lines, n))
    first = 2 if is_cjk(line.text[0]) else len(line.text.split(maxsplit=1)[0])
    width = (before.x1 - before.x0) / max(1, len(before.text))
    room = right - before.x1
    if (
        line.text[0].islower()
        and not before.text.endswith(_SENTENCE_END)
        and room < 0.4 * (right - before.x0)
    ):
        return False  # a sentence goes on: the line was left short for some other reason
    return room > (first + 2) * width and room > 1.5 * before.size


def _get_column_lines(lines: Sequence[Line], n: int) -> list[Line]:
    """The lines around of the same type and column as the one before line `n`, it included."""
    before = lines[n - 1]
    low, high = n - 1, n
    while low > max(0, n - 1 - _AROUND) and _is_row_below(lines[low - 1], lines[low]):
        low -= 1
    while high < min(len(lines), n + _AROUND) and _is_row_below(lines[high - 1], lines[high]):
        high += 1
    same = [other for other in lines[low:high] if other.size == before.size]
    return [other for other in same if abs(other.x0 - before.x0) < 4 * before.size]


def _is_row_below(before: Line, line: Line) -> bool:
    """Whether `line` stands in the row below."""
    near = 0 < before.y0 - line.y0 < _ROWS * before.size and before.page == line.page
    return near and not line.row and before.aside == line.aside

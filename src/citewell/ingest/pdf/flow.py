"""Paragraphs that a note, a table or a figure at the end of a column cut in two, put together
again. What cut a paragraph is moved before it, or after it on a later page; pages never go
backwards.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import Final

from citewell.ingest.pdf.lines import Line
from citewell.ingest.pdf.paragraphs import Paragraph, collect_vocabulary, get_bridge, is_unfinished
from citewell.text.language import is_cjk
from citewell.text.line_breaks import LIST_ITEM

_FARTHEST: Final = 60  # paragraphs looked ahead: the labels of a figure count
_SHORTEST: Final = 40  # characters of a paragraph that can have been cut; less is a label
_SAME_SIZE: Final = 0.06
_CAPTION = re.compile(r"(?:table|figure|fig\.|algorithm|listing|表|图|圖)\s*[\dA-Z]", re.IGNORECASE)
_SIGN = re.compile(r"[^\w]")


def join_split_paragraphs(
    found: Sequence[Paragraph], lines: Sequence[Line], headings: Container[int]
) -> list[Paragraph]:
    """The paragraphs in order, cut ones whole. `headings`: lines at which a heading begins."""
    words = collect_vocabulary(lines)
    waiting, out = list(found), []
    n = 0
    while n < len(waiting):
        paragraph = waiting[n]
        after = _find_continuation(waiting, n, lines, headings)
        if after is None or not _can_move(paragraph, waiting[n + 1 : after], waiting[after]):
            out.append(paragraph)
            n += 1
            continue
        start, between = paragraph.pieces[0][0], waiting[n + 1 : after]
        paragraph.join(
            waiting[after],
            get_bridge(paragraph, lines[paragraph.last], lines[waiting[after].first], words),
        )
        out += [one for one in between if one.pieces[-1][0] == start]
        waiting[n : after + 1] = [
            paragraph,
            *(one for one in between if one.pieces[-1][0] != start),
        ]
    return out


def _can_move(paragraph: Paragraph, between: Sequence[Paragraph], other: Paragraph) -> bool:
    """Whether each paragraph between is all on the first's page, or all on the second's."""
    before, after = paragraph.pieces[0][0], other.pieces[-1][0]
    return all(
        one.pieces[0][0] == one.pieces[-1][0] and one.pieces[0][0] in {before, after}
        for one in between
    )


def _find_continuation(
    found: Sequence[Paragraph], n: int, lines: Sequence[Line], headings: Container[int]
) -> int | None:
    """Where paragraph `n` goes on, None where it is whole."""
    paragraph = found[n]
    last = lines[paragraph.last]
    if (
        paragraph.first in headings
        or last.row
        or paragraph.length < _SHORTEST
        or not is_unfinished(last)
    ):
        return None
    for m in range(n + 1, min(n + 1 + _FARTHEST, len(found))):
        first = lines[found[m].first]
        if found[m].first in headings or first.page > last.page + 1:
            return None
        same = _is_same_type(last, first)
        moved = first.page != last.page or first.y0 > last.y0 + first.size
        if same and moved and _is_mid_sentence(last, first):
            return m
        if same and not _CAPTION.match(first.text):
            return None
    return None


def _is_same_type(before: Line, line: Line) -> bool:
    near = abs(before.size - line.size) <= _SAME_SIZE * before.size
    return near and before.fixed == line.fixed and before.aside == line.aside and not line.row


def _is_mid_sentence(before: Line, line: Line) -> bool:
    """Whether a line begins in the middle of a sentence."""
    if LIST_ITEM.match(line.text) or _CAPTION.match(line.text):
        return False
    if is_cjk(line.text[0]):
        return is_cjk(before.text[-1]) and not _SIGN.match(before.text[-1])
    return line.text[0].islower() or before.hyphen or before.text.endswith(",")

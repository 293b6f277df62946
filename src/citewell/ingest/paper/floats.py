"""Figures and tables: their captions, and what stands in them as text, found beside the caption. A
caption begins a line with label and number and is no sentence about the figure; each row belongs to
one table.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from citewell.ingest.paper.section_headings import Line, iterate_lines
from citewell.ingest.paper.shape import Float, FloatKind, Part
from citewell.text.language import HAN
from citewell.types import Document

NUMBER: Final = r"[A-Z]?\d{1,3}(?:[.\-–]\d{1,3})?[a-z]?|[IVX]{1,5}"
_CAPTION = re.compile(
    r"(?P<label>(?:(?P<figure>Figure|FIGURE|Fig\.|FIG\.|Fig|图)|(?P<table>Table|TABLE|Tab\.|"
    rf"续?表))\s*(?P<number>{NUMBER}|S\d{{1,3}}))"
    rf"(?P<sign>\s*[.:：．|]|\s*[—–]|\s+|(?=[{HAN}（(])|$)(?P<rest>.*)",
    re.DOTALL,
)
_SPEAKS = re.compile(  # what goes on as a sentence about a figure
    r"(?:and|or|in|of|on|for|with|from|that|which|we|is|are|was|were|has|have|also|further|below|"
    r"above|to|as|at|by|can|may|will)\b"
    r"|[a-z]+s\b(?!:)|[a-z]+ed\b|\(?[a-z]\)?[,)]|[,;)]"
)
_SPEAKS_ZH = re.compile(
    r"[，、；。）)]|所示|给出|展示|显示|列出|中[^间位]|可以?[见看知]|表[明示]|为了|是|的|按|"
    r"依次|对比了|汇总了|比较了|统计了|说明|描述|和[表图]|与[表图]|至"
)
_DIGIT = re.compile(r"\d")
_SENTENCE = re.compile(r"[a-z]{2,}[.!?]\s+[A-Z]|[。！？]")
_EQUATION = re.compile(r"=.*[(（]\d{1,3}[)）]$")
# characters of a line that may be a row of a table no parser saw, or a label of a figure
_LONGEST_LOOSE: Final = 160
_LONGEST_LABEL: Final = 80
_MOST_LOOSE: Final = 120  # lines of these at most
_LONGEST_TITLE: Final = 300


@dataclass(frozen=True, slots=True)
class _Caption:
    kind: FloatKind
    label: str
    number: str
    at: int  # index of its line
    until: int  # index of its last line


def find_floats(document: Document, parts: Sequence[Part]) -> tuple[Float, ...]:
    """All figures and tables in the order of their captions."""
    every = list(iterate_lines(document.text))
    heads = _find_excluded_lines(every, parts)
    captions = [
        one
        for n in range(len(every))
        if n not in heads and (one := _match_caption(document.text, every, n))
    ]
    taken = set(heads) | {n for one in captions for n in range(one.at, one.until + 1)}
    above = _is_caption_above(every, captions, taken)
    joined = [
        n > 0 and document.text.count("\n", every[n - 1].end, line.start) == 1
        for n, line in enumerate(every)
    ]
    found: list[Float] = []
    for one in captions:
        body = _find_body(every, joined, one, taken, above=above)
        if body:
            taken.update(range(body[0], body[1] + 1))
        first, last = every[one.at], every[one.until]
        found.append(
            Float(
                kind=one.kind,
                label=one.label,
                number=one.number,
                start=first.start,
                end=last.end,
                page=document.find_page_at(first.start) or 0,
                body=(every[body[0]].start, every[body[1]].end) if body else None,
            )
        )
    return tuple(found)


def _find_excluded_lines(every: Sequence[Line], parts: Sequence[Part]) -> set[int]:
    """Indexes of the lines that are headings, or stand in the list of references."""
    starts = [line.start for line in every]
    found: set[int] = set()
    for part in parts:
        low, high = (bisect_right(starts, at - 1) for at in (part.start, part.end))
        if part.role == "references":
            found.update(range(low, high))
        elif part.heading_path and low < len(every):
            found.add(low)
    return found


def _match_caption(text: str, every: Sequence[Line], n: int) -> _Caption | None:
    line = every[n].text
    match = _CAPTION.match(line)
    if not match:
        return None
    rest, sign = match["rest"].strip(), match["sign"].strip()
    chinese = match["label"][0] in "图续表"
    label = re.sub(r"\s+", " ", match["label"])
    until = n
    # the words stand in the next line, or there are none: then it is a caption only where lines are
    # apart
    if not rest:
        alone = n + 1 < len(every) and text[every[n].end : every[n + 1].start].count("\n") <= 2
        if (
            not alone
            or (not sign and not label.isupper() and not chinese)
            or len(every[n + 1].text) > _LONGEST_TITLE
        ):
            return None
        following = every[n + 1].text
        until = (
            n
            if _is_table_row(following) or (not sign and following.endswith((".", "。")))
            else n + 1
        )
    elif not sign and chinese:
        if (
            _SPEAKS_ZH.match(rest)
            or len(line) > _LONGEST_LOOSE
            or rest.endswith(("。", "；", "，"))
        ):
            return None
    elif not sign and (
        (not rest[0].isupper() and not label.isupper())
        or _SPEAKS.match(rest)
        or _SENTENCE.search(rest)
    ):
        return None
    kind: FloatKind = "figure" if match["figure"] else "table"
    return _Caption(kind, label, match["number"].replace("–", "-"), n, until)


def _is_table_row(line: str) -> bool:
    return " | " in line


def _is_caption_above(every: Sequence[Line], captions: Sequence[_Caption], taken: set[int]) -> bool:
    """Whether captions stand above this paper's tables, by those with rows on one side only."""
    votes = 0
    for one in captions:
        if one.kind == "table":
            before = (
                one.at > 0 and one.at - 1 not in taken and _is_table_row(every[one.at - 1].text)
            )
            behind = (
                one.until + 1 < len(every)
                and one.until + 1 not in taken
                and _is_table_row(every[one.until + 1].text)
            )
            votes += behind - before
    return votes >= 0


def _find_body(
    every: Sequence[Line], joined: Sequence[bool], one: _Caption, taken: set[int], *, above: bool
) -> tuple[int, int] | None:
    """First and last index of the lines that are the body."""
    if one.kind == "figure":
        return _find_run(every, joined, one.at - 1, -1, taken, _is_figure_label)
    for fits in (_is_table_row, _is_loose_row):
        behind = _find_run(every, joined, one.until + 1, 1, taken, fits)
        sides = (behind, _find_run(every, joined, one.at - 1, -1, taken, fits))
        found = next(
            (
                side
                for side in (sides if above else sides[::-1])
                if side and _is_table_body(every, side)
            ),
            None,
        )
        if found:
            return found
    return None


def _find_run(
    every: Sequence[Line],
    joined: Sequence[bool],
    first: int,
    step: int,
    taken: set[int],
    fits: Callable[[str], bool],
) -> tuple[int, int] | None:
    """The lines from `first` on that fit; between two of a block without a blank line any fits."""
    n = first
    most = len(every) if fits is _is_table_row else _MOST_LOOSE
    while 0 <= n < len(every) and n not in taken and abs(n - first) < most:
        same = n != first and joined[n if step > 0 else n + 1]
        if not (fits(every[n].text) or (same and fits is not _is_loose_row)):
            break
        n += step
    if n == first:
        return None
    return (first, n - 1) if step > 0 else (n + 1, first)


def _is_table_body(every: Sequence[Line], side: tuple[int, int]) -> bool:
    """Whether a table holds two rows at least, or one with cells, and is not a lone label."""
    low, high = side
    return _is_table_row(every[low].text) or (
        high > low and sum(bool(_DIGIT.search(every[n].text)) for n in range(low, high + 1)) > 1
    )


def _is_loose_row(line: str) -> bool:
    """Whether a line may be a row that no parser saw: short, no sentence."""
    words = line.split()
    ends = line.endswith((".", "。", ":", "：", ";", "；", ",", "，")) and len(words) > 3
    return (
        len(line) <= _LONGEST_LOOSE
        and not ends
        and not _SENTENCE.search(line)
        and _is_tabular(words)
    )


def _is_tabular(words: Sequence[str]) -> bool:
    """Whether it is a name, or figures outweigh words."""
    figures = sum(bool(_DIGIT.search(word)) for word in words)
    return len(words) <= 6 or 2 * figures >= len(words)


def _is_figure_label(line: str) -> bool:
    """Whether a line may be lettering of a figure: short, no sentence, no numbered equation."""
    ends = line.endswith((".", "。", "；", "，", "：")) and len(line) > 12
    return (
        len(line) <= _LONGEST_LABEL and not ends and not _EQUATION.search(line)
    ) or _is_table_row(line)

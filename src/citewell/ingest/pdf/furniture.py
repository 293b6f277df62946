"""Running headers, footers and page numbers: found because they repeat, and left out. Only a page's
two outermost lines above and below can go, none larger than the text, and only with company on
other pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from citewell.ingest.pdf.lines import Line, compute_body_size

EDGE: Final = 2  # lines at the top and at the bottom of a page that can be furniture
EDGE_NUMBERS: Final = 4  # the same for bare page numbers, which notes may stand around
FEWEST: Final = 3  # pages on which a line has to stand to be called running
# characters in which the headers of one chapter agree; a section's name may follow
_SAME: Final = 12
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?:page|第|-|–|—|·)?\s*(?:\d{1,5}|[ivxlc]{1,7})\s*(?:(?:/|of|共|页\s*[,，"
    r"/]?\s*共)\s*\d{1,5})?\s*(?:页|頁|-|–|—|·)?",
    re.IGNORECASE,
)


def drop_headers_and_footers(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """The pages without lines that run through most of them, or through several in a row."""
    body = compute_body_size([line for lines in pages for line in lines])
    edges = [[line for line in _get_edge_lines(lines) if line.size <= body] for lines in pages]
    seen = Counter(key for found in edges for key in {_make_key(line) for line in found})
    with_text = sum(1 for lines in pages if lines)
    needed = max(FEWEST, with_text / 2)
    starts = [{(_make_key(line)[:_SAME], round(line.y0)) for line in found} for found in edges]
    running = [
        [
            line
            for line in found
            if seen[_make_key(line)] >= needed
            or (line in _get_extreme_lines(found) and _is_chapter_header(line, n, starts))
        ]
        for n, found in enumerate(edges)
    ]
    heights = Counter(round(line.y0) for found in running for line in found)
    usual = {height for height, count in heights.items() if count >= needed}
    stamps = Counter(
        key for lines in pages for key in {_make_key(line) for line in lines if line.aside}
    )
    kept = []
    for found, gone, lines in zip(edges, running, pages, strict=True):
        out = {id(line) for line in gone} | {
            id(line) for line in _get_extreme_lines(found) if round(line.y0) in usual
        }
        kept.append(
            [
                line
                for line in lines
                if id(line) not in out and not (line.aside and stamps[_make_key(line)] >= needed)
            ]
        )
    return kept


def _get_extreme_lines(edge: list[Line]) -> list[Line]:
    """The lowest and the highest line: where most pages have headers, all have."""
    return (
        [min(edge, key=lambda line: line.y0), max(edge, key=lambda line: line.y0)]
        if len(edge) > 1
        else []
    )


def _get_edge_lines(lines: list[Line]) -> list[Line]:
    """The outermost lines by height, wherever they stand in the stream."""
    ordered = sorted(
        (line for line in lines if not line.aside and not line.row), key=lambda line: line.y0
    )
    outer = ordered[:EDGE] + ordered[max(EDGE, len(ordered) - EDGE) :]
    near = (
        ordered[EDGE:EDGE_NUMBERS] + ordered[max(EDGE_NUMBERS, len(ordered) - EDGE_NUMBERS) : -EDGE]
    )
    return outer + [line for line in near if _make_key(line) == "#"]


def _make_key(line: Line) -> str:
    """What a line says apart from its numbers; every bare page number has the same key."""
    text = line.text.strip()
    return "#" if _NUMBER.fullmatch(text) else _DIGITS.sub("#", text).lower()


def _is_chapter_header(line: Line, page: int, starts: list[set[tuple[str, int]]]) -> bool:
    """A chapter's header: the same first words at the same height on two of four pages around."""
    start, height = _make_key(line)[:_SAME], round(line.y0)
    around = [starts[n] for n in (page - 2, page - 1, page + 1, page + 2) if 0 <= n < len(starts)]
    return (
        sum(any((start, height + shift) in found for shift in (-1, 0, 1)) for found in around)
        >= FEWEST - 1
    )

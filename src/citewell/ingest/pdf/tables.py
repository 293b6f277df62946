"""Tables of a PDF between rules; their rows become lines of their own. What might be running text
is left as text. A table needs two columns that hold through its rows.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from citewell.ingest.pdf.aligned_tables import FEWEST_ALIGNED, is_table
from citewell.ingest.pdf.cells import Grid, build_grid, find_column_cuts
from citewell.ingest.pdf.line_rows import group_rows
from citewell.ingest.pdf.lines import Line
from citewell.ingest.pdf.rules import Rule
from citewell.ingest.pdf.table_lines import build_table_lines, replace_lines

_SAME_EDGE: Final = 5.0  # points within which rules of one table begin and end
_SHORTEST_RULE: Final = 60.0
_MOST_BANDS: Final = 400
# of a region's width: two pieces as wide as that between two rules are running text
_WIDE: Final = 0.75
# the same where several lines stand alone: a note below a table, and the heading of the next
_LONE: Final = 0.5
_LARGER: Final = 1.2  # times the usual type of a region: a heading
_CAPTION = re.compile(r"(?:table|figure|fig\.|algorithm|表|图|圖)\s*\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Region:
    """What may be a table. `levels`: heights of rules through it, top and edges included."""

    left: float
    right: float
    levels: list[float]

    def holds(self, line: Line) -> bool:
        middle = (line.y0 + line.y1) / 2
        return (
            self.levels[-1] < middle < self.levels[0]
            and line.x0 >= self.left - 4
            and line.x1 <= self.right + 4
        )

    def covers(self, rule: Rule) -> bool:
        low, high = self.levels[-1] + 2, self.levels[0] - 2
        return low < rule.at < high and self.left - 4 < rule.low and rule.high < self.right + 4


def replace_ruled_tables(
    lines: list[Line], across: Sequence[Rule], down: Sequence[Rule]
) -> list[Line]:
    """`lines` with the rows of tables between rules in place of their pieces."""
    number = 0
    for region in _find_regions(across):
        for part in _split_regions(region, lines):
            inside = [line for line in lines if part.holds(line) and not line.row]
            grid = _build_ruled_grid(part, inside, across, down) if len(inside) > 2 else None
            if grid is not None and not _is_crossed(part, lines):
                number += 1
                lines = replace_lines(lines, inside, build_table_lines(grid, inside), number)
    return lines


def _find_regions(across: Sequence[Rule]) -> list[_Region]:
    """Rules that begin and end together, the widest first, then the highest."""
    groups: list[list[Rule]] = []
    for rule in sorted(across, key=lambda rule: (rule.low - rule.high, -rule.at)):
        if rule.high - rule.low < _SHORTEST_RULE:
            break
        for group in groups:
            if (
                abs(group[0].low - rule.low) < _SAME_EDGE
                and abs(group[0].high - rule.high) < _SAME_EDGE
            ):
                group.append(rule)
                break
        else:
            groups.append([rule])
    return [
        _Region(
            min(rule.low for rule in group),
            max(rule.high for rule in group),
            sorted({r.at for r in group}, reverse=True),
        )
        for group in groups
        if 2 <= len(group) <= _MOST_BANDS
    ]


def _split_regions(region: _Region, lines: Sequence[Line]) -> Iterator[_Region]:
    """The parts of a region between which running text or a caption stands."""
    chain: list[float] = []
    usual = median([line.size for line in lines if region.holds(line)] or [0.0])
    for high, low in pairwise(region.levels):
        band = _Region(region.left, region.right, [high, low])
        inside = [line for line in lines if band.holds(line)]
        width = region.right - region.left
        wide = [line for line in inside if line.x1 - line.x0 > _WIDE * width]
        named = any(line.row or _CAPTION.match(line.text) for line in inside) or _is_heading(
            inside, usual
        )
        apart = named or len(wide) > 1 or _has_lone_lines(inside, width)
        if apart or (not inside and high - low > 40):
            if len(chain) > 1:
                yield _Region(region.left, region.right, chain)
            chain = []
        elif inside or not chain:
            chain = [*chain, low] if chain else [high, low]
    if len(chain) > 1:
        yield _Region(region.left, region.right, chain)


def _is_heading(inside: list[Line], usual: float) -> bool:
    """Whether all between two rules is a line in larger type, such as between box and table."""
    return len(inside) == 1 and inside[0].size > _LARGER * usual


def _has_lone_lines(inside: list[Line], width: float) -> bool:
    """Whether lines between two rules stand alone, one below the other, too wide for a cell."""
    found = group_rows(inside)
    return (
        len(found) > 1
        and all(len(row) == 1 for row in found)
        and any(x.x1 - x.x0 > _LONE * width for x in inside)
    )


def _is_crossed(region: _Region, lines: Sequence[Line]) -> bool:
    """Whether text runs over the region's edges."""
    low, high = region.levels[-1], region.levels[0]
    beside = (line for line in lines if low < (line.y0 + line.y1) / 2 < high and not line.row)
    return any(
        (line.x0 < region.left - 4 and line.x1 > region.left + 10)
        or (line.x0 < region.right - 10 and line.x1 > region.right + 4)
        for line in beside
    )


def _build_ruled_grid(
    region: _Region, inside: list[Line], across: Sequence[Rule], down: Sequence[Rule]
) -> Grid | None:
    upright = _find_upright_rules(region, down)
    bands = [[] for _ in region.levels[1:]]  # type: list[list[list[Line]]]
    for row in group_rows(inside):
        middle = median((line.y0 + line.y1) / 2 for line in row)
        at = next(
            (n for n, level in enumerate(region.levels[1:]) if middle > level), len(bands) - 1
        )
        bands[at].append(row)
    bands = [band for band in bands if band]
    everything = [row for band in bands for row in band]
    body = [row for band in bands[1:] for row in band] if len(bands) > 1 else everything
    body = body if len(body) > 1 else everything
    places = find_column_cuts(body, 0.5 if len(body) > 3 else 0.9, upright)
    partial = [rule for rule in across if region.covers(rule)]
    short = [rule for rule in partial if rule.high - rule.low < 0.9 * (region.right - region.left)]
    whole = bool(upright) and len(bands) > 2
    # rules under names of several columns
    named = any(bands[0][-1][0].y0 < rule.at < bands[0][0][0].y0 for rule in short)
    # a rule below every row
    single = 2 * sum(len(band) == 1 for band in bands) >= len(bands) > FEWEST_ALIGNED
    several = [
        (n == 0 and named)
        or (
            (not whole or _has_several_rows(band, places))
            and not (single and _is_continued_row(band, places))
        )
        for n, band in enumerate(bands)
    ]
    bands = [
        band if many else [_flatten_rows(band)] for band, many in zip(bands, several, strict=True)
    ]
    everything = [row for band in bands for row in band]
    head = len(bands[0])
    header = (
        head
        if len(bands) > 1 and head <= 3 and len(everything) > max(len(bands), 2 * head)
        else None
    )
    grid = build_grid(
        everything, places, upright, short, header=header, bands=[len(band) for band in bands]
    )
    return grid if is_table(grid, ruled_columns=bool(upright)) else None


def _has_several_rows(band: list[list[Line]], places: Sequence[float]) -> bool:
    """Whether the lines between two rules are rows, not the lines of cells that run on."""
    filled = [len({bisect_left(places, (line.x0 + line.x1) / 2) for line in row}) for row in band]
    return len(band) == 1 or (len(places) > 1 and median(filled) >= 0.75 * (len(places) + 1))


def _is_continued_row(band: list[list[Line]], places: Sequence[float]) -> bool:
    """Whether only the first line between two rules has a first cell: others continue it."""
    first = places[0] if places else float("inf")
    return len(band) > 1 and not any((row[0].x0 + row[0].x1) / 2 < first for row in band[1:])


def _flatten_rows(band: list[list[Line]]) -> list[Line]:
    """Several rows of text between two rules: one row of the table, whose cells run over lines."""
    return [line for row in band for line in row]


def _find_upright_rules(region: _Region, down: Sequence[Rule]) -> list[float]:
    """Where upright rules part the region, each at least through half of it."""
    low, high = region.levels[-1], region.levels[0]
    lengths: dict[int, list[Rule]] = {}
    for rule in down:
        if (
            region.left + 4 < rule.at < region.right - 4
            and rule.high > low - 2
            and rule.low < high + 2
        ):
            lengths.setdefault(round(rule.at / 3), []).append(rule)
    whole = 0.5 * (high - low)
    found = [
        group[0].at
        for group in lengths.values()
        if sum(rule.high - rule.low for rule in group) > whole
    ]
    return [at for n, at in enumerate(sorted(found)) if n == 0 or at - sorted(found)[n - 1] > 4]

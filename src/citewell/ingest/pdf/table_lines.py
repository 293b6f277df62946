"""Rows of a table as lines of text in the place of its pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citewell.ingest.pdf.cells import Grid
from citewell.ingest.pdf.lines import Line
from citewell.ingest.tables.table_text import format_table_lines


def build_table_lines(grid: Grid, inside: Sequence[Line]) -> list[Line]:
    """The table's rows as lines, each where its row stands; unpaired, where the table stands."""
    texts = format_table_lines(grid.rows, header=grid.header)
    whole = _merge_places(inside)
    groups = grid.lines if len(grid.lines) == len(texts) else [list(inside)] * len(texts)
    return [
        replace(
            around,
            text=text,
            x0=whole.x0,
            x1=whole.x1,
            words=(),
            hyphen=False,
            goes_on=False,
            bold=False,
            fixed=False,
        )
        for text, group in zip(texts, groups, strict=True)
        for around in [_merge_places(group)]
        if text
    ]


def _merge_places(group: Sequence[Line]) -> Line:
    """The first of `group`, with the place of all."""
    x0, y0, x1, y1 = zip(*(line.box for line in group), strict=True)
    return replace(
        group[0],
        x0=min(line.x0 for line in group),
        x1=max(line.x1 for line in group),
        y0=min(line.y0 for line in group),
        y1=max(line.y1 for line in group),
        box=(min(x0), min(y0), max(x1), max(y1)),
        starts_bold=False,
    )


def replace_lines(
    lines: list[Line], inside: Sequence[Line], written: list[Line], number: int
) -> list[Line]:
    """`written` where the first of `inside` stood, and nothing where the others did."""
    gone = {id(line) for line in inside}
    first = next(n for n, line in enumerate(lines) if id(line) in gone)
    table = [replace(line, row=number) for line in written]
    kept = [
        [line for line in part if id(line) not in gone] for part in (lines[:first], lines[first:])
    ]
    return [*kept[0], *table, *kept[1]]

"""A table of a web page as lines: its caption, then what `format_table_lines` makes of its rows. A
table that only lays out the page gives nothing, so that its cells are read as the blocks they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from citewell.ingest.tables.header import ACROSS
from citewell.ingest.tables.table_text import format_table_lines

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_CELLS: Final = frozenset({"td", "th"})
_WIDEST_SPAN: Final = 50  # rows or columns that one cell may cover
_LAYOUT: Final = frozenset({"presentation", "none"})


def format_table_rows(table: LexborNode, words: Callable[[LexborNode], str]) -> list[str]:
    """The lines of a data table. `words`: what the text of a cell is."""
    if (
        table.css_first("table table, h1, h2, h3") is not None
        or table.attributes.get("role") in _LAYOUT
    ):
        return []
    rows = [row for row in table.css("tr") if any(node.tag in _CELLS for node in row.iter())]
    cells = [cell for cell in _build_grid(rows, words) if any(cell)]
    if max(map(len, cells), default=0) < 2:
        return []
    if (
        len(cells) < 3
        and table.css_first("th") is None
        and table.css_first("ul, ol, pre, p + p") is not None
    ):
        return []
    caption = table.css_first("caption")
    return [
        text for text in [words(caption) if caption is not None else ""] if text
    ] + format_table_lines(cells, header=_count_header_rows(rows))


def _count_header_rows(rows: list[LexborNode]) -> int | None:
    """How many first rows name the columns, by the tags; None where the page does not say."""
    depth = 0
    for row in rows:
        tags = {node.tag for node in row.iter() if node.tag in _CELLS}
        if tags != {"th"} and (row.parent is None or row.parent.tag != "thead"):
            break
        depth += 1
    if 0 < depth < len(rows):
        return depth
    return (
        0 if depth == 0 and any(node.tag == "th" for row in rows for node in row.iter()) else None
    )


def _build_grid(rows: list[LexborNode], words: Callable[[LexborNode], str]) -> list[list[str]]:
    """Rows of cells; one that covers several rows is repeated in each."""
    grid: list[list[str]] = []
    covering: dict[int, tuple[int, str]] = {}  # by column: how many more rows, and the text
    for row in rows:
        cells: list[str] = []
        for cell in [node for node in row.iter() if node.tag in _CELLS]:
            _fill_spanned_cells(cells, covering)
            below = min(get_int_attribute(cell, "rowspan"), _WIDEST_SPAN)
            for text in [words(cell)] + [ACROSS] * (
                min(get_int_attribute(cell, "colspan"), _WIDEST_SPAN) - 1
            ):
                cells.append(text)
                if below > 1:
                    covering[len(cells) - 1] = (below - 1, text)
        _fill_spanned_cells(cells, covering)
        grid.append(cells)
    return grid


def _fill_spanned_cells(cells: list[str], covering: dict[int, tuple[int, str]]) -> None:
    """Append what cells of rows above cover from here on."""
    while len(cells) in covering:
        left, text = covering.pop(len(cells))
        if left > 1:
            covering[len(cells)] = (left - 1, text)
        cells.append(text)


def get_int_attribute(node: LexborNode, attribute: str) -> int:
    """A small positive number in an attribute, else 1."""
    value = node.attributes.get(attribute) or ""
    return (
        int(value)
        if value.isascii() and value.isdigit() and 0 < len(value) < 7 and int(value)
        else 1
    )

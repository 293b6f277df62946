"""A table as lines of text, one a row: `型号: T300 | 载重: 120 kg`. Every parser that meets a table
calls `format_table_lines`. A single line is evidence by itself, so it names its columns; where it
is not known which row names them, nothing is named, for a wrong name would prove what the table
does not say.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from citewell.ingest.tables.header import ACROSS, SAMPLE, count_header_rows
from citewell.text.language import get_line_joiner

_NOTHING: Final = frozenset({"", ACROSS})
_LONGEST_KEY: Final = 40  # characters of what stands left of a colon
_LONGEST_BAND: Final = 60  # characters of a row-wide cell that names the rows below it
_COLONS: Final = ":："
_COLON_ENDS: Final = tuple(_COLONS)
_SENTENCE_ENDS: Final = "。.！!？?；;，,"


def format_table_lines(
    rows: Sequence[Sequence[str]], *, header: int | None = None, usual: bool = False
) -> list[str]:
    """One line a row that holds anything.

    `header`: how many first rows name the columns (True is one, False none); None: judged by what
    the cells look like, and where that does not tell, `usual` says that tables of this kind have
    one. Under a header each cell is labelled by it; in two columns without one the first labels the
    second; else a row is `x | y`.
    """
    cleaned = [[to_one_line(cell) for cell in row] for row in rows]
    grid = _drop_empty_columns(
        [row for row in cleaned if any(cell not in _NOTHING for cell in row)]
    )
    if not grid:
        return []
    depth = (
        count_header_rows([fill_covered_cells(row) for row in grid[:SAMPLE]], usual=usual)
        if header is None
        else min(int(header), len(grid))
    )
    if depth:
        return [
            *(_format_plain_row(row) for row in grid[:depth]),
            *_label_rows(build_column_names(grid[:depth]), grid[depth:]),
        ]
    return (
        _format_key_values(grid)
        if _is_key_value_table(grid)
        else [_format_plain_row(row) for row in grid]
    )


def to_one_line(text: str) -> str:
    """The words of a cell on one line; none but a space between them, nothing where a line breaks
    between Chinese words.
    """
    if text == ACROSS:
        return text
    joined = ""
    for line in text.replace(ACROSS, "").splitlines():
        words = " ".join(line.split())
        joined += get_line_joiner(joined[-1:], words) + words
    return joined


def build_column_names(header: Sequence[Sequence[str]]) -> list[str]:
    """The name of each column under `header` rows: the words above it, each once."""
    rows = [fill_covered_cells(row) for row in header]
    names = []
    for column in range(max(map(len, rows), default=0)):
        parts: list[str] = []
        for row in rows:
            if column < len(row) and row[column] and row[column] not in parts:
                parts.append(row[column])
        names.append(_strip_colon(" ".join(parts)))
    return names


def _drop_empty_columns(grid: list[list[str]]) -> list[list[str]]:
    """The rows without the columns that are covered or empty in all of them."""
    width = max(map(len, grid), default=0)
    kept = [n for n in range(width) if any(n < len(row) and row[n] not in _NOTHING for row in grid)]
    return grid if len(kept) == width else [[row[n] for n in kept if n < len(row)] for row in grid]


def fill_covered_cells(row: Sequence[str]) -> list[str]:
    """A row with what a cell covers said in each column."""
    cells: list[str] = []
    for cell in row:
        cells.append(cells[-1] if cell == ACROSS and cells else cell.replace(ACROSS, ""))
    return cells


def _format_plain_row(row: Sequence[str]) -> str:
    """`x | y`; in a form, a cell that ends in a colon labels its neighbour."""
    cells = [cell for cell in row if cell not in _NOTHING]
    labels = [cell.endswith(_COLON_ENDS) for cell in cells]
    form = not any(one and other for one, other in pairwise(labels))
    line = ""
    for n, cell in enumerate(cells):
        line += (" " if form and n and labels[n - 1] else " | " if line else "") + cell
    return line


def _strip_colon(text: str) -> str:
    return text.rstrip(_COLONS + " ")


def _label_rows(names: list[str], rows: list[list[str]]) -> list[str]:
    """The rows with each cell labelled. A cell as wide as the table names the rows below it."""
    lines, band = [], ""
    for row in rows:
        if len(row) > 1 and all(cell == ACROSS for cell in row[1:]):
            band = (
                row[0]
                if len(row[0]) <= _LONGEST_BAND and row[0][-1:] not in tuple(_SENTENCE_ENDS)
                else ""
            )
            lines.append(row[0])
        else:
            lines.append(
                " | ".join(([_strip_colon(band)] if band else []) + _label_cells(names, row))
            )
    return lines


def _label_cells(names: list[str], row: list[str]) -> list[str]:
    """`name: cell` for each cell; one that covers several columns has the names of all, one without
    a name stands alone.
    """
    found: list[tuple[list[str], str]] = []
    for column, cell in enumerate(row):
        name = names[column] if column < len(names) else ""
        if cell == ACROSS and found:
            if name not in found[-1][0]:
                found[-1][0].append(name)
        else:
            found.append(([name], cell))
    if len(names) > 2 and [n for n, (_, cell) in enumerate(found) if cell] == [0]:
        return [found[0][1]]  # a total, a note, a group: hardly what the first column's name says
    said = [
        (" / ".join(filter(None, labels)), cell) for labels, cell in found if cell not in _NOTHING
    ]
    return [f"{label}: {cell}" if label and label != cell else cell for label, cell in said]


def _is_key_value_table(grid: list[list[str]]) -> bool:
    """Whether the rows are pairs of a name and what it is: two columns, the names short, of words,
    and each given once.
    """
    pairs = [row for row in grid if len(row) == 2 and row[0] and row[1] not in _NOTHING]
    if len(pairs) < 0.6 * len(grid) or any(len(row) > 2 for row in grid):
        return False
    keys = [row[0] for row in pairs]
    named = all(
        len(key) <= _LONGEST_KEY and any(map(str.isalpha, key)) and key[-1] not in _SENTENCE_ENDS
        for key in keys
    )
    return named and len(set(keys)) == len(keys)


def _format_key_values(grid: list[list[str]]) -> list[str]:
    lines = []
    for row in grid:
        key, value = row[0], "" if len(row) < 2 or row[1] == ACROSS else row[1]
        lines.append(f"{_strip_colon(key)}: {value}" if key and value else key or value)
    return lines

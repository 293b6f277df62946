"""The grid of a Word table: which cells a row has, what merged cells cover, which rows are its
header. Every row is given all its columns, so that what is merged downwards is said in each row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from citewell.ingest.office.word_numbering import W
from citewell.ingest.office.word_styles import get_value
from citewell.ingest.tables.header import ACROSS

_WIDEST: Final = 200  # columns that one cell may cover
_OFF: Final = frozenset({"0", "false", "off"})


def get_rows(table: Any) -> list[Any]:
    """The `w:tr` of a table, those in content controls too, none of a table in a cell."""
    return [row for row in table.iter(f"{W}tr") if _find_ancestor(row, f"{W}tbl") is table]


def get_cells(row: Any) -> list[Any]:
    return [cell for cell in row.iter(f"{W}tc") if _find_ancestor(cell, f"{W}tr") is row]


def _find_ancestor(element: Any, tag: str) -> Any:
    """The nearest element of this kind around another: not always its parent."""
    above = element.getparent()
    while above is not None and above.tag != tag:
        above = above.getparent()
    return above


def build_table_grid(rows: list[Any], read: Callable[[Any], str]) -> list[list[str]]:
    """The text of each row's cells; `read` gives that of a cell, called once for each in order."""
    above: dict[int, str] = {}  # by column: what a cell that is merged downwards says
    grid = []
    for row in rows:
        texts = [""] * _get_number(row.find(f"{W}trPr"), "gridBefore", 0)
        for cell in get_cells(row):
            properties = cell.find(f"{W}tcPr")
            text = read(cell)
            merge = None if properties is None else properties.find(f"{W}vMerge")
            if merge is not None and merge.get(f"{W}val") != "restart":
                text = text or above.get(len(texts), "")
            above[len(texts)] = text
            texts += [
                text,
                *[ACROSS if text else ""] * (_get_number(properties, "gridSpan", 1) - 1),
            ]
        grid.append(texts)
    return grid


def count_header_rows(rows: list[Any]) -> int | None:
    """How many first rows are the header (repeated on every page); None where nothing is said."""
    count = 0
    for row in rows:
        mark = row.find(f"{W}trPr/{W}tblHeader")
        if mark is None or mark.get(f"{W}val") in _OFF:
            break
        count += 1
    return count if 0 < count < len(rows) else None


def is_first_row_bold(rows: list[Any]) -> bool:
    """Whether the first row, and no other, is set in bold: then it is hardly like the others."""
    return len(rows) > 1 and _is_bold(rows[0]) and not any(_is_bold(row) for row in rows[1:4])


def _is_bold(row: Any) -> bool:
    runs = [
        run
        for run in row.iter(f"{W}r")
        if "".join(text.text or "" for text in run.iter(f"{W}t")).strip()
    ]
    marks = [run.find(f"{W}rPr/{W}b") for run in runs]
    return bool(runs) and all(
        mark is not None and mark.get(f"{W}val") not in _OFF for mark in marks
    )


def _get_number(properties: Any | None, name: str, default: int) -> int:
    text = "" if properties is None else get_value(properties, name)
    return min(int(text), _WIDEST) if text.isascii() and text.isdigit() else default

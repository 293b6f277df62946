"""Rows of a table on the terminal: figures to the right, as wide as the window; too many columns,
one below the other. A cell is printed as text on one line, and what is left out is counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from citewell.interfaces.cli.output.terminal import style_text, write_paragraph
from citewell.sql.cell_text import format_number, format_plain_number, shorten_text
from citewell.sql.column_label import Label, build_headings, label_columns
from citewell.sql.engines.engine import Kind, Rows, Value
from citewell.types import TableData

MOST_ROWS = 20
MOST_RECORDS = 5  # rows that are shown with a line for each column
MUST_BE_SEEN = 14  # characters of a column, without which a table is no longer read
LONGEST = 200  # characters of a cell
UNBOUND = 100_000  # columns of a pipe, in which nothing is cut
NULL = "–"
_MORE = {"en": "… {n} more", "zh": "… 还有 {n} 行"}
_TRUNCATED = {"en": "; there are more that were not read", "zh": "，另有未读取的行"}
_ROW = {"en": "row {n}", "zh": "第 {n} 行"}


def as_rows(data: TableData) -> Rows:
    """With the kinds of the columns, as far as their values show them."""
    kinds = [_detect_kind([row[at] for row in data.rows]) for at in range(len(data.columns))]
    return Rows(
        tuple(data.columns), tuple(kinds), tuple(tuple(row) for row in data.rows), data.truncated
    )


def _detect_kind(values: Sequence[Value]) -> Kind:
    there = [value for value in values if value is not None]
    if there and all(isinstance(value, bool) for value in there):
        return "bool"
    return (
        "number"
        if there and all(isinstance(v, int | float) and not isinstance(v, bool) for v in there)
        else "text"
    )


def show_rows(console: Console, rows: Rows, lang: str) -> None:
    """The first rows, and how many there are besides."""
    known, names = label_columns(rows, lang), build_headings(rows, lang)
    wide = sum(_compute_min_width(rows, names, known, at) + 3 for at in range(len(known)))
    if console.is_terminal and wide > console.width and len(rows.columns) > 1:
        shown = _print_records(console, rows, names, known, lang)
    else:
        shown = _print_table(console, rows, names, known)
    if len(rows.rows) > shown or rows.truncated:
        left = len(rows.rows) - shown
        text = _MORE[lang].format(n=f"{left:,}") if left else "…"
        write_paragraph(console, text + (_TRUNCATED[lang] if rows.truncated else ""), "dim")


def _compute_min_width(rows: Rows, names: Sequence[str], known: Sequence[Label], at: int) -> int:
    """How wide a column is, or as much of it as must be seen."""
    cells = [format_cell(row[at], known[at]).cell_len for row in rows.rows[:MOST_ROWS]]
    return min(MUST_BE_SEEN, max([*cells, cell_len(names[at])]))


def _print_table(console: Console, rows: Rows, names: Sequence[str], known: Sequence[Label]) -> int:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, safe_box=True)
    for name, kind in zip(names, rows.kinds, strict=True):
        figures = kind == "number"
        table.add_column(
            style_text(shorten_text(name, LONGEST), "bold"),
            justify="right" if figures else "left",
            overflow="ellipsis",
            no_wrap=True,
        )
    for row in rows.rows[:MOST_ROWS]:
        table.add_row(*(format_cell(value, label) for value, label in zip(row, known, strict=True)))
    paper = (
        console
        if console.is_terminal
        else Console(file=console.file, width=UNBOUND, highlight=False, color_system=None)
    )
    paper.print(table)
    return min(MOST_ROWS, len(rows.rows))


def _print_records(
    console: Console, rows: Rows, names: Sequence[str], known: Sequence[Label], lang: str
) -> int:
    width = min(console.width // 2, max(cell_len(name) for name in names))
    for n, row in enumerate(rows.rows[:MOST_RECORDS], start=1):
        console.print(style_text(_ROW[lang].format(n=n), "dim"))
        for name, value, label in zip(names, row, known, strict=True):
            head = style_text(shorten_text(name, LONGEST), "bold")
            head.truncate(width, overflow="ellipsis", pad=True)
            line = head + Text("  ") + format_cell(value, label)
            line.no_wrap, line.overflow = True, "ellipsis"
            console.print(line)
    return min(MOST_RECORDS, len(rows.rows))


def format_cell(value: Value, label: Label) -> Text:
    """One cell."""
    if value is None:
        return style_text(NULL, "dim")
    if isinstance(value, bool):
        return style_text("true" if value else "false")
    if isinstance(value, int | float):
        return style_text(
            format_number(value) if label.role == "quantity" else format_plain_number(value)
        )
    return style_text(shorten_text(value, LONGEST))

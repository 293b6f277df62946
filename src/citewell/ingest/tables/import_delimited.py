"""Separated values into a table. A file is never cut short: half of a table gives wrong sums."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from typing import Final, Literal

from citewell.errors import UnreadableFile
from citewell.ingest.assemble import get_file_stem
from citewell.ingest.markup.delimited import MOST_LINES, detect_separator, read_fields
from citewell.ingest.tables.column_names import clean_name
from citewell.ingest.tables.header_rows import locate_header
from citewell.ingest.tables.layout import LONG, Layout, find_tables, number_rows
from citewell.ingest.tables.table_store import MOST_COLUMNS, Store
from citewell.ingest.tables.table_text import build_column_names, to_one_line
from citewell.messages import Text
from citewell.text.charset import decode_text

_SAMPLE: Final = 400  # rows in which the header is looked for

Quoting = Literal[0, 3]


def import_tables(store: Store, data: bytes, name: str) -> None:
    """Raises UnreadableFile where it is no text, or no table."""
    text, warnings = decode_text(data, name)
    store.done.warnings += warnings
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    if not text.strip():
        raise UnreadableFile(Text("{name} holds no text", name=name))
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep=") and len(first.strip()) == 5:
        separator, text = first[4], rest  # as Excel writes and reads it
    else:
        separator = detect_separator(text, "\t" if name.lower().endswith((".tsv", ".tab")) else ",")
    quoting = _detect_quoting(text, separator, store)
    sample = list(islice(_read_rows(text, separator, quoting), LONG + 1))
    widest = max(map(len, sample), default=0)
    if widest > MOST_COLUMNS:
        hint = Text("leave columns out, or turn it so that they are rows")
        raise UnreadableFile(
            Text(
                "{name} has {widest:,} columns; {most_columns:,} are read",
                name=name,
                widest=widest,
                most_columns=MOST_COLUMNS,
            ),
            hint=hint,
        )
    comma = separator == ";"
    if len(sample) > LONG:
        _stream_table(store, sample, _read_rows(text, separator, quoting), name, comma=comma)
        return
    found = find_tables([[cell.strip() for cell in row] for row in sample], beside=False)
    _add_tables(store, found, name, comma=comma)


def _add_tables(store: Store, found: Layout, name: str, *, comma: bool) -> None:
    for table in found.tables:
        wanted = (
            get_file_stem(name)
            if len(found.tables) == 1
            else (clean_name(table.titles[-1]) if table.titles else get_file_stem(name))
        )
        rows = _replace_empty_cells(number_rows(table.rows))
        added = store.add_text(
            wanted, table.names, rows, decimal_comma=comma, sheet=True, headed=table.headed
        )
        if table.titles:
            store.comment(added.name, "", "; ".join(table.titles)[:500])
    store.done.warnings += found.warnings
    if not store.done.tables:
        raise UnreadableFile(Text("{name} holds no table", name=name))


def _stream_table(
    store: Store, sample: list[list[str]], rows: Iterator[list[str]], name: str, *, comma: bool
) -> None:
    """One table, whose rows pass by one after the other."""
    first = [[cell.strip() for cell in row] for row in sample[:_SAMPLE]]
    held = [n for n, row in enumerate(first) if any(row)]
    skip, depth = locate_header([first[n] for n in held])
    start = held[skip + depth] if skip + depth < len(held) else len(first)
    names = build_column_names(
        [[to_one_line(cell) for cell in first[n]] for n in held[skip : skip + depth]]
    )
    width = max(len(names), *(len(row) for row in sample))
    wider: list[int] = []
    body = _iterate_body_rows(rows, start, width, wider)
    names += [""] * (width - len(names))
    added = store.add_text(
        get_file_stem(name), names, body, decimal_comma=comma, sheet=True, headed=depth > 0
    )
    if wider:
        more = Text(
            "{wider:,} rows have more cells than the table has columns, row {wider2} first",
            wider=len(wider),
            wider2=wider[0],
        )
        store.warn(added.name, Text("{more}; these cells are left out", more=more))


def _iterate_body_rows(
    rows: Iterator[list[str]], start: int, width: int, wider: list[int]
) -> Iterator[list[str | None]]:
    for number, row in enumerate(islice(rows, start, None), start + 1):
        cells: list[str | None] = [cell.strip() or None for cell in row]
        if not any(cells):
            continue
        if len(cells) > width:
            if any(cells[width:]):
                wider.append(number)
            del cells[width:]
        yield [str(number), *cells, *[None] * (width - len(cells))]


def _replace_empty_cells(rows: Iterator[list[str]]) -> Iterator[list[str | None]]:
    """An empty cell holds nothing: in such files nobody can write an empty text."""
    for row in rows:
        yield [cell or None for cell in row]


def _read_rows(text: str, separator: str, quoting: Quoting) -> Iterator[list[str]]:
    try:
        yield from read_fields(text, separator, quoting)
    except csv.Error as error:
        raise UnreadableFile(
            Text("it is no table that can be read: {error}", error=error)
        ) from None


def _detect_quoting(text: str, separator: str, store: Store) -> Quoting:
    """Whether quotes are signs of the format. Not where one was opened and never closed: it would
    swallow the rest.
    """
    if '"' not in text:
        return csv.QUOTE_NONE
    try:
        runaway = any(
            field.count("\n") > MOST_LINES
            for row in read_fields(text, separator)
            for field in row
            if "\n" in field
        )
    except csv.Error:
        runaway = True
    if runaway:
        store.done.warnings.append(
            Text("a quote is opened and not closed; quotes are read as letters")
        )
        return csv.QUOTE_NONE
    return csv.QUOTE_MINIMAL

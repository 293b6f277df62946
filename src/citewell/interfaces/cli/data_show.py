"""`citewell data show`: the tables of a source, for people. The one rule: cells are shown as text
on one line, never obeyed.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.table import Table as Grid

from citewell.interfaces.cli.data import brief, facts
from citewell.interfaces.cli.run import DONE
from citewell.interfaces.cli.terminal import one_line, out, plain, print_json, styled, warn, write
from citewell.runtime.app import App
from citewell.service.tables.kept_schema import schema_of
from citewell.service.tables.preview_tables import preview
from citewell.service.tables.sources import get_source
from citewell.sql.engines.engine import Column, Rows, Table
from citewell.store.sources import Source

MOST_VALUES = 6  # stored values shown of a column
LONGEST = 60  # characters of a cell


async def show_one(app: App, name: str, table: str | None, rows: int, *, json: bool) -> int:
    """All tables with their columns; with `table` that one and its first rows."""
    source = await get_source(app, name)
    if table is not None:
        found, first = await preview(app, name, table, rows)
        source = await get_source(app, name)
        if json:
            print_json({"name": source.name, "table": asdict(found), "rows": as_objects(first)})
        else:
            show_table(found)
            show_rows(first)
        return DONE
    if json:
        print_json({**brief(source), "tables": source.tables})
        return DONE
    _show(source)
    return DONE


def _show(source: Source) -> None:
    console = out()
    write(console, styled(one_line(source.name), "bold cyan") + styled(f" {facts(source)}", "dim"))
    if source.problem:
        warn(source.problem)
    for table in schema_of(source).tables:
        console.print()
        show_table(table)
    if source.glossary:
        console.print()
        write(console, styled("glossary", "bold"))
        for term in source.glossary:
            write(console, styled(term.term, "cyan") + styled(f" = {term.meaning}"), indent=2)
    for warning in source.warnings:
        warn(warning)


def show_table(table: Table) -> None:
    """Its columns with types, comments, stored values and keys."""
    console = out()
    rows = "" if table.rows is None else f"  {table.rows:,} {'row' if table.rows == 1 else 'rows'}"
    comment = f"  {one_line(table.comment)}" if table.comment else ""
    write(console, styled(one_line(table.name), "bold") + styled(rows + comment, "dim"))
    width = max((len(one_line(column.name)) for column in table.columns), default=0)
    for column in table.columns:
        name = one_line(column.name).ljust(min(width, 30))
        key = " key" if column.name in table.primary_key else ""
        about = "; ".join(filter(None, (one_line(column.comment), values_of(column))))
        write(
            console,
            styled(name, "cyan")
            + styled(f" {column.type.lower()}{key}", "dim")
            + styled(f"  {about}" if about else ""),
            2,
        )
    for foreign in table.foreign_keys:
        target = f"{foreign.table}({', '.join(foreign.target_columns)})"
        write(console, styled(f"{', '.join(foreign.columns)} → {target}", "dim"), 2)


def values_of(column: Column) -> str:
    """What stands in a column: its values, or from where to where they go."""
    if column.values:
        shown = [_cell(value) for value in column.values[:MOST_VALUES]]
        more = (column.distinct or len(column.values)) - len(shown)
        return ", ".join(shown) + (f" … {more:,} more" if more > 0 else "")
    if column.lowest is not None and column.highest is not None:
        return f"{_cell(column.lowest)} to {_cell(column.highest)}"
    return ""


def show_rows(rows: Rows) -> None:
    console = out()
    grid = Grid(box=None, header_style="bold", pad_edge=False)
    for name, kind in zip(rows.columns, rows.kinds, strict=True):
        grid.add_column(styled(one_line(name)), justify="right" if kind == "number" else "left")
    for row in rows.rows:
        grid.add_row(*(styled(_cell(value)) for value in row))
    console.print()
    console.print(grid)


def as_objects(rows: Rows) -> dict[str, Any]:
    return {
        "columns": list(rows.columns),
        "kinds": list(rows.kinds),
        "rows": [list(row) for row in rows.rows],
    }


def _cell(value: object) -> str:
    text = "" if value is None else one_line(plain(str(value)))
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"

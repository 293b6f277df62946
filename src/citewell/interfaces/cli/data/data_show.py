"""`citewell data show`: a source's tables for people, each cell as text on one line."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table as Grid

from citewell.interfaces.cli.arguments import Json, SourceName, option
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    get_stdout,
    print_json,
    print_parts,
    print_text,
    print_warning,
    strip_controls,
    style_text,
)
from citewell.interfaces.cli.run import DONE, command
from citewell.runtime.app import App
from citewell.service.tables.kept_schema import load_schema
from citewell.service.tables.preview_tables import preview_table
from citewell.sql.engines.engine import Column, Rows, Table
from citewell.store.source_rows import Source

MOST_VALUES = 6  # stored values shown of a column
LONGEST = 60  # characters of a cell


@command
async def show_source(
    app: App,
    name: SourceName,
    table: Annotated[str | None, option("Only this table, with its first rows.")] = None,
    rows: Annotated[int, typer.Option(min=0, max=1_000, help="With --table: so many rows.")] = 10,
    json: Json = False,
) -> int:
    """Show one: its tables, columns, types, stored values."""
    source = await app.sources.get(name)
    if table is not None:
        found, first = await preview_table(app, name, table, rows)
        source = await app.sources.get(name)
        if json:
            return print_json(
                {"name": source.name, "table": asdict(found), "rows": as_objects(first)}
            )
        show_table(found)
        show_rows(first)
        return DONE
    if json:
        return print_json({**summarize_source(source), "tables": source.tables})
    _show_schema(source)
    return DONE


def _show_schema(source: Source) -> None:
    print_parts((escape_line_breaks(source.name), "bold cyan"), (f" {format_facts(source)}", "dim"))
    if source.problem:
        print_warning(source.problem)
    for table in load_schema(source).tables:
        get_stdout().print()
        show_table(table)
    for warning in source.warnings:
        print_warning(warning)


def summarize_source(source: Source) -> dict[str, Any]:
    """A source without the columns of its tables."""
    tables = [
        {"name": table["name"], "rows": table["rows"], "columns": len(table["columns"])}
        for table in source.tables
    ]
    return {
        **source.model_dump(mode="json", exclude={"tables", "path", "stat", "description"}),
        "tables": tables,
    }


def format_facts(source: Source) -> str:
    """Where it is, and when it was read."""
    read = time.strftime("%Y-%m-%d %H:%M", time.localtime(source.refreshed_at))
    kind = (
        "file"
        if source.is_file
        else {"postgres": "PostgreSQL", "mysql": "MySQL"}.get(source.dialect, "SQLite")
    )
    return f"{kind} {escape_line_breaks(source.location)}, read {read}"


def show_table(table: Table) -> None:
    """Its columns with types, comments, stored values and keys."""
    rows = "" if table.rows is None else f"  {table.rows:,} {'row' if table.rows == 1 else 'rows'}"
    comment = f"  {escape_line_breaks(table.comment)}" if table.comment else ""
    print_parts((escape_line_breaks(table.name), "bold"), (rows + comment, "dim"))
    width = max((len(escape_line_breaks(column.name)) for column in table.columns), default=0)
    for column in table.columns:
        name = escape_line_breaks(column.name).ljust(min(width, 30))
        key = " key" if column.name in table.primary_key else ""
        about = "; ".join(filter(None, (escape_line_breaks(column.comment), format_values(column))))
        print_parts(
            (name, "cyan"),
            (f" {column.type.lower()}{key}", "dim"),
            f"  {about}" if about else "",
            indent=2,
        )
    for foreign in table.foreign_keys:
        target = f"{foreign.table}({', '.join(foreign.target_columns)})"
        print_text(f"{', '.join(foreign.columns)} → {target}", "dim", indent=2)


def format_values(column: Column) -> str:
    """What stands in a column: its values, or from where to where they go."""
    if column.values:
        shown = [_format_cell(value) for value in column.values[:MOST_VALUES]]
        more = (column.distinct or len(column.values)) - len(shown)
        return ", ".join(shown) + (f" … {more:,} more" if more > 0 else "")
    if column.lowest is not None and column.highest is not None:
        return f"{_format_cell(column.lowest)} to {_format_cell(column.highest)}"
    return ""


def show_rows(rows: Rows) -> None:
    console = get_stdout()
    grid = Grid(box=None, header_style="bold", pad_edge=False)
    for name, kind in zip(rows.columns, rows.kinds, strict=True):
        grid.add_column(
            style_text(escape_line_breaks(name)), justify="right" if kind == "number" else "left"
        )
    for row in rows.rows:
        grid.add_row(*(style_text(_format_cell(value)) for value in row))
    console.print()
    console.print(grid)


def as_objects(rows: Rows) -> dict[str, Any]:
    return {
        "columns": list(rows.columns),
        "kinds": list(rows.kinds),
        "rows": [list(row) for row in rows.rows],
    }


def _format_cell(value: object) -> str:
    text = "" if value is None else escape_line_breaks(strip_controls(str(value)))
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"

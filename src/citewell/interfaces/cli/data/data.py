"""`citewell data`: add, list, remove, refresh; a source that fails stops no other."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from citewell.errors import CitewellError, Conflict
from citewell.interfaces.cli.arguments import Json, SourceName, argument, option
from citewell.interfaces.cli.data.data_ask import ask_data
from citewell.interfaces.cli.data.data_describe import describe_source
from citewell.interfaces.cli.data.data_import import import_semantics
from citewell.interfaces.cli.data.data_query import query, saved_group
from citewell.interfaces.cli.data.data_show import format_facts, show_source, summarize_source
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    print_error,
    print_json,
    print_parts,
    print_text,
    print_warning,
)
from citewell.interfaces.cli.run import DONE, ERROR, command
from citewell.interfaces.problem import to_problem
from citewell.runtime.app import App
from citewell.service.tables import sources as service
from citewell.service.tables.sources import Added
from citewell.sql.engines import mask_url
from citewell.store.source_rows import Source

MOST_TABLES = 8  # that a line of a list names


@command
async def add_sources(
    app: App,
    locations: Annotated[
        list[str], argument("Files with tables, or URLs of databases.", "FILE|URL...")
    ],
    name: Annotated[
        str | None, option("What it is called; else after the file or the database.")
    ] = None,
    json: Json = False,
) -> int:
    """Add tables: CSV, TSV, XLSX, XLS, ODS, Parquet, JSON, SQLite files; PostgreSQL, MySQL, SQLite
    by URL.
    """
    if name is not None and len(locations) > 1:
        raise typer.BadParameter("--name goes with one FILE or URL")
    # Exit 1 where one could not be added.
    told, failed = [], False
    for location in locations:
        try:
            added = await service.add_source(app, location, name)
        except CitewellError as error:
            failed = True
            told.append({"location": mask_url(location), "status": "failed", **to_problem(error)})
            print_error(error)
            continue
        told.append(_report_added(added, json=json))
    if json:
        print_json({"sources": told})
    return ERROR if failed else DONE


@command
async def show_sources(app: App, json: Json = False) -> int:
    """List the sources that were added."""
    sources = await service.list_sources(app)
    if json:
        return print_json({"sources": [summarize_source(source) for source in sources]})
    if not sources:
        print_text("no tables yet; `citewell data add FILE|URL` adds some")
    for source in sources:
        print_parts((escape_line_breaks(source.name), "cyan"), (f" {format_facts(source)}", "dim"))
        print_text(_format_tables(source), indent=2)
        if source.problem:
            print_warning(f"{source.name}: {source.problem}")
    return DONE


@command
async def remove_source(app: App, name: SourceName, json: Json = False) -> int:
    """Remove a source and the copy of its file; the file or the database itself stays as it is."""
    source = await service.remove_source(app, name)
    if json:
        return print_json(summarize_source(source))
    left = "its file stays where it is" if source.is_file else "the database stays as it is"
    print_text(f"removed {escape_line_breaks(source.name)}; {left}")
    return DONE


@command
async def refresh_sources(
    app: App,
    name: Annotated[str | None, argument("The source; else all.", "[NAME]")] = None,
    json: Json = False,
) -> int:
    """Read files and databases again, whether they seem changed or not."""
    # One, or all but those whose bytes were sent.
    names = (
        [name] if name is not None else [source.name for source in await service.list_sources(app)]
    )
    told, failed = [], False
    for each in names:
        try:
            added = await service.refresh_source(app, each)
        except Conflict as error:
            if name is not None:
                raise
            print_warning(error.message)
            continue
        except CitewellError as error:
            if name is not None:
                raise
            failed = True
            told.append({"name": each, "status": "failed", **to_problem(error)})
            print_error(error)
            continue
        told.append(_report_added(added, json=json))
    if json:
        print_json({"sources": told})
    return ERROR if failed else DONE


def summarize_added(added: Added) -> dict[str, Any]:
    return {"status": added.status, **summarize_source(added.source), "warnings": added.warnings}


def _report_added(added: service.Added, *, json: bool) -> dict[str, Any]:
    """What came of one source, for `--json`; shown to people, with its warnings, on the way."""
    if not json:
        _show_added(added)
    for warning in added.warnings:
        print_warning(f"{added.source.name}: {warning}")
    return summarize_added(added)


def _show_added(added: Added) -> None:
    print_parts((f"{added.status} ", "green"), (escape_line_breaks(added.source.name), "cyan"))
    print_text(_format_tables(added.source), indent=2)


def _format_tables(source: Source) -> str:
    shown = [
        f"{escape_line_breaks(table['name'])} ({_format_table_size(table)})"
        for table in source.tables[:MOST_TABLES]
    ]
    more = len(source.tables) - len(shown)
    return ", ".join(shown) + (f" and {more} more tables" if more else "") if shown else "no tables"


def _format_table_size(table: dict[str, Any]) -> str:
    columns = len(table["columns"])
    rows = (
        ""
        if table["rows"] is None
        else f"{table['rows']:,} {'row' if table['rows'] == 1 else 'rows'}, "
    )
    return f"{rows}{columns} {'column' if columns == 1 else 'columns'}"


group = create_group(
    "Tables that are asked: files and databases.",
    {
        "add": add_sources,
        "list": show_sources,
        "show": show_source,
        "remove": remove_source,
        "refresh": refresh_sources,
        "describe": describe_source,
        "import": import_semantics,
        "ask": ask_data,
        "query": query,
    },
)
group.add_typer(saved_group, name="saved")

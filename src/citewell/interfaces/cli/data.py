"""`citewell data`: add, list, remove, refresh, glossary.

The one rule: each source is told of by itself; one that fails stops no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from citewell.errors import CitewellError, Conflict
from citewell.interfaces.cli.arguments import Json, SourceName
from citewell.interfaces.cli.data_ask import run_ask
from citewell.interfaces.cli.data_glossary import run_glossary
from citewell.interfaces.cli.data_show import format_facts, run_show, summarize_source
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.run import DONE, ERROR, run
from citewell.interfaces.cli.terminal import (
    escape_line_breaks,
    get_stdout,
    print_error,
    print_json,
    print_warning,
    style_text,
    write_paragraph,
)
from citewell.interfaces.problem import to_problem
from citewell.runtime.app import App
from citewell.service.tables import sources as service
from citewell.service.tables.sources import Added
from citewell.sql.engines import mask_url
from citewell.store.sources import Source

MOST_TABLES = 8  # that a line of a list names


def run_add(
    locations: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|URL...",
            help="Files with tables, or URLs of databases.",
            show_default=False,
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            help="What it is called; else after the file or the database.", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Add tables: CSV, TSV, XLSX, XLS, ODS, Parquet, JSON, SQLite files; PostgreSQL, MySQL, SQLite
    by URL.
    """
    if name is not None and len(locations) > 1:
        raise typer.BadParameter("--name goes with one FILE or URL")
    run(lambda app: add_sources(app, locations, name, json=json), json=json)


def run_list(json: Json = False) -> None:
    """List the sources that were added."""
    run(lambda app: show_sources(app, json=json), json=json)


def run_remove(name: SourceName, json: Json = False) -> None:
    """Remove a source and the copy of its file; the file or the database itself stays as it is."""
    run(lambda app: remove_source(app, name, json=json), json=json)


def run_refresh(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="The source; else all.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Read files and databases again, whether they seem changed or not."""
    run(lambda app: refresh_sources(app, name, json=json), json=json)


async def add_sources(app: App, locations: Sequence[str], name: str | None, *, json: bool) -> int:
    """Exit 1 where one could not be added."""
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


async def show_sources(app: App, *, json: bool) -> int:
    sources = await service.list_sources(app)
    if json:
        print_json({"sources": [summarize_source(source) for source in sources]})
        return DONE
    if not sources:
        write_paragraph(
            get_stdout(), style_text("no tables yet; `citewell data add FILE|URL` adds some")
        )
    for source in sources:
        write_paragraph(
            get_stdout(),
            style_text(escape_line_breaks(source.name), "cyan")
            + style_text(f" {format_facts(source)}", "dim"),
        )
        write_paragraph(get_stdout(), style_text(_format_tables(source)), indent=2)
        if source.problem:
            print_warning(f"{source.name}: {source.problem}")
    return DONE


async def remove_source(app: App, name: str, *, json: bool) -> int:
    source = await service.remove_source(app, name)
    if json:
        print_json(summarize_source(source))
    else:
        left = "its file stays where it is" if source.is_file else "the database stays as it is"
        write_paragraph(
            get_stdout(), style_text(f"removed {escape_line_breaks(source.name)}; {left}")
        )
    return DONE


async def refresh_sources(app: App, name: str | None, *, json: bool) -> int:
    """One, or all but those whose bytes were sent."""
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
    console = get_stdout()
    write_paragraph(
        console,
        style_text(f"{added.status} ", "green")
        + style_text(escape_line_breaks(added.source.name), "cyan"),
    )
    write_paragraph(console, style_text(_format_tables(added.source)), indent=2)


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
        "add": run_add,
        "list": run_list,
        "show": run_show,
        "remove": run_remove,
        "refresh": run_refresh,
        "glossary": run_glossary,
        "ask": run_ask,
    },
)

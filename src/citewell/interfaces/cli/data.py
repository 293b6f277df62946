"""`citewell data`: add, list, remove, refresh, glossary.

The one rule: each source is told of by itself; one that fails stops no other.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from citewell.errors import CitewellError, Conflict
from citewell.interfaces.cli.run import DONE, ERROR
from citewell.interfaces.cli.terminal import fail, one_line, out, print_json, styled, warn, write
from citewell.interfaces.problem import problem_of
from citewell.runtime.app import App
from citewell.service.tables import sources as service
from citewell.service.tables.glossary import glossary_file, term_of
from citewell.service.tables.sources import Added
from citewell.store.sources import Source

MOST_TABLES = 8  # that a line of a list names


async def add(app: App, locations: Sequence[str], name: str | None, *, json: bool) -> int:
    """Exit 1 where one could not be added."""
    told, failed = [], False
    for location in locations:
        try:
            added = await service.add_source(app, location, name)
        except CitewellError as error:
            failed = True
            told.append({"location": _safe(location), "status": "failed", **problem_of(error)})
            fail(error)
            continue
        told.append(_told(added, json=json))
    if json:
        print_json({"sources": told})
    return ERROR if failed else DONE


async def show_all(app: App, *, json: bool) -> int:
    sources = await service.list_sources(app)
    if json:
        print_json({"sources": [brief(source) for source in sources]})
        return DONE
    if not sources:
        write(out(), styled("no tables yet; `citewell data add FILE|URL` adds some"))
    for source in sources:
        write(out(), styled(one_line(source.name), "cyan") + styled(f" {facts(source)}", "dim"))
        write(out(), styled(_tables(source)), indent=2)
        if source.problem:
            warn(f"{source.name}: {source.problem}")
    return DONE


async def remove(app: App, name: str, *, json: bool) -> int:
    source = await service.remove_source(app, name)
    if json:
        print_json(brief(source))
    else:
        left = "its file stays where it is" if source.is_file else "the database stays as it is"
        write(out(), styled(f"removed {one_line(source.name)}; {left}"))
    return DONE


async def refresh(app: App, name: str | None, *, json: bool) -> int:
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
            warn(error.message)
            continue
        except CitewellError as error:
            if name is not None:
                raise
            failed = True
            told.append({"name": each, "status": "failed", **problem_of(error)})
            fail(error)
            continue
        told.append(_told(added, json=json))
    if json:
        print_json({"sources": told})
    return ERROR if failed else DONE


async def glossary(
    app: App, name: str, said: Sequence[str], remove: Sequence[str], file: str | None, *, json: bool
) -> int:
    """Show it, after changes where there are some. A file adds to what is there."""
    put = await glossary_file(Path(file)) if file else []
    put += [term_of(each) for each in said]
    source = await (
        service.change_glossary(app, name, put, remove)
        if put or remove
        else service.get_source(app, name)
    )
    if json:
        print_json(
            {"name": source.name, "glossary": [term.model_dump() for term in source.glossary]}
        )
        return DONE
    if not source.glossary:
        write(out(), styled(f"{one_line(name)} has no glossary; --set TERM=MEANING begins one"))
    for term in source.glossary:
        write(out(), styled(term.term, "cyan") + styled(f" = {term.meaning}"))
    return DONE


def brief(source: Source) -> dict[str, Any]:
    """A source without the columns of its tables."""
    tables = [
        {"name": table["name"], "rows": table["rows"], "columns": len(table["columns"])}
        for table in source.tables
    ]
    return {**source.model_dump(mode="json", exclude={"tables", "path", "stat"}), "tables": tables}


def summary(added: Added) -> dict[str, Any]:
    return {"status": added.status, **brief(added.source), "warnings": added.warnings}


def facts(source: Source) -> str:
    """Where it is, and when it was read."""
    read = time.strftime("%Y-%m-%d %H:%M", time.localtime(source.refreshed_at))
    kind = (
        "file"
        if source.is_file
        else {"postgres": "PostgreSQL", "mysql": "MySQL"}.get(source.dialect, "SQLite")
    )
    return f"{kind} {one_line(source.location)}, read {read}"


def _told(added: service.Added, *, json: bool) -> dict[str, Any]:
    """What came of one source, for `--json`; shown to people, with its warnings, on the way."""
    if not json:
        _show_added(added)
    for warning in added.warnings:
        warn(f"{added.source.name}: {warning}")
    return summary(added)


def _show_added(added: Added) -> None:
    console = out()
    write(
        console, styled(f"{added.status} ", "green") + styled(one_line(added.source.name), "cyan")
    )
    write(console, styled(_tables(added.source)), indent=2)


def _tables(source: Source) -> str:
    shown = [
        f"{one_line(table['name'])} ({_count(table)})" for table in source.tables[:MOST_TABLES]
    ]
    more = len(source.tables) - len(shown)
    return ", ".join(shown) + (f" and {more} more tables" if more else "") if shown else "no tables"


def _count(table: dict[str, Any]) -> str:
    columns = len(table["columns"])
    rows = (
        ""
        if table["rows"] is None
        else f"{table['rows']:,} {'row' if table['rows'] == 1 else 'rows'}, "
    )
    return f"{rows}{columns} {'column' if columns == 1 else 'columns'}"


def _safe(location: str) -> str:
    from citewell.sql.engines import shown  # as little as possible is loaded for `--help`

    return shown(location)

"""A look at a source's tables: their first rows, asked guarded and limited as any."""

from __future__ import annotations

import difflib
from typing import Final

from citewell.errors import InvalidInput, NotFound
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.tables.kept_schema import get_table_names, load_schema
from citewell.service.tables.open_source import open_source
from citewell.sql import run_statement as tables
from citewell.sql.engines.engine import Dialect, Limits, Rows, Table
from citewell.store.source_rows import Source

MOST_ROWS: Final = 1_000
_NAMED: Final = 20  # tables that a hint names


async def preview_table(app: App, name: str, table: str, count: int) -> tuple[Table, Rows]:
    """The first `count` rows of a table. Raises NotFound, with near names, and as asking does."""
    if not 0 <= count <= MOST_ROWS:
        raise InvalidInput(
            Text("{count} rows: 0 to {most_rows:,} can be shown", count=count, most_rows=MOST_ROWS)
        )
    async with open_source(app, name) as (source, engine):
        found = find_table(source, table)
        settings = app.settings.data
        limits = Limits(
            seconds=settings.statement_seconds, rows=max(1, count), memory_mib=settings.memory_mib
        )
        sql = f"SELECT * FROM {_quote_name(found.name, source.dialect)} LIMIT {count}"  # noqa: S608 the schema's own name
        return found, await tables.run_query(engine, sql, limits, get_table_names(source))


def find_table(source: Source, name: str) -> Table:
    """Raises NotFound, with near names."""
    known = {table.name: table for table in load_schema(source).tables}
    if name in known:
        return known[name]
    same = [table for each, table in known.items() if each.casefold() == name.casefold()]
    if len(same) == 1:
        return same[0]
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = (
        Text("did you mean {close}?", close=" or ".join(close))
        if close
        else Text("there are: {known}", known=", ".join(list(known)[:_NAMED]))
    )
    raise NotFound(
        Text("{name} has no table {name2!r}", name=source.name, name2=name[:80]), hint=hint
    )


def _quote_name(name: str, dialect: Dialect) -> str:
    """A schema's name stands before a dot; tables of a file have none in their names."""
    mark = "`" if dialect == "mysql" else '"'
    parts = [name] if dialect == "sqlite" else name.split(".", 1)
    return ".".join(mark + part.replace(mark, mark * 2) + mark for part in parts)

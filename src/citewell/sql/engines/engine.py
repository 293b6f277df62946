"""The protocol of table engines: they describe their schema, and run one read-only statement within
limits. One engine a file. Every statement passes the guard before `run`; the engine enforces
read-only access too.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Dialect = Literal["duckdb", "sqlite", "postgres", "mysql"]
Kind = Literal["number", "text", "date", "bool", "other"]
# what JSON can hold: dates as ISO text, decimals as numbers where exact, bytes as hex
Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Column:
    """`type` is the engine's own name of it. `values`: stored values as text, all of them where
    `distinct` says there are as many, else the commonest. `lowest` and `highest` of numbers and
    dates. `synonyms` of its name, and of stored values as (what people say, what is stored): from
    the source's description.
    """

    name: str
    type: str
    kind: Kind
    comment: str = ""
    values: tuple[str, ...] = ()
    distinct: int | None = None
    lowest: Value = None
    highest: Value = None
    synonyms: tuple[str, ...] = ()
    value_synonyms: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignKey:
    columns: tuple[str, ...]
    table: str
    target_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """`name` as in a statement, unquoted: `orders`, or `sales.orders` outside the default."""

    name: str
    columns: tuple[Column, ...]
    comment: str = ""
    rows: int | None = None
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """All tables and views that may be asked. `notes`: what whoever adds the source should know: a
    role that may do more than read, tables that there was no time to look into.
    """

    dialect: Dialect
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Of the structure alone (names, types, keys): data may change without harm."""
        shape = [
            [
                table.name,
                [[column.name, column.type] for column in table.columns],
                list(table.primary_key),
                [
                    [list(key.columns), key.table, list(key.target_columns)]
                    for key in table.foreign_keys
                ],
            ]
            for table in self.tables
        ]
        return hashlib.sha256(
            json.dumps([self.dialect, shape], ensure_ascii=False).encode()
        ).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one statement: wall seconds, rows, characters of all cells together, MiB of memory."""

    seconds: float = 10.0
    rows: int = 1_000
    characters: int = 1_000_000
    memory_mib: int = 512


@dataclass(frozen=True, slots=True)
class Rows:
    """What a statement gave. `truncated`: there were more rows than the limits allow."""

    columns: tuple[str, ...]
    kinds: tuple[Kind, ...]
    rows: tuple[tuple[Value, ...], ...]
    truncated: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Writing:
    """How rows become a file. `schema`, `sql`, `lang`: for the headings, as people read them."""

    form: Literal["csv", "xlsx"]
    schema: Schema
    sql: str
    lang: str


@dataclass(frozen=True, slots=True)
class Written:
    """What a file holds. `truncated`: there were more rows than the limits allow."""

    rows: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class Location:
    """Where an engine finds its data: the path of a file (duckdb, sqlite) or a URL with its
    password (postgres, mysql). `options`: `values` (how many stored values `inspect` tells of a
    column), `grace` (seconds beyond a statement's limit until its worker is killed).
    """

    dialect: Dialect
    where: str = field(repr=False)
    options: dict[str, Any] = field(default_factory=dict)


class Engine(Protocol):
    """Raises SourceUnavailable (no file, no server, no permission to log in), StatementFailed (the
    engine's own message; `code` `timeout` or `memory` where a limit ended it), nothing else.
    """

    dialect: Dialect

    async def inspect(self) -> Schema:
        """Tables, views, columns with comments and sample values, keys."""
        ...

    async def run(self, sql: str, limits: Limits) -> Rows:
        """One statement, which has passed the guard, read-only by the engine's own means."""
        ...

    async def export(self, sql: str, limits: Limits, path: str, how: Writing) -> Written:
        """The same, its rows written into the new file `path`."""
        ...

    async def explain(self, sql: str, limits: Limits) -> None:
        """Whether the engine takes the statement: it is planned, not run."""
        ...

    async def close(self) -> None: ...

"""A move: every table counted and read in order on both sides, and compared at the end. The source
is only read. While its rows go, nobody writes to it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Table, select, text

from citewell.errors import Conflict, NotFound, StorageError
from citewell.messages import Text
from citewell.store.copies import hold_unchanged
from citewell.store.db import Database
from citewell.store.dialects.expressions import is_among
from citewell.store.dialects.postgres_server import PostgresServer
from citewell.store.moving.batches import (
    MOVED,
    Checksum,
    Row,
    count_rows,
    get_position,
    read_batch,
)
from citewell.store.moving.target import (
    COUNTERS,
    begin_move,
    end_move,
    get_progress,
    put_batch,
    put_counter,
    read_counter,
)
from citewell.store.schema.library import chunks
from citewell.store.schema.word_table import words
from citewell.threads import run_in_thread

P = ParamSpec("P")
T = TypeVar("T")

# of rows: moved, in all, the table in hand
OnMoved = Callable[[int, int, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Moved:
    """`counts`: rows by table. `checksum`: of each table in its order, the same on both sides.
    `resumed`: rows that an earlier run had moved.
    """

    counts: dict[str, int]
    checksums: dict[str, str]
    resumed: int


async def move_all(source: Database, target: Database, tell: OnMoved) -> Moved:
    """Both are closed; so they are again afterwards. Raises Conflict where the target has data or
    the source is in use, NotFound where there is no source, StorageError where both are not the
    same at the end.
    """
    if (await source.look()).state == "empty":
        raise NotFound(
            Text("{name}: there is nothing to move", name=source.server.name),
            hint=Text("name the folder of a home, or the address of its database"),
        )
    if source.dialect == "sqlite":
        await source.upgrade()
    with hold_source(source):
        async with source:
            await source.read(_check_alone, source)
            await open_target(target)
            try:
                await target.write(begin_move, target.server.name, source.server.name)
                return await _move_tables(source, target, tell)
            finally:
                await target.close()


class Snapshot:
    """What `Database.read` gives, all of it as it was at one moment."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def read(
        self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await run_in_thread(lambda: fn(self._connection, *args, **kwargs))


async def copy_snapshot(source: Database, target: Database, tell: OnMoved) -> Moved:
    """All rows of a database of PostgreSQL, which is open and in use, as they are at one moment,
    into an empty one, which is closed. Raises what `move_all` raises.
    """
    assert isinstance(source.server, PostgresServer)
    with source.server.hold_snapshot() as connection:
        await open_target(target)
        try:
            await target.write(begin_move, target.server.name, source.server.name)
            return await _move_tables(Snapshot(connection), target, tell)
        finally:
            await target.close()


def hold_source(source: Database) -> AbstractContextManager[None]:
    return hold_unchanged(source.path) if source.dialect == "sqlite" else nullcontext()


async def open_target(target: Database) -> None:
    if (await target.look()).state != "moving":
        await target.upgrade()
    await target.open(moving=True)


def _check_alone(connection: Connection, source: Database) -> None:
    if connection.dialect.name != "postgresql":
        return
    others = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND application_name = 'citewell' AND pid <> pg_backend_pid()"
    )
    if connection.execute(others).scalar_one():
        raise Conflict(
            Text("{name}: a server of Citewell is at work with it", name=source.server.name),
            hint=Text("stop it first, then try again"),
        )


async def _move_tables(source: Database | Snapshot, target: Database, tell: OnMoved) -> Moved:
    counts = {each.name: await source.read(count_rows, each) for each in MOVED}
    total = sum(counts.values())
    begun = sum([(await target.read(get_progress, each))[1] for each in MOVED])
    done = begun
    for table in MOVED:
        after, _ = await target.read(get_progress, table)
        while rows := await source.read(read_batch, table, after):
            upto = get_position(table, rows[-1])
            found = await source.read(_read_words, rows) if table is chunks else {}
            await target.write(put_batch, table, rows, found, after=after, upto=upto)
            after, done = upto, done + len(rows)
            await tell(done, total, table.name)
    for table, column in COUNTERS.items():
        value = await source.read(read_counter, table, column)
        await target.write(put_counter, table, column, value)
    checksums = await _compare_tables(source, target)
    await target.write(end_move)
    return Moved(counts, checksums, begun)


def _read_words(connection: Connection, rows: list[Row]) -> dict[int, str]:
    query = select(words.c.rowid, words.c.tokens).where(is_among(words.c.rowid, "ids"))
    found = connection.execute(query, {"ids": [row["id"] for row in rows]})
    return {int(row.rowid): str(row.tokens) for row in found}


async def _compare_tables(source: Database | Snapshot, target: Database) -> dict[str, str]:
    checksums, wrong = dict[str, str](), list[str]()
    for table in MOVED:
        here, there = await sum_table(source, table), await sum_table(target, table)
        if (here.rows, here.digest) != (there.rows, there.digest):
            wrong.append(f"{table.name} ({here.rows}, {there.rows})")
        checksums[table.name] = here.digest
    if wrong:
        raise StorageError(
            Text(
                "{name}: after the move it is not the same, in {tables}",
                name=target.server.name,
                tables=", ".join(wrong),
            ),
            hint=Text("stop what writes to the other, and move into an empty database"),
        )
    return checksums


async def sum_table(db: Database | Snapshot, table: Table) -> Checksum:
    found, after = Checksum(table), None
    while rows := await db.read(read_batch, table, after):
        found.add(rows)
        after = get_position(table, rows[-1])
    return found

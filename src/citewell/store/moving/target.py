"""The database that is moved into: it is marked as such until all is there and verified, and
nothing else opens it meanwhile. What has come is noted with it, so a move that was killed goes on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Connection,
    String,
    Table,
    column,
    delete,
    func,
    insert,
    inspect,
    select,
    table,
    text,
    update,
)

from citewell.errors import Conflict
from citewell.messages import Text
from citewell.store.index.chunk_words import Words
from citewell.store.index.search_rows import get_search_rows
from citewell.store.migrations.revisions import MOVING, get_head
from citewell.store.moving.batches import MOVED, Row, count_rows, list_columns
from citewell.store.schema.library import chunks, vectors
from citewell.store.schema.people import audit
from citewell.text import tokens

COUNTERS: Final = {chunks: "id", audit: "seq"}  # numbers that are never given twice
_MOVE: Final = table(
    "citewell_move",
    column("source", String),
    column("name", String),
    column("position", String),
    column("moved", BigInteger),
)
_VERSION: Final = table("alembic_version", column("version_num", String))


def begin_move(connection: Connection, name: str, source: str) -> None:
    """Into an empty database, or this source's former target. Raises Conflict."""
    if inspect(connection).has_table(_MOVE.name):
        before = connection.execute(select(_MOVE.c.source).limit(1)).scalar()
        if before in {source, None}:
            return
        raise Conflict(
            Text("{name}: {before} is being moved into it", name=name, before=before),
            hint=Text("name that one again, or an empty database"),
        )
    full = [each.name for each in MOVED if count_rows(connection, each)]
    if full:
        raise Conflict(
            Text("{name}: there is data already, in {tables}", name=name, tables=", ".join(full)),
            hint=Text("name an empty database; nothing was changed"),
        )
    connection.exec_driver_sql(
        "CREATE TABLE citewell_move (source TEXT NOT NULL, name TEXT PRIMARY KEY, "
        "position TEXT NOT NULL, moved BIGINT NOT NULL)"
    )
    rows = [{"source": source, "name": each.name, "position": "", "moved": 0} for each in MOVED]
    connection.execute(insert(_MOVE), rows)
    connection.execute(update(_VERSION).values(version_num=MOVING))


def get_progress(connection: Connection, of: Table) -> tuple[Sequence[Any] | None, int]:
    """The position of the last row that has come, and how many there are."""
    query = select(_MOVE.c.position, _MOVE.c.moved).where(_MOVE.c.name == of.name)
    position, moved = connection.execute(query).one()
    return (json.loads(position) if position else None), int(moved)


def put_batch(
    connection: Connection,
    of: Table,
    rows: Sequence[Row],
    words: dict[int, str],
    *,
    after: Sequence[Any] | None,
    upto: Sequence[Any],
) -> None:
    """Rows, with what searches go by, and how far it is now: all or nothing. `words`: the tokens
    of chunks. Raises Conflict where another process has brought them meanwhile.
    """
    at, moved = get_progress(connection, of)
    if at != after:
        raise Conflict(
            Text("another move into this database is under way"), hint=Text("wait until it is done")
        )
    names = [each.name for each in list_columns(of)]
    connection.execute(insert(of), [{name: row[name] for name in names} for row in rows])
    if of is chunks:
        built = [_build_words(row, words) for row in rows if row["id"] in words]
        if built:
            get_search_rows(connection).insert_words(connection, built)
    elif of is vectors:
        _put_vectors(connection, rows)
    note = {"position": json.dumps(upto), "moved": moved + len(rows)}
    connection.execute(update(_MOVE).where(_MOVE.c.name == of.name).values(note))


def _build_words(row: Row, words: dict[int, str]) -> Words:
    marks = tokens.build_filter_tokens(
        collection=row["collection"], doc_id=row["doc"], lang=row["lang"], kind=row["kind"]
    )
    return Words(row["id"], words[row["id"]], marks)


def _put_vectors(connection: Connection, rows: Sequence[Row]) -> None:
    ids = [row["chunk"] for row in rows]
    query = select(chunks.c.id, chunks.c.embedder).where(chunks.c.id.in_(ids))
    embedders = {row.id: row.embedder for row in connection.execute(query)}
    given = {row["chunk"]: (embedders[row["chunk"]], bytes(row["vec"])) for row in rows}
    get_search_rows(connection).insert_vectors(connection, given)


def read_counter(connection: Connection, of: Table, name: str) -> int:
    """The highest number that was ever given."""
    if connection.dialect.name == "sqlite":
        query = text("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = :name")
        return int(connection.execute(query, {"name": of.name}).scalar_one())
    sequence = connection.execute(select(func.pg_get_serial_sequence(of.name, name))).scalar_one()
    given = f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}"  # noqa: S608 its own name
    return int(connection.exec_driver_sql(given).scalar_one())


def put_counter(connection: Connection, of: Table, name: str, value: int) -> None:
    """No number up to this one is given again."""
    if value < 1:
        return
    if connection.dialect.name == "sqlite":
        gone = text("DELETE FROM sqlite_sequence WHERE name = :name")
        connection.execute(gone, {"name": of.name})
        put = text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :value)")
        connection.execute(put, {"name": of.name, "value": value})
        return
    connection.execute(select(func.setval(func.pg_get_serial_sequence(of.name, name), value)))


def end_move(connection: Connection) -> None:
    """All is there: the database is one like every other."""
    connection.exec_driver_sql("DROP TABLE citewell_move")
    connection.execute(delete(_VERSION))
    connection.execute(insert(_VERSION).values(version_num=get_head()))

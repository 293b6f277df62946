"""The rows of a table in the order of their arrival, or, where it has none, of their key; some at a
time, so that a table of any size goes through.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import Column, Connection, LargeBinary, RowMapping, Table, func, select, tuple_

from citewell.store.schema.library import changes, chunks, documents, files, vectors
from citewell.store.schema.metadata import metadata
from citewell.store.schema.server_tables import EPHEMERAL

# `changes` is what an index in SQLite follows: its triggers write it anew
MOVED: Final = tuple(
    table for table in metadata.sorted_tables if table is not changes and table not in EPHEMERAL
)
# rows at once: originals may have hundreds of megabytes, most other rows a few kilobytes
_SIZES: Final = {files: 1, documents: 10, chunks: 500, vectors: 500}
_USUAL: Final = 100

Row = RowMapping


def list_columns(table: Table) -> list[Column[Any]]:
    """Those that are written: the order of arrival is not."""
    return [column for column in table.c if not column.system]


def read_batch(connection: Connection, table: Table, after: Sequence[Any] | None) -> list[Row]:
    """The next rows after a position; those of SQLite and PostgreSQL come in the same order."""
    order = list_order(table)
    query = select(*table.c).order_by(*order).limit(_SIZES.get(table, _USUAL))
    if after is not None:
        query = query.where(tuple_(*order) > tuple_(*after, types=[each.type for each in order]))
    return list(connection.execute(query).mappings().all())


def list_order(table: Table) -> list[Column[Any]]:
    return [table.c.rowid] if "rowid" in table.c else list(table.primary_key.columns)


def get_position(table: Table, row: Row) -> list[Any]:
    """Where this row is, for `read_batch`."""
    return [row[column.name] for column in list_order(table)]


def count_rows(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


class Checksum:
    """Of rows in their order: the same for the same rows in both databases."""

    def __init__(self, table: Table) -> None:
        self._columns = list_columns(table)
        self._sum = hashlib.blake2b(digest_size=16)
        self.rows = 0

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.rows += 1
            for column in self._columns:
                self._add_value(column, row[column.name])

    def _add_value(self, column: Column[Any], value: Any) -> None:
        """Its length comes first, so that no two rows look like two others."""
        if isinstance(column.type, LargeBinary) and value is not None:
            data = bytes(value)
        else:
            data = repr(value).replace("\\x00", "\ufffd").encode("utf-8", "replace")
        self._sum.update(f"{len(data)}:".encode() + data)

    @property
    def digest(self) -> str:
        return self._sum.hexdigest()

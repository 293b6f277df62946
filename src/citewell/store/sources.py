"""Table sources that were added: where they are, what their tables are, what is written of them. A
location is handed out only by `location`, to whoever connects; all that is shown has its password
left out. Where it is an address, it is kept sealed (store/users/sealing.py).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, update

from citewell.errors import Conflict
from citewell.messages import Text, dump_json, encode_column
from citewell.store.db import Database
from citewell.store.dialects.locks import hold
from citewell.store.dialects.upserts import upsert
from citewell.store.schema.data_tables import sources
from citewell.store.source_rows import ALL, Source, find_row, get_row, parse_source
from citewell.store.users.audit import record_event
from citewell.store.users.sealing import is_secret, open_sealed, seal_secret

Also = Callable[[Connection, Source | None, Source], object]  # the source before, and as it is kept


class Sources:
    """Each verb is one transaction. Raises NotFound for a name that is none, and StorageError.
    `viewer`: what is another user's is not found; None: everything is.
    """

    def __init__(
        self, db: Database, clock: Callable[[], float] = time.time, *, viewer: str | None = None
    ) -> None:
        self._db = db
        self._clock = clock
        self._viewer = viewer

    def restrict_to_viewer(self, viewer: str) -> Sources:
        """The same, with this user's eyes."""
        return Sources(self._db, self._clock, viewer=viewer)

    async def put(
        self, source: Source, location: str, *, unless: str | None = None, also: Also | None = None
    ) -> Source:
        """Keep a source in the place of one of its name, whose description and owner stay.
        `location` as it was given, with its password.

        `unless`: the location that a source of this name may have so far; Conflict where it has
        another. Its times are set. `also`: what else belongs to the transaction; it is given what
        the source was before, None where there was none.
        """
        kept_location = (
            seal_secret(self._db.path.parent, location, source.name)
            if is_secret(location)
            else location
        )
        row = _build_row(source, kept_location, self._clock())

        def put(connection: Connection) -> Source:
            hold(connection, "sources", source.name)
            before = self._find_visible(connection, source.name)
            if before is not None and unless not in {None, self._unseal_location(before)}:
                raise _make_name_conflict(source.name, parse_source(before).location)
            connection.execute(_PUT, row)
            kept = parse_source(get_row(connection, source.name))
            if also is not None:
                also(connection, None if before is None else parse_source(before), kept)
            if before is None:
                _record(connection, "source.add", kept)
            return kept

        return await self._db.write_beside(put)

    async def get(self, name: str) -> Source:
        return await self._db.read(
            lambda connection: parse_source(get_row(connection, name, self._viewer))
        )

    async def find(self, name: str) -> Source | None:
        """Raises Conflict where the name is taken by what this user may not see."""

        def find(connection: Connection) -> Source | None:
            row = self._find_visible(connection, name)
            return None if row is None else parse_source(row)

        return await self._db.read(find)

    async def location(self, name: str) -> str:
        """With the password, where it has one: for connecting, and for nothing else."""
        return self._unseal_location(await self._db.read(get_row, name, self._viewer))

    async def list(self) -> list[Source]:
        """In the order of their names."""
        return await self._db.read(
            lambda connection: [
                parse_source(row) for row in connection.execute(ALL, {"viewer": self._viewer})
            ]
        )

    async def remove(
        self, name: str, also: Callable[[Connection, Source], object] | None = None
    ) -> Source:
        """Returns what it was. `also`: what else belongs to the transaction."""

        def remove(connection: Connection) -> Source:
            hold(connection, "sources", name)
            source = parse_source(get_row(connection, name, self._viewer))
            connection.execute(_REMOVE, {"of": name})
            if also is not None:
                also(connection, source)
            _record(connection, "source.remove", source)
            return source

        removed = await self._db.write_beside(remove)
        await self._db.forget()  # a password may have stood in its location
        return removed

    async def set_description(self, name: str, description: str) -> Source:
        """Replace what is written of its tables. It was checked before."""

        def put(connection: Connection) -> Source:
            get_row(connection, name, self._viewer)
            connection.execute(_CHANGE, {"of": name, "description": description})
            return parse_source(get_row(connection, name))

        return await self._db.write_beside(put)

    async def set_problem(self, name: str, problem: str) -> None:
        """Say why it cannot be reached (nothing: it can). One that is gone stays gone."""
        row = {"of": name, "problem": encode_column(problem)}
        await self._db.write_beside(lambda connection: connection.execute(_CHANGE, row))

    def _find_visible(self, connection: Connection, name: str) -> Row[Any] | None:
        """Raises Conflict where it is not the viewer's to see."""
        row = find_row(connection, name)
        if row is not None and self._viewer is not None and row.owner not in {"", self._viewer}:
            raise _make_name_conflict(name)
        return row

    def _unseal_location(self, row: Row[Any]) -> str:
        return open_sealed(self._db.path.parent, str(row.location), str(row.name))

    async def paths(self) -> set[str]:
        """The copies that are in use, whosever they are."""
        everything = {"viewer": None}
        return await self._db.read(
            lambda connection: {row.path for row in connection.execute(ALL, everything) if row.path}
        )


def _make_name_conflict(name: str, location: str = "") -> Conflict:
    """`location` is not said to who may not see the source."""
    hint = Text(
        "choose another with --name, or `citewell data remove` that one first; it is {location}",
        location=location,
    )
    if not location:
        return Conflict(
            Text("the name {name!r} is taken", name=name), hint=Text("choose another name")
        )
    return Conflict(
        Text("a source {name!r} is there already, from another place", name=name), hint=hint
    )


def _record(connection: Connection, action: str, source: Source) -> None:
    record_event(
        connection, action, "source", source.name, person=source.owner, dialect=source.dialect
    )


def _build_row(source: Source, location: str, now: float) -> dict[str, Any]:
    stat = {"shown": source.location, "warnings": source.warnings, **source.stat}
    return {
        **source.model_dump(include={"name", "dialect", "path", "fingerprint", "owner"}),
        "location": location,
        "stat": dump_json(stat, ensure_ascii=False),
        "tables": json.dumps(source.tables, ensure_ascii=False),
        "description": "",
        "problem": encode_column(source.problem),
        "created_at": now,
        "refreshed_at": now,
    }


_KEPT = {"rowid", "name", "description", "owner", "created_at"}
_PUT = upsert(
    sources, sources.c.name, update=[each for each in sources.c if each.name not in _KEPT]
)
_ONE = sources.c.name == bindparam("of")
_REMOVE = delete(sources).where(_ONE)
_CHANGE = update(sources).where(_ONE)

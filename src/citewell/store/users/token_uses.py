"""When tokens and sessions of the page were last used: noted at once, written down beside the
requests. Nobody who may come in waits for this, and nobody is kept out by it: a disk that is full
or busy for a while only makes the dates late. Until they are on the disk, this process knows them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Literal

from sqlalchemy import Connection, bindparam, update

from citewell.errors import StorageError
from citewell.store.db import Database
from citewell.store.schema.people import sign_ins, tokens

Kind = Literal["token", "session"]
# seconds until the next try after the disk has refused one: each may keep other writers waiting
PAUSE = 60.0

log = logging.getLogger(__name__)


class Uses:
    """`latest` and `note` neither wait nor fail. At most one transaction is under way, and holds
    all that came before it.
    """

    def __init__(self, db: Database, clock: Callable[[], float]) -> None:
        self._db = db
        self._clock = clock
        self._noted: dict[tuple[Kind, str], float] = {}  # what is not written yet
        self._writing: asyncio.Task[None] | None = None
        self._refused: float | None = None  # when the disk refused the last try

    def get_latest(self, kind: Kind, key: str, written: float) -> float:
        """The last use of one, of which the row says `written`."""
        return max(written, self._noted.get((kind, key), 0.0))

    def note(self, kind: Kind, key: str, at: float) -> None:
        self._noted[kind, key] = at
        idle = self._writing is None or self._writing.done()
        if idle and (self._refused is None or abs(self._clock() - self._refused) > PAUSE):
            self._writing = asyncio.create_task(self._write_noted())

    def write_in(self, connection: Connection) -> None:
        """All that is noted, in a transaction; it stays noted until another is through."""
        _write_rows(connection, self._noted.copy())

    async def settle(self) -> None:
        """Wait for the transaction that is under way; no other is begun."""
        if self._writing is not None:
            await asyncio.wait({self._writing})

    async def _write_noted(self) -> None:
        while noted := self._noted.copy():
            try:
                await self._db.write_beside(_write_rows, noted)
            except StorageError as error:
                self._refused = self._clock()
                log.warning(
                    "when tokens were last used is not written down for now: %s", error.message
                )
                return
            self._refused = None
            for each, at in noted.items():
                if self._noted[each] == at:
                    del self._noted[each]


def _write_rows(connection: Connection, noted: Mapping[tuple[Kind, str], float]) -> None:
    for (kind, key), at in sorted(noted.items()):  # in one order for all processes
        connection.execute(_LATER[kind], {"key": key, "at": at})


_LATER = {
    kind: update(column.table)
    .where(column == bindparam("key"), column.table.c.used_at < bindparam("at"))
    .values(used_at=bindparam("at"))
    for kind, column in (("token", tokens.c.token_id), ("session", sign_ins.c.sha256))
}

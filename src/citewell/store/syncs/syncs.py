"""Places that documents are taken from again and again, and what was seen of each item there. An
item is noted after its documents are committed, so that a stop in between costs another look at it
and nothing else.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    Connection,
    Double,
    bindparam,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)

from citewell.errors import Conflict
from citewell.messages import Text, dump_json, encode_column
from citewell.store.db import Database
from citewell.store.dialects.expressions import is_among
from citewell.store.dialects.upserts import upsert
from citewell.store.library.chunks import replace_surrogates
from citewell.store.library.collection_rows import ensure_collection
from citewell.store.library.library_locks import hold_part
from citewell.store.schema.job_tables import jobs, sync_items, syncs
from citewell.store.syncs.sync_rows import (
    ONE,
    SeenItem,
    Sync,
    get_sync,
    parse_item,
    parse_sync,
)
from citewell.store.users.audit import record_event

MOST_DUE = 20  # places whose time has come that are looked at in one transaction
MakeJob = Callable[[Connection, "Sync"], str]


class Syncs:
    """Each verb is one transaction. Raises NotFound, StorageError."""

    def __init__(self, db: Database, clock: Callable[[], float] = time.time) -> None:
        self._db = db
        self._clock = clock

    async def add(
        self,
        collection: str,
        kind: str,
        place: str,
        options: Mapping[str, str],
        *,
        seal: Callable[[str], str],
        every: float,
    ) -> Sync:
        """Makes the collection where it is new; due at once where it has a schedule. `seal`: the
        secret, for the id that it belongs to. Raises Conflict where the collection has this place
        already.
        """
        sync_id = "sync_" + secrets.token_hex(8)
        row = {
            "sync_id": sync_id,
            "collection": collection,
            "kind": kind,
            "place": place,
            "options": json.dumps(dict(options)),
            "secret": seal(sync_id),
            "every": every,
            "job_id": "",
            "mark": "",
            "report": "",
            "ran_at": 0,
        }

        def add(connection: Connection) -> Sync:
            now = self._clock()
            hold_part(connection, collection, "syncs")
            ensure_collection(connection, collection, now)
            same = {"of": collection, "there": place}
            if connection.execute(_SAME, same).first() is not None:
                raise Conflict(
                    Text(
                        "{place} is watched for {collection} already",
                        place=place,
                        collection=collection,
                    ),
                    hint=Text("`citewell sync list` shows its id"),
                )
            connection.execute(_INSERT, row | {"next_at": now, "created_at": now})
            record_event(
                connection,
                "sync.add",
                "collection",
                collection,
                place=place,
                secret=bool(row["secret"]),
            )
            return get_sync(connection, sync_id)

        return await self._db.write_beside(add)

    async def get(self, sync_id: str) -> Sync:
        return await self._db.read(lambda connection: get_sync(connection, sync_id))

    async def list_syncs(self, collection: str | None = None) -> list[Sync]:
        """In the order in which they were added."""
        statement = _ALL if collection is None else _OF
        values = {} if collection is None else {"of": collection}
        return await self._db.read(
            lambda connection: [parse_sync(row) for row in connection.execute(statement, values)]
        )

    async def delete(self, sync_id: str) -> None:
        """The place and what was seen there; its documents are the catalog's."""

        def delete(connection: Connection) -> None:
            sync = get_sync(connection, sync_id, lock=True)
            connection.execute(_DELETE, {"id": sync_id})
            record_event(connection, "sync.remove", "collection", sync.collection, place=sync.place)

        await self._db.write_beside(delete)
        await self._db.forget()

    async def set_schedule(self, sync_id: str, every: float) -> Sync:
        def change(connection: Connection) -> Sync:
            get_sync(connection, sync_id)
            row = {"id": sync_id, "every": every, "next_at": self._clock() + every}
            connection.execute(_CHANGE, row)
            return get_sync(connection, sync_id)

        return await self._db.write_beside(change)

    async def start(self, sync_id: str, make_job: MakeJob) -> str:
        """The id of its job: the one that waits or runs already, else a new one."""

        def start(connection: Connection) -> str:
            sync = get_sync(connection, sync_id, lock=True)  # of two that start it, one makes a job
            busy = connection.execute(_IS_BUSY, {"job": sync.job_id}).first()
            return sync.job_id if busy else self._start(connection, sync, make_job)

        return await self._db.write_beside(start)

    async def start_due(self, make_job: MakeJob) -> list[str]:
        """Jobs for those whose time has come and that are not at work. Of several processes that
        ask at once, one makes each.
        """
        if not await self._db.read(self._list_due):
            return []
        return await self._db.write_beside(
            lambda connection: [
                self._start(connection, sync, make_job)
                for sync in self._list_due(connection, lock=True)
            ]
        )

    async def finish(self, sync_id: str, report: Mapping[str, Any], mark: str = "") -> None:
        """Note what a run came to; nothing where the place was removed meanwhile."""
        now = self._clock()
        row = {"id": sync_id, "report": dump_json(dict(report)), "mark": mark, "ran_at": now}
        await self._db.write_beside(
            lambda connection: connection.execute(_FINISH, row | {"now": now})
        )

    async def items(self, sync_id: str) -> dict[str, SeenItem]:
        """All that was ever seen there and is still kept, by address."""

        def read(connection: Connection) -> dict[str, SeenItem]:
            rows = connection.execute(_ITEMS, {"id": sync_id})
            return {row.uri: parse_item(row) for row in rows}

        return await self._db.read(read)

    async def put_item(self, sync_id: str, item: SeenItem) -> None:
        """Nothing where the place was removed meanwhile."""
        row = {
            "sync_id": sync_id,
            "uri": replace_surrogates(item.uri),
            "version": replace_surrogates(item.version),
            "problem": encode_column(item.problem),
            "seen_at": item.seen_at,
            "gone_at": item.gone_at,
            "document": replace_surrogates(item.document or item.uri),
        }

        def put(connection: Connection) -> None:
            if connection.execute(_IS_THERE, {"id": sync_id}).first() is not None:
                connection.execute(_PUT_ITEM, row)

        await self._db.write_beside(put)

    async def see_items(self, sync_id: str, uris: Iterable[str], at: float) -> None:
        """They are there, as they were read; those that could not be read stay as they were."""
        row = {"id": sync_id, "uris": list(uris), "seen_at": at}
        await self._db.write_beside(lambda connection: connection.execute(_SEE, row))

    async def mark_gone(self, sync_id: str, uris: Iterable[str], at: float) -> None:
        """They are there no more."""
        row = {"id": sync_id, "uris": list(uris), "gone_at": at}
        await self._db.write_beside(lambda connection: connection.execute(_CHANGE_ITEMS, row))

    async def count_items(self, sync_id: str) -> tuple[int, int]:
        """How many are there, and how many were."""

        def read(connection: Connection) -> tuple[int, int]:
            row = connection.execute(_COUNT, {"id": sync_id}).one()
            return row.there, row.gone

        return await self._db.read(read)

    async def forget_items(self, sync_id: str, uris: Sequence[str]) -> None:
        row = {"id": sync_id, "uris": list(uris)}
        await self._db.write_beside(lambda connection: connection.execute(_FORGET, row))

    async def list_elsewhere(self, sync: Sync, uris: Sequence[str]) -> set[str]:
        """Those of these documents that another place of the same collection has."""
        row = {"id": sync.sync_id, "of": sync.collection, "uris": list(uris)}
        return set(
            await self._db.read(lambda connection: connection.execute(_ELSEWHERE, row).scalars())
        )

    async def get_as_of(self, collection: str, uris: Sequence[str]) -> float | None:
        """When any of these addresses was last seen as it was read; None for documents that are
        kept in step with nothing.
        """
        row = {"of": collection, "uris": list(uris)}
        return await self._db.read(
            lambda connection: connection.execute(_AS_OF, row).scalar_one_or_none()
        )

    def _list_due(self, connection: Connection, *, lock: bool = False) -> list[Sync]:
        """`lock`: they are this transaction's, and those of another are passed over."""
        query = _LOCK_DUE if lock else _DUE
        rows = connection.execute(query, {"now": self._clock(), "most": MOST_DUE}).all()
        return [parse_sync(row) for row in rows]

    def _start(self, connection: Connection, sync: Sync, make_job: MakeJob) -> str:
        job_id = make_job(connection, sync)
        row = {"id": sync.sync_id, "job_id": job_id, "next_at": self._clock() + sync.every}
        connection.execute(_CHANGE, row)
        return job_id


_ALL = select(syncs).order_by(syncs.c.created_at, syncs.c.sync_id)
_OF = _ALL.where(syncs.c.collection == bindparam("of"))
_SAME = _OF.where(syncs.c.place == bindparam("there"))
_INSERT = insert(syncs)
_CHANGE = update(syncs).where(ONE)
_DELETE = delete(syncs).where(ONE)
_IS_THERE = select(syncs.c.sync_id).where(ONE).with_for_update(read=True, key_share=True)
_WORKING = jobs.c.state.in_(["queued", "running"])
_IS_BUSY = select(jobs.c.job_id).where(jobs.c.job_id == bindparam("job"), _WORKING)
_DUE = (
    select(syncs)
    .where(syncs.c.every > 0, syncs.c.next_at <= bindparam("now"))
    .where(~exists().where(jobs.c.job_id == syncs.c.job_id, _WORKING))
    .order_by(syncs.c.next_at)
    .limit(bindparam("most"))
)
_LOCK_DUE = _DUE.with_for_update(of=syncs, skip_locked=True)
_FINISH = _CHANGE.values(next_at=bindparam("now", type_=Double) + syncs.c.every)
_ITEMS = select(sync_items).where(sync_items.c.sync_id == bindparam("id"))
_PUT_ITEM = upsert(sync_items, sync_items.c.sync_id, sync_items.c.uri)
_THESE = (sync_items.c.sync_id == bindparam("id")) & is_among(sync_items.c.uri, "uris")
_CHANGE_ITEMS = update(sync_items).where(_THESE)
_SEE = _CHANGE_ITEMS.where(sync_items.c.problem == "")
_FORGET = delete(sync_items).where(_THESE)
_COUNT = select(
    (func.count() - func.count(sync_items.c.gone_at)).label("there"),
    func.count(sync_items.c.gone_at).label("gone"),
).where(sync_items.c.sync_id == bindparam("id"))
_THERE = (
    (sync_items.c.sync_id == syncs.c.sync_id)
    & (syncs.c.collection == bindparam("of"))
    & is_among(sync_items.c.document, "uris")
)
_ELSEWHERE = select(sync_items.c.document).where(
    _THERE, syncs.c.sync_id != bindparam("id"), sync_items.c.gone_at.is_(None)
)
_AS_OF = select(func.max(sync_items.c.seen_at)).where(_THERE, sync_items.c.seen_at > 0)

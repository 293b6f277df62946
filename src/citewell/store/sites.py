"""Sites explored, and answers found there. A site is a collection, and goes with it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, Row, bindparam, delete, select, tuple_

from citewell.fetch.urls import get_url_identity
from citewell.models.base import Vector
from citewell.store.db import Database
from citewell.store.dialects.upserts import upsert
from citewell.store.library.collection_rows import ensure_collection
from citewell.store.library.library_locks import hold_part
from citewell.store.memory_rows import encode_vector
from citewell.store.pages import has_collection
from citewell.store.schema.site_tables import finds, pages, redirects, sites

MOST_FINDS = 500  # of a site; beyond them the oldest go


@dataclass(frozen=True, slots=True)
class Site:
    """Where a site's exploration starts, its bounds, its owner's wishes. Epoch seconds."""

    collection: str
    start_urls: tuple[str, ...]
    allowed_domains: tuple[str, ...] = ()
    instruction: str = ""
    created_at: float = 0.0
    updated_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Find:
    """An answer to a question was found on the page `uri`. `vector` is that of the question, of
    length 1; its words are not kept: a site is everybody's, and a question may be about who asked.
    """

    collection: str
    uri: str
    vector: Vector
    at: float


class Sites:
    """Each verb is one transaction. Raises StorageError."""

    def __init__(self, db: Database, clock: Callable[[], float] = time.time) -> None:
        self._db = db
        self._clock = clock

    async def put_site(
        self,
        collection: str,
        start_urls: Sequence[str],
        allowed_domains: Sequence[str] = (),
        instruction: str = "",
    ) -> Site:
        """Keep how a site is explored, replacing the former; makes a new collection."""

        def put(connection: Connection) -> Site:
            now = self._clock()
            hold_part(connection, collection, "site")
            ensure_collection(connection, collection, now)
            row = {
                "collection": collection,
                "start_urls": json.dumps(list(start_urls)),
                "allowed_domains": json.dumps(list(allowed_domains)),
                "instruction": instruction,
                "created_at": now,
                "updated_at": now,
            }
            connection.execute(_PUT, row)
            return _parse_site(connection.execute(_GET, {"of": collection}).one())

        return await self._db.write_beside(put)

    async def site(self, collection: str) -> Site | None:
        def get(connection: Connection) -> Site | None:
            row = connection.execute(_GET, {"of": collection}).one_or_none()
            return None if row is None else _parse_site(row)

        return await self._db.read(get)

    async def sites(self) -> list[Site]:
        """In the order of their names."""
        return await self._db.read(
            lambda connection: [_parse_site(row) for row in connection.execute(_ALL)]
        )

    async def forget(self, collection: str) -> None:
        """How it is explored, what is known of its pages, where answers were found."""

        def forget(connection: Connection) -> None:
            hold_part(connection, collection, "pages")
            hold_part(connection, collection, "site")
            for statement in _FORGET:
                connection.execute(statement, {"of": collection})

        await self._db.write_beside(forget)
        await self._db.forget()

    async def note_find(
        self, collection: str, uri: str, question: str, vector: Vector, embedder: str
    ) -> None:
        """Note that this page answered the question. Nothing where the collection has gone."""
        stored = encode_vector(embedder, vector)
        asked = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()
        row = {
            "collection": collection,
            "key": get_url_identity(uri),
            "uri": uri,
            "asked": asked,
        } | stored._asdict()

        def note(connection: Connection) -> None:
            hold_part(connection, collection, "site")
            if not has_collection(connection, collection):
                return
            connection.execute(_PUT_FIND, row | {"at": self._clock()})
            connection.execute(_SHED, {"of": collection, "most": MOST_FINDS})

        await self._db.write_beside(note)

    async def finds(self, collection: str, embedder: str) -> list[Find]:
        """The newest first, MOST_FINDS at most; those of another embedder are left out."""

        def finds(connection: Connection) -> list[Find]:
            rows = connection.execute(_FINDS, {"of": collection, "embedder": embedder})
            return [
                Find(collection, row.uri, np.frombuffer(row.vec, dtype="<f4"), row.at)
                for row in rows
            ]

        return await self._db.read(finds)


def _parse_site(row: Row[tuple[object, ...]]) -> Site:
    return Site(
        row.collection,
        tuple(json.loads(row.start_urls)),
        tuple(json.loads(row.allowed_domains)),
        row.instruction,
        row.created_at,
        row.updated_at,
    )


_GET = select(sites).where(sites.c.collection == bindparam("of"))
_ALL = select(sites).order_by(sites.c.collection)
_PUT = upsert(
    sites,
    sites.c.collection,
    update=[sites.c.start_urls, sites.c.allowed_domains, sites.c.instruction, sites.c.updated_at],
)
_FORGET = [
    delete(table).where(table.c.collection == bindparam("of"))
    for table in (sites, finds, redirects, pages)
]
_OF = finds.c.collection == bindparam("of")
_NEWEST = (finds.c.at.desc(), finds.c.key, finds.c.asked)
_PUT_FIND = upsert(finds, finds.c.collection, finds.c.key, finds.c.asked)
_BEYOND = select(finds.c.key, finds.c.asked).where(_OF).order_by(*_NEWEST).offset(bindparam("most"))
_SHED = delete(finds).where(_OF, tuple_(finds.c.key, finds.c.asked).in_(_BEYOND))
_FINDS = select(finds).where(_OF, finds.c.embedder == bindparam("embedder")).order_by(*_NEWEST)

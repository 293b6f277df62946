"""Sites that were explored, and where an answer was found on them. The one rule: a site is a
collection, and goes with it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Connection, Row, text

from citewell.fetch.urls import get_url_identity
from citewell.models.base import Vector
from citewell.store.db import Database
from citewell.store.library.collection_rows import ensure_collection
from citewell.store.memory_rows import encode_vector

MOST_FINDS = 500  # of a site; beyond them the oldest go


@dataclass(frozen=True, slots=True)
class Site:
    """From where a site is explored, how far, and what its owner wants of answers. Times are
    seconds since the epoch.
    """

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
        """Keep how a site is explored, in the place of what was kept; makes the collection where it
        is new.
        """

        def put(connection: Connection) -> Site:
            now = self._clock()
            ensure_collection(connection, collection, now)
            row = {"collection": collection, "instruction": instruction, "now": now}
            lists = {
                "start_urls": json.dumps(list(start_urls)),
                "allowed_domains": json.dumps(list(allowed_domains)),
            }
            connection.execute(_PUT, row | lists)
            return _parse_site(connection.execute(_GET, row).one())

        return await self._db.write(put)

    async def site(self, collection: str) -> Site | None:
        def get(connection: Connection) -> Site | None:
            row = connection.execute(_GET, {"collection": collection}).one_or_none()
            return None if row is None else _parse_site(row)

        return await self._db.read(get)

    async def sites(self) -> list[Site]:
        """In the order of their names."""
        return await self._db.read(
            lambda connection: [_parse_site(row) for row in connection.execute(_ALL)]
        )

    async def forget(self, collection: str) -> None:
        """How it is explored, what is known of its pages, where answers were found. Documents are
        the catalog's.
        """

        def forget(connection: Connection) -> None:
            for statement in _FORGET:
                connection.execute(statement, {"collection": collection})

        await self._db.write(forget)
        await self._db.forget()

    async def found(
        self, collection: str, uri: str, question: str, vector: Vector, embedder: str
    ) -> None:
        """Note that this page answered the question. Nothing happens where the collection has
        gone.
        """
        stored = encode_vector(embedder, vector)
        asked = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()
        row = {
            "collection": collection,
            "key": get_url_identity(uri),
            "uri": uri,
            "asked": asked,
        } | stored._asdict()

        def note(connection: Connection) -> None:
            connection.execute(_FOUND, row | {"at": self._clock()})
            connection.execute(_SHED, {"collection": collection, "most": MOST_FINDS})

        await self._db.write(note)

    async def finds(self, collection: str, embedder: str) -> list[Find]:
        """The newest first, MOST_FINDS at most; those of another embedder are left out."""

        def finds(connection: Connection) -> list[Find]:
            rows = connection.execute(_FINDS, {"collection": collection, "embedder": embedder})
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


_GET = text("SELECT * FROM sites WHERE collection = :collection")
_ALL = text("SELECT * FROM sites ORDER BY collection")
_PUT = text(
    """INSERT INTO sites (collection, start_urls, allowed_domains, instruction, created_at,
        updated_at)
    VALUES (:collection, :start_urls, :allowed_domains, :instruction, :now, :now)
    ON CONFLICT (collection) DO UPDATE SET start_urls = excluded.start_urls,
        allowed_domains = excluded.allowed_domains, instruction = excluded.instruction,
        updated_at = excluded.updated_at"""
)
_FORGET = tuple(
    text(f"DELETE FROM {table} WHERE collection = :collection")  # noqa: S608 - names of ours
    for table in ("sites", "finds", "redirects", "pages")
)
_FOUND = text(
    """INSERT INTO finds (collection, key, asked, uri, at, embedder, vec)
    SELECT :collection, :key, :asked, :uri, :at, :embedder, :vec
    WHERE EXISTS (SELECT 1 FROM collections WHERE name = :collection)
    ON CONFLICT (collection, key, asked) DO UPDATE SET uri = excluded.uri, at = excluded.at,
        embedder = excluded.embedder, vec = excluded.vec"""
)
_SHED = text(
    """DELETE FROM finds WHERE collection = :collection AND (key, asked) IN (
        SELECT key, asked FROM finds WHERE collection = :collection
        ORDER BY at DESC, key, asked LIMIT -1 OFFSET :most)"""
)
_FINDS = text(
    "SELECT * FROM finds WHERE collection = :collection AND embedder = :embedder ORDER BY at "
    "DESC, key, asked"
)

"""Snapshots of web pages: what was fetched, when, under which ETag, and where its links lead.

The one rule: a page is kept under the address it was found at in the end, and goes with its
document. Addresses given are canonical ones, and are compared by `get_url_identity`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, text

from citewell.fetch.urls import get_url_identity
from citewell.ingest.web.links import Link
from citewell.store.db import Database
from citewell.store.library.chunks import replace_surrogates
from citewell.store.library.documents import DocumentInfo


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A page of a collection. `url` was asked for and led to `uri`; `doc_id` is the document made
    of it, or empty. `sha256` is of the bytes that were parsed, which came at `fetched_at`; at
    `checked_at` the site last said that they are still so, or why there is nothing (`problem`, with
    the `code` of the error). Times are seconds since the epoch.
    """

    collection: str
    url: str
    uri: str
    doc_id: str
    title: str
    sha256: str
    etag: str
    last_modified: str
    fetched_at: float
    checked_at: float
    problem: str = ""
    code: str = ""
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Sums:
    """How many `pages` of a collection are documents, with their bytes and passages; how many
    addresses have a problem; when the first and the last of them was asked for, in seconds since
    the epoch.
    """

    collection: str
    pages: int
    problems: int
    bytes: int
    chunks: int
    embedded: int
    oldest: float
    newest: float


class Snapshots:
    """Each verb is one transaction; what is said of a collection or a document that is not there is
    passed over. Raises StorageError.
    """

    def __init__(self, db: Database) -> None:
        self._db = db

    async def get(self, collection: str, url: str) -> Snapshot | None:
        """What this address led to when it was last asked for, if it was. `checked_at` is that of
        the redirect where it is the older one.
        """
        return await self._db.read(
            lambda connection: _find_snapshot(connection, collection, get_url_identity(url))
        )

    async def of(
        self, collection: str, uris: Sequence[str] | None = None, *, links: bool = True
    ) -> list[Snapshot]:
        """The pages of a collection in the order of their addresses, each once; `uris`: those found
        at these addresses only. Without `links` they are left out, and it costs little.
        """
        keys = None if uris is None else json.dumps(sorted({get_url_identity(uri) for uri in uris}))
        statement = _ALL_LINKS if links else _ALL

        def listed(connection: Connection) -> list[Snapshot]:
            rows = connection.execute(
                statement, {"collection": collection, "keys": keys}
            ).mappings()
            return [_parse_snapshot(row, row["uri"], row["checked_at"]) for row in rows]

        return await self._db.read(listed)

    async def count_by_collection(self, embedder: str) -> list[Sums]:
        """Of each collection that has pages, in the order of their names. `embedder` is the one in
        use.
        """

        def sums(connection: Connection) -> list[Sums]:
            return [
                Sums(**row) for row in connection.execute(_SUMS, {"embedder": embedder}).mappings()
            ]

        return await self._db.read(sums)

    async def put(self, new: Snapshot) -> None:
        """Keep a page, in the place of what was known of it."""
        asked, key = get_url_identity(new.url), get_url_identity(new.uri)
        links = json.dumps([asdict(link) for link in new.links])
        row = asdict(new) | {"key": key, "title": replace_surrogates(new.title), "links": links}
        way = {
            "collection": new.collection,
            "key": asked,
            "url": new.url,
            "target": key,
            "at": new.checked_at,
        }

        def put(connection: Connection) -> None:
            connection.execute(_PUT, row)
            connection.execute(_DELETE_REDIRECT, row)  # the page answers for itself now
            if asked != key:
                # of the time when there was nothing at this address
                connection.execute(_DELETE_EMPTY, way)
                connection.execute(_REDIRECT, way)

        await self._db.write(put)

    async def checked(self, collection: str, url: str, at: float) -> None:
        """The site says at this moment that the page this address leads to is as it was."""

        def check(connection: Connection) -> None:
            where = {"collection": collection, "key": get_url_identity(url), "at": at}
            target = connection.execute(_TARGET, where).scalar_one_or_none()
            connection.execute(_CHECK_REDIRECT, where)
            connection.execute(_CHECK, where | {"key": target or where["key"]})

        await self._db.write(check)

    async def failed(self, collection: str, url: str, problem: str, code: str, at: float) -> None:
        """There is nothing at this address, for this reason. A document that was made of it earlier
        stays.
        """
        row = {
            "collection": collection,
            "key": get_url_identity(url),
            "uri": url,
            "problem": problem,
            "code": code,
            "at": at,
        }

        def fail(connection: Connection) -> None:
            connection.execute(_DELETE_REDIRECT, row)
            connection.execute(_FAIL, row)

        await self._db.write(fail)

    async def delete(self, collection: str, url: str) -> None:
        """What is known of the page at this address, and where an answer was found on it. Its
        document is the catalog's.
        """
        await self._db.write(
            lambda connection: _delete_page(connection, collection, get_url_identity(url))
        )


def forget_pages(connection: Connection, infos: Sequence[DocumentInfo]) -> None:
    """With documents that are deleted for good goes what is known of their pages; part of that
    transaction.
    """
    for info in infos:
        _delete_page(connection, info.collection, get_url_identity(info.uri))


def _delete_page(connection: Connection, collection: str, key: str) -> None:
    for statement in _FORGET:
        connection.execute(statement, {"collection": collection, "key": key})


def _find_snapshot(connection: Connection, collection: str, key: str) -> Snapshot | None:
    where = {"collection": collection, "key": key}
    way = connection.execute(_WAY, where).one_or_none()
    row = (
        connection.execute(_PAGE, where | {"key": way.target if way else key})
        .mappings()
        .one_or_none()
    )
    if row is None:
        return None
    if way is None:
        return _parse_snapshot(row, row["uri"], row["checked_at"])
    return _parse_snapshot(row, way.url, min(way.checked_at, row["checked_at"]))


def _parse_snapshot(row: RowMapping, url: str, checked_at: float) -> Snapshot:
    values: dict[str, Any] = dict(row)
    links = tuple(Link(**link) for link in json.loads(values.pop("links", "[]")))
    return Snapshot(**{**values, "url": url, "checked_at": checked_at, "links": links})


_COLUMNS = (
    "collection, uri, doc_id, title, sha256, etag, last_modified, fetched_at, checked_at, "
    "problem, code"
)
_HERE = "collection = :collection AND key = :key"
_OF = """FROM pages WHERE collection = :collection
    AND (:keys IS NULL OR key IN (SELECT value FROM json_each(:keys))) ORDER BY uri"""
_ALL = text(f"SELECT {_COLUMNS} {_OF}")
_ALL_LINKS = text(f"SELECT {_COLUMNS}, links {_OF}")
_PAGE = text(f"SELECT {_COLUMNS}, links FROM pages WHERE {_HERE}")  # noqa: S608 - names of ours only, here and below
_WAY = text(f"SELECT url, target, checked_at FROM redirects WHERE {_HERE}")  # noqa: S608
_TARGET = text(f"SELECT target FROM redirects WHERE {_HERE}")  # noqa: S608
_SUMS = text(
    """SELECT p.collection, count(nullif(p.doc_id, '')) AS pages,
        count(nullif(p.problem, '')) AS problems, coalesce(sum(d.bytes), 0) AS bytes,
        min(p.checked_at) AS oldest, max(p.checked_at) AS newest,
        coalesce(sum((SELECT count(*) FROM chunks
            WHERE doc = p.doc_id AND kind <> 'summary')), 0) AS chunks,
        coalesce(sum((SELECT count(*) FROM chunks
            WHERE doc = p.doc_id AND kind <> 'summary' AND embedder = :embedder)), 0)
            AS embedded
    FROM pages p LEFT JOIN documents d ON d.doc_id = p.doc_id GROUP BY p.collection
    ORDER BY p.collection"""
)
_PUT = text(
    f"""INSERT INTO pages ({_COLUMNS}, key, links)
    SELECT :collection, :uri, :doc_id, :title, :sha256, :etag, :last_modified, :fetched_at,
        :checked_at, :problem, :code, :key, :links
    WHERE EXISTS (SELECT 1 FROM collections WHERE name = :collection)
        AND (:doc_id = '' OR EXISTS (SELECT 1 FROM documents WHERE doc_id = :doc_id))
    ON CONFLICT (collection, key) DO UPDATE SET uri = excluded.uri, doc_id = excluded.doc_id,
        title = excluded.title, sha256 = excluded.sha256, etag = excluded.etag,
        last_modified = excluded.last_modified, fetched_at = excluded.fetched_at,
        checked_at = excluded.checked_at, problem = excluded.problem, code = excluded.code,
        links = excluded.links"""  # noqa: S608
)
_REDIRECT = text(
    """INSERT INTO redirects (collection, key, url, target, checked_at)
    SELECT :collection, :key, :url, :target, :at
    WHERE EXISTS (SELECT 1 FROM pages WHERE collection = :collection AND key = :target)
    ON CONFLICT (collection, key) DO UPDATE SET url = excluded.url, target = excluded.target,
        checked_at = excluded.checked_at"""
)
_DELETE_REDIRECT = text(f"DELETE FROM redirects WHERE {_HERE}")  # noqa: S608
_DELETE_EMPTY = text(f"DELETE FROM pages WHERE {_HERE} AND doc_id = ''")  # noqa: S608
_CHECK = text(f"UPDATE pages SET checked_at = :at, problem = '', code = '' WHERE {_HERE}")  # noqa: S608
_CHECK_REDIRECT = text(f"UPDATE redirects SET checked_at = :at WHERE {_HERE}")  # noqa: S608
_FAIL = text(
    f"""INSERT INTO pages ({_COLUMNS}, key, links)
    SELECT :collection, :uri, '', '', '', '', '', :at, :at, :problem, :code, :key, '[]'
    WHERE EXISTS (SELECT 1 FROM collections WHERE name = :collection)
    ON CONFLICT (collection, key) DO UPDATE SET checked_at = excluded.checked_at,
        problem = excluded.problem, code = excluded.code"""  # noqa: S608
)
_FORGET = (
    text(f"DELETE FROM finds WHERE {_HERE}"),  # noqa: S608
    text(f"DELETE FROM redirects WHERE {_HERE}"),  # noqa: S608
    text("DELETE FROM redirects WHERE collection = :collection AND target = :key"),
    text(f"DELETE FROM pages WHERE {_HERE}"),  # noqa: S608
)

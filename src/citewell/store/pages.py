"""Snapshots of web pages: what was fetched, when, under which ETag, and where its links lead. A
page is kept under the address it was found at in the end, and goes with its document. Addresses
given are canonical ones, and are compared by `get_url_identity`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Table,
    bindparam,
    delete,
    select,
    update,
)

from citewell.fetch.urls import get_url_identity
from citewell.ingest.web.links import Link
from citewell.messages import decode_column, encode_column
from citewell.store.db import Database
from citewell.store.dialects.expressions import is_among
from citewell.store.dialects.upserts import upsert
from citewell.store.library.chunks import replace_surrogates
from citewell.store.library.documents import DocumentInfo
from citewell.store.library.library_locks import hold_documents, hold_part
from citewell.store.page_sums import Sums, count_pages
from citewell.store.schema.library import collections, documents
from citewell.store.schema.site_tables import finds, pages, redirects


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
        statement = _ALL_LINKS if links else _ALL
        values: dict[str, Any] = {"of": collection}
        if uris is not None:
            statement = statement.where(_THESE)
            values["keys"] = sorted({get_url_identity(uri) for uri in uris})

        def list_rows(connection: Connection) -> list[Snapshot]:
            rows = connection.execute(statement, values).mappings()
            return [_parse_snapshot(row, row["uri"], row["checked_at"]) for row in rows]

        return await self._db.read(list_rows)

    async def count_by_collection(self, embedder: str) -> list[Sums]:
        """Of each collection that has pages, by name. `embedder` is the one in use."""
        return await self._db.read(count_pages, embedder)

    async def put(self, new: Snapshot) -> None:
        """Keep a page, in the place of what was known of it."""
        asked, key = get_url_identity(new.url), get_url_identity(new.uri)
        links = json.dumps([asdict(link) for link in new.links])
        row = asdict(new) | {"key": key, "title": replace_surrogates(new.title), "links": links}
        del row["url"]
        way = {
            "collection": new.collection,
            "key": asked,
            "url": new.url,
            "target": key,
            "checked_at": new.checked_at,
        }

        def put(connection: Connection) -> None:
            hold_documents(connection, [new.doc_id])  # a page goes with its document
            hold_part(connection, new.collection, "pages")
            known = has_collection(connection, new.collection) and _has_document(
                connection, new.doc_id
            )
            if known:
                connection.execute(_PUT, row)
            # the page answers for itself now
            connection.execute(_DELETE_REDIRECT, {"of": new.collection, "at": key})
            if asked != key:
                # of the time when there was nothing at this address
                connection.execute(_DELETE_EMPTY, {"of": new.collection, "at": asked})
                if known:
                    connection.execute(_REDIRECT, way)

        await self._db.write_beside(put)

    async def note_check(self, collection: str, url: str, at: float) -> None:
        """The site says at this moment that the page this address leads to is as it was."""

        def check(connection: Connection) -> None:
            hold_part(connection, collection, "pages")
            where = {"of": collection, "at": get_url_identity(url)}
            way = connection.execute(_WAY, where).one_or_none()
            connection.execute(_CHECK_REDIRECT, where | {"checked_at": at})
            if way is not None:
                where["at"] = way.target
            connection.execute(_CHECK, where | {"checked_at": at, "problem": "", "code": ""})

        await self._db.write_beside(check)

    async def note_failure(
        self, collection: str, url: str, problem: str, code: str, at: float
    ) -> None:
        """There is nothing at this address, for this reason. An earlier document of it stays."""
        empty = Snapshot(collection, url, url, "", "", "", "", "", at, at, "", code)
        row = asdict(empty) | {
            "key": get_url_identity(url),
            "problem": encode_column(problem),
            "links": "[]",
        }
        del row["url"]

        def fail(connection: Connection) -> None:
            hold_part(connection, collection, "pages")
            connection.execute(_DELETE_REDIRECT, {"of": collection, "at": row["key"]})
            if has_collection(connection, collection):
                connection.execute(_FAIL, row)

        await self._db.write_beside(fail)

    async def delete(self, collection: str, url: str) -> None:
        """What is known of the page at this address, and where an answer was found on it. Its
        document is the catalog's.
        """
        await self._db.write_beside(
            lambda connection: _delete_page(connection, collection, get_url_identity(url))
        )


def forget_pages(connection: Connection, infos: Sequence[DocumentInfo]) -> None:
    """With documents deleted for good goes what is known of their pages, in one transaction."""
    for info in infos:
        _delete_page(connection, info.collection, get_url_identity(info.uri))


def has_collection(connection: Connection, name: str) -> bool:
    return connection.execute(_COLLECTION, {"name": name}).first() is not None


def _has_document(connection: Connection, doc_id: str) -> bool:
    """Of none, an empty one, always."""
    return not doc_id or connection.execute(_DOCUMENT, {"id": doc_id}).first() is not None


def _delete_page(connection: Connection, collection: str, key: str) -> None:
    hold_part(connection, collection, "pages")
    for statement in _FORGET:
        connection.execute(statement, {"of": collection, "at": key})


def _find_snapshot(connection: Connection, collection: str, key: str) -> Snapshot | None:
    way = connection.execute(_WAY, {"of": collection, "at": key}).one_or_none()
    row = (
        connection.execute(_PAGE, {"of": collection, "at": way.target if way else key})
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
    problem = decode_column(row["problem"])
    return Snapshot(
        **{**values, "url": url, "checked_at": checked_at, "links": links, "problem": problem}
    )


def _match_page_key(table: Table) -> ColumnElement[bool]:
    return (table.c.collection == bindparam("of")) & (table.c.key == bindparam("at"))


_COLLECTION = select(collections.c.name).where(collections.c.name == bindparam("name"))
_DOCUMENT = select(documents.c.doc_id).where(documents.c.doc_id == bindparam("id"))
_COLUMNS = [each for each in pages.c if each.name not in {"rowid", "key", "links"}]
_THESE = is_among(pages.c.key, "keys")
_ALL = select(*_COLUMNS).where(pages.c.collection == bindparam("of")).order_by(pages.c.uri)
_ALL_LINKS = _ALL.add_columns(pages.c.links)
_PAGE = select(*_COLUMNS, pages.c.links).where(_match_page_key(pages))
_WAY = select(redirects.c.url, redirects.c.target, redirects.c.checked_at).where(
    _match_page_key(redirects)
)

_PUT = upsert(pages, pages.c.collection, pages.c.key)
_FAIL = upsert(
    pages,
    pages.c.collection,
    pages.c.key,
    update=[pages.c.checked_at, pages.c.problem, pages.c.code],
)
_REDIRECT = upsert(redirects, redirects.c.collection, redirects.c.key)
_DELETE_REDIRECT = delete(redirects).where(_match_page_key(redirects))
_DELETE_EMPTY = delete(pages).where(_match_page_key(pages), pages.c.doc_id == "")
_CHECK = update(pages).where(_match_page_key(pages))
_CHECK_REDIRECT = update(redirects).where(_match_page_key(redirects))
_FORGET = [
    delete(finds).where(_match_page_key(finds)),
    delete(redirects).where(_match_page_key(redirects)),
    delete(redirects).where(
        redirects.c.collection == bindparam("of"), redirects.c.target == bindparam("at")
    ),
    delete(pages).where(_match_page_key(pages)),
]

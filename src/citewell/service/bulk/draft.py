"""Files read where no database is: what `Intake` asks the catalog for is known beforehand, and what
it would write is noted, for the process that has the database. A draft answers and notes as the
catalog would, so `Intake` runs unchanged on any machine.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from citewell.service.library.add_report import FileReport
from citewell.store.library.catalog import Catalog
from citewell.store.library.chunks import replace_surrogates
from citewell.store.library.collection_store import Collections
from citewell.store.library.containers import INSIDE
from citewell.store.library.documents import DocumentInfo, Prepared, prepare_document
from citewell.types import Chunk, Document

NUMBER = "#"  # before the number of a document that has no id yet


@dataclass(frozen=True, slots=True)
class Known:
    """What the catalog has of one file before it is read. `documents`: its own and those that came
    out of it; `unpacked`: the hash that `Catalog.find_unpacked` tells; `chunking`: of its
    collection.
    """

    documents: tuple[DocumentInfo, ...] = ()
    unpacked: str = ""
    chunking: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Outcome:
    """What became of one file. `reports`: those of `Intake`, in which a document that is not kept
    yet has `#` and its number among `documents` for its id. `calls`: methods of the catalog that
    are to be called, with their arguments, in this order; that of a document is `None` and its
    number. `error`: what ends the run.
    """

    reports: list[FileReport] = field(default_factory=list)
    documents: list[Prepared] = field(default_factory=list)
    calls: list[tuple[str | None, tuple[Any, ...]]] = field(default_factory=list)
    error: Exception | None = None


class Draft(Catalog):
    """A catalog of one file, without a database: only what `Intake` calls works."""

    # ruff: noqa: ARG002 - the arguments are the catalog's

    def __init__(self, known: Known) -> None:
        self.known = known
        self.outcome = Outcome()

    async def find(self, collection: str, uri: str) -> DocumentInfo | None:
        uri = replace_surrogates(uri)
        return next((info for info in self.known.documents if info.uri == uri), None)

    async def find_same_bytes(self, collection: str, uri: str, sha256: str) -> DocumentInfo | None:
        """None: it is looked for when the document is kept."""
        return None

    async def is_unpacked(self, collection: str, uri: str, sha256: str) -> bool:
        """Of files inside others it is not known: they are unpacked again, their members are
        unchanged.
        """
        inside = INSIDE in uri
        return not inside and self.known.unpacked == sha256

    async def members(self, collection: str, uri: str) -> list[DocumentInfo]:
        below = replace_surrogates(uri) + INSIDE
        return [info for info in self.known.documents if info.uri.startswith(below)]

    async def put(
        self,
        collection: str,
        uri: str,
        data: bytes,
        document: Document,
        cut: Sequence[Chunk],
        *,
        priority: int | None = None,
    ) -> DocumentInfo:
        new, old = prepare_document(uri, data, document, cut), await self.find(collection, uri)
        number = len(self.outcome.documents)
        self.outcome.documents.append(new)
        self.outcome.calls.append((None, (number,)))
        return DocumentInfo(
            doc_id=f"{NUMBER}{number}",
            collection=collection,
            uri=new.uri,
            title=document.title,
            media_type=document.media_type,
            lang=document.lang,
            sha256=new.sha256,
            version=old.version + 1 if old else 1,
            pages=len(document.pages),
            chunks=sum(chunk["kind"] != "summary" for chunk in new.chunks),
            embedded=0,
            bytes=new.size,
            added_at=time.time(),
            warnings=list(document.warnings),
        )

    async def delete(self, *doc_ids: str) -> None:
        self.outcome.calls.append(("delete", doc_ids))

    async def set_priority(self, doc_id: str, priority: int) -> DocumentInfo:
        self.outcome.calls.append(("set_priority", (doc_id, priority)))
        return next(info for info in self.known.documents if info.doc_id == doc_id)

    async def keep_unpacked(
        self, collection: str, uri: str, sha256: str, members: Sequence[str]
    ) -> None:
        self.outcome.calls.append(("keep_unpacked", (collection, uri, sha256, list(members))))


class DraftCollections(Collections):
    """The collection of a draft: only how its documents are cut into chunks is known."""

    def __init__(self, known: Known) -> None:
        self._known = known

    async def get_chunking(self, collection: str) -> dict[str, Any]:
        return self._known.chunking

"""Spreadsheets among the documents, asked as tables. A document quotes its rows one by one; a count
or a total over them needs a statement. So such a document becomes a source of its own when a
question comes near to it, is read again when the document changes, and goes with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

import anyio

from citewell.errors import CitewellError, Conflict, NotFound
from citewell.runtime.app import App
from citewell.service.library.media_types import resolve_media_types
from citewell.service.tables.source_places import DOCUMENT, UPLOAD, Place, make_source_name
from citewell.service.tables.sources import add_place, remove_source
from citewell.store.library.documents import DocumentInfo
from citewell.store.source_rows import Source

# bytes of a file that is read while a question waits: 110,000 rows of CSV took 3 CPU seconds
MOST_BYTES: Final = 5_000_000
LONGEST: Final = 50  # characters of a name to which an id is added
TABLES: Final = frozenset(resolve_media_types(["table"]))


async def add_document_tables(app: App, doc_ids: Iterable[str]) -> None:
    """A source for each of these documents that has none yet, not even another with the same bytes.
    One whose tables cannot be read gets none, nor does a large one: `citewell data add` reads it.
    """
    sources = await app.sources.list()
    places = {each.location for each in sources}
    digests = {each.stat.get("sha256") for each in sources}
    for doc_id in doc_ids:
        if DOCUMENT + doc_id in places:
            continue
        try:
            info = await app.catalog.document(doc_id)
            if info.sha256 not in digests and info.bytes <= MOST_BYTES:
                await _add_tables(app, info)
                digests.add(info.sha256)
        except CitewellError:
            continue


async def follow_document(app: App, source: Source, *, there: bool) -> Source:
    """The source as its document is now. `there`: its copy is. Raises NotFound where the document
    is gone, and the source with it; UnreadableFile.
    """
    try:
        info = await app.catalog.document(source.location.removeprefix(DOCUMENT))
    except NotFound:
        await remove_source(app, source.name)
        raise
    if there and info.sha256 == source.stat.get("sha256"):
        return source
    return await _add_document(app, info, source.name)


async def remove_document_tables(app: App) -> None:
    """Remove the sources whose documents are gone."""
    for source in await app.sources.list():
        if source.location.startswith(DOCUMENT):
            try:
                await app.catalog.document(source.location.removeprefix(DOCUMENT))
            except NotFound:
                await remove_source(app, source.name)


async def _add_tables(app: App, info: DocumentInfo) -> None:
    """Under the name of its file; with the document's id where another source has that name."""
    name = make_source_name(PurePosixPath(info.uri.removeprefix(UPLOAD)).stem)
    try:
        await _add_document(app, info, name)
    except Conflict:
        await _add_document(app, info, f"{name[:LONGEST]} {info.doc_id}")


async def _add_document(app: App, info: DocumentInfo, name: str) -> Source:
    """Seen by those who see its collection where that is everybody, else by its owner alone."""
    owner = (await app.collections.get(info.collection)).owner
    data = await app.catalog.file(info.doc_id)
    file = PurePosixPath(info.uri.removeprefix(UPLOAD))
    with TemporaryDirectory(prefix="citewell-") as folder:
        path = Path(folder) / f"{make_source_name(file.stem)}{file.suffix}"
        await anyio.Path(path).write_bytes(data)
        location = DOCUMENT + info.doc_id
        added = await add_place(app, Place(location, location, name, path, owner), anew=True)
    return added.source

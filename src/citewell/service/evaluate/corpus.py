"""A corpus to ask questions on: of a data set, in a library of its own under the cache folder, or
the user's own collection. Nothing of an evaluation is ever written to the user's documents. A
corpus is loaded once: its library is named by all that makes it what it is (content, embedder, way
of cutting), and used again as long as that is the same.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import anyio.to_thread
from pydantic import SecretStr

from citewell import __version__
from citewell.errors import InvalidInput, StorageError, UnreadableFile
from citewell.ingest import assemble
from citewell.ingest.markup import plain_text as text
from citewell.measure.dataset import CorpusDocument, format_troubles, read_corpus
from citewell.runtime.app import App
from citewell.runtime.progress import OnProgress, Progress, ignore_progress
from citewell.service.library.chunking import cut_document
from citewell.service.library.embedding import embed_pending
from citewell.service.library.expand_paths import gather_files, to_uri
from citewell.service.library.read_and_embed import ingest_paths
from citewell.store.library.documents import DocumentInfo
from citewell.types import Document, Page

COLLECTION = "corpus"
LOADED = "loaded.json"  # written last: what the library was made of, and what could not be loaded


@dataclass(frozen=True, slots=True)
class Corpus:
    """An open library. `fingerprint` tells it from others; `names`: of stored documents."""

    app: App
    collection: str
    fingerprint: str
    troubles: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    async def index_documents(self) -> tuple[dict[str, DocumentInfo], dict[str, set[str]]]:
        """The documents by id, and for every name (own, uri, file, id) the ids that it means."""
        infos = await self.app.catalog.documents(self.collection)
        means: dict[str, set[str]] = {}
        for info in infos:
            for name in {
                info.doc_id,
                info.uri,
                PurePosixPath(info.uri).name,
                self.names.get(info.uri, info.uri),
            }:
                means.setdefault(name, set()).add(info.doc_id)
        return {info.doc_id: info for info in infos}, means


async def get_corpus(app: App, name: str | None) -> Corpus:
    """The user's own collection, read only. Raises NotFound."""
    info = await app.collections.get(name or app.settings.collection)
    documents = sorted(
        (each.uri, each.sha256, each.version, each.chunks)
        for each in await app.catalog.documents(info.name)
    )
    cut_by = dict(await app.collections.get_chunking(info.name))
    parts = [info.name, info.embedded, documents, cut_by, str(app.settings.home)]
    mark = hashlib.sha256(
        json.dumps(parts, sort_keys=True).encode("utf-8", "surrogateescape")
    ).hexdigest()
    waiting = info.chunks - info.embedded
    troubles = (
        [f"{waiting} of {info.chunks} passages of {info.name} wait to be found by meaning"]
        if waiting > 0
        else []
    )
    return Corpus(app, info.name, mark, troubles)


@asynccontextmanager
async def load_corpus(
    app: App, path: Path, *, fresh: bool = False, on_progress: OnProgress | None = None
) -> AsyncIterator[Corpus]:
    """The corpus at `path` (JSON lines, or a folder of files) in its library, a folder of the cache
    wherever that of `app` is kept; the models are those of `app`.

    `fresh`: read and cut it again; only new texts are embedded. Raises InvalidInput where there is
    nothing to load.
    """
    source = await anyio.to_thread.run_sync(_read_source, path, app)
    home = (
        app.settings.cache
        / "eval"
        / f"{re.sub(r'[^a-zA-Z0-9_-]+', '-', path.stem)[:40]}-{source.fingerprint[:12]}"
    )
    await anyio.to_thread.run_sync(lambda: home.mkdir(parents=True, exist_ok=True))
    settings = app.settings.model_copy(
        update={"home": home, "collection": COLLECTION, **_NO_SERVER}
    )
    async with App(settings, lender=app) as own:
        done = None if fresh else _read_mark(home / LOADED)
        # a file that could not be read is tried again; one that was costs nothing
        if done is None or source.files:
            failed = await _load_source(own, source, on_progress or ignore_progress, fresh=fresh)
            done = {"troubles": [*source.troubles, *failed], "names": source.names}
            (home / LOADED).write_text(json.dumps(done, ensure_ascii=False), "utf-8")
        yield Corpus(own, COLLECTION, source.fingerprint, done["troubles"], done["names"])


_NO_SERVER = {
    **dict.fromkeys(
        ("database_url", "database_direct_url", "database_replica_urls"), SecretStr("")
    ),
    "objects_url": "",
}


@dataclass(frozen=True, slots=True)
class _Source:
    """What a corpus holds: documents given as text, and files."""

    fingerprint: str
    texts: dict[str, list[CorpusDocument]]
    files: list[Path]
    names: dict[str, str]
    troubles: list[str]


def _read_source(path: Path, app: App) -> _Source:
    texts: dict[str, list[CorpusDocument]] = {}
    files: list[Path] = []
    names: dict[str, str] = {}
    troubles: list[str] = []
    content = hashlib.sha256()
    if path.is_dir():
        files = gather_files([str(path)]).files
    else:
        read = read_corpus(path)
        troubles = format_troubles(read.troubles)
        content.update(path.read_bytes())
        for record in read.records:
            if record.file:
                file = (path.parent / record.file).resolve()
                files.append(file)
                names[to_uri(file)] = record.doc_id
            elif record.page is None and record.doc_id in texts:
                troubles.append(
                    f"{path.name}: doc_id {record.doc_id!r} stands there already; the first one "
                    "counts"
                )
            else:
                texts.setdefault(record.doc_id, []).append(record)
    for file in files:
        if file.is_file():
            content.update(file.name.encode("utf-8", "surrogateescape") + file.read_bytes())
    if not texts and not files:
        raise InvalidInput(
            f"{path}: no document in it", hint="name a JSON lines file, or a folder of files"
        )
    # of a text, nothing else matters
    cut_by = None if files else {"chunker", "chunk_tokens", "overlap_tokens"}
    made_by = [
        __version__,
        app.embedder.name,
        app.settings.ingest.model_dump(mode="json", include=cut_by),
    ]
    content.update(json.dumps(made_by, sort_keys=True).encode())
    return _Source(content.hexdigest(), texts, files, names, troubles)


def _read_mark(path: Path) -> dict[str, Any] | None:
    try:
        mark = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return mark if isinstance(mark, dict) and {"troubles", "names"} <= set(mark) else None


async def _load_source(app: App, source: _Source, tell: OnProgress, *, fresh: bool) -> list[str]:
    """Add and embed what is missing; says what could not be added. Goes on where stopped."""
    await app.collections.create(COLLECTION)
    there = {info.uri: info.doc_id for info in await app.catalog.documents(COLLECTION)}
    failed = []
    for number, (doc_id, records) in enumerate(source.texts.items()):
        if doc_id in there and not fresh:
            continue
        await tell(Progress("read", number, len(source.texts), doc_id))
        try:
            document = build_document(records, app)
            chunks = await cut_document(app, document, COLLECTION)
        except UnreadableFile as error:
            failed.append(f"{doc_id}: {error.message}")
            continue
        await app.catalog.put(COLLECTION, doc_id, document.text.encode("utf-8"), document, chunks)
    if fresh and (read := [doc_id for uri, doc_id in there.items() if uri not in source.texts]):
        await app.catalog.delete(*read)
    if source.files:
        ingested = await ingest_paths(
            app, [str(file) for file in source.files], COLLECTION, on_progress=tell
        )
        failed += [
            f"{file.path}: {file.reason}"
            for file in ingested.report.files
            if file.status == "failed"
        ]
        if ingested.report.error is not None:
            raise StorageError(ingested.report.error["message"], hint=ingested.report.error["hint"])
        if ingested.problem is not None:
            raise ingested.problem
    await embed_pending(app, tell)
    return failed


def build_document(records: Sequence[CorpusDocument], app: App) -> Document:
    """As read from a file of this title; lines with a page are pages. Raises UnreadableFile."""
    parts = [
        assemble.clean_text(record.text).strip("\n")
        for record in sorted(records, key=lambda r: r.page or 0)
    ]
    whole = "\n\n".join(parts)
    document = text.parse(
        whole.encode("utf-8"), f"{records[0].title or records[0].doc_id}.txt", app.settings.ingest
    )
    return replace(
        document,
        title=records[0].title,
        pages=_build_pages(records, parts) if document.text == whole else (),
    )


def _build_pages(records: Sequence[CorpusDocument], parts: Sequence[str]) -> tuple[Page, ...]:
    pages, at = [], 0
    for number, part in zip(sorted(record.page or 0 for record in records), parts, strict=True):
        if number:
            pages.append(Page(number, at, at + len(part)))
        at += len(part) + 2
    return tuple(pages)

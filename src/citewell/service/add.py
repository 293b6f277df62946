"""Add files. The one rule: each document is committed alone, so a stop at any moment leaves whole documents only.

A document can be found by its words as soon as it is committed, and by meaning once `embed_pending` has come to its chunks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import anyio.to_thread
from pydantic import Field

from citewell.errors import UnreadableFile
from citewell.ingest import parse
from citewell.ingest.chunk import chunk
from citewell.service.app import App
from citewell.service.collections import check_name
from citewell.service.gather import gather, reason_of, uri_of
from citewell.service.progress import OnProgress, Progress, silent
from citewell.types import Shown

BATCH = 32  # passages embedded and committed together: what a killed run has to do again at most


class FileReport(Shown):
    """What became of one file. `reason` says why it failed; `chunks` are the passages it has now."""

    path: str
    status: Literal["added", "replaced", "unchanged", "failed"]
    reason: str = ""
    chunks: int = 0
    doc_id: str = ""
    warnings: list[str] = Field(default_factory=list)


class AddReport(Shown):
    """`skipped`: how many files of each unknown kind the folders held."""

    files: list[FileReport]
    skipped: dict[str, int] = Field(default_factory=dict)

    @property
    def failed(self) -> int:
        return sum(file.status == "failed" for file in self.files)


async def add(app: App, paths: Sequence[str], collection: str, *, on_progress: OnProgress | None = None) -> AddReport:
    """Read files and folders into `collection`. A bad file is reported and the rest goes on; StorageError ends the run."""
    tell = on_progress or silent
    check_name(collection)
    found = await anyio.to_thread.run_sync(gather, paths)
    reports = [FileReport(path=path, status="failed", reason=reason) for path, reason in found.failed]
    for number, path in enumerate(found.files):
        await tell(Progress("read", number, len(found.files), path.name))
        reports.append(await add_file(app, path, collection))
    if found.files:
        await tell(Progress("read", len(found.files), len(found.files)))
    return AddReport(files=reports, skipped=dict(sorted(found.skipped.items())))


async def add_file(app: App, path: Path, collection: str, *, uri: str = "", name: str = "") -> FileReport:
    """Read one file into `collection`. `uri` and `name` stand in for its path and file name where it was uploaded."""
    shown = uri or uri_of(path)
    try:
        data = await anyio.to_thread.run_sync(_read, path, app.settings.ingest.max_bytes)
        return await add_data(app, data, name or path.name, shown, collection)
    except (UnreadableFile, OSError) as error:
        reason = f"{error.message}; {error.hint}".removesuffix("; ") if isinstance(error, UnreadableFile) else reason_of(error)
        return FileReport(path=shown, status="failed", reason=reason)


async def add_data(app: App, data: bytes, name: str, uri: str, collection: str) -> FileReport:
    """Parse, cut and commit one document; the same bytes again are not parsed again. Raises UnreadableFile."""
    old = await app.catalog.find(collection, uri)
    if old is not None and old.sha256 == hashlib.sha256(data).hexdigest():
        return FileReport(path=uri, status="unchanged", chunks=old.chunks, doc_id=old.doc_id)
    ingest = app.settings.ingest
    document = await parse(data, name, ingest)
    chunks = await anyio.to_thread.run_sync(lambda: chunk(document, tokens=ingest.chunk_tokens, overlap=ingest.overlap_tokens))
    info = await app.catalog.put(collection, uri, data, document, chunks)
    return FileReport(
        path=uri,
        status="added" if old is None else "replaced",
        chunks=info.chunks,
        doc_id=info.doc_id,
        warnings=list(document.warnings),
    )


async def embed_pending(app: App, on_progress: OnProgress | None = None) -> int:
    """Embed every chunk that has no vector yet, whoever left it, batch by batch; says how many. Raises ModelUnavailable."""
    tell = on_progress or silent
    total, done = await pending(app), 0
    while batch := await app.catalog.unembedded(app.embedder.name, BATCH):
        await tell(Progress("embed", done, max(total, done + len(batch))))
        vectors = await app.embedder.passages([text for _, text in batch])
        await app.catalog.put_vectors(app.embedder.name, [chunk_id for chunk_id, _ in batch], vectors)
        done = max(done + len(batch), total - await pending(app))  # equal texts are embedded once
    if done:
        await tell(Progress("embed", done, done))
    return done


async def pending(app: App) -> int:
    """How many chunks wait for their vector."""
    return sum(info.chunks - info.embedded for info in await app.catalog.collections())


def _read(path: Path, limit: int) -> bytes:
    size = path.stat().st_size
    if size > limit:
        raise UnreadableFile(f"{size:,} bytes is more than the {limit:,} allowed", hint="raise ingest.max_bytes")
    return path.read_bytes()

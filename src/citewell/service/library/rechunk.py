"""Cut a collection's documents anew from their stored text, as its chunking says now. Each document
is replaced alone, and one that is cut so already is left as it is; so a stop at any moment leaves
whole documents, and the next run does the others. Vectors of equal text are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from citewell.errors import Conflict, NotFound, UnreadableFile
from citewell.messages import AnyText, Text
from citewell.runtime.app import App
from citewell.runtime.progress import OnProgress, Progress, ignore_progress
from citewell.service.library.chunking import Chunking, cut_document_as, resolve_chunking
from citewell.store.job_rows import BULK, Job
from citewell.store.library.collection_rows import CollectionInfo
from citewell.types import Chunk, Shown

KIND = "rechunk"


class RechunkReport(Shown):
    """`changed` of the collection's `documents` are cut otherwise than before; they have `chunks`
    in all now. `failed`: why some could not be, and stay as they were.
    """

    collection: str
    chunking: Chunking
    documents: int
    changed: int
    chunks: int
    failed: list[AnyText] = Field(default=[])


async def get_chunking(app: App, name: str) -> Chunking:
    """How the documents of a collection are cut: its own way over the settings. Raises NotFound."""
    info = await app.collections.get(name)
    return resolve_chunking(app.settings.ingest, info.chunking)


async def set_chunking(app: App, name: str, changes: Mapping[str, Any]) -> CollectionInfo:
    """Change how its documents are cut from now on; what is None stays. Raises NotFound and
    InvalidInput. Documents that are there already are cut anew by `rechunk_collection`.
    """
    info = await app.collections.get(name)
    own = info.chunking | {key: value for key, value in changes.items() if value is not None}
    resolve_chunking(app.settings.ingest, own)
    await app.collections.set_chunking(name, own)
    return await app.collections.get(name)


async def submit_rechunk(app: App, name: str) -> Job:
    """Have the documents cut anew by the server's worker."""
    job = await app.jobs.create(KIND, {"collection": name}, BULK)
    app.new_job.set()
    return job


async def rechunk_collection(
    app: App, name: str, *, on_progress: OnProgress | None = None
) -> RechunkReport:
    """Recut the collection's documents. Raises NotFound, StorageError, ModelUnavailable."""
    tell = on_progress or ignore_progress
    way = await get_chunking(app, name)
    documents = await app.catalog.documents(name)
    changed, failed = 0, []
    for number, info in enumerate(documents):
        await tell(Progress("cut", number, len(documents), info.title))
        try:
            changed += await _rechunk_document(app, info.doc_id, way)
        except (NotFound, Conflict):
            continue  # removed or replaced meanwhile, and then cut the new way
        except UnreadableFile as error:
            failed.append(Text("{uri}: {explanation}", uri=info.uri, explanation=error.explanation))
    if documents:
        await tell(Progress("cut", len(documents), len(documents)))
    info_now = await app.collections.get(name)
    return RechunkReport(
        collection=name,
        chunking=way,
        documents=info_now.documents,
        changed=changed,
        chunks=info_now.chunks,
        failed=failed,
    )


async def _rechunk_document(app: App, doc_id: str, way: Chunking) -> bool:
    chunks = await cut_document_as(
        await app.catalog.content(doc_id), way, app.embedder, app.settings.ingest
    )
    if _outline_chunks(chunks) == _outline_chunks(await app.catalog.chunks(doc_id)):
        return False
    await app.catalog.rechunk(doc_id, chunks)
    return True


def _outline_chunks(chunks: Sequence[Chunk]) -> list[tuple[int, int, int, str, tuple[str, ...]]]:
    """What tells ways of cutting apart; not summaries: a chat model may have written them."""
    return sorted(
        (chunk.start, chunk.end, chunk.section, chunk.kind, chunk.heading_path) for chunk in chunks
    )

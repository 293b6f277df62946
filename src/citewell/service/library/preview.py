"""Show how a file, sent bytes or a document would be cut. Nothing is stored."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread

from citewell.config import IngestSettings, Settings
from citewell.errors import UnreadableFile
from citewell.ingest import PARSERS, parse
from citewell.ingest.archive.unpack import CONTAINERS
from citewell.messages import AnyText, Text
from citewell.models.base import Embedder
from citewell.models.providers import build_embedder
from citewell.runtime.app import App
from citewell.service.library.chunking import (
    ChunkerName,
    Chunking,
    cut_document_as,
    resolve_chunking,
)
from citewell.text.sentences import split_sentences
from citewell.types import Chunk, ChunkKind, Document, Shown


class PreviewChunk(Shown):
    """`repeats`: how many of its first characters the chunk before holds too."""

    n: int
    start: int
    end: int
    page: int | None
    section: int
    heading_path: list[str]
    tokens: int
    kind: ChunkKind
    repeats: int
    text: str


class Totals(Shown):
    """Of the chunks without their summaries. `cut_sentences`: share of the sentences that stand
    whole in no chunk, 0 to 1.
    """

    chunks: int
    summaries: int
    tokens_mean: float
    tokens_min: int
    tokens_max: int
    sentences: int
    cut_sentences: float
    seconds: float


class Preview(Shown):
    chunking: Chunking
    totals: Totals
    chunks: list[PreviewChunk]
    summaries: list[PreviewChunk]


class Previews(Shown):
    path: str
    title: str
    media_type: str
    lang: str
    characters: int
    pages: int
    sections: int
    warnings: list[AnyText]
    previews: list[Preview]


async def preview_file(
    settings: Settings, path: str, chunkers: Sequence[ChunkerName], options: Mapping[str, Any]
) -> Previews:
    """Cut the file at `path` each way of `chunkers` (none: that of the settings). `options`:
    tokens, overlap, or None.

    Raises UnreadableFile, and InvalidInput for options that do not fit.
    """
    ways = _resolve_chunkings(settings.ingest, chunkers, options)
    file, data = await anyio.to_thread.run_sync(_read_file, path, settings.ingest.max_bytes)
    document = await _parse_data(data, file.name, settings.ingest)
    embedder = build_embedder(settings)
    try:
        return await _build_previews(str(file), document, ways, embedder, settings.ingest)
    finally:
        await embedder.close()


async def preview_bytes(
    embedder: Embedder,
    settings: Settings,
    data: bytes,
    name: str,
    chunkers: Sequence[ChunkerName],
    options: Mapping[str, Any],
) -> Previews:
    """The same for bytes that were sent under a file's name."""
    ways = _resolve_chunkings(settings.ingest, chunkers, options)
    document = await _parse_data(data, name, settings.ingest)
    return await _build_previews(name, document, ways, embedder, settings.ingest)


async def preview_document(
    app: App, doc_id: str, chunkers: Sequence[ChunkerName], options: Mapping[str, Any]
) -> Previews:
    """The same for a document; by default as its collection cuts. Raises NotFound, InvalidInput."""
    info = await app.catalog.document(doc_id)
    said = {key: value for key, value in options.items() if value is not None}
    own = await app.collections.get_chunking(info.collection)
    as_it_is = resolve_chunking(app.settings.ingest, own)
    ways = _resolve_chunkings(app.settings.ingest, chunkers or [as_it_is.chunker], own | said)
    return await _build_previews(
        info.uri, await app.catalog.content(doc_id), ways, app.embedder, app.settings.ingest
    )


def _resolve_chunkings(
    settings: IngestSettings, chunkers: Sequence[ChunkerName], options: Mapping[str, Any]
) -> list[Chunking]:
    return [
        resolve_chunking(settings, {**options, "chunker": each})
        for each in chunkers or [settings.chunker]
    ]


async def _parse_data(data: bytes, name: str, settings: IngestSettings) -> Document:
    """Raises UnreadableFile, also for a file that holds others."""
    suffix = Path(name).suffix.lower()
    if suffix in CONTAINERS and suffix not in PARSERS:
        raise UnreadableFile(
            Text("{name} holds other files", name=name),
            hint=Text("`citewell add` reads them all; to see how one is cut, unpack it"),
        )
    return await parse(data, name, settings)


async def _build_previews(
    path: str,
    document: Document,
    ways: Sequence[Chunking],
    embedder: Embedder,
    settings: IngestSettings,
) -> Previews:
    return Previews.of(
        document,
        path=path,
        characters=len(document.text),
        pages=len(document.pages),
        sections=len(document.sections),
        previews=[await _build_preview(document, way, embedder, settings) for way in ways],
    )


async def _build_preview(
    document: Document, chunking: Chunking, embedder: Embedder, settings: IngestSettings
) -> Preview:
    began = time.perf_counter()
    everything = await cut_document_as(document, chunking, embedder, settings)
    seconds = time.perf_counter() - began
    chunks = [chunk for chunk in everything if chunk.kind != "summary"]
    summaries = [chunk for chunk in everything if chunk.kind == "summary"]
    return Preview(
        chunking=chunking,
        totals=compute_totals(document, chunks, summaries, seconds),
        chunks=_build_preview_chunks(chunks),
        summaries=_build_preview_chunks(summaries, overlap=False),
    )


def compute_totals(
    document: Document, chunks: Sequence[Chunk], summaries: Sequence[Chunk], seconds: float
) -> Totals:
    sizes = [chunk.tokens for chunk in chunks] or [0]
    spans = split_sentences(document.text)
    whole = _count_whole_spans(spans, chunks)
    return Totals(
        chunks=len(chunks),
        summaries=len(summaries),
        tokens_mean=round(sum(sizes) / len(sizes), 1),
        tokens_min=min(sizes),
        tokens_max=max(sizes),
        sentences=len(spans),
        cut_sentences=round(1 - whole / len(spans), 4) if spans else 0.0,
        seconds=round(seconds, 3),
    )


def _count_whole_spans(spans: Sequence[tuple[int, int]], chunks: Sequence[Chunk]) -> int:
    """How many spans stand whole in a chunk. Chunks are in order, and so are their ends."""
    starts = [chunk.start for chunk in chunks]
    furthest: list[int] = []
    for chunk in chunks:
        furthest.append(max(chunk.end, furthest[-1] if furthest else 0))
    places = ((bisect_right(starts, start) - 1, end) for start, end in spans)
    return sum(place >= 0 and end <= furthest[place] for place, end in places)


def _build_preview_chunks(chunks: Sequence[Chunk], *, overlap: bool = True) -> list[PreviewChunk]:
    shown: list[PreviewChunk] = []
    before = 0
    for n, chunk in enumerate(chunks, 1):
        repeats = max(0, min(before, chunk.end) - chunk.start) if overlap else 0
        shown.append(PreviewChunk.of(chunk, n=n, repeats=repeats))
        before = max(before, chunk.end)
    return shown


def _read_file(name: str, limit: int) -> tuple[Path, bytes]:
    try:
        path = Path(name).expanduser()
        if path.is_dir():
            raise UnreadableFile(Text("{path} is a folder", path=path), hint=Text("name one file"))
        size = path.stat().st_size
        if size > limit:
            raise UnreadableFile(
                Text(
                    "{path}: {size:,} bytes is more than the {limit:,} allowed",
                    path=path,
                    size=size,
                    limit=limit,
                ),
                hint=Text("raise ingest.max_bytes"),
            )
        return path, path.read_bytes()
    except (OSError, RuntimeError) as error:  # RuntimeError: `~name` of nobody
        reason = getattr(error, "strerror", None) or error
        raise UnreadableFile(
            Text("{name}: {reason}", name=name, reason=reason),
            hint=Text("name a file that can be read"),
        ) from None

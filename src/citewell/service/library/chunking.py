"""Cut a parsed document as its collection wants it; all stored chunks come from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, overload

import anyio.from_thread
import anyio.to_thread
from pydantic import ConfigDict, Field, ValidationError, model_validator

from citewell.config import IngestSettings
from citewell.errors import InvalidInput
from citewell.ingest.bounded import run_in_time
from citewell.ingest.chunk.section_summaries import chunk_with_summaries, chunk_without_text
from citewell.messages import Text
from citewell.models.base import Embedder, Vector
from citewell.models.builtin.lanes import use_background_priority
from citewell.runtime.app import App
from citewell.types import Chunk, Document, Shown

ChunkerName = Literal["structure", "sentences", "fixed", "semantic"]


class Chunking(Shown):
    """How documents are cut; both sizes as `count_tokens` counts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chunker: ChunkerName
    tokens: int = Field(ge=40, le=480)
    overlap: int = Field(ge=0, le=200)

    @model_validator(mode="after")
    def _check_overlap(self) -> Chunking:
        if self.overlap >= self.tokens:
            raise ValueError(
                f"an overlap of {self.overlap} leaves no room in chunks of {self.tokens} tokens"
            )
        return self


def resolve_chunking(settings: IngestSettings, own: Mapping[str, Any]) -> Chunking:
    """What `own` says, over the settings. Raises InvalidInput naming what is wrong."""
    defaults = {
        "chunker": settings.chunker,
        "tokens": settings.chunk_tokens,
        "overlap": settings.overlap_tokens,
    }
    try:
        return Chunking(
            **(defaults | {key: value for key, value in own.items() if value is not None})
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = str(first["msg"]).removeprefix("Value error, ")
        hint = Text(
            "chunker: structure, sentences, fixed or semantic; tokens: 40 to 480; "
            "overlap: 0 to 200, less than tokens"
        )
        raise InvalidInput(
            Text("chunking {where}: {message}", where=where, message=message)
            if where
            else Text("chunking: {message}", message=message),
            hint=hint,
        ) from None


class Slices(Sequence[Chunk]):
    """Chunks given their text when asked for, so that a long document is not held twice."""

    def __init__(self, text: str, bare: Sequence[Chunk]) -> None:
        self._text, self._bare = text, bare

    def __len__(self) -> int:
        return len(self._bare)

    @overload
    def __getitem__(self, at: int) -> Chunk: ...

    @overload
    def __getitem__(self, at: slice) -> list[Chunk]: ...

    def __getitem__(self, at: int | slice) -> Chunk | list[Chunk]:
        return (
            [self._fill_text(chunk) for chunk in self._bare[at]]
            if isinstance(at, slice)
            else self._fill_text(self._bare[at])
        )

    def _fill_text(self, chunk: Chunk) -> Chunk:
        return (
            chunk
            if chunk.kind == "summary"
            else replace(chunk, text=self._text[chunk.start : chunk.end])
        )


async def cut_document(app: App, document: Document, collection: str) -> Sequence[Chunk]:
    """The chunks of `document` in `collection`, then the summaries of its sections."""
    chunking = resolve_chunking(app.settings.ingest, await app.collections.get_chunking(collection))
    return await cut_document_as(document, chunking, app.embedder, app.settings.ingest)


async def cut_document_as(
    document: Document, chunking: Chunking, embedder: Embedder | None, settings: IngestSettings
) -> Sequence[Chunk]:
    """The same where the way is known, in a worker process, within the time that parsing may take:
    raises UnreadableFile. `semantic` embeds every sentence, minutes for a long document, and so
    stays here.
    """
    ways = (chunking.tokens, chunking.overlap, chunking.chunker)
    if chunking.chunker != "semantic" or embedder is None:
        name, size = document.title or "the text", len(document.text)
        function = f"{chunk_without_text.__module__}:{chunk_without_text.__name__}"
        return Slices(
            document.text, await run_in_time(function, size, name, settings, document, *ways)
        )

    def embed(texts: Sequence[str]) -> Vector:
        with use_background_priority():
            return anyio.from_thread.run(embedder.passages, texts)

    return await anyio.to_thread.run_sync(chunk_with_summaries, document, *ways, embed)

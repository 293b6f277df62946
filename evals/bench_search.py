"""How long a search takes, and what it misses, at ten and a hundred thousand passages.

The one rule: word frequencies are real, because passages are put together from real sentences;
vectors are real ones of such sentences with noise, so that neighbours are as close as neighbours
are. Exact search over the same vectors is the measure.
"""

from __future__ import annotations

import random
import resource
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from bench_ingest import sentences
from citewell.config import Settings
from citewell.models.base import Vector
from citewell.models.providers import build_embedder
from citewell.runtime.app import App
from citewell.service.ask.search import SearchRequest, search
from citewell.store.index.protocol import Filter
from citewell.types import Chunk, Document, Section

REAL = 96  # sentences that are really embedded: seconds
# length of what is added to a unit vector: cosines of 0.95 to it, and of 0.9 between two of one
# sentence
NOISE = 0.35
A_DOCUMENT = 500  # passages
CHARACTERS = 300  # of a passage
ASKED = 40  # searches of each kind
QUESTION = 40  # characters of a question
WHERE = Filter(collections=("bench",))


async def searching(
    home: Path, settings: Settings, chunks: int, *, rerank: bool = False
) -> Iterator[str]:
    """Lines to print for a collection of so many passages. `rerank`: also with the built-in chat
    model's second look.
    """
    known, chance, noise = sentences(), random.Random(3), np.random.default_rng(3)
    embedder = build_embedder(settings)
    real = await embedder.passages(chance.sample(known, REAL))
    await embedder.close()
    async with App(settings.model_copy(update={"home": home, "llm": "none"})) as app:
        started = time.perf_counter()
        rows = await _fill(app, known, chance, noise, real, chunks)
        filled = time.perf_counter() - started
        queries = _near(real[noise.integers(0, REAL, ASKED)], noise)
        first = await _seconds(lambda: app.index.search_vectors(queries[0], 10, WHERE))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        speed = f"filled at {chunks / filled:.0f} a second without embedding"
        lines = [f"{chunks:,} passages: {speed}, first search {first:.1f} s, {memory:.0f} MB"]
        lines += await _by_meaning(app, rows, queries)
        lines += await _by_words(app, known, chance)
        lines += await _whole(
            app, known, chance, ASKED // 2, "whole search, embedding of the question included"
        )
    if rerank:
        own = {"home": home, "llm": "builtin", "reranker": "llm"}
        async with App(settings.model_copy(update=own)) as app:
            lines += await _whole(
                app,
                known,
                chance,
                3,
                f"the same with the best {settings.rerank_top} reranked by the chat model",
            )
    return iter(lines)


def _near(vectors: Vector, noise: np.random.Generator) -> Vector:
    added = noise.standard_normal(vectors.shape).astype(np.float32)
    added *= NOISE / np.linalg.norm(added, axis=1, keepdims=True)
    moved = vectors + added
    result: Vector = (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)
    return result


async def _fill(
    app: App,
    known: list[str],
    chance: random.Random,
    noise: np.random.Generator,
    real: Vector,
    chunks: int,
) -> Vector:
    """All passages and their vectors; row i is the vector of the i-th passage."""
    kept = []
    for number in range(0, chunks, A_DOCUMENT):
        texts = [_passage(known, chance) for _ in range(min(A_DOCUMENT, chunks - number))]
        text, spans, at = "\n".join(texts), [], 0
        for each in texts:
            spans.append(Chunk(each, at, at + len(each), 0, (), None, 100))
            at += len(each) + 1
        name = f"d{number}"
        document = Document(name, "text/plain", "en", text, (Section((), 0, len(text)),))
        await app.catalog.put("bench", name, text.encode(), document, spans)
        vectors = _near(real[noise.integers(0, len(real), len(texts))], noise)
        ids = [
            chunk
            for chunk, _ in await app.pending_chunks.list_unembedded(
                app.embedder.name, 2 * A_DOCUMENT
            )
        ]
        await app.pending_chunks.put_vectors(app.embedder.name, ids, vectors[: len(ids)])
        kept.append(vectors[: len(ids)])
    return np.concatenate(kept)


def _passage(known: list[str], chance: random.Random) -> str:
    parts, size = [], 0
    while size < CHARACTERS:
        parts.append(chance.choice(known))
        size += len(parts[-1]) * (2 if ord(parts[-1][0]) > 0x2E80 else 1)
    return " ".join(parts)


async def _by_meaning(app: App, rows: Vector, queries: Vector) -> list[str]:
    seconds, found, bare = [], [], []
    for query in queries:
        started = time.perf_counter()
        best = await app.index.search_vectors(query, 10, WHERE)
        seconds.append(time.perf_counter() - started)
        started = time.perf_counter()
        scores = rows @ query
        nearest = np.sort(np.partition(scores, -10)[-10:])[::-1]
        bare.append(time.perf_counter() - started)
        found.append(sum(score >= nearest[-1] - 1e-5 for _, score in best) / 10)
    ratio = statistics.median(seconds) / statistics.median(bare)
    return [
        (
            f"  by meaning: {_spread(seconds)} ({ratio:.1f} x a bare numpy scan), "
            f"recall@10 {statistics.mean(found):.3f}"
        )
    ]


async def _by_words(app: App, known: list[str], chance: random.Random) -> list[str]:
    """Whole sentences as they stand (frequent words among them), and the most frequent words
    alone.
    """
    asked = [chance.choice(known)[:QUESTION] for _ in range(ASKED)]
    usual = [await _seconds(partial(app.index.search_words, text, 10, WHERE)) for text in asked]
    frequent = [
        "flow pressure",
        "公司 发展",
        "中国",
        "number of results",
        "工作 人员 进行",
        "boundary layer",
        "记者",
        "2023 年",
    ]
    worst = [
        await _seconds(partial(app.index.search_words, text, 10, WHERE)) for text in frequent * 3
    ]
    return [f"  by words: {_spread(usual)}; of frequent words only: {_spread(worst)}"]


async def _whole(
    app: App, known: list[str], chance: random.Random, count: int, name: str
) -> list[str]:
    asked = [
        SearchRequest(query=chance.choice(known)[:QUESTION], collection="bench")
        for _ in range(count)
    ]
    await search(app, asked[0])
    seconds = [await _seconds(partial(search, app, request)) for request in asked]
    return [f"  {name}: {_spread(seconds)}"]


def _spread(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    return (
        f"p50 {statistics.median(ordered) * 1000:.1f} ms, "
        f"p95 {ordered[int(0.95 * (len(ordered) - 1))] * 1000:.1f} ms"
    )


async def _seconds(call: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await call()
    return time.perf_counter() - started

"""Both adapters over the same documents of both languages: the same chunks in the same order, with
the same scores.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from citewell.config.document_settings import IngestSettings
from citewell.ingest import parse_here
from citewell.ingest.chunk.section_summaries import chunk_with_summaries
from citewell.models.base import Vector
from citewell.store.db import Database
from citewell.store.index import postgres_blocks, postgres_vectors, postgres_words
from citewell.store.index.adapters import INDEXES
from citewell.store.index.protocol import Filter, Index
from citewell.store.library.catalog import Catalog
from citewell.store.library.pending_chunks import PendingChunks
from citewell.text.tokens import tokenize_for_index
from citewell.types import Chunk, Document

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
DIM = 96
EMBEDDER = "of words"
FILTERS = (
    Filter(),
    Filter(collections=("en",)),
    Filter(langs=("zh",), kinds=()),
    Filter(kinds=("summary",)),
)


def embed(text: str) -> Vector:
    """Texts with words in common are near to each other."""
    row = np.zeros(DIM, np.float32)
    for token in tokenize_for_index(text):
        number = zlib.crc32(token.encode())
        row[number % DIM] += 1 if number & 1024 else -1
    return row / (np.linalg.norm(row) or 1)


def read_samples() -> list[tuple[Path, Document, list[Chunk]]]:
    paths = sorted((SAMPLES / "library").iterdir())
    documents = [parse_here(path.read_bytes(), path.name, IngestSettings()) for path in paths]
    return [
        (path, document, chunk_with_summaries(document, 60, 10, "structure"))
        for path, document in zip(paths, documents, strict=True)
    ]


def read_questions() -> list[str]:
    lines = (SAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [str(json.loads(line)["question"]) for line in lines]


class Pair(NamedTuple):
    sqlite: Index
    postgresql: Index


async def fill(db: Database, samples: list[tuple[Path, Document, list[Chunk]]]) -> Index:
    catalog, pending = Catalog(db, EMBEDDER), PendingChunks(db, EMBEDDER)
    for path, document, cut in samples:
        await catalog.put(document.lang, path.name, path.read_bytes(), document, cut)
    while waiting := await pending.list_unembedded(EMBEDDER, 1000):
        rows = np.stack([embed(text) for _, text in waiting])
        await pending.put_vectors(EMBEDDER, [chunk for chunk, _ in waiting], rows)
    return INDEXES[db.dialect](db, EMBEDDER)


@pytest.fixture
async def pair(path: Path, home_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pair]:
    """Most words are packed, in small segments and large ones."""
    monkeypatch.setattr(postgres_blocks, "SEGMENT", 16)
    monkeypatch.setattr(postgres_blocks, "LARGE", 4)
    samples = read_samples()
    path.parent.mkdir()
    async with AsyncExitStack() as stack:
        homes = [await stack.enter_async_context(Database(path, url)) for url in ("", home_url)]
        yield Pair(*[await fill(db, samples) for db in homes])


async def test_both_find_the_same(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each question the ten nearest by meaning, whichever way PostgreSQL goes, and the ten best
    by words, filtered or not.
    """
    asked, same = 0, {0: 0, 10**6: 0}  # by neighbours; each
    for question in read_questions():
        for where in FILTERS:
            words = [await index.search_words(question, 10, where) for index in pair]
            assert [chunk for chunk, _ in words[0]] == [chunk for chunk, _ in words[1]], question
            assert [score for _, score in words[0]] == pytest.approx([s for _, s in words[1]])
            vector = embed(question)
            found = [chunk for chunk, _ in await pair.sqlite.search_vectors(vector, 10, where)]
            asked += len(found)
            for few in same:
                monkeypatch.setattr(postgres_vectors, "FEW", few)
                near = await pair.postgresql.search_vectors(vector, 10, where)
                other = [chunk for chunk, _ in near]
                same[few] += len(set(found) & set(other))
                if set(found) == set(other):
                    assert found == other
    assert asked > 1_000
    assert min(same.values()) / asked >= 0.99


async def test_words_that_share_a_number_are_not_taken_for_each_other(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk is found by its words, not by the numbers that PostgreSQL looks them up by."""
    want = dict(await pair.sqlite.search_words("保修 warranty", 10))
    monkeypatch.setattr(postgres_words, "hash_query_token", lambda token: 7)
    assert await pair.postgresql.search_words("nosuchword", 10) == []
    monkeypatch.undo()
    assert dict(await pair.postgresql.search_words("保修 warranty", 10)) == pytest.approx(want)

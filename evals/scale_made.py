"""Made chunks for `bench_scale.py`: vectors drawn in clusters, words by Zipf's law, half of the
texts Chinese. The one rule: the same numbers give the same chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from citewell.models.base import Vector

DIM = 384
EMBEDDER = "made"
A_DOCUMENT = 250  # chunks
WORDS = 60  # of a chunk
KNOWN_WORDS = 30_000
SHARE = 100  # one document in so many is of the collection that is asked alone


@dataclass(frozen=True)
class Made:
    """`vectors`: row i is that of the i-th chunk; `few`: the rows of the small collection."""

    vectors: Vector
    texts: list[str]
    few: np.ndarray
    queries: Vector
    questions: list[str]


def make(chunks: int, asked: int) -> Made:
    rng = np.random.default_rng(11)
    centres = rng.standard_normal((max(20, chunks // 500), DIM)).astype(np.float32)
    spread = rng.standard_normal((24, DIM)).astype(np.float32) * 0.25

    def draw(count: int) -> Vector:
        rows = centres[rng.integers(0, len(centres), count)]
        rows = rows + rng.standard_normal((count, 24)).astype(np.float32) @ spread
        rows += 0.35 * rng.standard_normal((count, DIM)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    vectors = np.concatenate([draw(min(20_000, chunks - n)) for n in range(0, chunks, 20_000)])
    known = _make_words(rng)
    chances = 1 / (np.arange(len(known)) + 8.0)
    drawn = rng.choice(len(known), (chunks, WORDS), p=chances / chances.sum())
    # even numbers are Chinese words: half of the chunks have only these, half the others
    drawn = drawn - drawn % 2 + (np.arange(chunks) % 2)[:, None]
    texts = [
        (" " if n % 2 else "").join(known[word] for word in row) for n, row in enumerate(drawn)
    ]
    few = np.flatnonzero(np.arange(chunks) // A_DOCUMENT % SHARE == 0)
    questions = [
        _join(int(n), [known[word] for word in rng.choice(drawn[n], 3)])
        for n in rng.integers(0, chunks, asked)
    ]
    return Made(vectors, texts, few, draw(asked), questions)


def _join(chunk: int, words: Sequence[str]) -> str:
    return (" " if chunk % 2 else "").join(words)


def _make_words(rng: np.random.Generator) -> list[str]:
    """Chinese ones of two characters and others of letters, by turns."""
    signs = [chr(0x4E00 + n) for n in range(3000)]
    parts = [a + b for a in "bcdfghklmnprstvz" for b in "aeiou"]
    return [
        "".join(rng.choice(signs, 2)) if n % 2 == 0 else "".join(rng.choice(parts, 3))
        for n in range(KNOWN_WORDS)
    ]

"""Which documents a question means that names several of them in its own words, or in another
language than their titles ("比较欧盟和中国的退货规定", "International Returns and Warranty"): by
meaning, without what all texts of a language have in common, which would put any title of the
question's language before the right one of another.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from citewell.models.base import Vector
from citewell.text.sentences import detect_language

# the mean vector of titles and of questions, by language (`training/requests/titles.py`)
MEANS = Path(__file__).with_suffix(".json")
# Cosine from which on a title is meant. Of 37 questions for two documents, each collection's means
# left out in turn, 26 find just those, 5 others too; of 12 for none, none finds two.
LEAST = 0.28


def find_meant_titles(
    question: str, asked: Vector, titles: Sequence[str], vectors: Vector, embedder: str
) -> list[int]:
    """The positions of those that are meant, the likeliest first; none for another embedder than
    the built-in one. `vectors`: of the titles, as passages.
    """
    name, means = read_means()
    if name != embedder or not titles:
        return []
    langs = [detect_language(title) for title in titles]
    rest = vectors - np.array([means["titles", lang] for lang in langs])
    likeness = _scale(rest) @ _scale(asked - means["questions", detect_language(question)])
    order = np.argsort(likeness)[::-1]
    return [int(n) for n in order if likeness[n] >= LEAST]


def _scale(vectors: Vector) -> Vector:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vector = vectors / np.maximum(length, 1e-9)
    return scaled


@cache
def read_means() -> tuple[str, dict[tuple[str, str], Vector]]:
    """The embedder's name, and the means of titles and of questions by language."""
    kept = json.loads(MEANS.read_text("utf-8"))
    means = {
        (what, lang): np.array(mean, np.float32)
        for what in ("titles", "questions")
        for lang, mean in kept[what].items()
    }
    return kept["embedder"], means

"""The mean vectors by language that `skills/dialogue/meant_titles.py` takes out.

    python training/requests/titles.py [--write]

`titles.jsonl`: a collection a line, with questions and the positions of the titles that each means.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citewell.config import load_settings
from citewell.models.builtin.embedder import BuiltinEmbedder
from citewell.skills.dialogue import meant_titles
from citewell.text.sentences import detect_language

ITEMS = Path(__file__).with_suffix(".jsonl")
Floats = NDArray[np.float32]


def compute_means(texts: Sequence[str], vectors: Floats) -> dict[str, list[float]]:
    langs = np.array([detect_language(text) for text in texts])
    return {
        lang: [round(float(each), 4) for each in vectors[langs == lang].mean(axis=0)]
        for lang in ("en", "zh")
    }


def write_means(rows: Sequence[dict[str, Any]], embedder: str) -> None:
    """Where the skill reads them."""
    kept = {"embedder": embedder} | {
        what: compute_means(
            [text for row in rows for text in row[what]],
            np.concatenate([row[f"{what}_vectors"] for row in rows]),
        )
        for what in ("titles", "questions")
    }
    meant_titles.MEANS.write_text(json.dumps(kept) + "\n", "utf-8")
    meant_titles.read_means.cache_clear()


def count_found(row: dict[str, Any], embedder: str) -> tuple[int, int, int]:
    """Questions whose titles, and no others, are found; for which more or others are; of those
    that mean none, for which two are.
    """
    right = other = false = 0
    questions = zip(row["questions"], row["questions_vectors"], row["means"], strict=True)
    for text, asked, means in questions:
        found = meant_titles.find_meant_titles(
            text, asked, row["titles"], row["titles_vectors"], embedder
        )
        if len(found) > 1:
            right += set(found) == set(means)
            other += bool(means) and set(found) != set(means)
            false += not means
    return right, other, false


async def main() -> None:
    embedder, rows = BuiltinEmbedder(load_settings()), list[dict[str, Any]]()
    for line in ITEMS.read_text("utf-8").splitlines():
        item = json.loads(line)
        questions = [each["text"] for each in item["questions"]]
        row = {"titles": item["titles"], "questions": questions}
        row["means"] = [each["means"] for each in item["questions"]]
        row["titles_vectors"] = await embedder.passages(item["titles"])
        row["questions_vectors"] = np.array([await embedder.query(text) for text in questions])
        rows.append(row)
    before = meant_titles.MEANS.read_text("utf-8") if meant_titles.MEANS.exists() else ""
    found = []
    for n, row in enumerate(rows):
        write_means([*rows[:n], *rows[n + 1 :]], embedder.name)
        found.append(count_found(row, embedder.name))
    several = sum(bool(means) for row in rows for means in row["means"])
    print("right, others too, false:", *np.array(found).sum(axis=0), "of", several, "that mean two")
    if "--write" in sys.argv:
        write_means(rows, embedder.name)
    else:
        meant_titles.MEANS.write_text(before, "utf-8")


if __name__ == "__main__":
    asyncio.run(main())

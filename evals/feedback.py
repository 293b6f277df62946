"""How well the likeness of two questions tells whether one statement answers both
(store/confirmed/question_likeness.py).

    .venv/bin/python evals/feedback.py

Over the questions of text2sql, English and Chinese, with the packaged embedder. Two questions of
one database are paraphrases where their gold statements are equal. The one rule: nothing is fitted
here; the figures are printed, and chosen by hand.
"""

from __future__ import annotations

import asyncio
import json
import random
from itertools import combinations
from pathlib import Path

import numpy as np

from citewell.config import load_settings
from citewell.models.base import Vector
from citewell.models.providers import build_embedder
from citewell.store.confirmed.question_likeness import Scale, compute_likeness, get_scale

QUESTIONS = (
    Path(__file__).resolve().parent.parent.parent
    / "shared"
    / "data"
    / "text2sql"
    / "questions.jsonl"
)
LANGS = ("en", "zh")
NEAREST, ROUNDS = 5, 6
PAIRS = {("en", "en"): "English", ("zh", "zh"): "Chinese", ("en", "zh"): "mixed"}


def asked() -> list[dict[str, str]]:
    """Database, statement without differences of space and case, and the question in both
    languages.
    """
    rows = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    return [
        {
            "db": row["db_id"],
            "sql": " ".join(row["gold_sql"].lower().split()),
            "en": row["question_en"],
            "zh": row["question_zh"],
        }
        for row in rows
    ]


async def embedded(rows: list[dict[str, str]]) -> tuple[str, dict[str, Vector]]:
    embedder = build_embedder(load_settings(embedder="builtin"))
    vectors = {lang: np.stack([await embedder.query(row[lang]) for row in rows]) for lang in LANGS}
    await embedder.close()
    return embedder.name, vectors


def spread(rows: list[dict[str, str]], vectors: dict[str, Vector], scale: Scale) -> None:
    """Medians of the raw cosine, and shares of pairs above the thresholds in force."""
    for (one, other), name in PAIRS.items():
        cosines = vectors[one] @ vectors[other].T
        pairs = [
            (i, j) for i, j in combinations(range(len(rows)), 2) if rows[i]["db"] == rows[j]["db"]
        ]
        alike = [cosines[i, j] for i, j in pairs if rows[i]["sql"] == rows[j]["sql"]]
        apart = [cosines[i, j] for i, j in pairs if rows[i]["sql"] != rows[j]["sql"]]
        print(
            f"{name}: {len(alike)} pairs of one statement, median {np.median(alike):.3f}; "
            f"others {np.median(apart):.3f}"
        )
        for threshold in ("floor", "same", "alone"):
            bound = getattr(scale, threshold)
            kept, wrong = (
                np.mean([compute_likeness(float(c), one, other, scale) >= bound for c in cs])
                for cs in (alike, apart)
            )
            print(f"    {threshold} {bound}: {kept:.0%} of those, {wrong:.1%} of the others")


def nearest(rows: list[dict[str, str]], vectors: dict[str, Vector], scale: Scale) -> str:
    """How often a question of the same statement is the first, or among the nearest, where each was
    confirmed in one language by chance; and the same where all of them are in the other language.
    """
    counts = {"all": [0, 0, 0], "other language only": [0, 0, 0]}
    for seed in range(ROUNDS):
        chance = random.Random(seed)
        kept = [chance.choice(LANGS) for _ in rows]
        for number, row in enumerate(rows):
            lang = chance.choice(LANGS)
            others = [n for n, each in enumerate(rows) if n != number and each["db"] == row["db"]]
            near = sorted(
                others,
                key=lambda n: (
                    -compute_likeness(
                        float(vectors[lang][number] @ vectors[kept[n]][n]), lang, kept[n], scale
                    )
                ),
            )
            right = [n for n in others if rows[n]["sql"] == row["sql"]]
            if not right:
                continue
            far = all(kept[n] != lang for n in right)
            for name in ["all", "other language only"] if far else ["all"]:
                counts[name][0] += 1
                counts[name][1] += near[0] in right
                counts[name][2] += any(n in right for n in near[:NEAREST])
    return "; ".join(
        f"{name}: {a} questions, first {b / a:.0%}, among {NEAREST} {c / a:.0%}"
        for name, (a, b, c) in counts.items()
    )


async def main() -> None:
    rows = asked()
    name, vectors = await embedded(rows)
    spread(rows, vectors, get_scale(name))
    print("as cosines:", nearest(rows, vectors, Scale()))
    print("on one scale:", nearest(rows, vectors, get_scale(name)))


if __name__ == "__main__":
    asyncio.run(main())

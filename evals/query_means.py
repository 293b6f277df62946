"""Make src/citewell/retrieve/query_means.json: what questions of a language have in common, for the
built-in embedder.

    .venv/bin/python evals/query_means.py

Embeds 200 random questions of SQuAD 2.0 and of CMRC 2018 (seed 0) and writes their means. The one
rule: XQuAD, on which cross-language search is measured, is not among them.
"""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path

import numpy as np

from citewell.config import load_settings
from citewell.models.providers import build_embedder
from citewell.retrieve.cross_lingual import QueryMeans, format_means

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = REPOSITORY.parent / "shared" / "data"
TARGET = REPOSITORY / "src/citewell/retrieve/query_means.json"
SETS = {
    "en": ("squad2", DATA / "qa_refusal_en/squad2_questions.jsonl"),
    "zh": ("cmrc", DATA / "retrieval_zh/cmrc_questions.jsonl"),
}
QUESTIONS = 200


async def main() -> None:
    embedder = build_embedder(load_settings(embedder="builtin"))
    chosen = random.Random(0)
    means = {}
    for lang, (_, path) in SETS.items():
        questions = [json.loads(line)["question"] for line in path.read_text("utf-8").splitlines()]
        vectors = [
            await embedder.query(question) for question in chosen.sample(questions, QUESTIONS)
        ]
        means[lang] = [float(x) for x in np.mean(vectors, axis=0)]
    await embedder.close()
    made_of = {name: QUESTIONS for name, _ in SETS.values()}
    TARGET.write_text(
        format_means(QueryMeans(embedder=embedder.name, made_of=made_of, means=means)),
        encoding="utf-8",
    )


if __name__ == "__main__":
    asyncio.run(main())

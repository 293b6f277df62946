"""Fits how much each signal of a sentence counts (`sentence` in `calibration.json`), on questions
about papers whose gold answers are known: `python evals/paper_fit.py --data DIR`, DIR as for
`evals/paper.py texts`, with other papers. Prints the weights, and how many questions the best
sentences answer where each paper is left out in turn. Questions answered by yes or no are passed
over: no sentence gives these.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from citewell.config import load_settings
from citewell.measure import wording
from citewell.retrieve.confidence import Logistic
from citewell.runtime.app import App
from citewell.service.ask.options import SearchOptions
from citewell.service.ask.search import find_hits
from citewell.service.library.embedding import embed_pending
from citewell.service.papers.reading_sessions import begin_paper_session
from citewell.skills.answer.draft import DraftSentence
from citewell.skills.answer.rank_sentences import measure_sentences, pick_best
from citewell.skills.evidence.passages import pack_passages
from citewell.store.index.protocol import Filter
from citewell.text.entities import extract_search_names
from paper import Asked, questions
from paper_losses import SEARCHED, gives

NAMES = ("cosine", "coverage", "behind", "span")
HELD, NEAR = 0.5, 0.15  # share of a gold answer's words that a sentence holds; behind the best
PENALTY = 3.0  # of the squared weights of standardised signals
SHOWN = (1, 2, 4, 6, 8, 10, 12)
Floats = NDArray[np.float64]
Weights = tuple[Floats, float]


@dataclass(frozen=True, slots=True)
class Item:
    """A question with the sentences near it: signals by row, and which of them answer."""

    asked: Asked
    sentences: list[DraftSentence]
    signals: Floats
    answers: Floats


async def measure(app: App, data: Path) -> list[Item]:
    asked, papers = questions("texts", data)
    items, where = [], dict[str, Filter]()
    for one in (each for each in asked if each.answers[0].strip().lower() not in {"yes", "no"}):
        if one.paper not in where:
            file, text = papers[one.paper]
            paper = (await begin_paper_session(app, data=text, name=file)).paper
            await embed_pending(app)
            where[one.paper] = Filter(collections=(paper.collection,), doc_ids=(paper.doc_id,))
        vector, names = await app.embedder.query(one.question), extract_search_names(one.question)
        found = await find_hits(
            app, SearchOptions(), one.question, vector, names, where[one.paper], SEARCHED
        )
        passages = pack_passages(one.question, found.hits, 1_000 * SEARCHED, most=SEARCHED)
        measured = await measure_sentences(one.question, passages, app.reader, app.embedder)
        signals = np.array([[each[name] for name in NAMES] for _, each in measured])
        sentences = [sentence for sentence, _ in measured]
        items.append(Item(one, sentences, signals, label([s.text for s in sentences], one)))
    return items


def label(texts: list[str], one: Asked) -> Floats:
    """1 for sentences that give the answer, or hold much of it and as much as any."""
    shares = np.array([max(wording.compute_recall(t, gold) for gold in one.answers) for t in texts])
    much = (shares >= HELD) & (shares >= shares.max() - NEAR)
    given = np.array([gives(text, one.answers, one.parts) for text in texts])
    return np.asarray(given | much, float)


def fit(items: list[Item]) -> Weights:
    """Logistic regression by Newton's method."""
    known = [item for item in items if item.answers.any()]
    x = np.concatenate([item.signals for item in known])
    y = np.concatenate([item.answers for item in known])
    mean, spread = x.mean(0), x.std(0) + 1e-9
    z = np.c_[(x - mean) / spread, np.ones(len(x))]
    w, ridge = np.zeros(z.shape[1]), PENALTY * np.diag([*[1.0] * len(NAMES), 0.0])
    for _ in range(50):
        p = 1 / (1 + np.exp(-z @ w))
        w -= np.linalg.solve((z.T * (p * (1 - p))) @ z + ridge, z.T @ (p - y) + ridge @ w)
    weights = w[:-1] / spread
    return weights, float(w[-1] - weights @ mean)


def count_right(items: list[Item], weights: dict[str, Weights], most: int) -> tuple[int, int]:
    """Questions answered by the best sentences, and words of these."""
    right = words = 0
    for item in items:
        by_name, bias = weights[item.asked.paper]
        model = Logistic(bias=bias, weights=dict(zip(NAMES, map(float, by_name), strict=True)))
        scores = [model(dict(zip(NAMES, map(float, row), strict=True))) for row in item.signals]
        best, _ = pick_best(list(zip(item.sentences, scores, strict=True)), most)
        text = " ".join(each.text for each in best)
        right += gives(text, item.asked.answers, item.asked.parts)
        words += len(text.split())
    return right, words // max(1, len(items))


async def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True)
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        async with App(load_settings(home=Path(folder), llm="none")) as app:
            items = await measure(app, said.data)
    by_name, bias = fit(items)
    print(f"bias {bias:.3f}", *(f"{n} {w:.3f}" for n, w in zip(NAMES, by_name, strict=True)))
    papers = {item.asked.paper for item in items}
    held = {paper: fit([i for i in items if i.asked.paper != paper]) for paper in papers}
    for most in SHOWN:
        right, words = count_right(items, held, most)
        print(f"at most {most:2}: {right} of {len(items)}, {words} words")


if __name__ == "__main__":
    asyncio.run(main())

"""Fits what answers about papers are chosen by (`sentence` in `calibration.json`), and from which
confidence on they are shown (`paper`), on questions whose gold answers are known.

    python evals/paper_fit.py --data DIR [--threshold]

DIR is as for `evals/paper.py texts`, with other papers. Prints the weights of a sentence's signals,
and how many questions the best sentences answer where each paper is left out in turn; questions
answered by yes or no are passed over, since no sentence gives these. `--threshold`: the paper agent
is asked, and the threshold is chosen as for documents (`measure/samples.py`); DIR must also have
questions that its papers do not answer.
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
from citewell.measure.calibration import measure_reliability
from citewell.measure.samples import choose_threshold
from citewell.retrieve.confidence import Logistic, load_shipped
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
from paper import Asked, questions, run
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
    for one in (each for each in asked if each.answerable and not _is_yes_or_no(each)):
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


def _is_yes_or_no(one: Asked) -> bool:
    return one.answers[0].strip().lower() in {"yes", "no"}


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


async def choose_paper_threshold(app: App, data: Path) -> str:
    """From which confidence on an answer is shown, where nothing is refused, and how well that
    tells the right ones.
    """
    asked = {one.id for one in questions("texts", data)[0] if not _is_yes_or_no(one)}
    shipped = load_shipped().answer
    shipped["paper"] = shipped["paper"].model_copy(update={"threshold": 0.0})
    results = [each for each in await run(app, "texts", 0, data) if each.id in asked]
    sure, right = [each.confidence for each in results], [each.right for each in results]
    threshold = choose_threshold(sure, right)
    found = measure_reliability(np.array(sure), right)
    lines = [f"threshold {threshold}, of {len(results)} right {sum(right)}: {found}"]
    for name, answerable in (("answerable", True), ("unanswerable", False)):
        chances = [each.confidence for each in results if each.answerable is answerable]
        refused = sum(chance < threshold for chance in chances)
        lines.append(f"{name}: {refused} of {len(chances)} refused")
    return "\n".join(lines)


async def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--threshold", action="store_true", help="choose from which confidence on it is shown"
    )
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        async with App(load_settings(home=Path(folder), llm="none")) as app:
            if said.threshold:
                print(await choose_paper_threshold(app, said.data))
                return
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

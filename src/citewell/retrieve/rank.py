"""Fuse, rerank, deduplicate: pure functions over hits. Scores are compared within one search only;
what crosses searches is a probability (`confidence.py`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from citewell.models.base import Vector
from citewell.text.tokens import tokenize_for_index, tokenize_query
from citewell.types import Hit

RRF_K = 60  # Cormack, Clarke and Buettcher 2009: the constant that damps the first ranks

# Chosen by hand on the mean nDCG@10 of 14 sets (SQuAD2, XQuAD in each language, CMRC, Cranfield,
# MTRAG's last turns alone and after their history, ClapNQ, four of RGB, paper_qa, samples; vectors
# of multilingual-e5-small): 0.817. A cosine of 1.5 with entities at 0.25 gave 0.813, vectors alone
# 0.790, BM25 alone 0.769; figures clipped gave no more.
WEIGHTS = {"cosine": 2.0, "bm25": 1.0, "coverage": 0.5, "entities": 0.5}
# The least spread that cosines are divided by: of a pool of few, or of passages that are all alike,
# the differences mean little. Their spread is 0.016 to 0.040 on those sets; ClapNQ gained 0.008 and
# Cranfield 0.005, none lost more than 0.003.
LEAST_SPREAD = {"cosine": 0.02, "context_cosine": 0.02}
# Passages in another language than the question: words hardly match across them, but names and
# figures do. On XQuAD coverage at 0.2 put the right passage first for 0.866 and 0.853 of 320
# questions each way, without it 0.841 and 0.850, at 0.4 0.853 and 0.819. Entities are only those
# with figures in them, which are the same in every language (names made it worse).
FOREIGN_WEIGHTS = {"foreign_cosine": 1.0, "coverage": 0.2, "entities": 0.5}
# of `score`: what the weights are scaled to sum up to, so that scores of searches of any kind
# spread alike
SCALE = 3.5


def fuse_rankings(*rankings: Sequence[int], k: int = RRF_K) -> list[int]:
    """Reciprocal rank fusion of ranked ids, best first."""
    scores: Counter[int] = Counter()
    for ranking in rankings:
        for rank, item in enumerate(ranking):
            scores[item] += 1 / (k + rank + 1)  # type: ignore[assignment]  # Counter is typed for int counts
    return [item for item, _ in scores.most_common()]


def rerank_hits(
    question: str,
    hits: Sequence[Hit],
    entities: Iterable[str] = (),
    *,
    context: str = "",
    weights: Mapping[str, float] = WEIGHTS,
) -> list[Hit]:
    """Order by meaning, words and entities together. Fills `score` and the signals
    `coverage`, `entities` and `standing` (the score, kept where later steps change it: how
    far a hit stands out of its pool), and `context_coverage` where there is a context: the question
    behind those before it.
    """
    if not hits:
        return []
    held = [set(h.words.split()) or set(tokenize_for_index(get_searchable_text(h))) for h in hits]
    measured = {
        "coverage": compute_term_coverage(question, held),
        "entities": [compute_entity_share(entities, get_searchable_text(h)) for h in hits],
    }
    if context:
        measured["context_coverage"] = compute_term_coverage(context, held)
    signals = [
        h.signals | {name: values[n] for name, values in measured.items()}
        for n, h in enumerate(hits)
    ]
    total = np.zeros(len(hits))
    for name, weight in weights.items():
        total += weight * _standardise_values([s.get(name, 0.0) for s in signals], name)
    total *= SCALE / sum(weights.values())
    order = np.argsort(-total, kind="stable")
    scores = [round(float(x), 4) for x in total]
    return [
        replace(hits[i], score=scores[i], signals=signals[i] | {"standing": scores[i]})
        for i in order
    ]


def get_context_weights(weight: float) -> dict[str, float]:
    """The weights with a context, whose figures count `weight` times the question's own."""
    return WEIGHTS | {
        f"context_{name}": weight * WEIGHTS[name] for name in ("cosine", "bm25", "coverage")
    }


def get_searchable_text(hit: Hit) -> str:
    """What a hit is known by: its document's title, its headings, its text."""
    return "\n".join((hit.title, *hit.heading_path, hit.text))


def compute_coverage(question: str, texts: Sequence[str]) -> list[float]:
    """Share of the question's terms in each text, rare terms weighing more (idf). 0 to 1."""
    return compute_term_coverage(question, [set(tokenize_for_index(text)) for text in texts])


def compute_term_coverage(question: str, words: Sequence[set[str]]) -> list[float]:
    """`coverage` of texts whose words are known."""
    terms = set(tokenize_query(question))
    holds = [terms & held for held in words]
    weights = {
        t: math.log(1 + (len(words) + 0.5) / (sum(t in h for h in holds) + 0.5)) for t in terms
    }
    whole = sum(weights.values()) or 1.0
    return [sum(weights[t] for t in held) / whole for held in holds]


def compute_entity_share(entities: Iterable[str], text: str) -> float:
    """Share of the entities whose name stands in the text, letter case aside."""
    wanted = [e.casefold() for e in entities]
    folded = text.casefold()
    return sum(e in folded for e in wanted) / len(wanted) if wanted else 0.0


def deduplicate(hits: Iterable[Hit]) -> list[Hit]:
    """Keep the first of equal texts, and of chunks of a document that overlap by over half."""
    kept: list[Hit] = []
    of_document: defaultdict[str, list[Hit]] = defaultdict(list)
    seen: set[str] = set()
    for hit in hits:
        text = " ".join(hit.text.split()).casefold()
        if text not in seen and not any(
            _is_overlapping(hit, other) for other in of_document[hit.doc_id]
        ):
            kept.append(hit)
            of_document[hit.doc_id].append(hit)
            seen.add(text)
    return kept


def _is_overlapping(one: Hit, other: Hit) -> bool:
    """Of two in one document."""
    shared = min(one.end, other.end) - max(one.start, other.start)
    return shared > 0.5 * min(one.end - one.start, other.end - other.start)


def _standardise_values(values: Sequence[float], name: str) -> NDArray[np.float64]:
    """How many standard deviations above the mean. A cosine of 0 is that of a passage without a
    vector yet: not known, so it neither helps nor hurts.
    """
    array = np.asarray(values, dtype=np.float64)
    known = array != 0 if name.endswith("cosine") else np.ones(len(array), dtype=np.bool_)
    if not known.any():
        return np.zeros(len(array))
    apart = np.where(known, array - array[known].mean(), 0.0)
    return apart / max(float(array[known].std()), LEAST_SPREAD.get(name, 1e-9))


def interleave_rankings(first: Sequence[Hit], second: Sequence[Hit]) -> list[Hit]:
    """Two incomparable rankings taken in turn; the second gets the first's scores."""
    second = [
        replace(hit, score=first[min(place, len(first) - 1)].score if first else 0.0)
        for place, hit in enumerate(second)
    ]
    places = range(max(len(first), len(second)))
    return [
        hit for place in places for hit in (*first[place : place + 1], *second[place : place + 1])
    ]


def append_ranking(first: Sequence[Hit], second: Sequence[Hit]) -> list[Hit]:
    """Two incomparable rankings in sequence; the second gets the first's lowest score."""
    return [*first, *(replace(hit, score=first[-1].score if first else 0.0) for hit in second)]


def stretch_cosines(cosines: Vector) -> Vector:
    """Cosines of multilingual-e5-small (0.70 unrelated, 0.95 the same) stretched to 0..1, so that
    they weigh like words.
    """
    wide: Vector = np.clip((cosines - 0.75) / 0.2, 0, 1)
    return wide

"""Selects what an answer is made from: verbatim sentences in passages, within a budget."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from citewell.models.base import CONNECTED_TIER, LLM
from citewell.retrieve.rank import compute_coverage
from citewell.retrieve.snippet import extract_snippet
from citewell.text.sentences import count_tokens, split_sentences
from citewell.types import Hit

PASSAGES = 3  # that a small model is sent: more cost time and mislead it
READ_PASSAGES = 8  # that the reader looks at, whole
# how much of a sentence's score its neighbours inherit: an answer often stands beside the words of
# its question
NEIGHBOUR = 0.35
TOKENS_EACH = 400  # of a passage with what stands around it
LONGEST_PASSAGE = 1_000  # tokens of a chunk, at most
RANK_BONUS = 0.15  # for a sentence of the first passage over one of the second, and so on


@dataclass(frozen=True, slots=True)
class Passage:
    """A hit as it is sent to a model: `spans` are offsets into its document, `text` their text.
    `shown` (one a span, or none) stands for the text of those that are not read line by line.
    """

    n: int
    hit: Hit
    spans: tuple[tuple[int, int], ...]
    text: str
    shown: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """Title and headings, each once."""
        return " › ".join(
            dict.fromkeys(part for part in (self.hit.title, *self.hit.heading_path) if part)
        )


def pack_passages(
    question: str, hits: Sequence[Hit], budget: int, *, most: int = PASSAGES
) -> list[Passage]:
    """The best `most` hits, cut to `budget` tokens by leaving out the least useful sentences."""
    chosen = list(hits[:most])
    spans = [split_sentences(hit.text) for hit in chosen]
    pieces = [(i, a, b) for i, each in enumerate(spans) for a, b in each]
    costs = [count_tokens(chosen[i].text[a:b]) for i, a, b in pieces]
    kept = (
        set(range(len(pieces)))
        if sum(costs) <= budget
        else _pick_best_sentences(question, chosen, pieces, costs, budget)
    )
    passages: list[Passage] = []
    for i, hit in enumerate(chosen):
        own = [(a, b) for k, (j, a, b) in enumerate(pieces) if j == i and k in kept]
        if own:
            text = join_spans(hit.text, own)
            passages.append(
                Passage(
                    len(passages) + 1,
                    hit,
                    tuple((hit.start + a, hit.start + b) for a, b in own),
                    text,
                )
            )
    return passages


Widen = Callable[[Sequence[Hit], int], Awaitable[list[Hit]]]


async def select_passages(
    question: str, hits: Sequence[Hit], llm: LLM | None, widen: Widen, *, share: float = 1.0
) -> list[Passage]:
    """The passages for an answer: for a connected model the hits with their surroundings, in
    document order, the best document first, within this share of its budget; for the reader the
    best whole hits, best first.
    """
    budget = llm.evidence_tokens if llm else 0
    if budget < CONNECTED_TIER:
        return pack_passages(question, hits, READ_PASSAGES * LONGEST_PASSAGE, most=READ_PASSAGES)
    budget = int(budget * share)
    most = max(PASSAGES, budget // TOKENS_EACH)
    return sort_by_document(
        pack_passages(question, await widen(hits[:most], budget), budget, most=most)
    )


def sort_by_document(passages: Sequence[Passage]) -> list[Passage]:
    """Passages of one document together, in order, renumbered; the best passage's first."""
    documents = list(dict.fromkeys(passage.hit.doc_id for passage in passages))
    ordered = sorted(
        passages, key=lambda passage: (documents.index(passage.hit.doc_id), passage.hit.start)
    )
    return [replace(passage, n=n) for n, passage in enumerate(ordered, start=1)]


def describe_hit(hit: Hit, question: str) -> dict[str, Any]:
    """A hit as a step of a trace tells it. `quote`: the stretch that serves the question best, in
    its document from `start` to `end`.
    """
    where = {"title": hit.title, "page": hit.page, "section": " › ".join(hit.heading_path)}
    part = extract_snippet(question, hit.text)
    start = hit.start + part.start
    return where | {
        "doc_id": hit.doc_id,
        "uri": hit.uri,
        "quote": part.text,
        "start": start,
        "end": start + len(part.text),
        "score": hit.score,
        "signals": {k: round(v, 3) for k, v in hit.signals.items()},
        "text": hit.text[:200],
    }


def _pick_best_sentences(
    question: str,
    hits: Sequence[Hit],
    pieces: Sequence[tuple[int, int, int]],
    costs: Sequence[int],
    budget: int,
) -> set[int]:
    shares = compute_coverage(question, [hits[i].text[a:b] for i, a, b in pieces])
    scores = []
    for k, (i, _, _) in enumerate(pieces):
        beside = max(
            (shares[j] for j in (k - 1, k + 1) if 0 <= j < len(pieces) and pieces[j][0] == i),
            default=0.0,
        )
        scores.append(max(shares[k], NEIGHBOUR * beside) + RANK_BONUS * (len(hits) - i))
    kept: set[int] = set()
    for k in sorted(range(len(pieces)), key=lambda k: -scores[k]):
        if costs[k] <= budget:
            kept.add(k)
            budget -= costs[k]
    return kept


def join_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Sentences with the white space between them; ` … ` where some are left out."""
    parts = [text[spans[0][0] : spans[0][1]]]
    for (_, end), (start, stop) in pairwise(spans):
        gap = text[end:start]
        parts += [gap if not gap.strip() else " … ", text[start:stop]]
    return "".join(parts)

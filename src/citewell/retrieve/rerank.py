"""A second look at the best hits of a search by a model that reads question and passage together.
It may change the order of the first few hits and nothing else. A reranker that is down costs a
warning, never the search; what it does not judge counts as undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

from citewell.errors import CitewellError
from citewell.messages import Text
from citewell.models.base import Reranker
from citewell.retrieve.excerpt import extract_excerpt
from citewell.types import Hit

MOST = 6.0  # log-odds count as no more than this, either way: past 99.75 % the figure tells nothing
# of the first hit, sent whole: it is likely the evidence sent next, and then its prompt is in the
# cache
FIRST_TOKENS = 480


class Reranked(NamedTuple):
    """Hits best first, and what there is to tell about it."""

    hits: list[Hit]
    warnings: list[str]


async def rerank_with_model(
    reranker: Reranker | None, question: str, hits: Sequence[Hit], top: int
) -> Reranked:
    """The first `top` hits ordered by their score and the reranker's log-odds together, the rest
    behind them as they were.

    Those judged get the signal `rerank` (log-odds). Scores stay in descending order, the best one
    as high as before. Hits out of the reranker's reach are not shown to it; with only the first in
    reach, nobody is asked.
    """
    if reranker is None:
        return Reranked(list(hits), [])
    first = list(takewhile(lambda hit: hits[0].score - hit.score <= reranker.reach, hits[:top]))
    if len(first) < 2:
        return Reranked(list(hits), [])
    texts = [
        _format_passage(question, hit, reranker.passage_tokens if n else FIRST_TOKENS)
        for n, hit in enumerate(first)
    ]
    try:
        verdicts = await reranker.scores(question, texts)
    except CitewellError as error:
        warning = Text(
            "the order of the passages was not checked again: {message}", message=error.message
        )
        return Reranked(list(hits), [warning])
    return Reranked(_blend_scores(hits, verdicts, reranker.weight), [])


def _format_passage(question: str, hit: Hit, tokens: int) -> str:
    """Title and headings, each once, and the text, as skills/evidence/passages.py sends it."""
    heading = " › ".join(dict.fromkeys(part for part in (hit.title, *hit.heading_path) if part))
    return f"{heading}\n{extract_excerpt(question, hit.text, tokens)}"


def _blend_scores(
    hits: Sequence[Hit], verdicts: Sequence[float | None], weight: float
) -> list[Hit]:
    """`verdicts` are of the first hits; totals move so that the best keeps the leading score."""
    judged = list(zip(hits, verdicts, strict=False))
    totals = [hit.score + weight * max(-MOST, min(MOST, verdict or 0.0)) for hit, verdict in judged]
    shift = hits[0].score - max(totals)
    order = sorted(range(len(judged)), key=lambda n: -totals[n])
    ahead = [_mark_hit(*judged[n], score=totals[n] + shift) for n in order]
    least = ahead[-1].score
    return ahead + [replace(hit, score=min(hit.score, least)) for hit in hits[len(judged) :]]


def _mark_hit(hit: Hit, verdict: float | None, score: float) -> Hit:
    signals = hit.signals if verdict is None else hit.signals | {"rerank": round(verdict, 4)}
    return replace(hit, score=round(score, 4), signals=signals)

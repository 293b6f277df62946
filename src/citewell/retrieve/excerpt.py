"""The part of a passage that serves a question best, for models that have no time for all of it. An
excerpt is made of verbatim sentences in their order, ` … ` where some were left out.
"""

from __future__ import annotations

from itertools import pairwise

from citewell.retrieve.rank import compute_coverage
from citewell.text.sentences import count_tokens, split_sentences

# share of its score that a sentence hands to those beside it: an answer often stands next to the
# words asked
NEIGHBOUR = 0.35


def extract_excerpt(question: str, text: str, tokens: int) -> str:
    """`text` of at most `tokens`, else its sentences with most of the question's words."""
    if count_tokens(text) <= tokens:
        return text
    spans = split_sentences(text)
    own = compute_coverage(question, [text[a:b] for a, b in spans])
    beside = [
        max(own[max(0, k - 1) : k] + own[k + 1 : k + 2], default=0.0) for k in range(len(own))
    ]
    scores = [max(mine, NEIGHBOUR * near) for mine, near in zip(own, beside, strict=True)]
    kept: list[tuple[int, int]] = []
    for k in sorted(range(len(spans)), key=lambda k: -scores[k]):
        cost = count_tokens(text[slice(*spans[k])])
        if cost <= tokens or not kept:
            kept.append(spans[k])
            tokens -= cost
    return _join_spans(text, sorted(kept))


def _join_spans(text: str, spans: list[tuple[int, int]]) -> str:
    parts = [text[slice(*spans[0])]]
    for (_, end), (start, stop) in pairwise(spans):
        gap = text[end:start]
        parts += [" … " if gap.strip() else gap, text[start:stop]]
    return "".join(parts)

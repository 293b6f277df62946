"""How near a text comes in meaning to labelled examples, and which label is meant where that is
sure. The examples of a label are one text, with ` | ` between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from citewell.errors import ModelUnavailable
from citewell.models.base import Embedder, Vector

Label = TypeVar("Label", bound=str)
_known: dict[tuple[str, str], Vector] = {}  # by embedder and example: they never change


async def find_nearest(
    question: str, examples: Mapping[Label, str], embedder: Embedder, *, close: float, surely: float
) -> Label | None:
    """None where the nearest example is less near than `close` (cosine), or less than `surely`
    nearer than one of another label, or nothing can be embedded.
    """
    try:
        likeness = await compare_examples(question, examples, embedder)
    except ModelUnavailable:
        return None
    best, second, *_ = sorted(likeness, key=lambda label: -likeness[label][0])
    return best if likeness[best][0] >= max(close, likeness[second][0] + surely) else None


async def compare_examples(
    text: str, examples: Mapping[Label, str], embedder: Embedder
) -> dict[Label, list[float]]:
    """The cosines of each label's examples, nearest first. Raises ModelUnavailable."""
    wanted = await embedder.query(text)
    split = {label: each.split(" | ") for label, each in examples.items()}
    new = [t for each in split.values() for t in each if (embedder.name, t) not in _known]
    if new:
        rows = await embedder.passages(new)
        _known.update(((embedder.name, t), row) for t, row in zip(new, rows, strict=True))
    return {
        label: sorted((float(_known[embedder.name, t] @ wanted) for t in each), reverse=True)
        for label, each in split.items()
    }

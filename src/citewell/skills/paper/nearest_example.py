"""Which kind of labelled question a question is most like in meaning, where that is sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from citewell.errors import ModelUnavailable
from citewell.models.base import Embedder, Vector

Label = TypeVar("Label", bound=str)
_known: dict[tuple[str, str], Vector] = {}  # by embedder and example: they never change


async def find_nearest(
    question: str,
    examples: Mapping[Label, Sequence[str]],
    embedder: Embedder,
    *,
    close: float,
    surely: float,
) -> Label | None:
    """None where the nearest example is less near than `close` (cosine), or less than `surely`
    nearer than one of another label, or nothing can be embedded.
    """
    try:
        wanted = await embedder.query(question)
        known = await _embed_examples(
            [text for each in examples.values() for text in each], embedder
        )
    except ModelUnavailable:
        return None
    likeness = {
        label: max(float(known[text] @ wanted) for text in each) for label, each in examples.items()
    }
    best, second, *_ = sorted(likeness, key=lambda label: -likeness[label])
    return best if likeness[best] >= max(close, likeness[second] + surely) else None


async def _embed_examples(texts: Sequence[str], embedder: Embedder) -> dict[str, Vector]:
    new = [text for text in texts if (embedder.name, text) not in _known]
    if new:
        rows = await embedder.passages(new)
        _known.update(((embedder.name, text), row) for text, row in zip(new, rows, strict=True))
    return {text: _known[embedder.name, text] for text in texts}

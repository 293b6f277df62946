"""Where nothing reads: the best passage's sentence most like the question, in words and meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from citewell.models.base import Embedder
from citewell.retrieve.rank import compute_coverage, stretch_cosines
from citewell.skills.answer.draft import Draft, DraftSentence
from citewell.skills.evidence.numbered import number_sentences
from citewell.skills.evidence.passages import Passage

EMBEDDED = 20  # sentences whose meaning is compared: those that share most words


async def find_nearest_sentence(
    question: str, passages: Sequence[Passage], embedder: Embedder | None
) -> Draft:
    """A draft of that sentence; no heading."""
    units = number_sentences(passages[:1])
    headings = {passages[0].hit.title, *passages[0].hit.heading_path}
    units = [
        unit for unit in units if not any(unit.text.strip() in heading for heading in headings)
    ] or units
    shares = compute_coverage(question, [unit.text for unit in units])
    order = sorted(range(len(units)), key=lambda n: -shares[n])[:EMBEDDED]
    units, scores = [units[n] for n in order], np.asarray([shares[n] for n in order])
    if embedder is not None and len(units) > 1:
        scores = scores + stretch_cosines(
            await embedder.passages([unit.text for unit in units]) @ await embedder.query(question)
        )
    best = units[int(np.argmax(scores))]
    return Draft(status="answered", sentences=[DraftSentence(text=best.text, evidence=[best.id])])

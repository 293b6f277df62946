"""Citations: the quotes that prove an answer's sentences, numbered in the order of their first use.
A quote is an exact span of its document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.skills.evidence.numbered import Unit
from citewell.skills.evidence.prompt_injection import has_prompt_injection
from citewell.types import Citation, Sentence


@dataclass(frozen=True, slots=True)
class Proof:
    """Sentences with verdicts, and the citations they number."""

    sentences: list[Sentence]
    citations: list[Citation]


def number_citations(bound: Sequence[tuple[Sentence, Sequence[Unit], float]]) -> Proof:
    """Sentences with the evidence of each and the probability that it proves it."""
    numbers: dict[tuple[str, int, int], int] = {}
    citations: list[Citation] = []
    shown: list[Sentence] = []
    for sentence, units, score in bound:
        used = []
        for unit in units:
            key = (unit.passage.hit.doc_id, unit.start, unit.end)
            if key not in numbers:
                numbers[key] = len(numbers) + 1
                citations.append(
                    build_citation(
                        numbers[key], unit, score, verified=sentence.verdict == "supported"
                    )
                )
            used.append(numbers[key])
        shown.append(sentence.model_copy(update={"citations": used}))
    return Proof(shown, citations)


def build_citation(n: int, unit: Unit, score: float, *, verified: bool) -> Citation:
    hit = unit.passage.hit
    return Citation(
        n=n,
        doc_id=hit.doc_id,
        title=hit.title,
        uri=hit.uri,
        page=hit.page,
        section=" › ".join(hit.heading_path),
        quote=unit.text,
        start=unit.start,
        end=unit.end,
        score=round(min(1.0, score), 4),
        status="verified" if verified else "weak",
        gives_orders=has_prompt_injection(hit.text),
    )


def renumber_citations(proof: Proof, kept: Sequence[Sentence]) -> Proof:
    """The proof of some of the sentences: unused citations are left out, others renumbered."""
    used = sorted({n for s in kept for n in s.citations})
    new = {old: i + 1 for i, old in enumerate(used)}
    sentences = [s.model_copy(update={"citations": [new[n] for n in s.citations]}) for s in kept]
    citations = [c.model_copy(update={"n": new[c.n]}) for c in proof.citations if c.n in new]
    return replace(proof, sentences=sentences, citations=citations)


def keep_proved(proof: Proof) -> Proof:
    """The sentences that the evidence proves, in whole or in part."""
    return renumber_citations(
        proof, [sentence for sentence in proof.sentences if sentence.verdict != "unsupported"]
    )

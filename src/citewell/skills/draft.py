"""From graded evidence to a proved draft, for the agents that explore: the model asked, its words proved, its answer graded.

The one rule: a chat model that fails never ends a run. It is not asked again in that run, and it is said why.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, Protocol, TypeVar

from citewell.errors import BudgetSpent, CitewellError, Conflict, NotFound
from citewell.flow import emit, note
from citewell.ingest.sentences import language
from citewell.models.base import LLM, Embedder, Reply
from citewell.skills import answer as answering
from citewell.skills.cite import Proof, prove
from citewell.skills.evidence import EXTRACTIVE_TOKENS, Passage, prefix
from citewell.skills.grade import GATE_THRESHOLD, SETTLES_THRESHOLD, answer_settles, evidence_settles, settled
from citewell.skills.recollect import with_origin
from citewell.types import Citation, Event

T = TypeVar("T")
EXTRACTED, EXTRACTED_WIDE = 2, 4  # sentences of the evidence that stand in for an answer
Manner = Literal["short", "wide", "explain"]
Locate = Callable[[list[Citation]], Awaitable[list[Citation]]]


class Drafting(Protocol):
    """What the state of such an agent has. `degraded`: the chat model failed. `generation`: worded, extracted or unknown."""

    standalone: str
    passages: list[Passage]
    evidence_log_odds: float | None
    response: str
    generation: str
    stop_reason: str
    degraded: bool
    warnings: list[str]


async def asked(state: Drafting, llm: LLM | None, ask: Callable[[LLM], Awaitable[T]]) -> T | None:
    """What the chat model says; None where there is none, where it fails, or where the budget is spent."""
    if llm is None or state.degraded or state.stop_reason.startswith("budget"):
        return None
    try:
        return await ask(llm)
    except BudgetSpent as error:
        state.stop_reason = error.code
        note(stopped=error.message)
    except CitewellError as error:
        state.degraded = True
        state.warnings.append(f"the chat model did not answer: {error.message}")
    return None


async def grade_evidence(state: Drafting, llm: LLM | None) -> float | None:
    """Log-odds that the passages state the answer; None where nobody could judge."""
    shared, question = prefix(state.standalone, state.passages)
    lang = language(state.standalone)
    state.evidence_log_odds = await asked(state, llm, lambda llm: evidence_settles(llm, shared, question, lang))
    if state.evidence_log_odds is not None:
        note(evidence_log_odds=round(state.evidence_log_odds, 2), threshold=GATE_THRESHOLD)
    return state.evidence_log_odds


async def word(
    state: Drafting,
    llm: LLM | None,
    embedder: Embedder,
    threshold: float,
    *,
    temperature: float = 0.0,
    manner: Manner = "short",
) -> None:
    """Write the answer from the passages; where no model answers, or its draft is below `threshold`, the evidence itself."""
    shared, question = prefix(state.standalone, state.passages)
    lang, sink = language(state.standalone), emit

    def ask(llm: LLM) -> Awaitable[Reply]:
        def on_token(text: str) -> None:
            sink(Event("token", text))

        if manner == "explain":
            return answering.explain(llm, shared, question, lang, on_token=on_token)
        wide = manner == "wide" and llm.evidence_tokens > EXTRACTIVE_TOKENS  # a small model repeats itself
        return answering.generate(llm, shared, question, lang, on_token=on_token, temperature=temperature, wide=wide)

    reply = await asked(state, llm, ask)
    usable = reply is not None and answering.quality(reply.text, finished=reply.finished) >= threshold
    if reply is not None and usable:
        state.response = reply.text
        state.generation = "unknown" if answering.says_unknown(reply.text) else "worded"
    else:
        most = EXTRACTED_WIDE if manner == "wide" else EXTRACTED
        state.response = await answering.extract(state.standalone, state.passages, embedder, most)
        state.generation = "extracted"
    note(generation=state.generation, draft=state.response)


async def proof_of(state: Drafting, embedder: Embedder, locate: Locate, fetched: Mapping[str, float], named: str = "") -> Proof:
    """Every sentence bound to what proves it; nothing where what it was written from was changed meanwhile. `fetched`: when
    each page of the web was, by doc_id. `named` as in `prove`.
    """
    if state.generation == "unknown":
        return Proof([], [])
    proof = await prove(answering.tidy(state.response), state.standalone, state.passages, embedder, named)
    try:
        return Proof(proof.sentences, await locate(with_origin(proof.citations, fetched)))
    except (Conflict, NotFound) as error:
        state.warnings.append(f"an answer was dropped: {error.message}")
        return Proof([], [])


async def settles(state: Drafting, llm: LLM | None, proof: Proof) -> float | None:
    """Both grades of an answer that the model wrote, as one figure (`grade.settled`); None where it did not."""
    if state.generation != "worded":
        return None
    shared, question = prefix(state.standalone, state.passages)
    quote, lang = " ".join(c.quote for c in proof.citations), language(state.standalone)
    odds = await asked(
        state, llm, lambda llm: answer_settles(llm, shared, question, lang, state.response, quote, state.standalone)
    )
    if odds is None:
        return None
    both = settled(state.evidence_log_odds, odds)
    note(answer_log_odds=round(odds, 2), both=round(both, 2), threshold=SETTLES_THRESHOLD)
    return both


def of_documents(hits: Sequence[Passage]) -> list[str]:
    """The documents that passages stand in, each once."""
    return list(dict.fromkeys(passage.hit.doc_id for passage in hits))

"""What the `qa` agent's nodes share: the fields of spec 000 under their names, and what reaches
them from outside.

The spec reads some fields under second names; they are the same fields (DESIGN section 5):
`question_text` is `validated_question`, `dialogue_history` the history in
`structured_conversation_context`, `intent_label` `question_intent`, `key_entities`
`extracted_entities`, `preliminary_answer` `initial_answer`, `conversation_history`
`updated_conversation_history`. The one rule: effects arrive through `Deps`, results leave through
the state.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from citewell.config import QASettings
from citewell.errors import CitewellError
from citewell.graph import record_detail
from citewell.models.base import LLM, Embedder, Vector
from citewell.models.reader_base import Reader
from citewell.retrieve.confidence import Logistic
from citewell.retrieve.query import Context
from citewell.retrieve.strategies import Found
from citewell.skills.answer.answering import Drafted
from citewell.skills.answer.cite import Proof
from citewell.skills.evidence.confirmed_evidence import ConfirmedEvidence
from citewell.skills.evidence.passages import Passage
from citewell.skills.proof.judge import Judge
from citewell.types import Citation, Followed, Hit, Message, Status


async def _return_hits(hits: Sequence[Hit], budget: int) -> list[Hit]:  # noqa: ARG001 - a way of `widen`
    return list(hits)


async def _find_nothing(question: str) -> list[ConfirmedEvidence]:  # noqa: ARG001 - a way of `known`
    return []


class Search(Protocol):
    """Find chunks by words, meaning (None: words alone) and entities, in the context of what was
    asked before.
    """

    async def __call__(
        self, text: str, vector: Vector | None, entities: Sequence[str], context: Context | None
    ) -> Found: ...


async def _find_no_more(question: str, search_for: str, read: Sequence[Passage]) -> list[Passage]:  # noqa: ARG001 - a way of `more`
    return []


@dataclass(frozen=True, slots=True)
class Deps:
    """Effects. `llm` None: the tier without a chat model. `locate` gives citations their page and
    section. `widen` adds what stands around hits, for a model with room for so many tokens.
    `calibration`: the library's own weights of the confidence that an answer is right, by tier; the
    shipped ones for those left out. `known`: what people confirmed of such a question. `more`:
    other passages for a question, by other words and in the other language, where those that were
    read lack the answer.
    """

    settings: QASettings
    llm: LLM | None
    embedder: Embedder
    search: Search
    locate: Callable[[list[Citation]], Awaitable[list[Citation]]]
    sensitive: re.Pattern[str] | None = None
    reader: Reader | None = None
    judge: Judge | None = None
    calibration: Mapping[str, Logistic] = field(default_factory=dict)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    widen: Callable[[Sequence[Hit], int], Awaitable[list[Hit]]] = _return_hits
    known: Callable[[str], Awaitable[list[ConfirmedEvidence]]] = _find_nothing
    more: Callable[[str, str, Sequence[Passage]], Awaitable[list[Passage]]] = _find_no_more


@dataclass(slots=True)
class QAState:
    raw_user_input: str
    raw_conversation_history: list[Message] = field(default_factory=list)
    # InputValidationNode
    validated_question: str = ""
    structured_conversation_context: dict[str, Any] = field(default_factory=dict)
    # QuestionUnderstandingNode
    question_intent: str = ""
    extracted_entities: list[dict[str, str]] = field(default_factory=list)
    optimized_query_vector: Vector | None = None
    understanding_confidence: float = 0.0
    standalone_question: str = ""  # ours: the question as it is understood alone
    query_text: str = ""  # ours: what is searched for
    query_context: Context | None = (
        None  # ours: what else it is searched by, where something was asked before
    )
    # ConversationMemoryNode
    current_action: Literal["update_context", "store_answer"] = "update_context"
    updated_conversation_history: list[Message] = field(default_factory=list)
    context_summary: str = ""
    # DocumentRetrievalNode
    retrieved_documents: list[Hit] = field(default_factory=list)
    retrieval_confidence: float = 0.0
    retrieval_status: Literal["", "success", "empty", "failed"] = ""
    generation_pattern: Literal["standard", "fallback"] = "standard"
    # ours: what people confirmed of such questions
    vouched: list[ConfirmedEvidence] = field(default_factory=list)
    # AnswerGenerationNode
    passages: list[Passage] = field(default_factory=list)
    drafted: Drafted | None = None  # ours: the answer as sentences with the ids of their evidence
    initial_answer: str = ""
    citation_sources: list[dict[str, Any]] = field(default_factory=list)
    generation_status: Literal["", "success", "degraded", "refused", "smalltalk", "failed"] = ""
    # AnswerRefinementNode
    proof: Proof = field(default_factory=lambda: Proof([], []))
    final_answer: str = ""
    choices: list[str] = field(default_factory=list)  # ours: of a question back
    answer_confidence: float = 0.0
    followed: list[Followed] = field(default_factory=list)  # ours
    formatted_citations: list[str] = field(default_factory=list)
    # all nodes
    status: Status = "error"
    retry_count: dict[str, int] = field(default_factory=dict)
    error_info: dict[str, str] | None = None
    error: CitewellError | None = None
    warnings: list[str] = field(default_factory=list)
    node_execution_status: dict[str, str] = field(default_factory=dict)

    def fail(self, node_name: str, error_type: str, error: CitewellError) -> None:
        """Record what went wrong where; the first error that leaves no answer is what the user is
        told.
        """
        self.error = error
        self.error_info = {
            "error_type": error_type,
            "message": error.message,
            "hint": error.hint,
            "node": node_name,
        }
        self.node_execution_status[node_name] = "failed"

    def again(self, node_name: str, most: int) -> bool:
        """Count one more try of a node; False when it has had `most` retries."""
        tried = self.retry_count.get(node_name, 0)
        self.retry_count[node_name] = tried + 1
        return tried < most


def mark_not_understood(state: QAState, why: str) -> Literal["handle_failed_understanding"]:
    """No dead end: go on with the question as it was typed, less sure of the answer."""
    state.standalone_question = state.standalone_question or state.validated_question
    state.node_execution_status["QuestionUnderstandingNode"] = "failed"
    record_detail(failed=why)
    return "handle_failed_understanding"

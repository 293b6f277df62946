"""What the `qa` agent's nodes share: the fields of spec 000 under their names, and what reaches
them from outside.

The spec reads some fields under second names; they are the same fields (DESIGN section 5):
`question_text` is `validated_question`, `dialogue_history` the history in
`structured_conversation_context`, `intent_label` `question_intent`, `key_entities`
`extracted_entities`, `preliminary_answer` `initial_answer`, `conversation_history`
`updated_conversation_history`. Effects arrive through `Deps`, results leave through the state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from citewell.agents.deps import Models, Search
from citewell.config import QASettings
from citewell.errors import CitewellError
from citewell.graph import record_detail
from citewell.models.base import Vector
from citewell.retrieve.query import Context, Found
from citewell.skills.answer.answering import Drafted
from citewell.skills.answer.cite import Proof
from citewell.skills.dialogue.follow_up import FollowUp
from citewell.skills.evidence.confirmed_evidence import ConfirmedEvidence
from citewell.skills.evidence.passages import Passage
from citewell.types import Followed, Hit, Message, Status


class Survey(Protocol):
    """The documents as a whole. Raises StorageError."""

    async def survey(self, question: str) -> Found:
        """The sections of the documents that the question names, else of all."""
        ...

    async def survey_named_documents(self, question: str) -> Found:
        """The same where it names several; else nothing."""
        ...

    async def list_offered_questions(self, lang: str) -> tuple[list[str], list[str]]:
        """Titles of documents, and questions that they answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps(Models):
    """`survey` None: overviews are searched for like any other answer."""

    settings: QASettings
    search: Search
    survey: Survey | None = None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


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
    foreign: bool = False  # ours: the question is neither in English nor in Chinese
    overview_confidence: float = 0.0  # ours: how likely it asks for an overview or a comparison
    standalone_question: str = ""  # ours: the question as it is understood alone
    follow_up: FollowUp | None = None  # ours: what it may ask in full words
    query_text: str = ""  # ours: what is searched for
    # ours: what else it is searched by, where something was asked before
    query_context: Context | None = None
    # ConversationMemoryNode
    current_action: Literal["update_context", "store_answer"] = "update_context"
    updated_conversation_history: list[Message] = field(default_factory=list)
    context_summary: str = ""
    # DocumentRetrievalNode
    retrieved_documents: list[Hit] = field(default_factory=list)
    retrieval_confidence: float = 0.0
    surveyed: bool = False  # ours: what was retrieved are the sections of whole documents
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
    quotes_overview: bool = False  # ours: sentences of what was surveyed are the answer
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
        """Record what went wrong; the first error without an answer is what the user is told."""
        self.error = error
        self.error_info = {
            "error_type": error_type,
            "message": error.message,
            "hint": error.hint,
            "node": node_name,
        }
        self.node_execution_status[node_name] = "failed"

    def count_try(self, node_name: str, most: int) -> bool:
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

"""What a reading session keeps, and what each of its agents is sent: spec 003's context packages,
as types. An agent is given its package and nothing else. Only `RoutePackage` has the conversation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from citewell.ingest.paper.shape import Role
from citewell.messages import AnyText
from citewell.skills.answer.draft import Draft
from citewell.skills.evidence.passages import Passage
from citewell.types import Citation, Message, Sentence, Shown, Status

PAPER, REPORT, PLAN, ANSWERS = "paper", "report", "plan", "answers"  # keys of `session_data`

# the functional agents of spec 003, and the parts of a paper that each of them alone reads
SECTION_AGENTS: dict[str, tuple[Role, ...]] = {
    "introduction": ("front", "abstract", "introduction"),
    "related_work": ("related_work",),
    "methods": ("method",),
    "results": ("results",),
    "discussion": ("discussion", "other"),
    # and every figure and table with what the text says of it
    "figures_and_references": ("references",),
}


class PaperInfo(Shown):
    """`session_data["paper"]`: which document is read. `name` is its file name."""

    doc_id: str
    collection: str
    name: str
    title: str
    authors: list[str] = Field(default=[])
    lang: str = "en"
    pages: int = 0


class Exchange(Shown):
    """One question and its answer, in `session_data["answers"]`. `turn` is the place of the
    question in `chat_history`; `clarified`: as the controller rewrote it; `agents`: who drafted;
    `message_id`: what its sender calls it.
    """

    turn: int
    question: str
    clarified: str
    agents: list[str]
    answer: str
    status: Status
    confidence: float
    sentences: list[Sentence]
    citations: list[Citation]
    data: dict[str, Any] = Field(default={})
    warnings: list[AnyText] = Field(default=[])
    trace_id: str = ""
    message_id: str = ""
    asked_at: float = 0.0


@dataclass(frozen=True, slots=True)
class RoutePackage:
    """What the controller is sent to rewrite and route. `outline`: the sections that there are."""

    question: str
    chat_history: tuple[Message, ...]
    outline: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SectionPackage:
    """What a section agent is sent."""

    document_chunk: tuple[Passage, ...]
    clarified_question: str


@dataclass(frozen=True, slots=True)
class AuditPackage:
    """What the audit is sent: the question as it was asked."""

    question: str
    draft: Draft
    passages: tuple[Passage, ...]

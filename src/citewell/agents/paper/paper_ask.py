"""What a question to a paper goes through, as state and effects. The state holds everything, so no
agent is given the state: each is given its package (`paper_state.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from citewell.agents.deps import Models, Search
from citewell.config import PaperSettings, QASettings
from citewell.skills.answer.answering import Decided, Drafted
from citewell.skills.answer.cite import Proof
from citewell.skills.dialogue.reference import Readings
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.references import PaperTargets
from citewell.types import Hit, Message, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps(Models):
    """`search` is of this paper only."""

    settings: PaperSettings
    thresholds: QASettings
    search: Search
    book: OpenPaper


@dataclass(frozen=True, slots=True)
class SectionDraft:
    """One section agent's work. `generation`: drafted, or unknown where its part does not tell."""

    agent: str
    drafted: Drafted
    generation: str


@dataclass(slots=True)
class PaperState:
    question: str
    chat_history: list[Message] = field(default_factory=list)
    selection: tuple[int, int] | None = None
    lang: str = "en"
    clarified_question: str = ""
    intent: str = ""
    read: Readings = field(default_factory=lambda: Readings(""))
    pointed: PaperTargets = field(default_factory=PaperTargets)
    hits: list[Hit] = field(default_factory=list)
    retrieval_confidence: float = 0.0
    agents: list[str] = field(default_factory=list)  # chosen by the controller, best first
    whole: bool = False  # a section agent was sent the whole paper
    drafts: list[SectionDraft] = field(default_factory=list)
    drafted: Drafted | None = None  # the drafts as one
    decided: Decided | None = None  # what the audit made of it
    proof: Proof = field(default_factory=lambda: Proof([], []))
    figures: Proof = field(
        default_factory=lambda: Proof([], [])
    )  # captions that the question names
    revised: bool = False
    final_answer: str = ""
    status: Status = "error"
    confidence: float = 0.0
    stop_reason: str = ""
    degraded: bool = False  # the chat model failed: no more of it in this run
    warnings: list[str] = field(default_factory=list)

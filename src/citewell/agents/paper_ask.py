"""What a question to a paper goes through, as state and effects.

The one rule: the state holds everything, so no agent is given the state: each is given its package
(`paper_state.py`).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from citewell.config import PaperSettings, QASettings
from citewell.models.base import LLM, Embedder
from citewell.models.reader_base import Reader
from citewell.retrieve.confidence import Logistic
from citewell.retrieve.strategies import Found
from citewell.skills.answer.answering import Decided, Drafted
from citewell.skills.answer.cite import Proof
from citewell.skills.dialogue.reference import Readings
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.references import PaperTargets
from citewell.skills.proof.judge import Judge
from citewell.types import Citation, Hit, Message, Status


@dataclass(frozen=True, slots=True)
class Deps:
    """Effects. `llm` None: the tier without a chat model. `find` searches this paper only."""

    settings: PaperSettings
    thresholds: QASettings
    llm: LLM | None
    embedder: Embedder
    book: OpenPaper
    find: Callable[[Readings, Sequence[str]], Awaitable[Found]]
    locate: Callable[[list[Citation]], Awaitable[list[Citation]]]
    sensitive: re.Pattern[str] | None = None
    reader: Reader | None = None
    judge: Judge | None = None
    calibration: Mapping[str, Logistic] = field(default_factory=dict)


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
    drafts: list[SectionDraft] = field(default_factory=list)
    drafted: Drafted | None = None  # the drafts as one
    decided: Decided | None = None  # what the audit made of it
    proof: Proof = field(default_factory=lambda: Proof([], []))
    revised: bool = False
    final_answer: str = ""
    status: Status = "error"
    confidence: float = 0.0
    stop_reason: str = ""
    degraded: bool = False  # the chat model failed: no more of it in this run
    warnings: list[str] = field(default_factory=list)

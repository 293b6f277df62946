"""What a question to a paper goes through, as state and effects.

The one rule: the state holds everything, so no agent is given the state: each is given its package (`paper_state.py`).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from citewell.config import PaperSettings, QASettings
from citewell.models.base import LLM, Embedder
from citewell.retrieve.confidence import Logistic
from citewell.retrieve.strategies import Found
from citewell.skills.cite import Proof
from citewell.skills.draft import Locate
from citewell.skills.evidence import Passage
from citewell.skills.pointed import Pointed
from citewell.skills.reading import OpenPaper
from citewell.skills.reference import Readings
from citewell.types import Hit, Message, Status


@dataclass(frozen=True, slots=True)
class Deps:
    """Effects. `llm` None: the tier without a chat model. `find` searches this paper only."""

    settings: PaperSettings
    thresholds: QASettings
    llm: LLM | None
    embedder: Embedder
    book: OpenPaper
    find: Callable[[Readings, Sequence[str]], Awaitable[Found]]
    locate: Locate
    sensitive: re.Pattern[str] | None = None
    calibration: Logistic | None = None


@dataclass(slots=True)
class SectionDraft:
    """One section agent's work: `Drafting` of skills/draft.py."""

    agent: str
    standalone: str
    passages: list[Passage] = field(default_factory=list)
    evidence_log_odds: float | None = None
    response: str = ""
    generation: str = ""  # worded, extracted, quoted, unknown
    stop_reason: str = ""
    degraded: bool = False
    warnings: list[str] = field(default_factory=list)


@dataclass(slots=True)
class PaperState:
    question: str
    chat_history: list[Message] = field(default_factory=list)
    selection: tuple[int, int] | None = None
    lang: str = "en"
    clarified_question: str = ""
    intent: str = ""
    read: Readings = field(default_factory=lambda: Readings(""))
    pointed: Pointed = field(default_factory=Pointed)
    absent: list[str] = field(default_factory=list)  # names of the question that the paper never mentions
    hits: list[Hit] = field(default_factory=list)
    retrieval_confidence: float = 0.0
    agents: list[str] = field(default_factory=list)  # chosen by the controller, best first
    drafts: list[SectionDraft] = field(default_factory=list)
    draft: str = ""
    passages: list[Passage] = field(default_factory=list)  # what the drafts were made of
    proof: Proof = field(default_factory=lambda: Proof([], []))
    revised: bool = False
    final_answer: str = ""
    status: Status = "error"
    confidence: float = 0.0
    stop_reason: str = ""
    degraded: bool = False  # the chat model failed: no more of it in this run
    warnings: list[str] = field(default_factory=list)

"""What the `data` agent's nodes share, and what reaches them from outside: the flow of spec 004.

The one rule: a statement reaches an engine only through `Deps.query`, which guards it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from citewell.config import DataSettings
from citewell.models.base import LLM, Embedder
from citewell.skills.answer.cite import Proof
from citewell.skills.proof.judge import Judge
from citewell.sql.engines.engine import Rows, Schema
from citewell.sql.plan_types import Analysis, Candidate, Term
from citewell.store.confirmed.types import Known
from citewell.types import Chart, Followed, Message, Status


@dataclass(frozen=True, slots=True)
class Loaded:
    """A table source, ready to be asked."""

    name: str
    schema: Schema
    glossary: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """A statement that ran, and what it gave."""

    candidate: Candidate
    rows: Rows


@dataclass(frozen=True, slots=True)
class Lacking:
    """A source that was asked and does not have it, and what is said of that."""

    source: Loaded
    text: str


async def find_no_other_source(_question: str, _asked: str) -> Loaded | None:
    """There are no other tables, or those that were asked are named."""
    return None


@dataclass(frozen=True, slots=True)
class Deps:
    """Effects. `load`: the source named or the one the question is about; raises NotFound where
    there is none and SourceUnavailable. `query` guards and runs; raises StatementRefused,
    StatementFailed, SourceUnavailable. `check` guards and plans without running. `recall`: what
    people confirmed about similar questions to this source, best first. `other`: the next best
    source for a question, None where the one asked was named; raises SourceUnavailable. `late`: the
    time is over; `hurried`: half of it is.
    """

    settings: DataSettings
    llm: LLM | None
    embedder: Embedder
    # (name or "", question); several names: ask back which
    load: Callable[[str, str], Awaitable[Loaded | list[str]]]
    query: Callable[[Loaded, str], Awaitable[Rows]]
    check: Callable[[Loaded, str], Awaitable[None]]
    recall: Callable[[str, str], Awaitable[list[Known]]]  # (question, source name)
    late: Callable[[], bool] = lambda: False
    hurried: Callable[[], bool] = lambda: False
    question_max_chars: int = 500
    sensitive: re.Pattern[str] | None = None
    judge: Judge | None = None
    other: Callable[[str, str], Awaitable[Loaded | None]] = (
        find_no_other_source  # (question, source asked)
    )


@dataclass(slots=True)
class DataState:
    question: str
    trace_id: str = ""
    source_name: str = ""
    history: list[Message] = field(default_factory=list)
    # Load Context
    lang: str = "en"
    standalone: str = ""  # a follow-up, put in full words
    # or only joined to what was asked before: who writes the statement puts it in full words
    is_joined: bool = False
    source: Loaded | None = None
    known: list[Known] = field(default_factory=list)
    lacking: list[Lacking] = field(default_factory=list)  # sources that were asked before this one
    # Analyze Intent
    intent_analysis: Analysis | None = None
    # Generate SQL
    candidates: list[Candidate] = field(default_factory=list)
    generated_logic: str = ""  # the statement in hand
    problem: str = ""  # what is wrong with it, where something is: it is to be repaired
    repairs: int = 0
    # statements that took too much, with the limit (`timeout`, `memory`)
    heavy: list[tuple[str, str]] = field(default_factory=list)
    tried: list[dict[str, str]] = field(default_factory=list)  # {"sql": ..., "problem": ...}
    # Execute
    rows: Rows | None = None
    execution_status: str = ""
    kept: Result | None = (
        None  # what a statement gave that is mended all the same, should nothing better come
    )
    agreed: tuple[int, int] = (1, 1)  # statements that gave these rows, of how many that ran
    # what is said before the answer: a value taken for another
    remarks: list[str] = field(default_factory=list)
    # Refine Answer
    proof: Proof = field(default_factory=lambda: Proof([], []))
    chart: Chart | None = None
    followed: list[Followed] = field(default_factory=list)
    final_answer: str = ""
    choices: list[str] = field(default_factory=list)  # of a question back
    status: Status = "error"
    confidence: float = 0.0
    stop_reason: str = ""
    degraded: bool = False
    warnings: list[str] = field(default_factory=list)
    node_execution_status: dict[str, str] = field(default_factory=dict)
    error: Any = None

    @property
    def chosen(self) -> Candidate | None:
        """The statement in hand, as it came about."""
        return self.candidates[0] if self.candidates else None

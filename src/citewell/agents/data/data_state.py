"""What the `data` agent's nodes share, and what reaches them from outside: the flow of spec 004. A
statement reaches an engine only through `Tables.query`, which guards it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from citewell.agents.deps import Models
from citewell.config import DataSettings
from citewell.skills.answer.cite import Proof
from citewell.sql.engines.engine import Rows, Schema
from citewell.sql.plan_types import Analysis, Candidate, Previous, Term
from citewell.sql.semantics.description import Description
from citewell.store.confirmed.types import Known
from citewell.types import Chart, Followed, Message, Status


@dataclass(frozen=True, slots=True)
class Loaded:
    """A table source, ready to be asked. `description`: what people wrote of it; the schema has its
    comments, synonyms and joins.
    """

    name: str
    schema: Schema
    glossary: tuple[Term, ...] = ()
    description: Description = field(default_factory=Description)


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


class Tables(Protocol):
    """The table sources of one question. Raises SourceUnavailable where one cannot be asked."""

    async def load(self, name: str, question: str) -> Loaded | list[str]:
        """The source named, or the one that the question is about; several names: ask back which.
        Raises NotFound where there is none.
        """
        ...

    async def choose_next_source(self, question: str, asked: str) -> Loaded | None:
        """The next best source; None where the one asked was named."""
        ...

    async def query(self, loaded: Loaded, sql: str) -> Rows:
        """Guarded and run. Raises StatementRefused, StatementFailed."""
        ...

    async def check(self, loaded: Loaded, sql: str) -> None:
        """Guarded and planned, not run. Raises as `query`."""
        ...

    async def recall(self, question: str, source: str) -> list[Known]:
        """What people confirmed about similar questions to this source, best first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps(Models):
    """`late`: the time is over; `hurried`: half of it is."""

    settings: DataSettings
    tables: Tables
    late: Callable[[], bool] = lambda: False
    hurried: Callable[[], bool] = lambda: False
    question_max_chars: int = 500


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
    # the question and the statement that the conversation asked last of the same tables, and how
    # sure its answer was
    last: tuple[str, str, float] | None = None
    previous: Previous | None = None  # the same, where the question is a follow-up to it
    source: Loaded | None = None
    known: list[Known] = field(default_factory=list)
    lacking: list[Lacking] = field(default_factory=list)  # sources that were asked before this one
    # Analyze Intent
    translation: str = ""  # the question in the language of the tables, where it is put to them so
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
    # what a statement gave that is mended all the same, should nothing better come
    kept: Result | None = None
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
    warnings: list[str] = field(default_factory=list)
    node_execution_status: dict[str, str] = field(default_factory=dict)
    error: Any = None

    @property
    def chosen(self) -> Candidate | None:
        """The statement in hand, as it came about."""
        return self.candidates[0] if self.candidates else None

"""What the `dual_loop` agent's nodes share: the fields of spec 001 under their names, and what
reaches them from outside. The state is plain data that JSON can hold, so that a run that was killed
goes on from its last finished node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from citewell.agents.deps import Memory, Models, Search, Web
from citewell.config import DualLoopSettings, QASettings
from citewell.skills.answer.answering import Drafted
from citewell.skills.answer.cite import Proof
from citewell.skills.answer.ending import Ending
from citewell.skills.dialogue.reference import Readings
from citewell.skills.dialogue.route import RouteName
from citewell.skills.evidence.confirmed_evidence import ConfirmedEvidence
from citewell.skills.evidence.passages import Passage
from citewell.skills.memory.recall import Recalled
from citewell.types import Followed, Hit, Message, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps(Models):
    """`web`, `memory` None: it may not be searched, nothing is recalled. `preferred`: the search
    that settings or request name; `forced`: the request does, so nothing else may be searched
    first. `late`: whether the time allowed for the question is over.
    """

    settings: DualLoopSettings
    thresholds: QASettings
    search: Search
    web: Web | None = None
    memory: Memory | None = None
    preferred: str
    forced: bool = False
    late: Callable[[], bool] = lambda: False
    session_id: str = ""
    trace_id: str = ""
    collection: str = ""

    @property
    def has_web(self) -> bool:
        return self.web is not None

    @property
    def keeps_memories(self) -> bool:
        return self.memory is not None and self.memory.keeps


@dataclass(frozen=True, slots=True)
class Attempt:
    """An answer that was tried: how it would end, the probability that it is right, whether it may
    be shown, and whether all of it is proved.
    """

    ending: Ending
    probability: float
    retrieval_confidence: float
    route: RouteName
    shown: bool
    proved: bool


@dataclass(slots=True)
class DualLoopState:
    question: str
    history: list[Message] = field(default_factory=list)
    # retrieve_memory
    lang: str = "en"
    memories: list[Recalled] = field(default_factory=list)
    # route_query
    intent: str = ""
    route: RouteName = "direct_chunk_search"
    route_reason: str = ""
    tried_routes: list[RouteName] = field(default_factory=list)
    # rewrite_query
    standalone: str = ""  # the question as it is understood alone, and as it is answered
    # a follow-up that could not be put in full words, and stands behind those it leans on
    joined: bool = False
    outside: str = ""  # what the web is searched for: nothing that is remembered stands in it
    updated_query: str = ""  # what is searched for
    read: Readings = field(default_factory=lambda: Readings(""))
    queries: list[str] = field(default_factory=list)  # all that was searched for
    used_memories: list[str] = field(default_factory=list)  # ids of those that the rewrite rests on
    # subjects of facts of this very message that it rests on
    used_told: list[str] = field(default_factory=list)
    # retrieve_documents
    documents: list[Hit] = field(default_factory=list)
    # the best of the first search that found anything
    nearest: list[Hit] = field(default_factory=list)
    retrieval_confidence: float = 0.0
    searched: list[RouteName] = field(default_factory=list)
    fetched: dict[str, float] = field(default_factory=dict)
    vouched: list[ConfirmedEvidence] = field(
        default_factory=list
    )  # what people confirmed of such questions
    # grade_documents
    passages: list[Passage] = field(default_factory=list)
    documents_are_relevant: bool = False
    # chunks that were graded and do not hold the answer
    rejected: list[int] = field(default_factory=list)
    # generate_response, direct_response
    drafted: Drafted | None = None  # the answer as sentences with the ids of their evidence
    model_calls: int = 0  # of the chat model, for drafts and their judgement
    response: str = ""
    generation: str = ""  # drafted, direct
    search_for: str = ""  # other words that the draft names for what it misses
    # grade_relevance
    is_relevant: bool = False
    correction_attempts: int = 0
    attempts: list[Attempt] = field(default_factory=list)
    # evidence of each attempt
    answered_from: list[list[tuple[str, int, int]]] = field(default_factory=list)
    # consolidate_memory
    kept_memories: list[str] = field(default_factory=list)  # ids of what was remembered of this run
    # the end
    stop_reason: str = ""
    degraded: bool = False  # the chat model failed: no more of it in this run
    proof: Proof = field(default_factory=lambda: Proof([], []))
    followed: list[Followed] = field(default_factory=list)
    final_answer: str = ""
    status: Status = "error"
    confidence: float = 0.0
    # all nodes
    warnings: list[str] = field(default_factory=list)
    node_execution_status: dict[str, str] = field(default_factory=dict)

    @property
    def spans(self) -> list[tuple[str, int, int]]:
        """What the evidence in hand is made of."""
        return sorted((p.hit.doc_id, start, end) for p in self.passages for start, end in p.spans)

    def forget_evidence(self) -> None:
        """A new search begins."""
        self.documents, self.passages, self.documents_are_relevant = [], [], False
        self.drafted, self.retrieval_confidence = None, 0.0

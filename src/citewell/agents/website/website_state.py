"""What the `website` agent's nodes share: the fields of spec 002 under their names, and what
reaches them from outside. The state is plain data that JSON can hold. What pages say and which
links they have is kept with the pages, so the state names them by their place in
`all_discovered_urls` only.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from citewell.agents.deps import Models, Search
from citewell.config import QASettings, WebsiteSettings
from citewell.ingest.web.links import Link
from citewell.retrieve.query import Found
from citewell.skills.answer.answering import Drafted
from citewell.skills.answer.cite import Proof
from citewell.skills.dialogue.follow_up import FollowUp
from citewell.skills.dialogue.reference import Readings
from citewell.skills.evidence.passages import Passage
from citewell.types import Hit, Message, Status


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of the site. `url`: as it was asked for, `uri`: where it led to. `doc_id` is empty
    where it could not be read, and `problem` says why. `stale`: it was read so long ago that its
    site should be asked whether it has changed.
    """

    url: str
    uri: str
    doc_id: str = ""
    title: str = ""
    links: tuple[Link, ...] = ()
    fetched_at: float = 0.0
    how: str = ""  # fetched, unchanged, reused, failed
    problem: str = ""
    code: str = ""  # of the problem
    stale: bool = False
    notes: tuple[str, ...] = ()


class Site(Protocol):
    """The pages of a site, as far as they were read. `pages` by identity of their address, with
    those of earlier questions.
    """

    @property
    def name(self) -> str: ...

    @property
    def pages(self) -> Mapping[str, SitePage]: ...

    async def open(self) -> None:
        """Load what was read before. Raises StorageError."""
        ...

    def is_allowed(self, url: str) -> bool:
        """Whether a link may be followed: the domains of this run."""
        ...

    def read(self, url: str) -> bool:
        """Whether it was asked for, in vain or not, or another address led to it."""
        ...

    def crawl(self, urls: Sequence[str]) -> AsyncIterator[SitePage]:
        """Fetch these at the same time; each page as it comes. What fails is a page with a
        `problem`. Raises StorageError.
        """
        ...

    async def sitemap(self) -> list[Link]:
        """Pages that the sitemaps of the start pages' hosts name; empty where there are none."""
        ...

    async def search(self, read: Readings, entities: Sequence[str]) -> Found:
        """The best passages of the pages read, none that only leads on. Raises StorageError."""
        ...

    async def compare_labels(self, question: str, labels: Sequence[str]) -> dict[str, float]:
        """The cosine of each label to the question; of none where the embedder fails."""
        ...

    async def recall_answers(self, question: str) -> dict[str, float]:
        """Pages on which questions like this one were answered, and how like they were, 0 to 1."""
        ...

    async def note_answer(self, question: str, doc_ids: Sequence[str]) -> None:
        """These documents answered it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps(Models):
    """`settings`: the limits of this run. `late`: whether the time allowed is over; `stopped`:
    whether who asked wants an answer from what there is now.
    """

    settings: WebsiteSettings
    thresholds: QASettings
    search: Search
    site: Site
    late: Callable[[], bool] = lambda: False
    stopped: Callable[[], bool] = lambda: False


@dataclass(slots=True)
class WebsiteState:
    user_question: str
    conversation_history: list[Message] = field(default_factory=list)
    instruction: str = ""
    start_urls: list[str] = field(default_factory=list)
    allowed_domains: list[str] = field(default_factory=list)
    collection: str = ""
    # CrawlAndExtract
    lang: str = "en"
    intent: str = ""
    # the question behind those that it leans on: links, passages and answers are found by it
    standalone: str = ""
    read: Readings = field(default_factory=lambda: Readings(""))
    follow_up: FollowUp | None = None  # what it may ask in full words
    urls_to_process: list[int] = field(default_factory=list)
    visited_urls: list[int] = field(default_factory=list)  # asked for in this run, in their order
    # each with its place, which stands for it below
    all_discovered_urls: dict[str, int] = field(default_factory=dict)
    url_graph: dict[int, list[int]] = field(default_factory=dict)  # a page and what it leads to
    depths: dict[int, int] = field(default_factory=dict)  # steps from a start page
    reasons: dict[int, str] = field(default_factory=dict)  # why a page was chosen
    # the address of the page whose link to it was followed
    sources: dict[int, str] = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)  # why a page could not be read
    fetched: dict[str, float] = field(default_factory=dict)  # when each document was, by doc_id
    # pages that answered such a question before
    found: dict[str, float] = field(default_factory=dict)
    # AgentDecision
    current_iteration: int = 0
    documents: list[Hit] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    retrieval_confidence: float = 0.0
    # the evidence that the draft is made of
    graded: list[tuple[str, int, int]] = field(default_factory=list)
    drafted: Drafted | None = None  # the answer as sentences with the ids of their evidence
    told: Literal["whole", "part", "nothing"] = "nothing"  # what of the answer the draft tells
    # how well each page read serves the question, 0 to 1
    worth: dict[int, float] = field(default_factory=dict)
    led: dict[str, list[float]] = field(default_factory=dict)  # the same by branch of the site
    named: bool = False  # whether any link named a word of the question
    # DraftAnswer
    proof: Proof = field(default_factory=lambda: Proof([], []))
    final_answer: str = ""
    status: Status = "error"
    confidence: float = 0.0
    stop_reason: str = ""
    degraded: bool = False  # the chat model failed: no more of it in this run
    # all nodes
    warnings: list[str] = field(default_factory=list)
    node_execution_status: dict[str, str] = field(default_factory=dict)

    @property
    def spans(self) -> list[tuple[str, int, int]]:
        """What the evidence in hand is made of."""
        return sorted((p.hit.doc_id, start, end) for p in self.passages for start, end in p.spans)

    def place(self, url: str) -> int:
        """Where an address stands in `all_discovered_urls`; it is added where it is new."""
        return self.all_discovered_urls.setdefault(url, len(self.all_discovered_urls))

    def addresses(self, places: Sequence[int]) -> list[str]:
        """The addresses at these places."""
        every = list(self.all_discovered_urls)
        return [every[place] for place in places]

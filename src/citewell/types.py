"""What flows through Citewell. Inside: frozen dataclasses. Outside (API, CLI, traces): pydantic
models, one shape a channel.

The one rule: every `start`/`end` is a character offset into its document's `text`, and
`text[start:end]` is the words meant.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

# ---------------------------------------------------------------- inside: from bytes to chunks


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a paginated document: `text[start:end]` stands on page `number` (1-based)."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Box:
    """Where a line of text stands on its page: `text[start:end]` fills the rectangle from (x0, y0)
    to (x1, y1), in shares of the page's width and height as shown, counted from its top left
    corner.
    """

    start: int
    end: int
    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it, up to the next heading of any level. `anchor`: its id in
    a web page, or empty.
    """

    heading_path: tuple[str, ...]
    start: int
    end: int
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """What a parser makes of a file's bytes. `sections` cover `text` in order; `pages` is empty
    where there are none, and so is `boxes` where nothing is laid out. `dated`: the day the file
    itself says it is of, in seconds since the epoch.
    """

    title: str
    media_type: str
    lang: str
    text: str
    sections: tuple[Section, ...]
    pages: tuple[Page, ...] = ()
    warnings: tuple[str, ...] = ()
    boxes: tuple[Box, ...] = ()
    dated: float | None = None

    def find_page_at(self, offset: int) -> int | None:
        """The page on which the character at `offset` stands."""
        at = bisect_right(self.pages, offset, key=lambda page: page.start)
        return self.pages[at - 1].number if at else None


ChunkKind = Literal["text", "whole", "summary"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a document, cut to a token budget. `text == document.text[start:end]`; `section`
    indexes `sections`.

    `kind`: `text` is a part of its section and `whole` all of it (or of several small ones);
    `summary` is what stands for a section of several chunks when sections are searched: its text
    says what the span holds, and is never quoted.
    """

    text: str
    start: int
    end: int
    section: int
    heading_path: tuple[str, ...]
    page: int | None
    tokens: int
    kind: ChunkKind = "text"


@dataclass(frozen=True, slots=True)
class Hit:
    """A stored chunk that a search found. `signals` keeps each ranker's own figure by name (cosine,
    bm25, coverage, ...).

    `section` and `ordinal` say where in its document it stands; `dated` is the document's day (or
    when it was added), in seconds since the epoch; `priority` is 0 unless somebody set it. `words`
    are the tokens of title, headings and text as the index keeps them, between spaces; empty where
    it keeps none.
    """

    chunk_id: int
    doc_id: str
    collection: str
    title: str
    uri: str
    heading_path: tuple[str, ...]
    page: int | None
    start: int
    end: int
    text: str
    lang: str
    kind: ChunkKind = "text"
    section: int = 0
    ordinal: int = 0
    media_type: str = ""
    dated: float = 0.0
    priority: int = 0
    words: str = field(default="", repr=False)
    score: float = 0.0
    signals: dict[str, float] = field(default_factory=dict)


# ---------------------------------------------------------------- outside: what every channel shows


class Shown(BaseModel):
    """Base of all that leaves the program: closed and frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Role = Literal["system", "user", "assistant"]


class Message(Shown):
    role: Role
    content: str


Status = Literal["answered", "fallback", "refused", "clarify", "error"]
Verdict = Literal["supported", "partly", "unsupported"]
Kind = Literal["fact", "calculation", "comparison", "correction", "not_told"]
CitationStatus = Literal["verified", "weak"]
Origin = Literal["document", "web", "memory", "table", "confirmed"]


class Citation(Shown):
    """Where a sentence is proved. `quote` is verbatim: it equals the document's text from `start`
    to `end`.

    `origin`: a document of the user's, a page found on the web (`fetched_at`: when, in seconds
    since the epoch), or what is remembered of the user (`doc_id` is then the id of a memory or of
    the session, and `quote` its own words), rows of a table source (`doc_id` is its name, `quote`
    the rows as text and the offsets those in that text), or an answer that people have confirmed
    (its Markdown document). `gives_orders`: its passage tells who or what reads it by machine what
    to do; it was read and not obeyed.
    """

    n: int
    origin: Origin = "document"
    doc_id: str
    title: str
    uri: str
    page: int | None = None
    section: str = ""
    quote: str
    start: int
    end: int
    boxes: list[list[float]] = Field(
        default=[], description="[page, x0, y0, x1, y1], in shares of the page from its top left"
    )
    score: float = 0.0
    status: CitationStatus = "verified"
    fetched_at: float | None = None
    gives_orders: bool = False


class Sentence(Shown):
    """A sentence of the answer, the citations that prove it, and what the check found (`problems`
    in words).

    `span`: start and end of the answering words in `text`, of a sentence that is quoted whole.
    `calculation`: the equation that it states the result of, computed again by our code.
    `not_told`: it says that the documents do not tell something.
    """

    text: str
    citations: list[int] = []
    verdict: Verdict
    problems: list[str] = []
    kind: Kind = "fact"
    calculation: str = ""
    span: list[int] = []


class Usage(Shown):
    """What an answer cost. `calls`: of the chat model, those that failed too, each with all its
    tries as one. `seconds` is wall time by step name, `total` included.
    """

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: dict[str, float] = {}


class Step(Shown):
    """One node's run: its spec name, the way it went on, what it did in words and figures, and how
    long it took.
    """

    n: int
    node: str
    action: str
    seconds: float
    detail: dict[str, Any] = {}


How = Literal["reused", "adapted", "example", "evidence", "rule"]


class Followed(Shown):
    """A human-confirmed item (or a reviewed rule) that an answer followed: its SQL as it stood
    (`reused`) or with other parameters (`adapted`), as an example to the model, as evidence, or a
    `rule`. `similarity` of the two questions, 0 to 1.
    """

    item_id: str
    kind: Literal["confirmed", "rule"] = "confirmed"
    how: How
    question: str
    text: str = ""
    confirmed_by: list[str] = []
    confirmed_at: float = 0.0
    similarity: float = 0.0


class Chart(Shown):
    """A chart that helps with the rows: `x` and `y` are names of columns."""

    kind: Literal["bar", "line", "pie", "scatter"]
    x: str
    y: list[str]
    title: str = ""


class TableData(Shown):
    """`Answer.data` of the data agent. `row_count` are the rows that came; `truncated`: there are
    more. `tried`: statements before this one with what was wrong with each.
    """

    source: str
    dialect: str
    sql: str
    columns: list[str] = []
    rows: list[list[Any]] = []
    row_count: int = 0
    truncated: bool = False
    chart: Chart | None = None
    tried: list[dict[str, str]] = []


class Answer(Shown):
    """One object on every channel.

    `agent_reason`: why `auto` chose the agent. `stop_reason`: what ended an answer that is not
    settled: `routes_exhausted`, `corrections_exhausted`, `unsettled` (no correction was allowed),
    `same_evidence`, `same_question`, `model_failed`, `budget_calls`, `budget_tokens` or
    `budget_seconds`; of a website `off_site` (the question is not about it), `site_exhausted`,
    `iterations_exhausted`, `pages_exhausted`, `unreachable` (nothing of it could be read) or
    `stopped` (by who asked); of tables `not_in_data` (the schema has no such thing), `ambiguous`,
    `no_source`, `no_model` (nothing confirmed fits, and no chat model is there), `no_statement` or
    `repairs_exhausted`. `followed`: what people have confirmed, and this answer follows. `choices`:
    of a question back (`clarify`), what may be meant; any of them, sent as the next question of the
    session, settles it.
    """

    answer: str
    sentences: list[Sentence] = []
    citations: list[Citation] = []
    status: Status
    confidence: float = Field(ge=0.0, le=1.0)
    agent: str
    agent_reason: str = ""
    route: str = ""
    stop_reason: str = ""
    session_id: str = ""
    trace_id: str = ""
    warnings: list[str] = []
    usage: Usage = Usage()
    data: dict[str, Any] | None = None
    followed: list[Followed] = []
    choices: list[str] = []
    error_info: dict[str, str] | None = None


class IntentAnalysis(Shown):
    """What a question wants, as spec 004 keeps it."""

    intent_type: str = ""
    parameters: dict[str, Any] = {}
    reasoning: str = ""


class Snapshot(Shown):
    """The chain of thought of spec 004, section 4.1, the same for every agent. `timestamp` is ISO
    8601 in UTC. `generated_logic`: the SQL of the data agent; of others what was searched, where,
    and what was cited. `execution_status` is `success`, or the status of an answer that is none.
    """

    trace_id: str
    timestamp: str
    user_query: str
    intent_analysis: IntentAnalysis
    generated_logic: str
    final_answer: str
    execution_status: str


class Trace(Shown):
    """How an answer came about, step by step. `request`: what was asked, so that it can be asked
    again.
    """

    trace_id: str
    user_id: str = "local"
    agent: str
    question: str
    collection: str
    session_id: str
    created_at: float
    steps: list[Step]
    prompts: list[dict[str, Any]]
    answer: Answer
    request: dict[str, Any] = {}
    snapshot: Snapshot | None = None
    expires_at: float = 0.0


EventKind = Literal["step", "progress", "token", "citation", "warning", "answer", "error"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happens while an answer is made. `data`: Step, what of a step is done so far
    (`progress`), text of a token, Citation, text of a warning, Answer, or the error's JSON shape.
    Tokens are the draft; what is proved is in `answer`.
    """

    kind: EventKind
    data: Step | Citation | Answer | str | dict[str, Any]

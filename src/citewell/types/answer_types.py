"""An answer and what it is made of, the same on every channel."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from citewell.messages import AnyText, AnyTexts


class Shown(BaseModel):
    """Base of all that leaves the program: closed and frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def of(cls, value: object, **more: Any) -> Self:
        """One with the fields that `value` has under the same names, and `more`."""
        same = {name: getattr(value, name) for name in cls.model_fields if hasattr(value, name)}
        return cls(**same | more)


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
    (its Markdown document). `as_of`: when the place that the document is kept in step with was last
    seen to have it so, in seconds since the epoch. `gives_orders`: its passage tells who or what
    reads it by machine what to do; it was read and not obeyed.
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
    as_of: float | None = None
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
    problems: list[AnyText] = []
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
    """One node's run: spec name, the way on, what it did in words and figures, seconds."""

    n: int
    node: str
    action: str
    seconds: float
    detail: AnyTexts = {}


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
    """A chart that helps with the rows: `x`, `y` and `series` are names of columns; `series` splits
    a single `y` into one for each of its values. `table`: a person wants none.
    """

    kind: Literal["bar", "line", "pie", "scatter", "table"]
    x: str = ""
    y: list[str] = []
    series: str = ""
    title: str = ""


class ColumnLook(Shown):
    """How a column is shown: times and ids are no quantities; `unit`: `EUR`, `%`."""

    role: Literal["id", "time", "quantity", "plain"]
    unit: str = ""


class TableData(Shown):
    """`Answer.data` of the data agent. `row_count` are the rows that came; `truncated`: there are
    more. `tried`: statements before this one with what was wrong with each. `looks`: one a column.
    `chosen`: the chart that a person wants in the place of `chart`.
    """

    source: str
    dialect: str
    sql: str
    columns: list[str] = []
    rows: list[list[Any]] = []
    row_count: int = 0
    truncated: bool = False
    chart: Chart | None = None
    chosen: Chart | None = None
    looks: list[ColumnLook] = []
    tried: list[dict[str, AnyText]] = []


class Elsewhere(Shown):
    """Where a question may be answered better: by which agent, of which tables or collection."""

    agent: str
    source: str = ""
    collection: str = ""


class Answer(Shown):
    """One object on every channel.

    `agent_reason`: why `auto` chose the agent. `stop_reason`: what ended an answer that is not
    settled: `routes_exhausted`, `corrections_exhausted`, `unsettled` (no correction was allowed),
    `same_evidence`, `same_question`, `model_failed`, `budget_calls`, `budget_tokens` or
    `budget_seconds`; of a website `off_site` (the question is not about it), `site_exhausted`,
    `iterations_exhausted`, `pages_exhausted`, `unreachable` (nothing of it could be read) or
    `stopped` (by who asked); of tables `not_in_data` (the schema has no such thing), `read_only`
    (it asks to change them), `ambiguous`, `no_source`, `no_model` (nothing confirmed fits, and no
    chat model is there), `no_statement` or `repairs_exhausted`. `followed`: what people have
    confirmed, and this answer follows. `choices`: of a question back (`clarify`), what may be
    meant; any of them, sent as the next question of the session, settles it. `elsewhere`: of a
    refusal, or an answer that quotes a row of a table, who may know it.
    """

    answer: str
    sentences: list[Sentence] = []
    citations: list[Citation] = []
    status: Status
    confidence: float = Field(ge=0.0, le=1.0)
    agent: str
    agent_reason: AnyText = ""
    route: str = ""
    stop_reason: str = ""
    session_id: str = ""
    trace_id: str = ""
    warnings: list[AnyText] = []
    usage: Usage = Usage()
    data: AnyTexts | None = None
    followed: list[Followed] = []
    choices: list[str] = []
    elsewhere: Elsewhere | None = None
    error_info: dict[str, AnyText] | None = None

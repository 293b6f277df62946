"""The shape of a report: what `citewell eval --json` writes and every other part of an evaluation
reads. It contains all items, so all figures can be computed again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from citewell.errors import InvalidInput

Group = dict[str, float | None]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


P = TypeVar("P", bound=Part)


class Found(Part):
    """A passage found. `gold`: of a gold document and, where pages are given, a gold page."""

    doc_id: str
    title: str
    page: int | None = None
    section: str = ""
    gold: bool
    score: float = 0.0
    text: str


class Searched(Part):
    """One search. `figures` by document, `pages` by page where gold pages are given; None without
    gold.

    `held`: a gold document is among the best three. `without` are the signals of the same search
    with gold taken away.
    """

    figures: dict[str, float] | None
    pages: dict[str, float] | None = None
    first: int | None = None
    held: bool = False
    confidence: float = 0.0
    signals: dict[str, float] = {}
    without: dict[str, float] | None = None
    seconds: float
    found: list[Found] = []


class Cited(Part):
    n: int
    title: str
    page: int | None = None
    section: str = ""
    quote: str
    gold: bool
    verbatim: bool


class Candidate(Part):
    """What the reader marked in one passage: its figures, and whether it is a right answer."""

    signals: dict[str, float]
    right: bool


class Replied(Part):
    """One answer. `said`: its proved sentences, empty for a refusal; they are compared with the
    gold answers. `signals`: what the decision was made of, in its `tier`; `candidate_right`:
    whether the answer that it decided on was right, shown or not, and `candidates` what it was
    picked from. `grounded`: the share of the sentences shown that their quotes prove, a partly
    proved one counts half.
    """

    text: str
    said: str
    status: str
    refused: bool
    right: bool
    contains: float
    em: float
    f1: float
    confidence: float
    citations: list[Cited] = []
    precision: float | None = None
    recall: float | None = None
    verdicts: list[str] = []
    signals: dict[str, float] | None = None
    tier: str = ""
    candidate_right: bool = False
    candidates: list[Candidate] = []
    warnings: list[str] = []
    seconds: float
    steps: dict[str, float] = {}
    calls: int = 0
    tokens: int = 0
    grounded: float | None = None
    stop_reason: str = ""
    trace_id: str = ""


class Item(Part):
    """One question and its outcome. `pair`: its language, then its gold documents' if another."""

    dataset: str
    id: str
    question: str
    asked: str
    lang: str
    pair: str
    group: str
    answerable: bool
    answers: list[str]
    parts: list[list[str]] = []
    gold: list[str]
    gold_pages: list[int] = []
    search: Searched | None = None
    answer: Replied | None = None
    error: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.dataset, self.id


class Bin(Part):
    """Items whose confidence lay between `low` and `high`: mean said, and how many right."""

    low: float
    high: float
    n: int
    said: float
    right: float


class Reliability(Part):
    """How well a probability foretells. `brier_of_the_mean`: of always the share of positives."""

    n: int
    positive: float
    brier: float
    brier_of_the_mean: float
    auc: float | None
    ece: float
    bins: list[Bin]


class Slice(Part):
    """The same figures over some of the items: one data set, or one pair of languages."""

    name: str
    n: int
    figures: dict[str, Group]


class Fit(Part):
    """Weights fitted on this report's items, and how they did on items they had not seen, in all
    and by pair of languages. `threshold`: the probability from which an answer is shown.
    """

    name: str
    weights: dict[str, float]
    bias: float
    threshold: float = 0.5
    whole: Reliability
    pairs: dict[str, Reliability]


class Run(Part):
    """How the figures came about."""

    citewell: str
    at: str
    datasets: dict[str, str]
    corpora: dict[str, str]
    agent: str
    strategy: str
    only: str
    seed: int
    limit: int | None
    said: dict[str, Any] = {}
    llm: str
    embedder: str
    settings: dict[str, Any] = {}


class Report(Part):
    """None without anything to count. `intervals`: 95 % by `group.figure`; `counted`: items."""

    n: int
    of: int
    retrieval: Group
    pages: Group
    answer: Group
    citations: Group
    refusal: Group
    confidence: Group
    cost: Group = {}
    latency_s: Group
    intervals: dict[str, tuple[float, float]]
    counted: dict[str, int]
    reliability: dict[str, Reliability]
    slices: list[Slice]
    fits: list[Fit] = []
    troubles: list[str] = []
    run: Run
    items: list[Item] = Field(repr=False)

    def group(self, name: str) -> Group:
        value: Group = getattr(self, name)
        return value


class Ablation(Part):
    """Reports of the same questions by the name of each variant, the simplest first."""

    variants: dict[str, Report]


def read_report(path: Path) -> Report:
    """Raises InvalidInput where the file is no report."""
    return _read_model(path, Report, "citewell eval --json")


def read_ablation(path: Path) -> Ablation:
    """Raises InvalidInput where the file is none."""
    return _read_model(path, Ablation, "citewell eval --ablate --json")


def _read_model(path: Path, kind: type[P], command: str) -> P:
    try:
        return kind.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InvalidInput(
            f"{path}: {error.strerror}", hint=f"name a report that `{command}` wrote"
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        hint = f"name a report that `{command}` wrote with this version"
        raise InvalidInput(
            f"{path} is no report: {where} {first['msg']}".replace("  ", " "), hint=hint
        ) from None

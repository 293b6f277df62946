"""What is asked of a search, and what it gives back. A strategy keeps nothing."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from citewell.models.base import Reranker, Vector
from citewell.retrieve.confidence import Logistic
from citewell.store.index.protocol import Filter, Index
from citewell.types import Hit


@dataclass(frozen=True, slots=True)
class Context:
    """The question behind those before it: a second reading, searched too. Its figures count
    `weight` times the question's.
    """

    text: str
    vector: Vector | None
    weight: float


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched. `text` finds words, `vector` meaning; `entities` must be case-folded names,
    best matched verbatim.

    `foreign`: the vector as it is compared with passages of another language
    (`cross_lingual.remove_language_mean`); None: `vector`. `calibration`: a library's own weights
    of the confidence (App.calibration.retrieval). `recency`: how much a document of today is worth
    over one of long ago, in standard deviations of the score (0: nothing); half of it is left after
    `half_life_days`. `diversity`: 0 takes the best hits, 1 those least like each other. `reranker`
    looks again at the first `rerank_top`. `now`: what "today" is, in seconds since the epoch.
    """

    text: str
    vector: Vector | None
    entities: Sequence[str] = ()
    where: Filter = field(default_factory=Filter)
    k: int = 6
    context: Context | None = None
    foreign: Vector | None = None
    calibration: Logistic | None = None
    recency: float = 0.0
    half_life_days: float = 365.0
    diversity: float = 0.0
    reranker: Reranker | None = None
    rerank_top: int = 4
    now: float = field(default_factory=time.time)


@dataclass(frozen=True, slots=True)
class Found:
    """Hits best first, and how likely they hold the answer (0 to 1). `warnings`: what failed."""

    hits: list[Hit]
    confidence: float
    warnings: tuple[str, ...] = ()


Strategy = Callable[[Index, Query], Awaitable[Found]]

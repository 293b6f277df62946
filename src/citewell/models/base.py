"""Protocols of chat models, embedders and rerankers. Providers are interchangeable: nothing outside
`models` knows which one runs. Cancelling the awaiting task stops the model's work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypedDict, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from citewell.models.probe import Known
from citewell.types import Message

Vector = NDArray[np.float32]
OnToken = Callable[[str], None]
CONNECTED_TIER = 2_000  # evidence tokens from which a model has room for the structured calls
ROOMY = 8_192  # tokens of context with which any model is in that tier, one that thinks too


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a call cost. `cached` are prompt tokens that the prefix cache saved."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """`log_prob`: of a text constrained by a grammar, the mean log-probability of its tokens
    without the grammar; None where unknown.
    """

    text: str
    tokens: Tokens = field(default_factory=Tokens)
    finished: bool = True  # False: cut at max_tokens
    log_prob: float | None = None


@dataclass(frozen=True, slots=True)
class YesNo:
    """`log_odds` = log p(yes) - log p(no) of the one constrained token: above 0 means yes."""

    log_odds: float
    tokens: Tokens = field(default_factory=Tokens)


@runtime_checkable
class Loads(Protocol):
    """A model of this process; its first call loads it, unless `load` was called before."""

    async def load(self) -> None:
        """Raises ModelUnavailable."""
        ...


@runtime_checkable
class Learns(Protocol):
    """A model behind an endpoint that is probed before its first question (`models/probe.py`)."""

    @property
    def known(self) -> Known:
        """What the endpoint can do, as probed in this process or an earlier one."""
        ...

    async def learn(self, *, anew: bool = False) -> Known:
        """Probe the endpoint if that is due, or always if `anew`. Raises nothing."""
        ...


class ChatOptions(TypedDict, total=False):
    """The options of `LLM.chat`, for functions that pass them on."""

    max_tokens: int
    temperature: float
    schema: dict[str, Any] | None
    grammar: str
    stop: Sequence[str]
    on_token: OnToken | None


class LLM(Protocol):
    """A chat model. Raises ModelUnavailable, TransientError or PermanentError, nothing else."""

    name: str

    @property
    def evidence_tokens(self) -> int:
        """How much packed evidence one prompt of this tier may carry."""
        ...

    async def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 256,
        temperature: float = 0.0,
        schema: dict[str, Any] | None = None,
        grammar: str = "",
        stop: Sequence[str] = (),
        on_token: OnToken | None = None,
    ) -> Reply:
        """Answer `messages`. With `schema` the text is JSON of that schema; with `grammar`
        (llguidance's Lark) the built-in model's text is one of its texts, a connected one goes by
        the messages; with `on_token` pieces arrive as they come.
        """
        ...

    async def yes_no(self, messages: Sequence[Message]) -> YesNo:
        """Ask a question whose reply is one token, yes or no."""
        ...

    async def close(self) -> None: ...


class Embedder(Protocol):
    """Text to unit vectors. `query` and `passages` may use different prefixes of the same space."""

    name: str
    dim: int

    async def query(self, text: str) -> Vector:
        """Shape (dim,), float32, length 1."""
        ...

    async def passages(self, texts: Sequence[str]) -> Vector:
        """Shape (len(texts), dim), float32, rows of length 1, in order."""
        ...

    async def close(self) -> None: ...


class Reranker(Protocol):
    """Scores a few passages for a question. Raises only what an LLM raises."""

    name: str
    passage_tokens: int  # what it has time or room for of one passage
    weight: float  # what one unit of its log-odds counts against one unit of a search's own score
    reach: float  # how far behind the best score a passage may lie and still be worth its time

    async def scores(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """For each text the log-odds that it answers: log p - log(1 - p), above 0 means yes,
        finite. `texts` come best first; one that need not be looked at any more, because one before
        it settles the question, gets None.
        """
        ...

    async def close(self) -> None: ...


def is_connected(llm: LLM | None) -> bool:
    """Whether a chat model is strong enough to write and judge; small ones go by shared words."""
    return llm is not None and llm.evidence_tokens >= CONNECTED_TIER

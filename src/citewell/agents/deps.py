"""What reaches the agents from outside: models, and three protocols: search, memory, the web. Every
effect of an agent is a method of one of these; each agent's own `Deps` adds its limits, and what
only it asks (a site, a paper, tables).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from citewell.models.base import LLM, Embedder, Vector
from citewell.models.reader_base import Reader
from citewell.retrieve.confidence import Logistic
from citewell.retrieve.query import Context, Found
from citewell.skills.dialogue.reference import Readings
from citewell.skills.evidence.confirmed_evidence import ConfirmedEvidence
from citewell.skills.evidence.passages import Passage
from citewell.skills.memory.recall import Recalled
from citewell.skills.proof.judge import Judge
from citewell.store.memory_judgement import Kept, Told
from citewell.types import Citation, Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """`llm` None: the tier without a chat model. `calibration`: the library's own weights of the
    confidence that an answer is right, by tier; the shipped ones for those left out. `sensitive`:
    words that no question may hold.
    """

    llm: LLM | None
    embedder: Embedder
    reader: Reader | None = None
    judge: Judge | None = None
    calibration: Mapping[str, Logistic] = field(default_factory=dict)
    sensitive: re.Pattern[str] | None = None


class Search(Protocol):
    """The documents that a question may be answered from."""

    async def find(
        self, text: str, vector: Vector | None, entities: Sequence[str], context: Context | None
    ) -> Found:
        """Chunks by words, meaning (None: words alone) and entities, in the context of what was
        asked before. Raises StorageError.
        """
        ...

    async def find_by(self, route: str, read: Readings, entities: Sequence[str]) -> Found:
        """The same by a strategy (empty: that of settings or request), for readings that are still
        to be embedded.
        """
        ...

    async def find_more(
        self, question: str, search_for: str, read: Sequence[Passage]
    ) -> list[Passage]:
        """Other passages, by other words and in the other language, where the answer is lacking."""
        ...

    async def find_confirmed(self, question: str) -> list[ConfirmedEvidence]:
        """What people confirmed of such a question."""
        ...

    def rate(self, text: str, hits: Sequence[Hit]) -> float:
        """How likely hits hold what a text asks for, 0 to 1."""
        ...

    async def widen(self, hits: Sequence[Hit], budget: int) -> list[Hit]:
        """What stands around hits, for a model with room for so many tokens."""
        ...

    async def locate(self, citations: list[Citation]) -> list[Citation]:
        """With page and section."""
        ...


class Memory(Protocol):
    """What is remembered of one user."""

    @property
    def keeps(self) -> bool:
        """Whether this question may add to it."""
        ...

    async def recall(self, question: str) -> list[Recalled]: ...

    async def remember(self, told: Told) -> Kept: ...


@dataclass(frozen=True, slots=True)
class Retrieved(Found):
    """`fetched`: of pages of the web when each was, by doc_id."""

    fetched: dict[str, float] = field(default_factory=dict)


class Web(Protocol):
    """The web, as far as it may be searched."""

    async def find(self, words: str, read: Readings, entities: Sequence[str]) -> Retrieved:
        """Pages by `words`, which hold nothing that is remembered of the user; their best passages.
        Raises StorageError, and what the provider raises.
        """
        ...

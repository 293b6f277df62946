"""A qa agent on a desk: scripted model and embedder, a search over a few sentences, no waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.agents.empty_search import EmptySearch

from citewell.agents.qa.qa import GRAPH
from citewell.agents.qa.qa_state import Deps, QAState
from citewell.config import QASettings
from citewell.models.base import LLM, Vector
from citewell.models.scripted import ScriptedEmbedder, ScriptedLLM
from citewell.models.scripted_reader import ScriptedReader
from citewell.retrieve.query import Context, Found
from citewell.skills.evidence.confirmed_evidence import ConfirmedEvidence
from citewell.skills.proof.judges import build_judge
from citewell.types import Citation, Event, Hit, Message, Step

TEXT = (
    "Domestic orders may be returned within 14 days. International orders may be returned within "
    "30 days. Return shipping is not paid by us. Batteries cannot be returned."
)
ZH = "国内订单签收后七天内可以退货。国际订单签收后三十天内可以退货。电池不予退货。"


def hit(text: str, *, chunk_id: int = 1, title: str = "Returns") -> Hit:
    lang = "en" if text.isascii() else "zh"
    return Hit(
        chunk_id,
        f"doc{chunk_id}",
        "c",
        title,
        f"uri{chunk_id}",
        ("Policy",),
        2,
        0,
        len(text),
        text,
        lang,
        score=1.0,
    )


@dataclass
class Desk(EmptySearch):
    """Everything a run needs, each part replaceable by the test."""

    llm: LLM | None = field(default_factory=ScriptedLLM)
    embedder: Any = field(default_factory=ScriptedEmbedder)
    settings: QASettings = field(default_factory=QASettings)
    found: list[Found | Exception] = field(default_factory=lambda: [Found([hit(TEXT)], 0.9)])
    searches: list[tuple[str, Vector | None, tuple[str, ...]]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)
    locate_error: Exception | None = None
    reader: ScriptedReader | None = None
    vouched: list[ConfirmedEvidence] = field(default_factory=list)

    async def find(
        self, text: str, vector: Vector | None, entities: Sequence[str], context: Context | None
    ) -> Found:
        self.searches.append((text, vector, tuple(entities)))
        found = self.found.pop(0) if len(self.found) > 1 else self.found[0]
        if isinstance(found, Exception):
            raise found
        return found

    async def locate(self, citations: list[Citation]) -> list[Citation]:
        if self.locate_error:
            raise self.locate_error
        return citations

    async def find_confirmed(self, question: str) -> list[ConfirmedEvidence]:
        return self.vouched

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def run(
        self, question: str, history: Sequence[tuple[str, str]] = (), sensitive: Any = None
    ) -> QAState:
        messages = [Message(role=role, content=text) for role, text in history]
        state = QAState(raw_user_input=question, raw_conversation_history=messages)
        deps = Deps(
            settings=self.settings,
            llm=self.llm,
            embedder=self.embedder,
            search=self,
            sensitive=sensitive,
            reader=self.reader,
            judge=build_judge(self.llm, self.reader),
            sleep=self.sleep,
        )
        self.events = [event async for event in GRAPH.run(state, deps)]
        return state

    @property
    def path(self) -> list[tuple[str, str]]:
        """Nodes and the ways they went on."""
        return [(e.node.removesuffix("Node"), e.action) for e in self.events if isinstance(e, Step)]

    def emitted(self, kind: str) -> list[Any]:
        return [e.data for e in self.events if isinstance(e, Event) and e.kind == kind]


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def scripted(desk: Desk) -> ScriptedLLM:
    """The desk's chat model, to script it."""
    assert isinstance(desk.llm, ScriptedLLM)
    return desk.llm

"""A dual_loop agent on a desk: scripted model and embedder, searches that a test writes down, a
memory in a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.agents.conftest import TEXT, hit
from tests.agents.empty_search import EmptySearch

from citewell.agents.deps import Retrieved
from citewell.agents.dual_loop.dual_loop import GRAPH
from citewell.agents.dual_loop.dual_loop_state import Deps, DualLoopState
from citewell.config import DualLoopSettings, QASettings
from citewell.models.base import LLM
from citewell.models.metered import Budget, Metered
from citewell.models.scripted import ScriptedEmbedder, ScriptedLLM
from citewell.models.scripted_reader import ScriptedReader
from citewell.skills.dialogue.reference import Readings
from citewell.skills.memory.recall import Recalled
from citewell.skills.proof.judges import build_judge
from citewell.store.memory_judgement import Kept, Told
from citewell.store.memory_rows import Memory
from citewell.types import Event, Message, Step

OTHER = "The shop in Harbour Street opens at nine and closes at six. It is closed on Sundays."
WEB = "The harbour bridge is 420 metres long and was opened in 1931."


def remembered(
    text: str, *, subject: str, kind: Any = "fact", user: str = "local", **more: Any
) -> Memory:
    values = {
        "memory_id": f"mem_{subject}",
        "user_id": user,
        "kind": kind,
        "subject": subject,
        "text": text,
        "collection": "c",
        "route": "",
        "trace_id": "tr_old",
        "doc_ids": [],
        "derived_from": [],
        "replaced_by": None,
        "seen": 1,
        "created_at": 1.0,
        "updated_at": 1.0,
        "expires_at": 1e12,
    }
    return Memory(**(values | more))


class Killed(Exception):
    """What a test ends a run with, in the middle."""


@dataclass
class DeskWeb:
    """The web of a desk."""

    desk: Desk

    async def find(self, words: str, read: Readings, entities: Sequence[str]) -> Retrieved:
        return self.desk.take("web_search", words)


@dataclass
class Desk(EmptySearch):
    """Everything a run needs, each part replaceable by the test. `found`: what each route finds, by
    call or always.
    """

    llm: LLM | None = field(default_factory=ScriptedLLM)
    settings: DualLoopSettings = field(default_factory=DualLoopSettings)
    budget: Budget = field(default_factory=Budget)
    found: dict[str, list[Retrieved | Exception]] = field(default_factory=dict)
    web: bool = False
    preferred: str = "direct_chunk_search"
    recalled: list[Recalled] = field(default_factory=list)
    memory: bool = True
    kept: list[Told] = field(default_factory=list)
    replaced: tuple[Memory, ...] = ()
    searches: list[tuple[str, str]] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)
    saved: list[tuple[str, str]] = field(default_factory=list)  # nodes done, and what comes next
    die_after: str = ""
    forced: bool = False
    reader: ScriptedReader | None = None
    hurry: list[bool] = field(
        default_factory=list
    )  # whether the time is over, each time somebody looks; then it is not
    killed = Killed
    text = TEXT
    other = OTHER
    page = WEB

    def finds(
        self, route: str, *texts: str | Exception, confidence: float = 0.9, fetched: bool = False
    ) -> None:
        """What a route finds, call after call; the last again and again. An empty text: nothing."""
        queue: list[Retrieved | Exception] = []
        for text in texts:
            if isinstance(text, Exception):
                queue.append(text)
                continue
            hits = [hit(text, chunk_id=1 + len(text))] if text else []
            at = {h.doc_id: 1_700_000_000.0 for h in hits} if fetched else {}
            queue.append(Retrieved(hits, confidence if hits else 0.0, fetched=at))
        self.found[route] = queue

    def remembers(self, text: str, *, subject: str, same: bool = False, **more: Any) -> Memory:
        """Recall this memory at the next question."""
        memory = remembered(text, subject=subject, **more)
        self.recalled.append(Recalled(memory, 0.9, same))
        return memory

    @property
    def script(self) -> ScriptedLLM:
        assert isinstance(self.llm, ScriptedLLM)
        return self.llm

    async def find_by(self, route: str, read: Readings, entities: Sequence[str]) -> Retrieved:
        return self.take(route, read.text)

    def take(self, route: str, words: str) -> Retrieved:
        """What a route finds next."""
        self.searches.append((route, words))
        queue = self.found.get(route, [Retrieved([], 0.0)])
        found = queue.pop(0) if len(queue) > 1 else queue[0]
        if isinstance(found, Exception):
            raise found
        return found

    keeps = True  # as a memory

    async def recall(self, question: str) -> list[Recalled]:
        return self.recalled

    async def remember(self, told: Told) -> Kept:
        self.kept.append(told)
        return Kept(
            "replaced" if self.replaced else "new",
            remembered(told.text, subject=told.subject),
            self.replaced,
        )

    async def done(self, step: Step, after: str) -> None:
        self.saved.append((step.node, after))
        if step.node == self.die_after:
            raise Killed

    def deps(self) -> Deps:
        llm = Metered(self.llm, self.budget) if self.llm else None
        return Deps(
            settings=self.settings,
            thresholds=QASettings(),
            llm=llm,
            embedder=ScriptedEmbedder(),
            search=self,
            preferred=self.preferred,
            forced=self.forced,
            late=lambda: self.hurry.pop(0) if self.hurry else False,
            web=DeskWeb(self) if self.web else None,
            session_id="ses_1",
            trace_id="tr_1",
            collection="c",
            reader=self.reader,
            judge=build_judge(llm, self.reader),
            memory=self if self.memory else None,
        )

    async def run(self, question: str, history: Sequence[tuple[str, str]] = ()) -> DualLoopState:
        state = DualLoopState(
            question, [Message(role=role, content=text) for role, text in history]
        )
        return await self.go_on(state)

    async def go_on(self, state: DualLoopState, start: str = "", n: int = 0) -> DualLoopState:
        async for event in GRAPH.run(state, self.deps(), start=start, n=n, done=self.done):
            self.events.append(event)
        return state

    @property
    def path(self) -> list[tuple[str, str]]:
        """Nodes and the ways they went on."""
        return [(e.node, e.action) for e in self.events if isinstance(e, Step)]

    @property
    def nodes(self) -> list[str]:
        return [node for node, _ in self.path]

    def detail(self, node: str) -> dict[str, Any]:
        """Of the last run of a node."""
        return next(
            e.detail for e in reversed(self.events) if isinstance(e, Step) and e.node == node
        )

    def emitted(self, kind: str) -> list[Any]:
        return [e.data for e in self.events if isinstance(e, Event) and e.kind == kind]


@pytest.fixture
def loops() -> Desk:
    return Desk()

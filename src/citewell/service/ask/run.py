"""A run: one question answered by an agent, with its request, its costs and its steps. Steps are
counted where they are stored, so a run that is resumed elsewhere knows all of them.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from pydantic import Field, TypeAdapter, field_validator, model_validator

from citewell.graph import END
from citewell.messages import dump_model
from citewell.models.base import Tokens
from citewell.models.metered import Budget, Metered
from citewell.runtime.app import App
from citewell.service.ask.options import AskOptions
from citewell.skills.answer.cite import Proof
from citewell.store.index.protocol import Filter
from citewell.types import Answer, Message, Shown, Status, Step, Usage

MOST_HISTORY = 100  # messages that a request may bring
# characters of each; the outline of what was said takes the first sentences
LONGEST_MESSAGE = 20_000
_TOKENS = TypeAdapter(Tokens)


class AskRequest(Shown):
    """A question as an interface sends it. `history`: used instead of a session, as much as
    `trim_history` leaves. `keep` False: no session and no memory is stored. `options`: the fields
    of AskOptions. `resume`: the trace_id of an interrupted run, which is resumed with its own
    request; of this one only the `user_id` counts.
    """

    question: str = ""
    agent: str = "qa"
    collection: str | None = None
    session_id: str | None = None
    user_id: str = "local"
    history: list[Message] | None = Field(None, max_length=MOST_HISTORY)
    keep: bool = True
    options: dict[str, Any] = Field(
        default_factory=dict, description=f"any of: {', '.join(AskOptions.model_fields)}"
    )
    resume: str | None = None

    @field_validator("history")
    @classmethod
    def _check_history(cls, history: list[Message] | None) -> list[Message] | None:
        """Refuses messages longer than any answer: all of them are read with every question."""
        for n, message in enumerate(history or [], 1):
            if len(message.content) > LONGEST_MESSAGE:
                raise ValueError(
                    f"message {n} has {len(message.content)} characters, {LONGEST_MESSAGE} are "
                    "allowed"
                )
        return history

    @model_validator(mode="after")
    def _check_question(self) -> Self:
        if "question" not in self.model_fields_set and not self.resume:
            raise ValueError("question: name one, or a run to go on with in resume")
        return self


def trim_history(history: Sequence[Message]) -> list[Message]:
    """The part of a conversation that a request may bring, for programs that send all of it."""
    return [
        m.model_copy(update={"content": m.content[:LONGEST_MESSAGE]})
        for m in history[-MOST_HISTORY:]
    ]


def generate_trace_id() -> str:
    return "tr_" + secrets.token_hex(8)


class Answered(Protocol):
    """The fields that an agent's final state has."""

    final_answer: str
    proof: Proof
    status: Status
    confidence: float
    stop_reason: str
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run changes its session, in the transaction that stores its answer: `change` writes to
    `session_data`. `find_earlier_answer`: the answer that another process has stored for the same
    message. `needed`: without this change the answer is not shown.
    """

    before: str
    after: str
    said: list[Message]
    change: Callable[[dict[str, Any], Answer], None]
    find_earlier_answer: Callable[[], Awaitable[Answer | None]]
    needed: bool = False


@dataclass(frozen=True, slots=True)
class ReplayContext:
    """The trace that is replayed: its `trace_id`, the moment `at` which it began, the `state` and
    `history` of its session then. `read`: pages that it fetched, by `get_url_identity`. `fetch`:
    they may be fetched again.
    """

    trace_id: str
    at: float
    state: str
    history: list[Message]
    read: frozenset[str]
    fetch: bool


@dataclass(slots=True)
class Run:
    """`holder`: the token under which its progress is stored; empty if it is not. `before`: seconds
    that it took in an earlier process. `goes_on`: the node from which it is resumed, with the
    agent's `state`. `recalled`: ids of the memories used. `stop`: set when the user wants an answer
    from what is there now. `session_data`: stored with the session beside the messages; `ending`:
    further changes of the session. `repeats`: the answer was stored before. `again`: the replay of
    a trace, of which nothing is stored.
    """

    app: App
    request: AskRequest
    agent: str
    collection: str
    session_id: str
    history: list[Message]
    meter: Metered | None
    options: AskOptions
    where: Filter
    warnings: list[str]
    trace_id: str = field(default_factory=generate_trace_id)
    agent_reason: str = ""
    steps: list[Step] = field(default_factory=list)
    before: float = 0.0
    started: float = field(default_factory=time.perf_counter)
    holder: str = ""
    goes_on: str = ""
    state: dict[str, Any] = field(default_factory=dict)
    recalled: list[str] = field(default_factory=list)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    session_data: dict[str, Any] = field(default_factory=dict)
    ending: Ending | None = None
    repeats: bool = False
    again: ReplayContext | None = None

    @property
    def user_id(self) -> str:
        return self.request.user_id

    @property
    def seconds(self) -> float:
        return self.before + time.perf_counter() - self.started

    @property
    def budget(self) -> Budget:
        """The limits of the request, else of the agent's settings. Agents of one pass have none."""
        said, settings, loops = self.options, self.app.settings.dual_loop, self.agent == "dual_loop"
        seconds = {
            "dual_loop": settings.max_seconds,
            "website": self.app.settings.website.max_seconds,
            "paper": self.app.settings.paper.max_seconds,
            "data": self.app.settings.data.max_seconds,
        }
        return Budget(
            calls=said.max_calls or (settings.max_calls if loops else None),
            tokens=said.max_tokens or (settings.max_tokens if loops else None),
            seconds=said.max_seconds or seconds.get(self.agent),
        )

    @property
    def seconds_left(self) -> float | None:
        """Seconds left of the budget; None: no limit."""
        return None if self.budget.seconds is None else max(0.0, self.budget.seconds - self.seconds)

    def answer(self, state: Answered, route: str) -> Answer:
        """The answer that an agent's final state gives, as every interface shows it."""
        return Answer(
            answer=state.final_answer,
            sentences=state.proof.sentences,
            citations=state.proof.citations,
            status=state.status,
            confidence=state.confidence,
            agent=self.agent,
            agent_reason=self.agent_reason,
            route=route,
            stop_reason=state.stop_reason,
            session_id=self.session_id,
            trace_id=self.trace_id,
            warnings=state.warnings,
            usage=self.usage(),
        )

    def usage(self) -> Usage:
        seconds: dict[str, float] = {}
        for step in self.steps:
            seconds[step.node] = round(seconds.get(step.node, 0.0) + step.seconds, 4)
        seconds["total"] = round(self.seconds, 4)
        if self.meter is None:
            return Usage(seconds=seconds)
        tokens = self.meter.tokens
        return Usage(
            calls=self.meter.calls,
            prompt_tokens=tokens.prompt,
            cached_tokens=tokens.cached,
            completion_tokens=tokens.completion,
            seconds=seconds,
        )

    async def save_progress(self, node: str, agent: dict[str, Any] | None = None) -> None:
        """Store that it is resumed at `node`, with the state of the `agent`; without that, from its
        beginning.
        """
        if not self.holder:
            said = self.request.model_dump(mode="json") | {"session_id": self.session_id or None}
            self.holder = await self.app.runs.begin(
                self.trace_id, self.request.user_id, self.agent, said
            )
            await self.app.runs.renew(self.trace_id, self.holder)
        await self.app.runs.keep(
            self.trace_id, self.holder, node, {"agent": agent or {}, "run": self._dump_state()}
        )

    async def count(self, step: Step, _: str = "") -> None:
        """Count a finished node: the step recorder of agents whose state is not stored."""
        self.steps.append(step)

    def make_step_recorder(
        self, dumped: Callable[[], dict[str, Any]]
    ) -> Callable[[Step, str], Any]:
        """The step recorder of agents whose state is stored: `dumped` returns it, as JSON."""

        async def count_step(step: Step, after: str) -> None:
            self.steps.append(step)
            if self.request.keep and after != END:
                await self.save_progress(after, dumped())

        return count_step

    def _dump_state(self) -> dict[str, Any]:
        meter = self.meter
        return {
            "agent_reason": self.agent_reason,
            "history": [message.model_dump() for message in self.history],
            "steps": [dump_model(step) for step in self.steps],
            "seconds": self.seconds,
            "calls": meter.calls if meter else 0,
            "tokens": _TOKENS.dump_python(meter.tokens, mode="json") if meter else {},
            "prompts": meter.prompts if meter else [],
        }

    def restore(self, kept: dict[str, Any]) -> None:
        """What `_dumped` gave, in a run that goes on."""
        self.agent_reason = kept["agent_reason"]
        self.history = [Message(**message) for message in kept["history"]]
        self.steps = [Step(**step) for step in kept["steps"]]
        self.before = kept["seconds"]
        if self.meter is not None:
            self.meter.restore(
                kept["calls"],
                _TOKENS.validate_python(kept["tokens"]),
                kept["prompts"],
                kept["seconds"],
            )

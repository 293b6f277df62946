"""How an answer came about: the trace that is kept, and the events while it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from citewell.messages import AnyText
from citewell.types.answer_types import Answer, Citation, Shown, Step


class IntentAnalysis(Shown):
    """What a question wants, as spec 004 keeps it."""

    intent_type: str = ""
    parameters: dict[str, Any] = Field(default={})
    reasoning: AnyText = ""


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
    """How an answer came about, step by step. `request`: what was asked, to ask it again."""

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
    request: dict[str, Any] = Field(default={})
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

"""An answer on its way, told to whoever looks on (`citewell.instrumentation`). Which agent, how it
ended, how long; not a word of question or answer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from functools import wraps

from citewell.instrumentation import get_current_operation, observe_operation
from citewell.runtime.app import App
from citewell.service.ask.run import AskRequest, Run
from citewell.types import Answer, Event

NOBODY = "none"  # the agent of a question that none has begun on
Stream = Callable[[App, AskRequest], AsyncIterator[Event]]


def observe_answer(stream: Stream) -> Stream:
    """Around what makes an answer: it begins and ends with its events."""

    @wraps(stream)
    async def stream_observed(app: App, request: AskRequest) -> AsyncIterator[Event]:
        with observe_operation("answer", NOBODY) as this:
            if request.question.strip():
                this.hide(request.question)
            async with aclosing(stream(app, request)) as events:  # type: ignore[type-var]  # a generator
                async for event in events:
                    if event.kind == "token":
                        this.token()
                    elif isinstance(event.data, Answer):
                        this.facts["status"] = event.data.status
                    yield event

    return stream_observed


def note_agent_chosen(run: Run) -> None:
    """An agent has been chosen, and the answer has a name."""
    this = get_current_operation()
    if this is not None and this.kind == "answer":
        this.name = run.agent
        this.mark(trace_id=run.trace_id)

"""What a message to a reading session ends in: the answer, and what it changes of the session."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from citewell.agents.paper.paper_ask import PaperState
from citewell.agents.paper.paper_state import ANSWERS, PLAN, Exchange
from citewell.errors import NotFound
from citewell.messages import dump_model
from citewell.service.ask.run import Ending
from citewell.service.papers.message_intake import (
    MessageContext,
    get_earlier_answer,
    load_session,
    record_answer,
)
from citewell.store.session_rows import HISTORY
from citewell.types import Answer, Message, Sentence

Change = Callable[[dict[str, Any], Answer], None]  # writes to `session_data` what came of a message


def build_exchange_change(
    state: PaperState, brought: dict[str, Any], plan: dict[str, Any] | None, name: str
) -> Change:
    """Writes the exchange, and the route that came with it."""

    def change(data: dict[str, Any], answer: Answer) -> None:
        exchange = Exchange(
            turn=len(data.get(HISTORY, [])),
            question=state.question,
            clarified=state.clarified_question,
            agents=state.agents,
            answer=answer.answer,
            status=answer.status,
            confidence=answer.confidence,
            sentences=answer.sentences,
            citations=answer.citations,
            data={"references": brought["references"]},
            warnings=answer.warnings,
            trace_id=answer.trace_id,
            message_id=name,
            asked_at=time.time(),
        )
        data.setdefault(ANSWERS, []).append(dump_model(exchange))
        if plan is not None:
            data[PLAN] = plan

    return change


def set_ending(
    errand: MessageContext, said: list[Message], change: Change, *, needed: bool
) -> None:
    """The message is done: what `change` writes, and what it brought under its name."""
    run = errand.run
    if not run.request.keep:
        return

    def changed(data: dict[str, Any], answer: Answer) -> None:
        record_answer(run, data, answer)
        change(data, answer)

    async def find_earlier_answer() -> Answer | None:
        with suppress(NotFound):  # the session was deleted, and that is told
            return get_earlier_answer(run, (await load_session(run))[1])
        return None

    run.ending = Ending(errand.state, errand.then, said, changed, find_earlier_answer, needed)


def build_answer(
    errand: MessageContext,
    text: str,
    brought: dict[str, Any],
    *,
    sentences: Sequence[Sentence] = (),
    warnings: Sequence[str] = (),
) -> Answer:
    """What the guide brings, as an answer."""
    run = errand.run
    return Answer(
        answer=text,
        sentences=list(sentences),
        status="answered",
        confidence=1.0,
        agent="paper",
        agent_reason=run.agent_reason,
        route="guide",
        session_id=run.session_id,
        trace_id=run.trace_id,
        warnings=[*run.warnings, *warnings],
        usage=run.usage(),
        data={"event": errand.event, "current_state": errand.then, **brought},
    )

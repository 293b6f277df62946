"""Ask an agent: build what it needs, run its graph, keep the session and the trace, hand out one `Answer`.

The one rule: an answer that was shown can be looked up again, step by step, under its `trace_id`.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from citewell.agents import qa
from citewell.agents.qa_state import Deps, QAState
from citewell.errors import CitewellError, Conflict, InvalidInput
from citewell.knowledge.index import Filter
from citewell.models.base import Vector
from citewell.models.metered import Metered
from citewell.retrieve.expand import expanded
from citewell.retrieve.query import Context
from citewell.retrieve.strategies import Found
from citewell.service.app import App
from citewell.service.options import SearchOptions, filter_of, options_of, strategy_of
from citewell.service.search import find, waiting
from citewell.skills.sensitive import word_list
from citewell.types import Answer, Citation, Event, Hit, Message, Shown, Step, Trace, Usage

HITS = 6  # chunks that a search hands to the agent


class AskRequest(Shown):
    """What a channel asks. `history` given: it is used instead of a session. `keep` False: no session is made for it.
    `options`: the fields of SearchOptions.
    """

    question: str
    agent: str = "qa"
    collection: str | None = None
    session_id: str | None = None
    user_id: str = "local"
    history: list[Message] | None = None
    keep: bool = True
    options: dict[str, Any] = Field(default_factory=dict)


@dataclass(slots=True)
class Run:
    """One question on its way: where it searches, which session it belongs to, what it has cost."""

    app: App
    request: AskRequest
    collection: str
    session_id: str
    history: list[Message]
    meter: Metered | None
    options: SearchOptions
    where: Filter
    warnings: list[str]
    started: float = field(default_factory=time.perf_counter)
    steps: list[Step] = field(default_factory=list)

    def usage(self) -> Usage:
        seconds: dict[str, float] = {}
        for step in self.steps:
            seconds[step.node] = round(seconds.get(step.node, 0.0) + step.seconds, 4)
        seconds["total"] = round(time.perf_counter() - self.started, 4)
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


async def ask(app: App, request: AskRequest) -> Answer:
    """The answer alone. Raises what `stream` raises."""
    answer: Answer | None = None
    async for event in stream(app, request):
        if isinstance(event.data, Answer):
            answer = event.data
    if answer is None:
        raise CitewellError("the agent ended without an answer", hint="this is a fault of ours; the log has more")
    return answer


async def stream(app: App, request: AskRequest) -> AsyncIterator[Event]:
    """Steps, draft tokens, citations and warnings as they come; the last event is the answer.

    Raises InvalidInput (empty, too long, refused word, unknown agent or option, wrong value of one), NotFound (collection,
    document, session), and what the stores and models raise where no answer could be had without them.
    """
    agent = AGENTS.get(request.agent)
    if agent is None:
        raise InvalidInput(f"unknown agent: {request.agent}", hint=f"known: {', '.join(AGENTS)}", code="unknown_agent")
    run = await _begin(app, request)
    async for event in agent(run):
        if isinstance(event.data, Step):
            run.steps.append(event.data)
        if isinstance(event.data, Answer):
            answer = await _kept(run, event.data)
            for warning in answer.warnings:
                yield Event("warning", warning)
            yield Event("answer", answer)
        else:
            yield event


async def _begin(app: App, request: AskRequest) -> Run:
    options = options_of(request.options)
    strategy_of(options, app)
    info = await app.catalog.collection(request.collection or app.settings.collection)
    where = await filter_of(app, options, [info.name])
    warnings = waiting([(info.chunks, info.embedded)])
    history, session_id = list(request.history or []), ""
    if request.session_id:
        session_id = (await app.sessions.get(request.session_id)).session_id
        history = history or await app.sessions.history(session_id)
    meter = Metered(app.llm) if app.llm else None
    return Run(app, request, info.name, session_id, history, meter, options, where, warnings)


async def _kept(run: Run, answer: Answer) -> Answer:
    """Store session and trace before the answer goes out; where the store refuses, the answer goes out and says so."""
    try:
        return await _keep(run, answer)
    except CitewellError as error:
        warning = f"this answer could not be kept: {error.message}"
        return answer.model_copy(update={"session_id": "", "trace_id": "", "warnings": [*answer.warnings, warning]})


async def _keep(run: Run, answer: Answer) -> Answer:
    app, request = run.app, run.request
    session_id = run.session_id
    if not session_id and request.keep and request.history is None:
        session_id = (await app.sessions.create(answer.agent, request.user_id, request.question.strip()[:80])).session_id
    answer = answer.model_copy(update={"session_id": session_id})
    trace = Trace(
        trace_id=answer.trace_id,
        agent=answer.agent,
        question=request.question,
        collection=run.collection,
        session_id=session_id,
        created_at=time.time(),
        steps=run.steps,
        prompts=run.meter.prompts if run.meter else [],
        answer=answer,
    )
    await app.traces.put(trace)
    if session_id:
        said = [Message(role="user", content=request.question), Message(role="assistant", content=answer.answer)]
        await app.sessions.append(session_id, said)
    return answer


async def _run_qa(run: Run) -> AsyncIterator[Event]:
    state = QAState(raw_user_input=run.request.question, raw_conversation_history=run.history, warnings=run.warnings)
    async for event in qa.GRAPH.run(state, _qa_deps(run)):
        yield Event("step", event) if isinstance(event, Step) else event
    if state.error and not (state.final_answer or state.initial_answer):
        raise state.error
    yield Event("answer", _qa_answer(run, state))


def _qa_answer(run: Run, state: QAState) -> Answer:
    return Answer(
        answer=state.final_answer or state.initial_answer,
        sentences=state.proof.sentences,
        citations=state.proof.citations,
        status=state.status if state.final_answer else "fallback",
        confidence=state.answer_confidence,
        agent="qa",
        route=strategy_of(run.options, run.app),
        session_id=run.session_id,
        trace_id="tr_" + secrets.token_hex(8),
        warnings=state.warnings,
        usage=run.usage(),
        error_info=state.error_info,
    )


def _qa_deps(run: Run) -> Deps:
    app = run.app

    async def search(text: str, vector: Vector | None, entities: Sequence[str], context: Context | None) -> Found:
        return await find(app, run.options, text, vector, entities, run.where, HITS, context)

    async def widen(hits: Sequence[Hit], budget: int) -> list[Hit]:
        beside = app.settings.search.neighbours
        return await expanded(app.index, hits, beside, beside, budget)

    return Deps(
        settings=app.settings.qa,
        llm=run.meter,
        embedder=app.embedder,
        search=search,
        widen=widen,
        locate=_locator(app),
        sensitive=word_list(app.settings.qa.sensitive_words),
        calibration=app.calibration.answer,
    )


def _locator(app: App) -> Callable[[list[Citation]], Awaitable[list[Citation]]]:
    async def locate(citations: list[Citation]) -> list[Citation]:
        """Page and section at the quote's own first character, and where its lines stand; the quote compared with the stored
        text once more.
        """
        documents = {doc_id: await app.catalog.content(doc_id) for doc_id in {c.doc_id for c in citations}}
        located = []
        for citation in citations:
            document = documents[citation.doc_id]
            if document.text[citation.start : citation.end] != citation.quote:
                raise Conflict(f"{citation.title} was changed while it was being cited", hint="ask again")
            path = next((s.heading_path for s in document.sections if s.start <= citation.start < s.end), ())
            lines = await app.catalog.boxes(citation.doc_id, [(citation.start, citation.end)])
            place = {
                "page": document.page_at(citation.start),
                "section": " › ".join(path) or citation.section,
                "boxes": [[line.page, line.x0, line.y0, line.x1, line.y1] for line in lines],
            }
            located.append(citation.model_copy(update=place))
        return located

    return locate


AGENTS: dict[str, Callable[[Run], AsyncIterator[Event]]] = {"qa": _run_qa}

"""The `paper` agent on an open App: one message to a reading session, from its state to the next.

The one rule: what a message brings (report, route, answer), what was said and the new state are one
transaction. A run that ends in this process, whatever way, is over; only one whose server stopped
or was killed is there to be gone on with, from its beginning.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, nullcontext, suppress
from typing import Any
from weakref import WeakValueDictionary

import anyio.to_thread

from citewell.agents import paper
from citewell.agents.paper_ask import Deps, PaperState
from citewell.agents.paper_state import ANSWERS, PLAN, REPORT, Exchange
from citewell.agents.paper_states import ROUTING
from citewell.errors import CitewellError, Conflict, InvalidInput, NotFound
from citewell.graph import record_detail
from citewell.retrieve.query import Context
from citewell.retrieve.strategies import Found
from citewell.service.ask.ask_qa import get_judge
from citewell.service.ask.lazy_embedding import embed_nearest, embed_question, open_labels
from citewell.service.ask.locate import make_locator
from citewell.service.ask.options import SearchOptions
from citewell.service.ask.run import Ending, Run
from citewell.service.ask.search import find_hits, warn_of_waiting
from citewell.service.papers.message_intake import (
    MessageContext,
    extract_question,
    get_earlier_answer,
    load_session,
    open_message,
    record_answer,
)
from citewell.skills.answer.wording import format_message
from citewell.skills.dialogue.reference import Readings
from citewell.skills.dialogue.sensitive import load_word_list
from citewell.skills.evidence.cited_references import find_cited_references
from citewell.skills.guide.report import make_report
from citewell.skills.guide.report_markdown import render_report
from citewell.skills.paper.reading_context import OpenPaper, Plan, Selection
from citewell.skills.paper.selection import locate_selection
from citewell.skills.reading_route.edit_route import render_route
from citewell.skills.reading_route.plan_route import make_route
from citewell.step_runner import Stage, stream_steps
from citewell.store.index.base import Filter
from citewell.store.sessions import HISTORY
from citewell.text.normalize import normalize_text
from citewell.types import Answer, Event, Message, Sentence, Step

MARKED = 200  # characters of a marked passage that the conversation shows
POOL = 40  # passages of the paper, of which each section agent is handed those of its own part
Change = Callable[[dict[str, Any], Answer], None]  # writes to `session_data` what came of a message

# so that a message that is sent again before its answer is there waits for that
_sending: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()


async def run_paper(run: Run) -> AsyncIterator[Event]:
    """Raises InvalidInput (no session, not one of a paper, what cannot be asked), NotFound (its
    paper was removed), Conflict (not in this state).
    """
    name = run.options.message_id
    async with (
        _sending.setdefault((run.session_id, name), asyncio.Lock()) if name else nullcontext()
    ):
        try:
            state, data = await load_session(run)
            if (before := get_earlier_answer(run, data)) is not None:
                run.repeats = True
                await _end_run(run)
                yield Event("answer", before)
                return
            errand = await open_message(run, state, data)
        except (Conflict, InvalidInput, NotFound):
            await _end_run(run)  # one that was gone on with and is refused now would be so for ever
            raise
        async with aclosing(_run_message(errand)) as events:
            async for event in events:
                yield event


async def _run_message(errand: MessageContext) -> AsyncGenerator[Event, None]:
    run = errand.run
    yield Event("progress", {"kind": "begin", "trace_id": run.trace_id, "event": errand.event})
    try:
        if run.request.keep and not run.holder:
            await run.save_progress(errand.event)
        elif run.holder:
            run.steps.clear()  # it begins again
        async for event in stream_steps(
            lambda stage: WORK[errand.event](errand, stage), done=run.count
        ):
            yield Event("step", event) if isinstance(event, Step) else event
        assert errand.answer is not None, "every work ends with an answer"
        yield Event("answer", errand.answer)
    finally:
        if not run.app.root.stopping.cut.is_set():  # else it waits for the next start
            await asyncio.shield(asyncio.ensure_future(_end_run(run)))


async def _end_run(run: Run) -> None:
    """Forget that it is under way; where its answer was kept, that is done already."""
    if run.holder:
        with suppress(CitewellError):
            await run.app.runs.end(run.trace_id, run.holder)


# ---------------------------------------------------------------- the three things a message can do


async def _make_guide_report(errand: MessageContext, stage: Stage) -> None:
    run, book = errand.run, errand.book
    lang = run.options.lang or book.document.lang
    async with stage.step("guide_report") as taken:
        made = await make_report(
            book, llm=run.meter, judge=get_judge(run), embedder=run.app.embedder, lang=lang
        )
        report = made.model_copy(update={"citations": await make_locator(run.app)(made.citations)})
        taken.action = "report_made"
        record_detail(
            statements=sum(len(part.sentences) for part in report.parts),
            citations=len(report.citations),
        )
    text = render_report(
        report, title=book.paper.title or book.document.title, authors=book.paper.authors
    )
    shown = report.model_dump(mode="json")
    sentences = [sentence for part in report.parts for sentence in part.sentences]
    errand.answer = _build_answer(
        errand, text, {REPORT: shown}, sentences=sentences, warnings=report.warnings
    )
    errand.answer = errand.answer.model_copy(update={"citations": report.citations})
    _set_ending(
        errand,
        [Message(role="assistant", content=text)],
        lambda data, _: data.update({REPORT: shown}),
        needed=True,
    )


async def _make_reading_route(errand: MessageContext, stage: Stage) -> None:
    """The route; where the interest is itself a question and nobody said that a route is wanted,
    its answer too.
    """
    interest = normalize_text(errand.run.request.question)
    plan = await _plan_route(errand, stage, interest)
    text, shown = render_route(plan), plan.model_dump(mode="json")
    said = [Message(role="user", content=interest)] if interest else []
    said.append(Message(role="assistant", content=text))
    if (
        errand.run.options.event is None
        and errand.state != ROUTING
        and interest.endswith(("?", "？"))
    ):
        await _answer_question(errand, stage, before=said, plan=shown)
        return
    errand.answer = _build_answer(errand, text, {PLAN: shown})
    _set_ending(errand, said, _build_route_change(plan), needed=True)


def _build_route_change(plan: Plan) -> Change:
    """Writes the route. What was ticked while it was being made stays ticked."""

    def change(data: dict[str, Any], _: Answer) -> None:
        made, before = plan, Plan(**data[PLAN]) if PLAN in data else None
        if before is not None:
            ticked = {
                step.step_id: step.done_at for step in before.steps if step.done_at is not None
            }
            steps = [
                step.model_copy(update={"done_at": ticked.get(step.step_id)}) for step in plan.steps
            ]
            made = plan.model_copy(update={"steps": steps, "revision": before.revision + 1})
        data[PLAN] = made.model_dump(mode="json")

    return change


async def _plan_route(errand: MessageContext, stage: Stage, interest: str) -> Plan:
    run, before = errand.run, errand.data.get(PLAN)
    async with stage.step("guide_route") as taken:
        plan = await make_route(
            errand.book,
            interest,
            embedder=run.app.embedder,
            llm=run.meter,
            lang=errand.lang,
            before=Plan(**before) if before else None,
            now=time.time(),
        )
        taken.action = "plan_changed" if before else "plan_made"
        record_detail(interest=interest, steps=[step.section for step in plan.steps])
    return plan


async def _answer_question(
    errand: MessageContext,
    stage: Stage,
    before: Sequence[Message] = (),
    plan: dict[str, Any] | None = None,
) -> None:
    run, book = errand.run, errand.book
    asked, marked = extract_question(run)
    named = run.options.selection is not None
    selection = await anyio.to_thread.run_sync(lambda: _locate_selection(marked, book, named=named))
    question = normalize_text(asked) or format_message("explain_this", errand.lang)
    shown_question = (
        f"{question} {_quote_selection(selection, book)}" if selection and named else question
    )
    history = [Message(**message) for message in errand.data.get(HISTORY, [])]
    state = PaperState(
        question,
        [*history, *before],
        selection,
        warnings=[*run.warnings, *await _warn_of_waiting(run, book)],
    )
    await paper.answer_question(state, _build_deps(run, book), stage)
    references = [
        each.model_dump(mode="json") for each in find_cited_references(state.proof.citations, book)
    ]
    brought: dict[str, Any] = {
        "references": references,
        "clarified_question": state.clarified_question,
    }
    brought |= {PLAN: plan} if plan else {}
    shown = {"event": "ask", "current_state": errand.then, **brought}
    errand.answer = run.answer(state, "+".join(state.agents)).model_copy(update={"data": shown})
    said = [*before, Message(role="assistant", content=state.final_answer)]
    said = said if before else [Message(role="user", content=shown_question), *said]
    state.question = shown_question  # as it is kept
    _set_ending(
        errand,
        said,
        _build_exchange_change(state, brought, plan, errand.run.options.message_id),
        needed=plan is not None,
    )


def _quote_selection(selection: tuple[int, int], book: OpenPaper) -> str:
    """What was marked, as the conversation shows it."""
    words = " ".join(book.document.text[slice(*selection)].split())
    return f"“{words[:MARKED]}…”" if len(words) > MARKED else f"“{words}”"


def _locate_selection(
    marked: Selection | None, book: OpenPaper, *, named: bool
) -> tuple[int, int] | None:
    """Where it stands. What a question quotes may be from elsewhere; what was marked (`named`) may
    not: it raises then.
    """
    if marked is None:
        return None
    try:
        return locate_selection(marked, book)
    except (InvalidInput, NotFound):
        if named:
            raise
        return None


WORK = {"report": _make_guide_report, "plan": _make_reading_route, "ask": _answer_question}


def _build_exchange_change(
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
        data.setdefault(ANSWERS, []).append(exchange.model_dump(mode="json"))
        if plan is not None:
            data[PLAN] = plan

    return change


def _set_ending(
    errand: MessageContext, said: list[Message], change: Change, *, needed: bool
) -> None:
    """The message is done: what `change` writes, and what it brought under its name."""
    run = errand.run
    if not run.request.keep:
        return

    def changed(data: dict[str, Any], answer: Answer) -> None:
        record_answer(run, data, answer)
        change(data, answer)

    async def before_us() -> Answer | None:
        with suppress(NotFound):  # the session was deleted, and that is told
            return get_earlier_answer(run, (await load_session(run))[1])
        return None

    run.ending = Ending(errand.state, errand.then, said, changed, before_us, needed)


def _build_answer(
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


async def _warn_of_waiting(run: Run, book: OpenPaper) -> list[str]:
    info = await run.app.catalog.document(book.doc_id)
    return warn_of_waiting([(info.chunks, info.embedded)])


def _build_deps(run: Run, book: OpenPaper) -> Deps:
    app = run.app
    where = Filter(collections=(book.collection,), doc_ids=(book.doc_id,))

    async def search(read: Readings, entities: Sequence[str]) -> Found:
        vector, problem = await embed_question(app, read.text)
        if vector is not None:  # what has not been embedded yet and looks near is, first
            await embed_nearest(
                app, open_labels(app), f"{read.text} {read.context}", vector, where, lambda _: False
            )
        context = None
        if read.context:
            context = Context(
                read.context, (await embed_question(app, read.context))[0], read.weight
            )
        found = await find_hits(
            app, SearchOptions(), read.text, vector, entities, where, POOL, context
        )
        return Found(
            found.hits, found.confidence, (*([problem] if problem else []), *found.warnings)
        )

    return Deps(
        settings=app.settings.paper,
        thresholds=app.settings.qa,
        llm=run.meter,
        embedder=app.embedder,
        book=book,
        find=search,
        locate=make_locator(app),
        sensitive=load_word_list(app.settings.qa.sensitive_words),
        reader=app.reader,
        judge=get_judge(run),
        calibration=app.calibration.answer,
    )

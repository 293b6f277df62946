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
from citewell.graph import note
from citewell.retrieve.query import Context
from citewell.retrieve.strategies import Found
from citewell.service.ask.ask_qa import judge_of
from citewell.service.ask.lazy_embedding import embed_nearest, open_labels, vector_of
from citewell.service.ask.locate import locator
from citewell.service.ask.options import SearchOptions
from citewell.service.ask.run import Ending, Run
from citewell.service.ask.search import find, waiting
from citewell.service.papers.message_intake import (
    Errand,
    answered_before,
    asked_of,
    noted,
    opened,
    seen,
)
from citewell.skills.answer.wording import say
from citewell.skills.dialogue.reference import Readings
from citewell.skills.dialogue.sensitive import word_list
from citewell.skills.evidence.cited_references import references_of
from citewell.skills.guide.report import make_report
from citewell.skills.guide.report_markdown import report_markdown
from citewell.skills.paper.reading_context import OpenPaper, Plan, Selection
from citewell.skills.paper.selection import selected
from citewell.skills.reading_route.edit_route import route_markdown
from citewell.skills.reading_route.plan_route import make_route
from citewell.step_runner import Stage, played
from citewell.store.index.base import Filter
from citewell.store.sessions import HISTORY
from citewell.text.normalize import clean
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
            state, data = await seen(run)
            if (before := answered_before(run, data)) is not None:
                run.repeats = True
                await _over(run)
                yield Event("answer", before)
                return
            errand = await opened(run, state, data)
        except (Conflict, InvalidInput, NotFound):
            await _over(run)  # one that was gone on with and is refused now would be so for ever
            raise
        async with aclosing(_done(errand)) as events:
            async for event in events:
                yield event


async def _done(errand: Errand) -> AsyncGenerator[Event, None]:
    run = errand.run
    yield Event("progress", {"kind": "begin", "trace_id": run.trace_id, "event": errand.event})
    try:
        if run.request.keep and not run.holder:
            await run.hold(errand.event)
        elif run.holder:
            run.steps.clear()  # it begins again
        async for event in played(lambda stage: WORK[errand.event](errand, stage), done=run.count):
            yield Event("step", event) if isinstance(event, Step) else event
        assert errand.answer is not None, "every work ends with an answer"
        yield Event("answer", errand.answer)
    finally:
        if not run.app.root.stopping.cut.is_set():  # else it waits for the next start
            await asyncio.shield(asyncio.ensure_future(_over(run)))


async def _over(run: Run) -> None:
    """Forget that it is under way; where its answer was kept, that is done already."""
    if run.holder:
        with suppress(CitewellError):
            await run.app.runs.end(run.trace_id, run.holder)


# ---------------------------------------------------------------- the three things a message can do


async def _report(errand: Errand, stage: Stage) -> None:
    run, book = errand.run, errand.book
    lang = run.options.lang or book.document.lang
    async with stage.step("guide_report") as taken:
        made = await make_report(
            book, llm=run.meter, judge=judge_of(run), embedder=run.app.embedder, lang=lang
        )
        report = made.model_copy(update={"citations": await locator(run.app)(made.citations)})
        taken.action = "report_made"
        note(
            statements=sum(len(part.sentences) for part in report.parts),
            citations=len(report.citations),
        )
    text = report_markdown(
        report, title=book.paper.title or book.document.title, authors=book.paper.authors
    )
    shown = report.model_dump(mode="json")
    sentences = [sentence for part in report.parts for sentence in part.sentences]
    errand.answer = _answer(
        errand, text, {REPORT: shown}, sentences=sentences, warnings=report.warnings
    )
    errand.answer = errand.answer.model_copy(update={"citations": report.citations})
    _ends(
        errand,
        [Message(role="assistant", content=text)],
        lambda data, _: data.update({REPORT: shown}),
        needed=True,
    )


async def _plan(errand: Errand, stage: Stage) -> None:
    """The route; where the interest is itself a question and nobody said that a route is wanted,
    its answer too.
    """
    interest = clean(errand.run.request.question)
    plan = await _routed(errand, stage, interest)
    text, shown = route_markdown(plan), plan.model_dump(mode="json")
    said = [Message(role="user", content=interest)] if interest else []
    said.append(Message(role="assistant", content=text))
    if (
        errand.run.options.event is None
        and errand.state != ROUTING
        and interest.endswith(("?", "？"))
    ):
        await _ask(errand, stage, before=said, plan=shown)
        return
    errand.answer = _answer(errand, text, {PLAN: shown})
    _ends(errand, said, _new_route(plan), needed=True)


def _new_route(plan: Plan) -> Change:
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


async def _routed(errand: Errand, stage: Stage, interest: str) -> Plan:
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
        note(interest=interest, steps=[step.section for step in plan.steps])
    return plan


async def _ask(
    errand: Errand, stage: Stage, before: Sequence[Message] = (), plan: dict[str, Any] | None = None
) -> None:
    run, book = errand.run, errand.book
    asked, marked = asked_of(run)
    named = run.options.selection is not None
    selection = await anyio.to_thread.run_sync(lambda: _selected(marked, book, named=named))
    question = clean(asked) or say("explain_this", errand.lang)
    shown_question = f"{question} {_words(selection, book)}" if selection and named else question
    history = [Message(**message) for message in errand.data.get(HISTORY, [])]
    state = PaperState(
        question,
        [*history, *before],
        selection,
        warnings=[*run.warnings, *await _waiting(run, book)],
    )
    await paper.answer(state, _deps(run, book), stage)
    references = [
        each.model_dump(mode="json") for each in references_of(state.proof.citations, book)
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
    _ends(
        errand,
        said,
        _new_exchange(state, brought, plan, errand.run.options.message_id),
        needed=plan is not None,
    )


def _words(selection: tuple[int, int], book: OpenPaper) -> str:
    """What was marked, as the conversation shows it."""
    words = " ".join(book.document.text[slice(*selection)].split())
    return f"“{words[:MARKED]}…”" if len(words) > MARKED else f"“{words}”"


def _selected(marked: Selection | None, book: OpenPaper, *, named: bool) -> tuple[int, int] | None:
    """Where it stands. What a question quotes may be from elsewhere; what was marked (`named`) may
    not: it raises then.
    """
    if marked is None:
        return None
    try:
        return selected(marked, book)
    except (InvalidInput, NotFound):
        if named:
            raise
        return None


WORK = {"report": _report, "plan": _plan, "ask": _ask}


def _new_exchange(
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


def _ends(errand: Errand, said: list[Message], change: Change, *, needed: bool) -> None:
    """The message is done: what `change` writes, and what it brought under its name."""
    run = errand.run
    if not run.request.keep:
        return

    def changed(data: dict[str, Any], answer: Answer) -> None:
        noted(run, data, answer)
        change(data, answer)

    async def before_us() -> Answer | None:
        with suppress(NotFound):  # the session was deleted, and that is told
            return answered_before(run, (await seen(run))[1])
        return None

    run.ending = Ending(errand.state, errand.then, said, changed, before_us, needed)


def _answer(
    errand: Errand,
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


async def _waiting(run: Run, book: OpenPaper) -> list[str]:
    info = await run.app.catalog.document(book.doc_id)
    return waiting([(info.chunks, info.embedded)])


def _deps(run: Run, book: OpenPaper) -> Deps:
    app = run.app
    where = Filter(collections=(book.collection,), doc_ids=(book.doc_id,))

    async def search(read: Readings, entities: Sequence[str]) -> Found:
        vector, problem = await vector_of(app, read.text)
        if vector is not None:  # what has not been embedded yet and looks near is, first
            await embed_nearest(
                app, open_labels(app), f"{read.text} {read.context}", vector, where, lambda _: False
            )
        context = None
        if read.context:
            context = Context(read.context, (await vector_of(app, read.context))[0], read.weight)
        found = await find(app, SearchOptions(), read.text, vector, entities, where, POOL, context)
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
        locate=locator(app),
        sensitive=word_list(app.settings.qa.sensitive_words),
        reader=app.reader,
        judge=judge_of(run),
        calibration=app.calibration.answer,
    )

"""The `paper` agent on an open App: one message to a reading session, from its state to the next.
What a message brings (report, route, answer), what was said and the new state are one transaction.
A run that ends in this process, whatever way, is over; only one whose server stopped or was killed
is there to be gone on with, from its beginning.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, nullcontext, suppress
from typing import Any
from weakref import WeakValueDictionary

import anyio.to_thread

from citewell.agents.paper import paper
from citewell.agents.paper.paper_ask import Deps, PaperState
from citewell.agents.paper.paper_state import PLAN, REPORT
from citewell.agents.paper.paper_states import ROUTING
from citewell.errors import CitewellError, Conflict, InvalidInput, NotFound
from citewell.graph import record_detail
from citewell.messages import dump_model
from citewell.retrieve.query import Found
from citewell.service.ask.ask_qa import get_judge, get_models
from citewell.service.ask.locate import locate_citations
from citewell.service.ask.run import Run
from citewell.service.ask.search import warn_of_waiting
from citewell.service.papers.message_intake import (
    MessageContext,
    extract_question,
    get_earlier_answer,
    load_session,
    open_message,
)
from citewell.service.papers.paper_ending import (
    Change,
    build_answer,
    build_exchange_change,
    set_ending,
)
from citewell.service.papers.paper_search import PaperSearch, find_selection, quote_selection
from citewell.skills.answer.wording import format_message
from citewell.skills.dialogue.reference import Readings
from citewell.skills.evidence.cited_references import find_cited_references
from citewell.skills.guide.report import make_report
from citewell.skills.guide.report_markdown import render_report
from citewell.skills.paper.reading_context import OpenPaper, Plan
from citewell.skills.reading_route.edit_route import render_route
from citewell.skills.reading_route.plan_route import make_route
from citewell.step_runner import Stage, stream_steps
from citewell.store.session_rows import HISTORY
from citewell.text.entities import extract_search_names
from citewell.text.normalize import normalize_text
from citewell.types import Answer, Event, Message, Step

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
        report = made.model_copy(
            update={"citations": await locate_citations(run.app, made.citations)}
        )
        taken.action = "report_made"
        record_detail(
            statements=sum(len(part.sentences) for part in report.parts),
            citations=len(report.citations),
        )
    text = render_report(
        report, title=book.paper.title or book.document.title, authors=book.paper.authors
    )
    shown = dump_model(report)
    sentences = [sentence for part in report.parts for sentence in part.sentences]
    errand.answer = build_answer(
        errand, text, {REPORT: shown}, sentences=sentences, warnings=report.warnings
    )
    errand.answer = errand.answer.model_copy(update={"citations": report.citations})
    set_ending(
        errand,
        [Message(role="assistant", content=text)],
        lambda data, _: data.update({REPORT: shown}),
        needed=True,
    )


async def _make_reading_route(errand: MessageContext, stage: Stage) -> None:
    """The route; where the interest is a question and no route was wanted, its answer too."""
    interest = normalize_text(errand.run.request.question)
    plan = await _plan_route(errand, stage, interest)
    text, shown = render_route(plan), dump_model(plan)
    said = [Message(role="user", content=interest)] if interest else []
    said.append(Message(role="assistant", content=text))
    if (
        errand.run.options.event is None
        and errand.state != ROUTING
        and interest.endswith(("?", "？"))
    ):
        await _answer_question(errand, stage, before=said, plan=shown)
        return
    errand.answer = build_answer(errand, text, {PLAN: shown})
    set_ending(errand, said, _build_route_change(plan), needed=True)


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
        data[PLAN] = dump_model(made)

    return change


async def _plan_route(errand: MessageContext, stage: Stage, interest: str) -> Plan:
    run, before = errand.run, errand.data.get(PLAN)
    search = PaperSearch(run, errand.book)

    async def find(text: str) -> Found:
        return await search.find_by("", Readings(text), extract_search_names(text))

    async with stage.step("guide_route") as taken:
        plan = await make_route(
            errand.book,
            interest,
            find=find,
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
    selection = await anyio.to_thread.run_sync(lambda: find_selection(marked, book, named=named))
    question = normalize_text(asked) or format_message("explain_this", errand.lang)
    shown_question = (
        f"{question} {quote_selection(selection, book)}" if selection and named else question
    )
    said_before = [] if errand.event == "compare" else errand.data.get(HISTORY, [])
    history = [Message(**message) for message in said_before]
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
    event = "ask" if errand.event == "plan" else errand.event
    shown = {"event": event, "current_state": errand.then, **brought}
    errand.answer = run.answer(state, "+".join(state.agents)).model_copy(update={"data": shown})
    said = [*before, Message(role="assistant", content=state.final_answer)]
    said = said if before else [Message(role="user", content=shown_question), *said]
    state.question = shown_question  # as it is kept
    set_ending(
        errand,
        said,
        build_exchange_change(state, brought, plan, errand.run.options.message_id),
        needed=plan is not None,
    )


WORK = {
    "report": _make_guide_report,
    "plan": _make_reading_route,
    "ask": _answer_question,
    "compare": _answer_question,
}


async def _warn_of_waiting(run: Run, book: OpenPaper) -> list[str]:
    info = await run.app.catalog.document(book.doc_id)
    return warn_of_waiting([(info.chunks, info.embedded)])


def _build_deps(run: Run, book: OpenPaper) -> Deps:
    return Deps(
        **get_models(run),
        settings=run.app.settings.paper,
        thresholds=run.app.settings.qa,
        search=PaperSearch(run, book),
        book=book,
    )

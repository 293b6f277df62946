"""Messages to a reading session: named and sent again, stopped and gone on with, and what is left
of a deleted one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from tests.error_codes import raises_code
from tests.service import made

from citewell.errors import CitewellError, Conflict, InvalidInput, NotFound, StorageError
from citewell.ingest.paper.read_paper import read_paper
from citewell.runtime.app import App
from citewell.service.ask import ask_paper
from citewell.service.ask import heartbeat as alive
from citewell.service.ask.ask import ask, list_unfinished_runs, stream_answer
from citewell.service.ask.run import AskRequest
from citewell.service.library.documents import delete_document
from citewell.service.papers import reading_sessions as papers
from citewell.service.papers.guide_job import submit_report
from citewell.service.papers.reading_sessions import PaperSession
from citewell.service.sessions.sessions import delete_session
from citewell.store.leases import Leases
from citewell.types import Answer

PAPER = (
    made.PAPER.replace("Lamp That", "Lamp\u202e That\u0007")
    + """
# 3 Results

LampNet saved 34 percent of the energy in the north harbour and 29 percent in the south harbour. No
ship was missed in calm weather. In fog it lit the lamp eleven minutes before the ship on average,
and in storms nine minutes.
"""
)
QUESTION = "How many hidden units has LampNet?"


async def begun(app: App) -> PaperSession:
    return await papers.begin_paper_session(app, data=PAPER.encode(), name="lamp.md")


async def sent(
    app: App,
    session: PaperSession,
    text: str,
    event: str | None = None,
    name: str = "",
    **more: Any,
) -> Answer:
    options = {key: value for key, value in {"event": event, "message_id": name}.items() if value}
    return await ask(
        app,
        AskRequest(
            question=text, agent="paper", session_id=session.session_id, options=options, **more
        ),
    )


async def routed(app: App) -> PaperSession:
    session = await begun(app)
    await sent(app, session, "", "report")
    await sent(app, session, "", "plan")
    return session


async def test_every_message_that_is_sent_again_has_its_answer(app: App) -> None:
    """Report, interest and question, whatever the session has come to since, and without the paper;
    nothing is done twice.
    """
    session = await begun(app)
    first = [
        await sent(app, session, "", name="m1"),
        await sent(app, session, "How is it trained?", name="m2"),
        await sent(app, session, QUESTION, name="m3"),
    ]
    assert [answer.data and answer.data["event"] for answer in first] == ["report", "ask", "ask"]
    await sent(app, session, "tides", "plan")
    before = await papers.read_paper_session(app, session.session_id)
    said = await app.sessions.history(session.session_id)
    for removed in (False, True):
        if removed:
            await delete_document(app, session.paper.doc_id)
        again = [
            await sent(app, session, text, name=name)
            for text, name in (("", "m1"), ("x", "m2"), (QUESTION, "m3"))
        ]
        assert again == first
    after = await papers.read_paper_session(app, session.session_id)
    assert (after.plan, after.answers, after.unfinished) == (before.plan, before.answers, [])
    assert await app.sessions.history(session.session_id) == said
    with raises_code(NotFound, "paper_removed"):
        await sent(app, session, QUESTION, name="m4")


@pytest.mark.parametrize("event", ["report", "plan", "ask"])
async def test_the_same_message_many_times_at_once(app: App, event: str) -> None:
    """It is done once, and all have its answer."""
    session = await (routed(app) if event == "ask" else begun(app))
    if event == "plan":
        await sent(app, session, "", "report")
    before = len(await app.sessions.history(session.session_id))
    answers = await asyncio.gather(
        *[sent(app, session, QUESTION * (event != "report"), event, "m1") for _ in range(5)]
    )
    assert all(answer == answers[0] for answer in answers)
    assert len(await app.sessions.history(session.session_id)) - before == (
        1 if event == "report" else 2
    )
    assert await app.runs.list("local") == []


async def test_another_process_was_quicker_with_the_same_message(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer is kept and is ours too."""
    session = await begun(app)
    await sent(app, session, "", "report")
    whole, quicker = ask_paper.WORK["plan"], []

    async def slow(errand: Any, stage: Any) -> None:
        await whole(errand, stage)
        monkeypatch.setitem(ask_paper.WORK, "plan", whole)
        monkeypatch.setattr(ask_paper, "_sending", {})
        quicker.append(await sent(app, session, "tides", name="m1"))

    monkeypatch.setitem(ask_paper.WORK, "plan", slow)
    assert [await sent(app, session, "tides", name="m1")] == quicker


async def test_what_may_pass_does_not_end_a_run(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full for a moment: the question waits. One whose paper is gone can never be
    answered, and is over.
    """
    session = await routed(app)
    asked = {
        "question": QUESTION,
        "agent": "paper",
        "session_id": session.session_id,
        "options": {},
    }
    state = await kept_state(app, session)
    await app.runs.keep("tr_1", await app.runs.begin("tr_1", "local", "paper", asked), "ask", state)
    for full in (
        "citewell.service.ask.ask_paper.open_message",
        "citewell.service.ask.begin_run.get_own_session",
    ):

        async def refused(*_: object) -> None:
            raise StorageError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(full, refused)
            with pytest.raises(StorageError):
                await ask(app, AskRequest(resume="tr_1"))
        assert [run.trace_id for run in await list_unfinished_runs(app.runs)] == ["tr_1"]
    await delete_document(app, session.paper.doc_id)
    with raises_code(NotFound, "paper_removed"):
        await ask(app, AskRequest(resume="tr_1"))
    assert await list_unfinished_runs(app.runs) == []


async def kept_state(app: App, session: PaperSession) -> dict[str, Any]:
    """What a run keeps before it begins, taken from one that is stopped."""
    request = AskRequest(question=QUESTION, agent="paper", session_id=session.session_id)
    events: AsyncIterator[Any] = stream_answer(app, request)
    await anext(events)
    await anext(events)
    [row] = await app.db.read(lambda c: c.exec_driver_sql("SELECT trace_id, state FROM runs").all())
    await events.aclose()  # type: ignore[attr-defined]
    state: dict[str, Any] = json.loads(row.state)
    return state


async def slow_work(
    app: App, monkeypatch: pytest.MonkeyPatch, event: str
) -> tuple[asyncio.Event, asyncio.Event]:
    """Work that says when all but its commit is done, and waits then."""
    whole, there, go = ask_paper.WORK[event], asyncio.Event(), asyncio.Event()

    async def slow(errand: Any, stage: Any) -> None:
        await whole(errand, stage)
        there.set()
        await go.wait()

    monkeypatch.setitem(ask_paper.WORK, event, slow)
    return there, go


async def test_what_is_being_answered_is_not_taken(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it takes: signs of life are given. Nobody drops or resumes it, and its answer is
    kept.
    """
    monkeypatch.setattr(alive, "BEAT", 0.05)
    monkeypatch.setattr(app.runs, "_leases", Leases(0.3))
    session = await routed(app)
    there, go = await slow_work(app, monkeypatch, "ask")
    asking = asyncio.create_task(sent(app, session, QUESTION))
    await there.wait()
    await asyncio.sleep(0.6)
    seen = await papers.read_paper_session(app, session.session_id)
    assert ([each.question for each in seen.under_way], seen.unfinished) == ([QUESTION], [])
    trace_id = seen.under_way[0].trace_id
    with raises_code(Conflict, "under_way"):
        await ask(app, AskRequest(resume=trace_id))
    await papers.drop_run(app, trace_id)
    go.set()
    assert (await asking).trace_id == trace_id
    assert (await papers.read_paper_session(app, session.session_id)).under_way == []


async def test_a_report_is_made_once(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for it while it is made is told to wait."""
    session = await begun(app)
    there, go = await slow_work(app, monkeypatch, "report")
    making = asyncio.create_task(sent(app, session, "", "report"))
    await there.wait()
    with pytest.raises(Conflict, match="is being made by another process"):
        await sent(app, session, "", "report")
    go.set()
    await making


async def test_deleted_while_it_answers(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await routed(app)
    there, go = await slow_work(app, monkeypatch, "ask")
    asking = asyncio.create_task(sent(app, session, QUESTION))
    await there.wait()
    await papers.delete_paper_session(app, session.session_id)
    go.set()
    with pytest.raises(Conflict) as told:
        await asking
    assert told.value.code == "session_deleted"
    assert await app.traces.list() == []


async def test_traces_go_with_their_session(app: App) -> None:
    """Of a reading session and of another agent's; those of other sessions stay."""
    first, second = await routed(app), await routed(app)
    for session in (first, second):
        await sent(app, session, QUESTION)
    chat = await app.sessions.create("qa")
    trace = (await app.traces.list())[0]
    await app.traces.put(
        trace.model_copy(update={"trace_id": "tr_chat", "session_id": chat.session_id})
    )
    await papers.delete_paper_session(app, first.session_id)
    assert {trace.session_id for trace in await app.traces.list()} == {
        second.session_id,
        chat.session_id,
    }
    await delete_session(app, chat.session_id)
    assert {trace.session_id for trace in await app.traces.list()} == {second.session_id}


async def test_names_hold_nothing_that_is_not_seen(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a paper's title and authors, nor a user's name: bytes that were not read would make
    two users one.
    """
    names = ("Ann \u2066Keeper", "\u202e")
    monkeypatch.setattr(
        "citewell.service.papers.reading_sessions.read_paper",
        lambda document: replace(read_paper(document), authors=names),
    )
    session = await begun(app)
    assert (session.paper.title, session.title) == ("A Lamp That Learns",) * 2
    assert session.paper.authors == ["Ann Keeper"]
    with pytest.raises(InvalidInput, match="name has 1 to"):
        await papers.begin_paper_session(
            app, data=PAPER.encode(), name="lamp.md", user_id="ann\ufffd"
        )
    with pytest.raises(NotFound) as told:
        await papers.read_paper_session(app, "nope")
    assert "for a new one" not in told.value.hint
    assert "citewell papers list" in told.value.hint


async def test_a_report_that_ends_its_process_fails_its_job(app: App) -> None:
    """The job is over, says why, and is not tried for ever."""
    from citewell.service.jobs.job_lease import Holder
    from citewell.service.papers.guide_job import make_report

    session = await begun(app)
    asked = {
        "question": "",
        "agent": "paper",
        "session_id": session.session_id,
        "options": {"event": "report"},
    }
    await app.runs.keep("tr_1", await app.runs.begin("tr_1", "local", "paper", asked), "report", {})
    await app.db.write(
        lambda connection: connection.exec_driver_sql("UPDATE runs SET attempts = 2")
    )
    await submit_report(app, session.session_id)
    job = await app.jobs.claim()
    assert job is not None
    with pytest.raises(
        CitewellError, match="stopped Citewell twice and is given up: the guide"
    ) as told:
        await make_report(app, job, Holder(app, job))
    assert not isinstance(told.value, Conflict)

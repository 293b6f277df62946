"""The dual loop over a real store: searches, memory from question to question, users apart,
budgets, runs that go on.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import aclosing, closing
from dataclasses import replace
from typing import Any

import pytest
from tests.error_codes import raises_about, raises_code
from tests.service.made import script

from citewell.config import Settings
from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.runtime.app import App
from citewell.service.ask.ask import ask, list_unfinished_runs, stream_answer
from citewell.service.ask.run import AskRequest
from citewell.types import Answer, Step

QUESTION = "When was the lighthouse built?"
QUOTE = "The lighthouse was built in 1857."
DRAFT = "The lighthouse was built in the year 1857."
ENTAILED = '{"verdicts": [{"n": 1, "verdict": "entailed"}]}'


def asking(question: str = QUESTION, **more: Any) -> AskRequest:
    return AskRequest(question=question, agent="dual_loop", **more)


async def stopped_after(app: App, node: str, request: AskRequest) -> str:
    """Run until a node is done, then leave, as a client does that goes away. The trace_id."""
    async with aclosing(stream_answer(app, request)) as events:  # type: ignore[type-var]
        async for event in events:
            if isinstance(event.data, Step) and event.data.node == node:
                break
    (run,) = await list_unfinished_runs(app.runs)
    return run.trace_id


async def test_an_answer_with_its_proof_and_its_cost(filled: App) -> None:
    """Proved against the stored text; every step in the trace; two calls: draft and judge."""
    script(filled).enqueue(DRAFT)
    answer = await ask(filled, asking())
    assert (answer.status, answer.answer, answer.agent) == ("answered", DRAFT + "[1]", "dual_loop")
    assert (answer.route, answer.stop_reason) == ("direct_chunk_search", "")
    document = await filled.catalog.content(answer.citations[0].doc_id)
    assert (
        document.text[answer.citations[0].start : answer.citations[0].end]
        == answer.citations[0].quote
        == QUOTE
    )
    assert answer.usage.calls == 2
    trace = await filled.traces.get(answer.trace_id)
    assert [step.node for step in trace.steps][:3] == [
        "retrieve_memory",
        "route_query",
        "rewrite_query",
    ]
    assert [prompt["job"] for prompt in trace.prompts] == ["chat", "chat"]


async def test_a_settled_question_is_remembered_and_colours_the_next(filled: App) -> None:
    """With a link to its trace; asked again it is recalled, and proved anew from the document."""
    script(filled).enqueue(DRAFT, DRAFT)
    first = await ask(filled, asking())
    (memory,) = await filled.memories.list("local")
    assert (memory.kind, memory.text, memory.trace_id) == ("question", DRAFT, first.trace_id)
    second = await ask(filled, asking())
    assert {citation.origin for citation in second.citations} == {"document"}
    trace = await filled.traces.get(second.trace_id)
    assert [m["memory_id"] for m in trace.steps[0].detail["memories"]] == [memory.memory_id]
    assert [m.seen for m in await filled.memories.list("local")] == [2]


async def test_a_fact_and_a_question_in_one_message(filled: App) -> None:
    """The fact fills the question in at once; each is remembered for itself."""
    llm = script(filled)
    llm.enqueue("The lighthouse was built in 1857.")
    answer = await ask(filled, asking("My tower is the lighthouse. When was my tower built?"))
    assert answer.status == "answered", answer
    kept = {memory.kind: memory for memory in await filled.memories.list("local")}
    assert kept["fact"].text == "My tower is the lighthouse"
    assert kept["question"].subject.startswith("When was my tower")


async def test_two_users_do_not_share_a_memory(filled: App) -> None:
    """Not told, not listed, not forgotten by the other."""
    llm = script(filled)
    await ask(filled, asking("Remember that my plan is Pro.", user_id="ann"))
    llm.enqueue("Your plan is Pro.")
    told = await ask(filled, asking("What is my plan?", user_id="ann"))
    assert (told.status, told.citations[0].origin) == ("answered", "memory")
    other = await ask(filled, asking("What is my plan?", user_id="bob"))
    assert "Pro" not in other.answer
    assert not any(
        "Pro" in str(prompt) for prompt in (await filled.traces.get(other.trace_id, "bob")).prompts
    )
    assert await filled.memories.list("bob") == []
    with pytest.raises(NotFound):
        await filled.traces.get(told.trace_id, "bob")
    assert [t.trace_id for t in await filled.traces.list(user_id="bob")] == [other.trace_id]
    with pytest.raises(NotFound, match="no session"):
        await ask(filled, asking("What did I say?", user_id="bob", session_id=told.session_id))
    (memory,) = await filled.memories.list("ann")
    with pytest.raises(NotFound):
        await filled.memories.forget("bob", memory.memory_id)


async def test_forgetting_removes_the_traces_that_used_it(filled: App) -> None:
    """What the memory was told in and shown in goes with it; other traces stay."""
    llm = script(filled)
    kept = await ask(filled, asking("Hello!"))
    first = await ask(filled, asking("Remember that my plan is Pro."))
    (memory,) = await filled.memories.list("local")
    llm.enqueue("Your plan is Pro.")
    used = await ask(filled, asking("What is my plan?"))
    await filled.memories.forget("local", memory.memory_id)
    for gone in (first, used):
        with pytest.raises(NotFound):
            await filled.traces.get(gone.trace_id)
    assert (await filled.traces.get(kept.trace_id)).trace_id == kept.trace_id
    assert await filled.memories.list("local", history=True) == []


async def test_what_is_forgotten_while_it_is_used_leaves_no_trace(filled: App) -> None:
    """Neither in the trace of the answer that is being made, nor in the state of a run that
    waits.
    """
    llm = script(filled)
    await ask(filled, asking("Remember that my plan is Pro."))
    (memory,) = await filled.memories.list("local")
    llm.enqueue("Your plan is Pro.", "Your plan is Pro.")
    trace_id = await stopped_after(filled, "direct_response", asking("What is my plan?"))

    async def forgetting() -> None:
        async for event in stream_answer(filled, asking("What is my plan?")):
            if isinstance(event.data, Step) and event.data.node == "direct_response":
                await filled.memories.forget("local", memory.memory_id)

    with pytest.raises(Conflict, match="a memory that it used was forgotten"):
        await forgetting()
    assert not [t for t in await filled.traces.list() if "What is my plan?" in t.question]
    with pytest.raises(NotFound):
        await ask(filled, AskRequest(resume=trace_id))


@pytest.mark.parametrize("more", [{"keep": False}, {"options": {"memory": False}}])
async def test_a_question_that_is_not_to_be_kept_leaves_no_memory(
    filled: App, more: dict[str, Any]
) -> None:
    script(filled).enqueue(DRAFT)
    assert (await ask(filled, asking(**more))).status == "answered"
    assert await filled.memories.list("local") == []


async def test_the_memory_can_be_switched_off(settings: Settings) -> None:
    off = settings.model_copy(
        update={"memory": settings.memory.model_copy(update={"enabled": False})}
    )
    async with App(off) as app:
        answer = await ask(app, asking("Remember that my plan is Pro."))
        assert "switched off" in answer.answer
        assert await app.memories.list("local") == []


async def test_a_budget_of_the_request(filled: App) -> None:
    """Also for qa; a wrong value is refused by its name."""
    script(filled).enqueue(DRAFT, DRAFT)
    answer = await ask(filled, asking(options={"max_calls": 1}))
    assert (answer.stop_reason, answer.status, answer.usage.calls) == (
        "budget_calls",
        "fallback",
        1,
    )
    passed = await ask(filled, AskRequest(question=QUESTION, options={"max_calls": 1}))
    assert passed.usage.calls == 1
    assert any("model calls of this question are used up" in warning for warning in passed.warnings)
    with pytest.raises(InvalidInput, match="max_calls"):
        await ask(filled, asking(options={"max_calls": 0}))
    with raises_about(InvalidInput, unknown="max_cals"):
        await ask(filled, asking(options={"max_cals": 3}))


async def test_the_documents_of_the_request_are_searched_by_every_route(filled: App) -> None:
    """A filter holds in each strategy."""
    script(filled).enqueue_yes_no(-3.0, -3.0)
    answer = await ask(filled, asking(options={"types": ["txt"]}))
    assert answer.status == "refused"
    assert "Lighthouse" not in answer.answer


# ---------------------------------------------------------------- runs that go on


@pytest.mark.parametrize(
    "node", ["rewrite_query", "grade_documents", "generate_response", "grade_relevance"]
)
async def test_a_run_that_was_left_goes_on(filled: App, node: str) -> None:
    """From its last step, with what it has cost; the same trace, one session, one memory, two calls
    in all.
    """
    llm = script(filled)
    llm.enqueue(DRAFT)
    trace_id = await stopped_after(filled, node, asking())
    answer = await ask(filled, AskRequest(resume=trace_id))
    assert (answer.status, answer.answer, answer.trace_id) == ("answered", DRAFT + "[1]", trace_id)
    assert len(llm.calls) == 2
    assert answer.usage.calls == 2
    trace = await filled.traces.get(trace_id)
    assert [step.n for step in trace.steps] == list(range(1, 9))
    assert len(trace.prompts) == 2
    assert trace.question == QUESTION
    assert await list_unfinished_runs(filled.runs) == []
    assert [m.content for m in await filled.sessions.history(answer.session_id)] == [
        QUESTION,
        answer.answer,
    ]
    assert len(await filled.memories.list("local")) == 1


async def test_a_run_is_gone_on_with_in_its_own_session_and_with_its_own_options(
    filled: App,
) -> None:
    llm = script(filled)
    llm.enqueue(DRAFT, DRAFT)
    session = (await ask(filled, asking("Hello!"))).session_id
    trace_id = await stopped_after(
        filled, "grade_documents", asking(session_id=session, options={"max_calls": 1})
    )
    answer = await ask(filled, AskRequest(resume=trace_id))
    assert (answer.session_id, answer.stop_reason) == (session, "budget_calls")


@pytest.mark.parametrize("what", ["put_in", "append_in", "end_in"])
async def test_an_answer_that_could_not_be_kept_whole_is_not_kept_in_part(
    filled: App, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Killed in the middle of keeping it: no trace, no session, and the run still there to go on
    with.
    """
    llm = script(filled)
    llm.enqueue(DRAFT)
    store = {"put_in": filled.traces, "append_in": filled.sessions, "end_in": filled.runs}[what]

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store, what, killed)
        with pytest.raises(KeyboardInterrupt):
            await ask(filled, asking())
    assert await filled.traces.list() == []
    assert await filled.sessions.list() == []
    (run,) = await list_unfinished_runs(filled.runs)
    answer = await ask(filled, AskRequest(resume=run.trace_id))
    assert (answer.status, len(llm.calls)) == ("answered", 2)
    (session,) = await filled.sessions.list()
    assert session.messages == 2
    assert [memory.seen for memory in await filled.memories.list("local")] == [1]


async def test_a_run_whose_session_is_gone_does_not_wait_for_ever(filled: App) -> None:
    llm = script(filled)
    session = (await ask(filled, asking("Hello!"))).session_id
    llm.enqueue(DRAFT)
    trace_id = await stopped_after(filled, "grade_documents", asking(session_id=session))
    await filled.sessions.delete(session)
    with pytest.raises(NotFound, match="no session"):
        await ask(filled, AskRequest(resume=trace_id))
    assert await list_unfinished_runs(filled.runs) == []


async def test_half_characters_are_no_fault_of_ours(filled: App) -> None:
    """In the question and in the model's reply."""
    script(filled).enqueue(DRAFT + " \udce9")
    answer = await ask(filled, asking("When was the lighthouse built? \udce9"))
    assert answer.status == "answered"
    assert answer.trace_id


async def test_what_is_said_and_does_not_count_is_told(filled: App) -> None:
    script(filled).enqueue(DRAFT, DRAFT, DRAFT)
    passed = await ask(
        filled, AskRequest(question=QUESTION, options={"web": True, "corrections": 5})
    )
    assert "the qa agent does not use corrections, web" in passed.warnings
    assert any(
        "no provider is named" in warning
        for warning in (await ask(filled, asking(options={"web": True}))).warnings
    )


async def test_nobody_goes_on_with_what_is_not_theirs(filled: App) -> None:
    """Neither another user's run, nor one that is over, nor one that never was."""
    script(filled).enqueue(DRAFT)
    trace_id = await stopped_after(filled, "grade_documents", asking(user_id="local"))
    with pytest.raises(NotFound):
        await ask(filled, AskRequest(resume=trace_id, user_id="bob"))
    await ask(filled, AskRequest(resume=trace_id))
    for gone in (trace_id, "tr_never"):
        with pytest.raises(NotFound, match="no unfinished run"):
            await ask(filled, AskRequest(resume=gone))


async def test_who_goes_on_takes_it_over(filled: App) -> None:
    """Two at once: only who was silent for too long loses its run; it stops at its next step, and
    one answer is kept.
    """
    llm = script(filled)
    llm.enqueue(DRAFT, DRAFT)
    first = stream_answer(filled, asking())
    assert isinstance(first, AsyncIterator)
    async for event in first:
        if isinstance(event.data, Step) and event.data.node == "grade_documents":
            break
    (run,) = await filled.runs.list("local")
    assert await list_unfinished_runs(filled.runs) == []
    with raises_code(Conflict, "under_way"):
        await ask(filled, AskRequest(resume=run.trace_id))
    await filled.db.write(
        lambda connection: connection.exec_driver_sql("UPDATE runs SET lease = 1")
    )
    assert await list_unfinished_runs(filled.runs) == [replace(run, alive=False)]
    answer = await ask(filled, AskRequest(resume=run.trace_id))
    assert answer.status == "answered"
    left: list[Any] = []

    async def rest() -> None:
        left.extend([event.data async for event in first])

    with pytest.raises(Conflict, match="gone on with elsewhere"):
        await rest()
    assert not any(isinstance(data, Answer) for data in left)
    assert len([t for t in await filled.traces.list() if t.question == QUESTION]) == 1


@pytest.mark.sqlite  # it holds the lock of the file
async def test_who_leaves_before_it_goes_on_holds_nothing(filled: App) -> None:
    """A page that is closed while the disk is busy: the next try begins at once, and is not counted
    against the run.
    """
    script(filled).enqueue(DRAFT)
    trace_id = await stopped_after(filled, "grade_documents", asking())
    begun = await list_unfinished_runs(filled.runs)
    with closing(sqlite3.connect(filled.settings.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        left = asyncio.create_task(ask(filled, AskRequest(resume=trace_id)))
        await asyncio.sleep(0.3)  # it waits for the other writer
        left.cancel()
        other.execute("ROLLBACK")
    with pytest.raises(asyncio.CancelledError):
        await left
    assert (
        [run.trace_id for run in await list_unfinished_runs(filled.runs)]
        == [run.trace_id for run in begun]
        == [trace_id]
    )
    assert (await ask(filled, AskRequest(resume=trace_id))).status == "answered"


async def test_a_run_that_keeps_nothing_cannot_be_gone_on_with(filled: App) -> None:
    """keep=False leaves nothing behind, not even this."""
    async with aclosing(stream_answer(filled, asking(keep=False))) as events:  # type: ignore[type-var]
        async for event in events:
            if isinstance(event.data, Step) and event.data.node == "grade_documents":
                break
    assert await list_unfinished_runs(filled.runs) == []


async def test_chinese(filled: App) -> None:
    script(filled).enqueue("灯塔建于1857年。", ENTAILED)
    answer = await ask(filled, asking("灯塔是哪年建的？"))
    assert (answer.status, answer.citations[0].quote) == ("answered", "灯塔建于一八五七年。")

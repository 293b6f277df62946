"""The snapshot of spec 004 in the trace of every agent, what a trace says was asked, and when it
ends.
"""

from __future__ import annotations

import json
import re
import time

import pytest
from sqlalchemy import text
from tests.service.made import PAPER, script

from citewell.errors import NotFound
from citewell.messages import Text
from citewell.models.script_reply import UNKNOWN
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.ask.snapshot import build_snapshot
from citewell.service.papers import reading_sessions as papers
from citewell.service.sessions.traces import delete_trace
from citewell.store.traces import DAY
from citewell.types import Answer, Message, Snapshot, Step, Trace

QUESTION = "When was the lighthouse built?"
DRAFT = "The lighthouse was built in 1857."


async def trace_of(app: App, answer: Answer) -> tuple[Trace, Snapshot]:
    trace = await app.traces.get(answer.trace_id)
    assert trace.snapshot is not None
    return trace, trace.snapshot


async def test_the_snapshot_of_a_qa_answer(filled: App) -> None:
    """All seven fields of the spec: how it was read, what was searched and cited, and what came of
    it.
    """
    script(filled).enqueue(DRAFT)
    answer = await ask(filled, AskRequest(question=QUESTION))
    trace, snapshot = await trace_of(filled, answer)
    assert (snapshot.trace_id, snapshot.user_query, snapshot.final_answer) == (
        trace.trace_id,
        QUESTION,
        answer.answer,
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", snapshot.timestamp)
    assert snapshot.execution_status == "success"
    assert snapshot.intent_analysis.intent_type == trace.steps[1].detail["intent"]
    assert snapshot.intent_analysis.parameters["standalone"] == QUESTION
    assert (
        f"The draft was held to be right with a probability of {answer.confidence:.0%}."
        in snapshot.intent_analysis.reasoning
    )
    assert "In full words" not in snapshot.intent_analysis.reasoning, "it was asked in full words"
    lines = snapshot.generated_logic.splitlines()
    assert lines[0] == f"query: {QUESTION}"
    assert any(line.startswith("found: Lighthouse") for line in lines)
    assert lines[-1] == f"cited: [1] Lighthouse: {DRAFT}"


async def test_what_was_asked_is_kept_and_nothing_secret(filled: App) -> None:
    """Question, options, conversation, and the names of the models; a trace is kept for
    `trace_days`.
    """
    script(filled).enqueue(DRAFT)
    history = [
        Message(role="user", content="Tell me of the lighthouse."),
        Message(role="assistant", content="Gladly."),
    ]
    answer = await ask(
        filled, AskRequest(question=QUESTION, history=history, options={"langs": ["en"]})
    )
    trace, _ = await trace_of(filled, answer)
    assert trace.request["question"] == QUESTION
    assert trace.request["options"] == {"langs": ["en"]}
    assert [turn["content"] for turn in trace.request["history"]] == [
        "Tell me of the lighthouse.",
        "Gladly.",
    ]
    assert (trace.request["llm"], trace.request["embedder"]) == ("scripted", "scripted")
    assert set(trace.request) & {"key", "llm_key", "url", "token"} == set()
    assert trace.expires_at == pytest.approx(trace.created_at + filled.settings.trace_days * DAY)


async def test_a_refusal_says_so(filled: App) -> None:
    script(filled).enqueue(UNKNOWN, UNKNOWN)  # over the English passages, then over all
    answer = await ask(filled, AskRequest(question=QUESTION))
    _, snapshot = await trace_of(filled, answer)
    assert (answer.status, snapshot.execution_status) == ("refused", "refused")
    assert "cited:" not in snapshot.generated_logic


async def test_the_snapshot_of_the_dual_loop_in_chinese(filled: App) -> None:
    """Its route and why, in the language of the question."""
    script(filled).enqueue("灯塔建于一八五七年。")
    answer = await ask(filled, AskRequest(question="灯塔建于哪一年？", agent="dual_loop"))
    _, snapshot = await trace_of(filled, answer)
    assert (
        "首先用 direct_chunk_search 检索，因为设置指定了这种检索方式。"
        in snapshot.intent_analysis.reasoning
    )
    english = re.findall(r"[A-Za-z]+ [A-Za-z]+ [A-Za-z]+", snapshot.intent_analysis.reasoning)
    assert english == [], "one language a question"
    assert "search: direct_chunk_search" in snapshot.generated_logic
    assert answer.citations[0].quote in snapshot.generated_logic


async def test_the_snapshot_of_a_paper(app: App) -> None:
    """Report, route and question; of the question the agents that read for it."""
    session = await papers.begin_paper_session(app, data=PAPER.encode(), name="lamp.md")
    kinds = []
    script(app).reply_with(lambda _: "LampNet is a recurrent network with 64 hidden units.")
    for event, question in (
        ("report", ""),
        ("plan", ""),
        ("ask", "How many hidden units has LampNet?"),
    ):
        request = AskRequest(
            question=question,
            agent="paper",
            session_id=session.session_id,
            options={"event": event},
        )
        trace, snapshot = await trace_of(app, await ask(app, request))
        kinds.append(snapshot.intent_analysis.intent_type)
        assert trace.request["state"]
    assert kinds == ["paper_report", "paper_plan", "paper_ask"]
    assert "cited: [1]" in snapshot.generated_logic
    assert snapshot.generated_logic.startswith("query: How many hidden units has LampNet?")


def test_the_snapshot_of_a_data_answer() -> None:
    """Its logic is the statement that ran; what the steps linked are its parameters."""
    steps = [
        Step(n=1, node="Load Context", action="analyze", seconds=0.1, detail={"source": "costs"}),
        Step(
            n=2,
            node="Analyze Intent",
            action="generate",
            seconds=0.1,
            detail={
                "intent_type": "list",
                "tables": ["costs"],
                "parameters": {"Function": "IT"},
                "reasoning": "IT is a function.",
            },
        ),
    ]
    answer = Answer(
        answer="IT: 3 services.",
        status="answered",
        confidence=0.9,
        agent="data",
        trace_id="tr_1",
        data={
            "source": "costs",
            "dialect": "duckdb",
            "sql": "SELECT service FROM costs WHERE \"Function\" = 'IT'",
        },
    )
    trace = Trace(
        trace_id="tr_1",
        agent="data",
        question="IT cost 有哪些服务",
        collection="",
        session_id="",
        created_at=0.0,
        steps=steps,
        prompts=[],
        answer=answer,
    )
    snapshot = build_snapshot(trace)
    assert snapshot.generated_logic == "SELECT service FROM costs WHERE \"Function\" = 'IT'"
    assert snapshot.intent_analysis.intent_type == "list"
    assert snapshot.intent_analysis.parameters == {
        "source": "costs",
        "tables": ["costs"],
        "Function": "IT",
    }
    assert snapshot.intent_analysis.reasoning.startswith("IT is a function.")
    assert snapshot.timestamp == "1970-01-01T00:00:00Z"


async def test_an_old_trace_still_loads(filled: App) -> None:
    """One that was kept before there were snapshots: shown without, its end told by its row; a
    snapshot can be made of it.
    """
    answer = await ask(filled, AskRequest(question=QUESTION))
    trace, snapshot = await trace_of(filled, answer)
    old = trace.model_dump(mode="json", exclude={"snapshot", "request", "expires_at"})
    until = time.time() + DAY
    values = {"trace": json.dumps(old), "until": until, "id": trace.trace_id}
    await filled.db.write(
        lambda c: c.execute(
            text("UPDATE traces SET trace = :trace, expires = :until WHERE trace_id = :id"), values
        )
    )
    kept = await filled.traces.get(trace.trace_id)
    assert (kept.snapshot, kept.request, kept.expires_at) == (None, {}, until)
    assert build_snapshot(kept) == snapshot


async def test_a_deleted_trace_is_gone(filled: App) -> None:
    """For its user only; what another asks to delete is not found."""
    answer = await ask(filled, AskRequest(question=QUESTION))
    with pytest.raises(NotFound):
        await delete_trace(filled, answer.trace_id, "bob")
    await delete_trace(filled, answer.trace_id, "local")
    with pytest.raises(NotFound):
        await filled.traces.get(answer.trace_id)


def test_a_reason_is_told_in_the_language_of_the_question() -> None:
    """One that was kept in English is left out of a Chinese text."""
    steps = [Step(n=1, node="choose_agent", action="qa", seconds=0.0)]

    def reason_of(question: str, reason: str) -> str:
        answer = Answer(
            answer="x", status="answered", confidence=1.0, agent="qa", agent_reason=reason
        )
        trace = Trace(
            trace_id="t", agent="qa", question=question, collection="", session_id="",
            created_at=0.0, steps=steps, prompts=[], answer=answer,
        )  # fmt: skip
        return build_snapshot(trace).intent_analysis.reasoning

    chosen = Text("several things are asked at once")
    assert reason_of("Who?", chosen) == "qa was chosen: several things are asked at once."
    assert reason_of("谁建的灯塔？", chosen) == "选择了 qa：一次问了几件事。"
    assert reason_of("谁建的灯塔？", "a reason of an older version") == ""
    assert reason_of("谁建的灯塔？", "旧版本的理由") == "选择了 qa：旧版本的理由。"

"""Traces of every agent, made by hand, for the tests of feedback. The one rule: they have the shape
of real ones.
"""

from __future__ import annotations

import time
from typing import Any

from citewell.types import Answer, Citation, IntentAnalysis, Sentence, Snapshot, TableData, Trace

SQL = "SELECT service, sum(amount) AS total FROM costs WHERE function = 'IT' GROUP BY service"
QUESTION = "Which services belong to the IT cost?"


def data_trace(
    trace_id: str = "tr_1", question: str = QUESTION, sql: str = SQL, **changes: Any
) -> Trace:
    """Of the data agent, on the source `costs`."""
    table = TableData(
        source="costs",
        dialect="duckdb",
        sql=sql,
        columns=["service", "total"],
        rows=[["Mail", 12], ["Hosting", 30]],
        row_count=2,
    )
    answer = Answer(
        answer="IT costs comprise Mail and Hosting.",
        sentences=[Sentence(text="IT costs comprise Mail and Hosting.", verdict="supported")],
        status="answered",
        confidence=0.9,
        agent="data",
        trace_id=trace_id,
        data=table.model_dump(mode="json"),
    )
    snapshot = Snapshot(
        trace_id=trace_id,
        timestamp="2024-01-18T10:00:00Z",
        user_query=question,
        intent_analysis=IntentAnalysis(
            intent_type="general_query",
            parameters={"function": "IT"},
            reasoning="It asks for the services of a function.",
        ),
        generated_logic=sql,
        final_answer=answer.answer,
        execution_status="success",
    )
    return _trace(
        "data", trace_id, question, answer, {"snapshot": snapshot, "collection": ""} | changes
    )


def text_trace(
    agent: str,
    trace_id: str = "tr_1",
    question: str = "When was the lighthouse built?",
    **changes: Any,
) -> Trace:
    """Of an agent that answers from documents."""
    quote = "The lighthouse was built in 1857."
    cited = Citation(
        n=1,
        doc_id="doc_1",
        title="Lighthouse",
        uri="/a.md",
        quote=quote,
        start=14,
        end=14 + len(quote),
    )
    answer = Answer(
        answer="It was built in 1857. [1]",
        sentences=[Sentence(text="It was built in 1857.", citations=[1], verdict="supported")],
        citations=[cited],
        status="answered",
        confidence=0.9,
        agent=agent,
        trace_id=trace_id,
    )
    return _trace(agent, trace_id, question, answer, changes)


def _trace(
    agent: str, trace_id: str, question: str, answer: Answer, changes: dict[str, Any]
) -> Trace:
    values: dict[str, Any] = {
        "trace_id": trace_id,
        "user_id": "local",
        "agent": agent,
        "question": question,
        "collection": "default",
        "session_id": "",
        "created_at": time.time(),
        "steps": [],
        "prompts": [],
        "answer": answer,
    }
    if "status" in changes:
        values["answer"] = answer.model_copy(update={"status": changes.pop("status")})
    return Trace(**(values | changes))

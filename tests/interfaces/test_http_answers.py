"""A conversation comes back with its whole answers, and questions that were stopped are listed;
each to its own user.
"""

from __future__ import annotations

import httpx
from tests.interfaces.conftest import example_answer

from citewell.runtime.app import App
from citewell.types import Trace

DAY = 86_400.0


async def test_answers_of_a_session(client: httpx.AsyncClient, app: App) -> None:
    """In the order in which they were asked, with what they were asked with, and none of another
    session or past its day.
    """
    mine = (await app.sessions.create("qa")).session_id
    other = (await app.sessions.create("qa")).session_id
    now = 4_000_000_000.0
    for n, (session, at) in enumerate([(mine, now + 1), (mine, now), (other, now), (mine, DAY)]):
        asked = {
            "agent": "auto",
            "collection": "docs",
            "options": {"web": False},
            "question": "q",
            "llm": "scripted",
        }
        trace = Trace(
            trace_id=f"tr_{n}",
            agent="qa",
            question=f"question {n}",
            collection="docs",
            session_id=session,
            created_at=at,
            steps=[],
            prompts=[],
            answer=example_answer(trace_id=f"tr_{n}"),
            request=asked if n == 1 else {},
        )
        await app.traces.put(trace)
    found = (await client.get(f"/api/sessions/{mine}/answers")).json()["answers"]
    assert [each["question"] for each in found] == ["question 1", "question 0"]
    assert found[0]["request"] == {"agent": "auto", "collection": "docs", "options": {"web": False}}
    assert found[0]["answer"] == example_answer(trace_id="tr_1").model_dump(mode="json")
    assert (await client.get(f"/api/sessions/{mine}/answers?user_id=other")).status_code == 404
    assert (await client.get("/api/sessions/ses_none/answers")).status_code == 404


async def test_runs_that_were_stopped(client: httpx.AsyncClient, app: App) -> None:
    """One that somebody is at work on is none."""
    said = {"question": "When?", "agent": "dual_loop"}
    holder = await app.runs.begin("tr_1", "local", "dual_loop", said)
    await app.runs.keep("tr_1", holder, "rewrite_query", {"agent": {}, "run": {}})
    await app.runs.renew("tr_1", holder)
    assert (await client.get("/api/runs")).json() == {"runs": [], "live": []}
    await app.runs.release("tr_1", holder)
    [run] = (await client.get("/api/runs")).json()["runs"]
    assert (run["trace_id"], run["agent"], run["question"], run["next"]) == (
        "tr_1",
        "dual_loop",
        "When?",
        "rewrite_query",
    )
    assert (await client.get("/api/runs?user_id=other")).json() == {"runs": [], "live": []}

"""A correction that contradicts what people confirmed, or a document, says so to who reviews it."""

from __future__ import annotations

import pytest
from tests.service.made_traces import data_trace, text_trace

from citewell.models.reader_base import Judgement
from citewell.models.scripted_reader import ScriptedReader
from citewell.runtime.app import App
from citewell.service.knowledge import review_knowledge as review
from citewell.service.knowledge.feedback_job import run_pending_jobs
from citewell.service.knowledge.give_feedback import get_feedback, submit_feedback
from citewell.service.library.embedding import embed_pending
from citewell.service.library.intake import add_data
from citewell.types import Trace

NOTE = "# Lighthouse\n\nThe lighthouse was built in 1857.\n"


async def give(app: App, trace: Trace, correction: str = "") -> str:
    """The outcome of the vote."""
    await app.traces.put(trace)
    right = not correction
    given = await submit_feedback(app, trace.trace_id, right, correction or None, trace.user_id)
    await run_pending_jobs(app)
    return str((await get_feedback(app, given.feedback_id, trace.user_id)).outcome)


async def test_a_correction_against_a_confirmed_answer(app: App) -> None:
    await give(app, text_trace("qa", "tr_1", user_id="ann"))
    outcome = await give(app, text_trace("qa", "tr_2", user_id="bo"), "It was built in 1901.")
    [rule] = await review.list_rules(app)
    [item] = await review.list_items(app)
    assert rule.state == "waiting"
    assert rule.reason == f"{item.item_id} confirms another answer: It was built in 1857. [1]"
    assert item.item_id in outcome


async def test_a_correction_that_says_the_same(app: App) -> None:
    await give(app, text_trace("qa", "tr_1", user_id="ann"))
    await give(app, text_trace("qa", "tr_2", user_id="bo"), "The lighthouse was built in 1857.")
    assert [each.reason for each in await review.list_rules(app)] == [""]


async def test_words_about_tables_are_not_compared(app: App) -> None:
    await give(app, data_trace("tr_1", user_id="ann"))
    await give(app, data_trace("tr_2", user_id="bo"), "IT also has Backup.")
    assert [each.reason for each in await review.list_rules(app)] == [""]


async def test_a_correction_against_a_document(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    await add_data(app, NOTE.encode(), "lighthouse.md", "lighthouse.md", "default")
    await embed_pending(app)
    reader = app.reader
    assert isinstance(reader, ScriptedReader)
    monkeypatch.setattr(reader, "judges", True)
    reader.judge_with(
        lambda claim, _: (
            Judgement(0.01, 0.01, 0.98, ()) if "1901" in claim else Judgement(0.98, 0.01, 0.01, ())
        )
    )
    await give(app, text_trace("qa"), "It was built in 1901.")
    [rule] = await review.list_rules(app)
    assert rule.reason == ("Lighthouse seems to say otherwise: “The lighthouse was built in 1857.”")

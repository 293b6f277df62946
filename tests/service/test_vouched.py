"""What people confirmed is evidence for `qa` and `dual_loop`: followed and said so, never over a
document, never elsewhere.
"""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from tests.service.made import script

from citewell.models.script_reply import UNKNOWN
from citewell.runtime.app import App
from citewell.service.ask.ask import ask, list_unfinished_runs, stream_answer
from citewell.service.ask.run import AskRequest
from citewell.service.knowledge.feedback_job import run_pending_jobs
from citewell.service.knowledge.give_feedback import submit_feedback
from citewell.service.knowledge.review_knowledge import (
    list_items,
    list_rules,
    quarantine_item,
    review_rule,
    undo_item,
)
from citewell.service.knowledge.update_items import settle_item
from citewell.service.library.add import add_paths
from citewell.service.library.documents import delete_document
from citewell.service.library.embedding import embed_pending
from citewell.types import Answer, Step

QUESTION = "When was the lighthouse built?"
PARAPHRASE = "In which year was the lighthouse built?"
DRAFT = "The lighthouse was built in 1857."
CONFIRMED = "The lighthouse was built in 1857"
# the judge: what was confirmed is refuted by the first sentence under the heading of the first
# document
AGAINST = '{"verdicts": [{"n": 1, "verdict": "contradicted", "evidence": ["1.2"]}]}'
AGENTS = pytest.mark.parametrize("agent", ["qa", "dual_loop"])


async def asked(app: App, question: str, agent: str, reply: str = DRAFT, **more: Any) -> Answer:
    script(app).reply_with(lambda _: reply)
    return await ask(app, AskRequest(question=question, agent=agent, **more))


async def confirmed(app: App, agent: str, question: str = QUESTION, user: str = "local") -> str:
    """Ask, say that it is right; the id of the item."""
    answer = await asked(app, question, agent, user_id=user)
    assert answer.status == "answered", answer
    await submit_feedback(app, answer.trace_id, True, user_id=user)
    await run_pending_jobs(app)
    (item,) = [item for item in await list_items(app) if item.trace_id == answer.trace_id]
    assert item.state == "active"
    return item.item_id


async def removed(app: App, library: Path) -> None:
    """The documents say nothing of it any more."""
    for info in await app.catalog.documents("default"):
        await delete_document(app, info.doc_id)
    (library / "lighthouse.md").write_text(
        "# Tides\n\nThe tide at the lighthouse is high at noon. Ships wait for it.\n", "utf-8"
    )
    await add_paths(app, [str(library / "lighthouse.md")], "default")
    await embed_pending(app)


async def hidden(app: App, library: Path) -> None:
    """The search finds other passages before those that say it: the library is large, and they have
    gone from the index.
    """
    await removed(app, library)
    await app.db.write(lambda c: c.execute(text("UPDATE confirmed SET evidence = '[]'")))


@AGENTS
async def test_a_paraphrase_follows_what_was_confirmed(filled: App, agent: str) -> None:
    """Cited as confirmed, by its document's own words, with who confirmed it; the use is counted,
    the trace tells of it.
    """
    item_id = await confirmed(filled, agent, user="ann")
    answer = await asked(filled, PARAPHRASE, agent)
    (followed,) = answer.followed
    assert (followed.item_id, followed.kind, followed.how) == (item_id, "confirmed", "evidence")
    assert followed.confirmed_by == ["ann"]
    assert followed.question == QUESTION
    assert followed.similarity > 0.6
    citation = next(c for c in answer.citations if c.origin == "confirmed")
    document = await filled.catalog.content(citation.doc_id)
    assert document.text[citation.start : citation.end] == citation.quote
    assert citation.quote.startswith(CONFIRMED)
    assert "[" not in citation.quote, "the numbers of the confirmed answer name other sources"
    assert "confirmed by ann on 20" in citation.section
    (item,) = await list_items(filled)
    assert item.uses == 1
    trace = await filled.traces.get(answer.trace_id)
    assert any(step.detail.get("confirmed") for step in trace.steps)
    assert trace.snapshot is not None
    assert f"confirmed: {item_id}" in trace.snapshot.generated_logic
    assert item_id in trace.snapshot.intent_analysis.reasoning


@AGENTS
async def test_it_answers_what_the_documents_do_not(filled: App, library: Path, agent: str) -> None:
    """The model is shown it; where it finds that it does not tell, it is refused like any other
    evidence.
    """
    await confirmed(filled, agent)
    await hidden(filled, library)
    answer = await asked(filled, PARAPHRASE, agent)
    assert (answer.status, [c.origin for c in answer.citations]) == ("answered", ["confirmed"])
    shown = str(script(filled).calls[-1].messages)
    assert "confirmed by local on 20" in shown
    refused = await asked(filled, PARAPHRASE, agent, UNKNOWN)
    assert (refused.status, refused.followed) == ("refused", [])


@AGENTS
async def test_a_document_that_says_otherwise_counts(
    filled: App, library: Path, agent: str
) -> None:
    """The confirmed answer is left out, and that is told with both sides."""
    await confirmed(filled, agent)
    words = "# Lighthouse\n\nThe lighthouse was built in 1862, not earlier. Its lamp is electric.\n"
    (library / "lighthouse.md").write_text(words, "utf-8")
    (library / "灯塔.txt").unlink()
    for info in await filled.catalog.documents("default"):
        await delete_document(filled, info.doc_id)
    await add_paths(filled, [str(library)], "default")
    await embed_pending(filled)
    script(filled).enqueue(AGAINST)
    answer = await asked(
        filled, PARAPHRASE, agent, "The lighthouse was built in 1862, not earlier."
    )
    assert (answer.followed, "1862" in answer.answer, "1857" in answer.answer) == ([], True, False)
    assert {c.origin for c in answer.citations} == {"document"}
    (warning,) = [each for each in answer.warnings if "left out" in each]
    assert "confirmed by local on 20" in warning
    assert "1857" in warning
    assert "1862" in warning


@AGENTS
async def test_what_lost_its_document_is_left_out(filled: App, library: Path, agent: str) -> None:
    """The document it was confirmed on is gone: it is not followed, and that is told."""
    await confirmed(filled, agent)
    await removed(filled, library)
    answer = await asked(filled, PARAPHRASE, agent, "The tide at the lighthouse is high at noon.")
    assert answer.followed == []
    assert any(
        "left out: what was confirmed by local" in each and "was removed" in each
        for each in answer.warnings
    )


@AGENTS
async def test_it_can_be_switched_off(filled: App, agent: str) -> None:
    """By the request; and a question to some of the documents only is theirs."""
    await confirmed(filled, agent)
    assert (await asked(filled, PARAPHRASE, agent, options={"knowledge": False})).followed == []
    assert (await asked(filled, PARAPHRASE, agent, options={"langs": ["en"]})).followed == []
    assert (await asked(filled, PARAPHRASE, agent)).followed != []


@AGENTS
async def test_what_is_not_in_force_is_not_used(filled: App, agent: str) -> None:
    """Undone, set aside, not confirmed by enough people yet."""
    item_id = await confirmed(filled, agent)
    await quarantine_item(filled, item_id, "its document is gone")
    assert (await asked(filled, PARAPHRASE, agent)).followed == []
    await undo_item(filled, item_id, "local", "wrong")
    assert (await asked(filled, PARAPHRASE, agent)).followed == []
    settings = filled.settings.feedback.model_copy(update={"confirmations": 2})
    filled.settings = filled.settings.model_copy(update={"feedback": settings})
    answer = await asked(filled, QUESTION, agent, user_id="bob")
    await submit_feedback(filled, answer.trace_id, True, user_id="bob")
    await run_pending_jobs(filled)
    assert "pending" in {item.state for item in await list_items(filled)}
    assert (await asked(filled, PARAPHRASE, agent)).followed == []


@AGENTS
async def test_it_stays_in_its_collection(filled: App, library: Path, agent: str) -> None:
    """Neither as evidence nor in a prompt of a question to another one."""
    await confirmed(filled, agent)
    await add_paths(filled, [str(library / "灯塔.txt")], "other")
    await embed_pending(filled)
    script(filled).calls.clear()
    answer = await asked(filled, PARAPHRASE, agent, collection="other")
    assert answer.followed == []
    assert "confirmed by" not in str(script(filled).calls)


@AGENTS
async def test_a_reviewed_correction_is_evidence(filled: App, library: Path, agent: str) -> None:
    """Only after review; by its own words, marked as a correction, with who reviewed it."""
    await removed(filled, library)
    script(filled).judge_with(lambda _: 3.0)
    wrong = await asked(filled, QUESTION, agent, "The tide at the lighthouse is high at noon.")
    await submit_feedback(filled, wrong.trace_id, False, "The lighthouse was built in 1857.")
    await run_pending_jobs(filled)
    (rule,) = await list_rules(filled)
    right = "The lighthouse was built in 1857."
    assert (await asked(filled, PARAPHRASE, agent, right)).followed == []
    await review_rule(filled, rule.rule_id, "active", "rita")
    answer = await asked(filled, PARAPHRASE, agent, right)
    (followed,) = answer.followed
    assert (followed.item_id, followed.kind, followed.how, followed.confirmed_by) == (
        rule.rule_id,
        "rule",
        "rule",
        ["rita"],
    )
    (citation,) = answer.citations
    assert (citation.origin, citation.quote, citation.uri) == (
        "confirmed",
        right,
        f"rule:{rule.rule_id}",
    )
    assert "correction reviewed by rita on 20" in citation.section


async def test_without_a_model_only_the_very_question(filled: App, library: Path) -> None:
    """Nobody is there to judge a likeness, so the evidence itself is shown for the same question
    only.
    """
    await confirmed(filled, "qa")
    await hidden(filled, library)
    filled.__dict__["llm"] = None
    same = await ask(filled, AskRequest(question=QUESTION.upper()))
    assert [c.origin for c in same.citations] == ["confirmed"]
    like = await ask(filled, AskRequest(question=PARAPHRASE))
    assert like.followed == []


async def test_a_run_that_goes_on_keeps_it(filled: App) -> None:
    """The dual loop's state is plain data, what people confirmed in it."""
    item_id = await confirmed(filled, "dual_loop")
    request = AskRequest(question=PARAPHRASE, agent="dual_loop")
    async with aclosing(stream_answer(filled, request)) as events:  # type: ignore[type-var]
        async for event in events:
            if isinstance(event.data, Step) and event.data.node == "grade_documents":
                break
    (run,) = await list_unfinished_runs(filled.runs)
    answer = await ask(filled, AskRequest(resume=run.trace_id))
    assert [each.item_id for each in answer.followed] == [item_id]


async def two_sides(app: App, agent: str) -> tuple[str, str]:
    """Two confirmed answers to one question: 1857 by ann; 1862 by bob, which weighs more."""
    first = await confirmed(app, agent, user="ann")
    both = f"{DRAFT} Its lamp is electric."
    other = await asked(app, QUESTION, agent, both, options={"knowledge": False}, user_id="bob")
    await submit_feedback(app, other.trace_id, True, user_id="bob")
    await run_pending_jobs(app)
    (second,) = [item.item_id for item in await list_items(app) if item.item_id != first]
    words = {"answer": "The lighthouse was built in 1862.", "id": second}
    change = (
        "UPDATE confirmed SET answer = :answer, question = 'When was the lighthouse built', "
        "uses = 30 WHERE item_id = :id"
    )
    await app.db.write(lambda c: c.execute(text(change), words))
    await app.db.write(lambda c: c.execute(text("UPDATE confirmed SET evidence = '[]'")))
    await settle_item(app, second)
    return first, second


@AGENTS
async def test_people_who_disagree(filled: App, library: Path, agent: str) -> None:
    """The documents are silent: the side that weighs more is shown, with a warning that there is
    another.
    """
    first, second = await two_sides(filled, agent)
    await hidden(filled, library)
    answer = await asked(filled, PARAPHRASE, agent, "The lighthouse was built in 1862.")
    assert [each.item_id for each in answer.followed] == [second]
    (warning,) = [each for each in answer.warnings if "people disagree" in each]
    assert "confirmed by bob on 20" in warning
    assert f"({second})" in warning
    assert first not in warning
    assert not any("left out" in each for each in answer.warnings)


@AGENTS
async def test_people_who_disagree_and_a_document(filled: App, agent: str) -> None:
    """A document says which side is wrong: that one is left out, though it weighs more, and
    nobody's word is followed.
    """
    await two_sides(filled, agent)
    script(filled).enqueue(AGAINST)
    answer = await asked(filled, PARAPHRASE, agent)
    (warning,) = [each for each in answer.warnings if "left out" in each]
    assert "confirmed by bob" in warning
    assert "1862" in warning
    assert "1857" in warning
    assert not any("people disagree" in each for each in answer.warnings)
    assert answer.followed == []
    assert (answer.status, [c.origin for c in answer.citations]) == ("answered", ["document"])

"""What the loop does with memory: routes and rewrites coloured by it, answers from it cited as
memory, kept only after a good grade.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.agents.replies import draft, untold, verdicts

from citewell.config import DualLoopSettings
from citewell.errors import StorageError
from citewell.models.metered import Budget
from citewell.models.scripted_reader import ScriptedReader

if TYPE_CHECKING:
    from tests.agents.dual_loop.conftest import Desk

QUESTION = "Within how many days may international orders be returned?"
ANSWER = "International orders may be returned within 30 days."
DAY = "1970-01-01"


async def test_a_settled_question_is_remembered_with_its_trace(loops: Desk) -> None:
    """Question, proved answer, route, documents, and the trace that proves it."""
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ANSWER)
    await loops.run(QUESTION)
    (told,) = loops.kept
    assert (told.kind, told.subject, told.text) == ("question", QUESTION, ANSWER)
    assert (told.trace_id, told.route, told.collection) == ("tr_1", "direct_chunk_search", "c")
    assert told.doc_ids == (f"doc{1 + len(loops.text)}",)


@pytest.mark.parametrize(
    "replies",
    [
        [untold("It is not told."), verdicts("entailed", evidence=[])],
        [draft("Within 60 days."), verdicts("contradicted")] * 2,
        [draft(ANSWER, "Within 60 days."), verdicts("contradicted")] * 2,
    ],
)
async def test_nothing_is_remembered_after_a_bad_grade(loops: Desk, replies: list[str]) -> None:
    """Neither where nothing is told nor after an answer that is not proved, facts told along with
    the question included.
    """
    loops.settings = DualLoopSettings(corrections=0)
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(*replies)
    state = await loops.run("My plan is Pro. " + QUESTION)
    assert state.status in {"refused", "fallback"}
    assert loops.kept == []


async def test_nothing_is_remembered_where_the_budget_ended_it(loops: Desk) -> None:
    loops.budget = Budget(calls=1)
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(draft("You have 30 days."))
    assert (await loops.run(QUESTION)).status == "fallback"
    assert loops.kept == []


@pytest.mark.parametrize("reads", [False, True])
async def test_only_what_a_model_found_good_is_remembered_as_settled(
    loops: Desk, reads: bool
) -> None:
    """Nearness alone may show an answer, and settles no question."""
    loops.llm, loops.reader = None, ScriptedReader() if reads else None
    loops.finds("direct_chunk_search", loops.text)
    assert (await loops.run(QUESTION)).status == "answered"
    assert [told.kind for told in loops.kept] == (["question"] if reads else [])


async def test_a_follow_up_that_is_only_joined_is_not_remembered(loops: Desk) -> None:
    """It would be taken for the question it leans on."""
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ANSWER)
    state = await loops.run(
        "And for international ones?", [("user", "Within how many days may orders be returned?")]
    )
    assert state.joined
    assert (state.status, loops.kept) == ("answered", [])


async def test_what_documents_say_of_the_user_is_not_remembered(loops: Desk) -> None:
    """A question about the user that memory could not answer is not settled by what some document
    says.
    """
    loops.finds("direct_chunk_search", "The plan of all our customers is Basic.")
    loops.script.enqueue("The plan of all our customers is Basic.")
    assert (await loops.run("What is my plan?")).status == "answered"
    assert loops.kept == []


async def test_forgetting_is_not_done_by_asking(loops: Desk) -> None:
    """And is no question to the documents; the reply says what does it."""
    state = await loops.run("Please forget my plan.")
    assert (state.route, loops.searches, loops.kept) == ("direct", [], [])
    assert "citewell memory forget" in state.final_answer


async def test_a_secret_told_is_not_searched_for(loops: Desk) -> None:
    state = await loops.run("我的密码是abc123456，请记住")
    assert (loops.searches, loops.kept) == ([], [])
    assert "不会被记住" in state.final_answer


async def test_without_a_memory_nothing_is_recalled_or_kept(loops: Desk) -> None:
    loops.memory = False
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ANSWER)
    state = await loops.run(QUESTION)
    assert (state.status, loops.kept, state.memories) == ("answered", [], [])


async def test_a_fact_told_is_remembered_and_said_so(loops: Desk) -> None:
    """Nothing is searched and no model asked."""
    state = await loops.run("Remember that my plan is Pro.")
    assert loops.nodes == [
        "retrieve_memory",
        "route_query",
        "direct_response",
        "grade_relevance",
        "consolidate_memory",
    ]
    assert (state.route, state.status) == ("direct", "answered")
    assert state.final_answer.startswith("I will remember: ")
    assert [told.kind for told in loops.kept] == ["fact"]
    assert loops.script.calls == []


async def test_a_secret_is_not_remembered(loops: Desk) -> None:
    state = await loops.run("Remember that my password is hunter2hunter2.")
    assert loops.kept == []
    assert "do not keep passwords" in state.final_answer


async def test_a_memory_colours_the_route(loops: Desk) -> None:
    """A question like this one was settled section by section before."""
    loops.remembers(
        ANSWER, subject=QUESTION, kind="question", route="hierarchical_search", same=True
    )
    loops.finds("hierarchical_search", loops.text)
    loops.script.enqueue(ANSWER)
    state = await loops.run(QUESTION)
    assert loops.searches[0][0] == "hierarchical_search"
    assert state.status == "answered"
    assert {citation.origin for citation in state.proof.citations} == {
        "document"
    }  # the memory proves nothing


async def test_a_memory_colours_the_rewrite_and_is_cited_as_memory(loops: Desk) -> None:
    """ "my orders" are international ones: searched and asked with that, and the reader is told on
    what it rests.
    """
    memory = loops.remembers("My orders are international", subject="orders")
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ANSWER)
    state = await loops.run("Within how many days may my orders be returned?")
    assert "international" in state.standalone
    assert loops.searches[0][1] == state.standalone
    by_memory = [citation for citation in state.proof.citations if citation.origin == "memory"]
    assert [(c.doc_id, c.quote) for c in by_memory] == [
        (memory.memory_id, "My orders are international")
    ]
    assert "(Remembered of you: My orders are international)" in state.final_answer
    assert loops.kept[-1].derived_from == (memory.memory_id,)
    assert memory.memory_id not in loops.kept[-1].doc_ids


async def test_what_is_remembered_does_not_leave_the_house(loops: Desk) -> None:
    """The web is searched for the question as the user put it."""
    loops.web = True
    loops.remembers("My orders are international", subject="orders")
    loops.finds("web_search", loops.page, fetched=True)
    await loops.run("Within how many days may my orders be returned?")
    assert ("web_search", "Within how many days may my orders be returned?") in loops.searches
    assert not any(
        route == "web_search" and "international" in text for route, text in loops.searches
    )


async def test_a_question_rests_on_the_fact_told_beside_it(loops: Desk) -> None:
    """Forgetting the fact takes the answer with it."""
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ANSWER)
    await loops.run("My orders are international. Within how many days may my orders be returned?")
    fact, question = loops.kept
    assert (fact.kind, question.kind) == ("fact", "question")
    assert question.derived_from == (f"mem_{fact.subject}",)


async def test_a_fact_beside_an_unsettled_question_is_said_not_to_be_kept(loops: Desk) -> None:
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(untold("The manager is not named."), verdicts("entailed", evidence=[]))
    state = await loops.run("Please remember that my plan is Pro. Who is the manager of the shop?")
    assert (state.status, loops.kept) == ("refused", [])
    assert any("was not remembered" in warning for warning in state.warnings)


async def test_a_question_about_the_user_that_memory_does_not_answer_is_the_documents(
    loops: Desk,
) -> None:
    """Earlier turns about something else are no reason to answer from them."""
    loops.finds("direct_chunk_search", "The notice period is 30 days.")
    loops.script.enqueue("The notice period is 30 days.")
    history = [("user", "How long is the warranty?"), ("assistant", "The warranty is 24 months.")]
    state = await loops.run("What is my notice period?", history)
    assert (state.route, state.status) == ("direct_chunk_search", "answered")


async def test_a_question_about_the_user_is_answered_from_memory(loops: Desk) -> None:
    """Direct, proved by the memory's own words, and never passed off as a document."""
    loops.remembers("My plan is Pro", subject="plan")
    loops.script.enqueue("Your plan is Pro.")
    state = await loops.run("What is my plan?")
    assert (state.route, loops.searches) == ("direct", [])
    assert state.status == "answered"
    (citation,) = state.proof.citations
    assert (citation.origin, citation.title, citation.quote) == (
        "memory",
        f"memory of {DAY}",
        "My plan is Pro",
    )
    assert loops.kept == []  # what memory said is not news


async def test_a_poor_answer_from_memory_goes_on_to_the_documents(loops: Desk) -> None:
    """After a bad direct answer the next route is the first search."""
    loops.remembers("My plan is Pro", subject="plan")
    loops.finds("hierarchical_search", "The plan of all our customers is Basic. It costs nothing.")
    loops.script.enqueue("I don't know.", "The plan of all our customers is Basic.")
    state = await loops.run("What is my plan?")
    assert ("grade_relevance", "retry") in loops.path
    assert loops.searches[0][0] == state.route == "hierarchical_search"
    assert (state.correction_attempts, state.status) == (
        0,
        "answered",
    )  # asking the documents is no correction


async def test_a_newer_answer_is_said_to_differ(loops: Desk) -> None:
    """Contradictions are shown; the newer one wins."""
    loops.replaced = (loops.remembers("Within 14 days.", subject=QUESTION, kind="question"),)
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ANSWER)
    state = await loops.run(QUESTION)
    assert any(
        f"differs from what was remembered on {DAY}" in w and "Within 14 days." in w
        for w in state.warnings
    )


async def test_a_memory_that_cannot_be_written_costs_no_answer(
    loops: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(loops, "remember", full)
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ANSWER)
    state = await loops.run(QUESTION)
    assert state.status == "answered"
    assert any("the disk is full" in warning for warning in state.warnings)


async def test_a_question_about_this_conversation(loops: Desk) -> None:
    """What was said is evidence too, and is cited as what was said."""
    loops.script.enqueue("International orders may be returned within 30 days.")
    history = [("user", QUESTION), ("assistant", ANSWER)]
    state = await loops.run("What did you say about international orders earlier?", history)
    assert state.route == "direct"
    assert state.proof.citations[0].origin == "memory"
    assert state.proof.citations[0].title == "this conversation"


async def test_in_chinese(loops: Desk) -> None:
    loops.remembers("我的套餐是专业版", subject="套餐")
    loops.script.enqueue("你的套餐是专业版。")
    state = await loops.run("我的套餐是什么？")
    assert (state.route, state.proof.citations[0].origin) == ("direct", "memory")
    assert (await loops.run("请记住：我叫李雷。")).final_answer.startswith("已记住：")


async def test_two_readings_are_asked_back(loops: Desk) -> None:
    """As the qa agent does; nothing is searched."""
    history = [("user", "How do HiRet and ColBERT differ?"), ("assistant", "HiRet has a tree.")]
    state = await loops.run("How fast is it?", history)
    assert (state.status, loops.searches) == ("clarify", [])
    assert "HiRet or ColBERT" in state.final_answer or "Do you mean" in state.final_answer


async def test_a_greeting(loops: Desk) -> None:
    state = await loops.run("Hello!")
    assert (state.status, state.route, loops.script.calls) == ("clarify", "direct", [])

"""The two loops: every edge, every reason to stop, and that the one rule holds: each turn brings something new."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from citewell.config import DualLoopSettings
from citewell.errors import Conflict, InvalidInput, ModelUnavailable, StorageError, TransientError
from citewell.models.metered import Budget
from citewell.models.scripted import Line

if TYPE_CHECKING:
    from tests.agents.dual_loop.conftest import Desk

EASY = [
    ("retrieve_memory", "route_query"),
    ("route_query", "search"),
    ("rewrite_query", "search"),
    ("retrieve_documents", "grade_documents"),
    ("grade_documents", "generate"),
    ("generate_response", "grade_relevance"),
    ("grade_relevance", "end"),
    ("consolidate_memory", "default"),
]
QUESTION = "Within how many days may international orders be returned?"
ANSWER = "International orders may be returned within 30 days."
BESIDE = "Return shipping is not paid by us."


async def test_an_easy_question_passes_every_node_once(loops: Desk) -> None:
    """The spec's nodes in the spec's order; three model calls, each beginning with the messages of the one before."""
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ANSWER)
    state = await loops.run(QUESTION)
    assert loops.path == EASY
    assert (state.status, state.final_answer) == ("answered", ANSWER + "[1]")
    assert state.stop_reason == ""
    gate, word, grade = (call.messages for call in loops.script.calls)
    assert [call.kind for call in loops.script.calls] == ["yes_no", "chat", "yes_no"]
    assert word[: len(gate)] == gate
    assert grade[: len(word)] == word
    assert grade[len(word)].content == ANSWER


# ---------------------------------------------------------------- the inner loop


async def test_poor_documents_are_searched_for_in_another_way(loops: Desk) -> None:
    """`retry_retrieve`: the next strategy that has not been tried, before a word is written."""
    loops.finds("direct_chunk_search", loops.other)
    loops.finds("hierarchical_search", loops.text)
    loops.script.enqueue_yes_no(-3.0, 2.0, 2.0)
    loops.script.enqueue(ANSWER)
    state = await loops.run(QUESTION)
    assert [route for route, _ in loops.searches] == ["direct_chunk_search", "hierarchical_search"]
    assert ("grade_documents", "retry_retrieve") in loops.path
    assert state.tried_routes == ["direct_chunk_search", "hierarchical_search"]
    assert (state.status, state.route) == ("answered", "hierarchical_search")
    assert [call.kind for call in loops.script.calls].count("chat") == 1


async def test_all_strategies_tried_ends_honestly(loops: Desk) -> None:
    """`fallback`: nothing is written; what was searched and what lies nearest is said, and nothing is remembered."""
    loops.finds("direct_chunk_search", loops.other)
    loops.finds("hierarchical_search", loops.text)
    loops.script.enqueue_yes_no(-3.0, -3.0)
    state = await loops.run(QUESTION)
    assert loops.path[-1] == ("grade_documents", "fallback")
    assert (state.status, state.stop_reason) == ("refused", "routes_exhausted")
    assert "passage by passage" in state.final_answer
    assert "section by section" in state.final_answer
    assert "No other way to search is left." in state.final_answer
    assert "switched off" in state.final_answer  # the web
    assert "Returns" in state.final_answer  # the nearest source
    assert loops.kept == []


async def test_the_web_comes_last_and_only_where_it_may_be_searched(loops: Desk) -> None:
    """The third route; its citation says that it is of the web, and when the page was fetched."""
    loops.web = True
    loops.finds("direct_chunk_search", loops.other)
    loops.finds("hierarchical_search", loops.text)
    loops.finds("web_search", loops.page, fetched=True)
    loops.script.enqueue_yes_no(-3.0, -3.0, 2.0, 2.0)
    loops.script.enqueue("The harbour bridge was opened in 1931.")
    state = await loops.run("When was the harbour bridge opened?")
    assert [route for route, _ in loops.searches] == ["direct_chunk_search", "hierarchical_search", "web_search"]
    citation = state.proof.citations[0]
    assert (citation.origin, citation.fetched_at) == ("web", 1_700_000_000.0)


async def test_a_local_search_without_any_hit_goes_on_to_the_web_at_once(loops: Desk) -> None:
    """Inside one step: there is nothing to grade."""
    loops.web = True
    loops.finds("web_search", loops.page, fetched=True)
    loops.script.enqueue("The harbour bridge was opened in 1931.")
    state = await loops.run("When was the harbour bridge opened?")
    assert loops.nodes.count("retrieve_documents") == 1
    assert state.tried_routes == ["direct_chunk_search", "web_search"]
    assert state.status == "answered"


async def test_no_web_without_a_provider(loops: Desk) -> None:
    """Off unless configured: it is not even tried."""
    state = await loops.run(QUESTION)
    assert "web_search" not in [route for route, _ in loops.searches]
    assert state.status == "refused"


@pytest.mark.parametrize("error", [TransientError("no reply within 20 seconds"), StorageError("the disk is full")])
async def test_a_web_search_that_fails(loops: Desk, error: Exception) -> None:
    """What fails of the web is a warning and the documents stand; a database that fails is an error."""
    loops.web = True
    loops.finds("direct_chunk_search", loops.other)
    loops.finds("hierarchical_search", loops.text)
    loops.finds("web_search", error)
    loops.script.enqueue_yes_no(-3.0, -3.0)
    if isinstance(error, StorageError):
        with pytest.raises(StorageError):
            await loops.run(QUESTION)
        return
    state = await loops.run(QUESTION)
    assert state.status == "refused"
    assert any("no reply within 20 seconds" in warning for warning in state.warnings)


async def test_passages_that_were_rejected_are_not_graded_again(loops: Desk) -> None:
    """The same evidence by another way is no evidence: no second grade, and the end says so."""
    loops.finds("direct_chunk_search", loops.text)
    loops.finds("hierarchical_search", loops.text)
    loops.script.enqueue_yes_no(-3.0)
    state = await loops.run(QUESTION)
    assert len(loops.script.calls) == 1
    assert state.stop_reason == "routes_exhausted"
    assert loops.detail("retrieve_documents")["looked_at_before"] == 1


async def test_without_the_inner_loop_nothing_is_graded_before_it_is_written(loops: Desk) -> None:
    loops.settings = DualLoopSettings(inner_loop=False)
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ANSWER)
    state = await loops.run(QUESTION)
    assert [call.kind for call in loops.script.calls] == ["chat", "yes_no"]
    assert state.status == "answered"


# ---------------------------------------------------------------- the outer loop


async def test_an_answer_that_does_not_settle_it_is_corrected(loops: Desk) -> None:
    """`retry`: other words, the first search again, and the good answer ends it."""
    loops.finds("direct_chunk_search", loops.other, loops.text)
    loops.script.enqueue("The shop is closed on Sundays.", "return period of foreign orders", ANSWER)
    loops.script.enqueue_yes_no(2.0, -3.0, 2.0, 2.0)
    state = await loops.run(QUESTION)
    assert ("grade_relevance", "retry") in loops.path
    assert loops.searches[1] == ("direct_chunk_search", "return period of foreign orders")
    assert (state.correction_attempts, state.status) == (1, "answered")
    assert state.final_answer == ANSWER + "[1]"
    assert state.standalone == QUESTION  # the question that is answered stays the user's


async def test_tried_routes_begin_anew_with_a_correction(loops: Desk) -> None:
    """A rewrite may search where the first wording found nothing."""
    loops.finds("direct_chunk_search", loops.other, loops.page)
    loops.finds("hierarchical_search", loops.text)
    loops.script.enqueue("Return shipping is not paid by us.", "return period of foreign orders")
    loops.script.enqueue_yes_no(-3.0, 2.0, -3.0, -3.0)
    state = await loops.run(QUESTION)
    assert [route for route, _ in loops.searches] == ["direct_chunk_search", "hierarchical_search"] * 2
    assert state.tried_routes == ["direct_chunk_search", "hierarchical_search"]


async def test_a_draft_that_nothing_proves_is_corrected_without_asking_the_grader(loops: Desk) -> None:
    """Not grounded is a bad grade of its own."""
    loops.finds("direct_chunk_search", loops.text, loops.other)
    loops.script.enqueue("Penguins live in Antarctica.", "return period of foreign orders", "I don't know.", "foreign orders")
    loops.script.enqueue_yes_no(2.0)
    state = await loops.run(QUESTION)
    assert loops.path[6] == ("grade_relevance", "retry")
    assert state.status == "refused"
    assert "Penguins" not in state.final_answer


async def test_at_most_two_corrections(loops: Desk) -> None:
    """The third bad answer is the last; it is shown with its caution, and nothing is remembered."""
    loops.finds("direct_chunk_search", loops.text, loops.other, loops.page)
    loops.script.enqueue(BESIDE, "words one", "The shop is closed on Sundays.", "words two", "The bridge was opened in 1931.")
    loops.script.enqueue_yes_no(2.0, -1.0, 2.0, -1.1, 2.0, -1.15)
    state = await loops.run(QUESTION)
    assert loops.nodes.count("generate_response") == 3
    assert (state.correction_attempts, state.stop_reason) == (2, "corrections_exhausted")
    assert state.status == "fallback"
    assert state.final_answer.startswith("The documents do not say this with certainty")
    assert BESIDE in state.final_answer  # the one that settled most
    assert "no answer settled the question" in state.final_answer
    assert loops.kept == []


async def test_an_answer_that_is_plainly_wrong_is_not_shown_at_all(loops: Desk) -> None:
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(BESIDE)
    loops.script.enqueue_yes_no(2.0, -4.0)
    loops.settings = DualLoopSettings(corrections=0)
    state = await loops.run(QUESTION)
    assert (state.status, state.stop_reason) == ("refused", "unsettled")
    assert BESIDE not in state.final_answer
    assert "does not settle the question" in state.final_answer


async def test_a_model_that_fails_in_a_correction_is_what_ended_it(loops: Desk) -> None:
    """Not a lack of other words."""
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(BESIDE, TransientError("no reply"))
    loops.script.enqueue_yes_no(2.0, -1.0)
    state = await loops.run(QUESTION)
    assert (state.stop_reason, loops.path[-2]) == ("model_failed", ("rewrite_query", "same_question"))
    assert "chat model did not answer" in state.final_answer


async def test_the_same_evidence_again_ends_the_loop(loops: Desk) -> None:
    """No progress: other words found the very passages that the rejected answer was written from."""
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(BESIDE, "return period of foreign orders")
    loops.script.enqueue_yes_no(2.0, -1.0, 2.0)
    state = await loops.run(QUESTION)
    assert state.stop_reason == "same_evidence"
    assert loops.nodes.count("generate_response") == 1
    assert [call.kind for call in loops.script.calls].count("yes_no") == 2  # it is not graded again
    assert "the same passages again" in state.final_answer


async def test_a_rewrite_that_says_the_same_ends_the_loop(loops: Desk) -> None:
    """No progress: the same words in another order search for nothing new."""
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(BESIDE, "may international orders be returned within how many days")
    loops.script.enqueue_yes_no(2.0, -1.0)
    state = await loops.run(QUESTION)
    assert ("rewrite_query", "same_question") in loops.path
    assert state.stop_reason == "same_question"
    assert len(loops.searches) == 1
    assert loops.kept == []


async def test_a_loop_that_would_never_end(loops: Desk) -> None:
    """Other words and other passages every time, and never a good answer: corrections end it, whatever their number."""
    loops.settings = DualLoopSettings(corrections=5)
    loops.finds("direct_chunk_search", *(f"Return shipping is not paid by us. Note {n * 'x'}." for n in range(1, 30)))
    count = iter(range(1000))
    loops.script.reply_with(
        lambda messages: f"words {next(count)}" if "search queries" in messages[0].content else "Return shipping is not paid."
    )
    grades = iter([2.0, -1.0] * 100)
    loops.script.judge_with(lambda _: next(grades))
    state = await loops.run(QUESTION)
    assert state.correction_attempts == 5
    assert state.stop_reason == "corrections_exhausted"
    assert loops.nodes.count("generate_response") == 6


async def test_without_the_outer_loop_the_answer_is_proved_but_not_graded(loops: Desk) -> None:
    loops.settings = DualLoopSettings(outer_loop=False)
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(BESIDE)
    state = await loops.run(QUESTION)
    assert [call.kind for call in loops.script.calls] == ["yes_no", "chat"]
    assert state.status == "answered"


async def test_a_refusal_names_the_nearest_passages_there_were(loops: Desk) -> None:
    """Not what is left when those that were graded are taken away."""
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue_yes_no(-3.0)
    state = await loops.run(QUESTION)
    assert "Returns" in state.final_answer
    assert "nothing in this collection" not in state.final_answer


async def test_what_changed_while_it_was_cited_is_dropped(loops: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer from text that is gone is no answer; the run goes on and ends honestly."""

    async def changed(_: object) -> None:
        raise Conflict("Returns was changed while it was being cited")

    monkeypatch.setattr(loops, "locate", changed)
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ANSWER, "other words")
    state = await loops.run(QUESTION)
    assert state.status == "refused"
    assert state.proof.citations == []
    assert any("was changed while" in warning for warning in state.warnings)


async def test_a_strategy_that_the_request_names_comes_first(loops: Desk) -> None:
    """Whatever the question looks like, and whatever memory says."""
    loops.forced, loops.preferred = True, "direct_chunk_search"
    loops.remembers(ANSWER, subject=QUESTION, kind="question", route="hierarchical_search", same=True)
    loops.finds("direct_chunk_search", loops.text)
    await loops.run("Summarise the return policy")
    assert loops.searches[0][0] == "direct_chunk_search"


# ---------------------------------------------------------------- the budget


@pytest.mark.parametrize(
    ("budget", "reason", "words"),
    [
        (Budget(calls=2), "budget_calls", "model calls allowed"),
        (Budget(tokens=60), "budget_tokens", "tokens allowed"),
    ],
)
async def test_a_budget_ends_it_with_what_there_is(loops: Desk, budget: Budget, reason: str, words: str) -> None:
    """After the grade and the draft nothing may be asked: the proved draft is shown, and what ended it."""
    loops.budget = budget
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ANSWER)
    state = await loops.run(QUESTION)
    assert state.stop_reason == reason
    assert (state.status, words in state.final_answer) == ("fallback", True)
    assert "30 days" in state.final_answer


async def test_the_seconds_of_a_question_end_a_call_in_its_middle(loops: Desk) -> None:
    """A draft that never comes: the evidence itself is shown when the time is over."""
    loops.budget = Budget(seconds=0.3)
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(Line(ANSWER, delay=30.0))
    state = await loops.run(QUESTION)
    assert (state.stop_reason, state.status) == ("budget_seconds", "fallback")
    assert state.generation == "extracted"
    assert "the time allowed for one question was over" in state.final_answer


async def test_a_settled_answer_is_no_worse_for_being_late(loops: Desk) -> None:
    """The time is over just when the good answer is there: it is an answer."""
    loops.hurry = [False, True, True]
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ANSWER)
    state = await loops.run(QUESTION)
    assert (state.status, state.stop_reason) == ("answered", "")


async def test_the_time_is_looked_at_between_searches_too(loops: Desk) -> None:
    """Without a model nobody else would."""
    loops.llm = None
    loops.hurry = [True]
    loops.finds("direct_chunk_search", loops.other, confidence=0.1)
    loops.finds("hierarchical_search", loops.text)
    state = await loops.run(QUESTION)
    assert (state.stop_reason, len(loops.searches)) == ("budget_seconds", 1)


async def test_a_budget_of_one_call_still_answers_from_the_evidence(loops: Desk) -> None:
    loops.budget = Budget(calls=1)
    loops.finds("direct_chunk_search", loops.text)
    state = await loops.run(QUESTION)
    assert (state.generation, state.stop_reason) == ("extracted", "budget_calls")
    assert state.proof.citations


# ---------------------------------------------------------------- without a model, and with one that fails


async def test_without_a_chat_model_the_confidence_decides(loops: Desk) -> None:
    loops.llm = None
    loops.finds("direct_chunk_search", loops.other, confidence=0.1)
    loops.finds("hierarchical_search", loops.text, confidence=0.8)
    state = await loops.run(QUESTION)
    assert state.route == "hierarchical_search"
    assert (state.status, state.generation) == ("answered", "extracted")


async def test_a_model_that_fails_leaves_the_evidence(loops: Desk) -> None:
    """It is asked once, not at every step; what is shown says so."""
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue_yes_no(ModelUnavailable("no chat model here"))
    state = await loops.run(QUESTION)
    assert len(loops.script.calls) == 1
    assert (state.status, state.generation) == ("fallback", "extracted")
    assert any("no chat model here" in warning for warning in state.warnings)
    assert loops.kept == []


@pytest.mark.parametrize("question", ["", "   ", "x" * 501])
async def test_what_cannot_be_asked(loops: Desk, question: str) -> None:
    with pytest.raises(InvalidInput):
        await loops.run(question)


async def test_chinese_from_end_to_end(loops: Desk) -> None:
    """Question, grades, answer and ending in Chinese."""
    loops.finds("direct_chunk_search", "国内订单签收后七天内可以退货。国际订单签收后三十天内可以退货。电池不予退货。")
    loops.script.enqueue("国际订单签收后三十天内可以退货。")
    state = await loops.run("国际订单多少天内可以退货？")
    assert (state.status, state.final_answer) == ("answered", "国际订单签收后三十天内可以退货。[1]")
    loops.script.enqueue_yes_no(-3.0)
    state = await loops.run("谁是店长？")
    assert state.status == "refused"
    assert "已搜索：按段落、按章节。" in state.final_answer

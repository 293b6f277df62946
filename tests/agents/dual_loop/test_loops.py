"""The two loops: every edge, every reason to stop, and that the one rule holds: each turn brings
something new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.agents.replies import asked_for, draft, untold, verdicts

from citewell.agents.dual_loop.dual_loop_grade import MOST_CALLS
from citewell.config import DualLoopSettings
from citewell.errors import Conflict, InvalidInput, ModelUnavailable, StorageError, TransientError
from citewell.models.metered import Budget
from citewell.models.reader_base import Reading
from citewell.models.script_lines import Line
from citewell.models.scripted_reader import ScriptedReader

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
WORDED = "You have 30 days to send one back from abroad."
INVENTED = "Our staff in Oxford will help."
MISSING = "The documents do not tell this."


def asked(loops: Desk) -> list[str]:
    return [asked_for(call) for call in loops.script.calls]


async def test_an_easy_question_passes_every_node_once(loops: Desk) -> None:
    """The spec's nodes in the spec's order; a draft and its judgement."""
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(draft(WORDED), verdicts("entailed"))
    state = await loops.run(QUESTION)
    assert loops.path == EASY
    assert (state.status, state.final_answer, state.stop_reason) == ("answered", WORDED + "[1]", "")
    assert asked(loops) == ["draft", "judge"]
    assert state.model_calls == 2


# ---------------------------------------------------------------- the inner loop


async def test_poor_documents_are_searched_for_in_another_way(loops: Desk) -> None:
    """`retry_retrieve`: the next strategy that has not been tried, before a model is asked."""
    loops.finds("direct_chunk_search", loops.other, confidence=0.1)
    loops.finds("hierarchical_search", loops.text)
    loops.script.enqueue(ANSWER)
    state = await loops.run(QUESTION)
    assert [route for route, _ in loops.searches] == ["direct_chunk_search", "hierarchical_search"]
    assert ("grade_documents", "retry_retrieve") in loops.path
    assert (state.status, state.route) == ("answered", "hierarchical_search")
    assert asked(loops) == ["draft", "judge"]


@pytest.mark.parametrize("reads", [False, True])
async def test_all_strategies_tried_ends_honestly(loops: Desk, reads: bool) -> None:
    """`fallback`: nothing is written; what was searched and what lies nearest is said, and nothing
    is remembered.
    """
    reader = ScriptedReader()
    reader.read_with(lambda _, passage: Reading(0, len(passage), 0.01, -8.0))
    loops.llm, loops.reader = None, reader if reads else None
    loops.finds("direct_chunk_search", loops.other, confidence=0.1)
    loops.finds("hierarchical_search", loops.text, confidence=0.1)
    state = await loops.run("Who founded the company in Oslo?")
    assert loops.path[-1] == ("grade_documents", "fallback")
    assert (state.status, state.stop_reason) == ("refused", "routes_exhausted")
    for said in (
        "passage by passage",
        "section by section",
        "No other way to search is left.",
        "switched off",
        "Returns",
    ):
        assert said in state.final_answer
    assert loops.kept == []


async def test_a_connected_model_looks_at_the_last_search(loops: Desk) -> None:
    """However unsure the search is: it says itself that nothing is told, and the end says what was
    searched.
    """
    loops.finds("direct_chunk_search", loops.other, confidence=0.1)
    loops.finds("hierarchical_search", loops.text, confidence=0.1)
    loops.script.enqueue(untold(MISSING), verdicts("entailed", evidence=[]))
    state = await loops.run("Who is the manager?")
    assert (state.status, asked(loops)) == ("refused", ["draft", "judge"])
    assert state.final_answer.startswith(
        MISSING + " I searched passage by passage, section by section."
    )
    assert state.proof.sentences[0].kind == "not_told"


async def test_the_web_comes_last_and_only_where_it_may_be_searched(loops: Desk) -> None:
    """The third route; its citation says that it is of the web, and when the page was fetched."""
    loops.web = True
    loops.finds("direct_chunk_search", loops.other, confidence=0.1)
    loops.finds("hierarchical_search", loops.text, confidence=0.1)
    loops.finds("web_search", loops.page, fetched=True)
    loops.script.enqueue("The harbour bridge was opened in 1931.")
    state = await loops.run("When was the harbour bridge opened?")
    assert [route for route, _ in loops.searches] == [
        "direct_chunk_search",
        "hierarchical_search",
        "web_search",
    ]
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


@pytest.mark.parametrize(
    "error", [TransientError("no reply within 20 seconds"), StorageError("the disk is full")]
)
async def test_a_web_search_that_fails(loops: Desk, error: Exception) -> None:
    """What fails of the web is a warning and the documents stand; a database that fails is an
    error.
    """
    loops.web, loops.llm = True, None
    loops.finds("direct_chunk_search", loops.other, confidence=0.1)
    loops.finds("hierarchical_search", loops.text, confidence=0.1)
    loops.finds("web_search", error)
    if isinstance(error, StorageError):
        with pytest.raises(StorageError):
            await loops.run(QUESTION)
        return
    state = await loops.run(QUESTION)
    assert state.status == "refused"
    assert any("no reply within 20 seconds" in warning for warning in state.warnings)


async def test_passages_that_were_rejected_are_not_looked_at_again(loops: Desk) -> None:
    """The same evidence by another way is no evidence: the reader does not read it twice, and the
    end says so.
    """
    loops.llm, loops.reader = None, ScriptedReader()
    loops.finds("direct_chunk_search", loops.text, confidence=0.1)
    loops.finds("hierarchical_search", loops.text, confidence=0.1)
    state = await loops.run("Who founded the company in Oslo?")
    assert len(loops.reader.questions) == 1
    assert state.stop_reason == "routes_exhausted"
    assert loops.detail("retrieve_documents")["looked_at_before"] == 1
    assert "Returns" in state.final_answer  # the nearest passages there were


# ---------------------------------------------------------------- the outer loop


async def test_what_is_not_told_is_searched_for_in_other_words(loops: Desk) -> None:
    """`retry`: the words that the draft names, without a call to find them or to judge that nothing
    is told.
    """
    loops.finds("direct_chunk_search", loops.other, loops.text)
    loops.script.enqueue(
        untold(MISSING, search_for="return period of foreign orders"),
        draft(WORDED),
        verdicts("entailed"),
    )
    state = await loops.run(QUESTION)
    assert ("grade_relevance", "retry") in loops.path
    assert loops.searches[1] == ("direct_chunk_search", "return period of foreign orders")
    assert asked(loops) == ["draft", "draft", "judge"]
    assert (state.correction_attempts, state.status, state.final_answer) == (
        1,
        "answered",
        WORDED + "[1]",
    )
    assert state.standalone == QUESTION  # the question that is answered stays the user's


async def test_tried_routes_begin_anew_with_a_correction(loops: Desk) -> None:
    """Other words may search where the first wording found nothing."""
    loops.finds("direct_chunk_search", loops.other, loops.page, confidence=0.1)
    loops.finds("hierarchical_search", loops.text, loops.other)
    loops.script.enqueue(
        untold(MISSING, search_for="return period of foreign orders"),
        untold(MISSING),
        verdicts("entailed"),
    )
    state = await loops.run(QUESTION)
    assert [route for route, _ in loops.searches] == [
        "direct_chunk_search",
        "hierarchical_search",
    ] * 2
    assert state.tried_routes == ["direct_chunk_search", "hierarchical_search"]


async def test_a_doubted_answer_is_repaired_where_nothing_else_can_be_searched(loops: Desk) -> None:
    """Once, with the reason; what stays unproved stands apart, with what ended it."""
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(draft(ANSWER, INVENTED), verdicts("entailed", "not_stated"))
    loops.script.enqueue(draft(ANSWER, INVENTED), verdicts("not_stated"))
    state = await loops.run(QUESTION)
    assert asked(loops) == ["draft", "judge"] * 2
    assert (state.status, state.stop_reason) == ("fallback", "unsettled")
    assert state.final_answer.startswith(
        f"{ANSWER}[1]\n\nThe documents do not prove this:\n- {INVENTED}"
    )
    assert loops.kept == []


PARTLY = draft(ANSWER, INVENTED, status="partly", search_for="help of the staff")


@pytest.mark.parametrize(
    "replies",
    [
        [PARTLY, verdicts("not_stated"), draft(INVENTED), verdicts("not_stated")],
        [untold(MISSING, search_for="words one"), PARTLY, verdicts("not_stated")],
        [
            untold(MISSING, search_for="words one"),
            untold(MISSING, search_for="words two"),
            PARTLY,
            verdicts("not_stated"),
        ],
        [
            *(untold(MISSING, search_for=f"words {n}") for n in range(3)),
            verdicts("entailed", evidence=[]),
        ],
    ],
)
async def test_four_calls_at_most(loops: Desk, replies: list[str]) -> None:
    """Whatever the drafts miss and the judge doubts, however many corrections are allowed: each
    round has new evidence.
    """
    loops.settings = DualLoopSettings(corrections=5)
    loops.finds("direct_chunk_search", *(f"{loops.text} Note {n * 'x'}." for n in range(1, 20)))
    loops.script.enqueue(*replies)
    state = await loops.run(QUESTION)
    assert len(loops.script.calls) == len(replies) <= MOST_CALLS
    assert state.model_calls == len(replies)
    assert len({tuple(spans) for spans in state.answered_from}) == len(state.answered_from)
    assert len(set(state.queries)) == len(state.queries)
    assert state.stop_reason in {"corrections_exhausted", "unsettled"}


async def test_the_best_of_the_attempts_is_shown(loops: Desk) -> None:
    """Not the last, where the last is poor."""
    loops.finds("direct_chunk_search", loops.text, loops.other)
    told = [f"{text.rstrip('.')}." for text in loops.text.split(". ")]
    first = draft(*told, INVENTED, status="partly", search_for="help of the staff")
    judged = verdicts(*["entailed"] * len(told), "not_stated")
    loops.script.enqueue(first, judged, draft(INVENTED), verdicts("not_stated"))
    state = await loops.run(QUESTION)
    assert state.status == "fallback"
    assert state.final_answer.startswith(f"{told[0]}[1] {told[1]}[1]")
    assert f"The documents do not prove this:\n- {INVENTED}" in state.final_answer
    assert "What is cited above is proved; for the rest I found no proof" in state.final_answer
    assert "no answer settled" not in state.final_answer


NO_MORE = [
    [draft(INVENTED), verdicts("not_stated")],
    [untold(MISSING), verdicts("entailed", evidence=[])],
]


@pytest.mark.parametrize("again", NO_MORE)
async def test_a_proved_part_is_an_answer_where_other_words_find_no_more(
    loops: Desk, again: list[str]
) -> None:
    """What is missing stands in it, so nothing is said against it; the question counts as unsettled
    for the memory.
    """
    loops.finds("direct_chunk_search", loops.text, loops.other)
    part = {"text": "Who pays is not told.", "kind": "not_told", "evidence": []}
    loops.script.enqueue(
        draft(ANSWER, part, status="partly", search_for="payer"),
        verdicts("entailed", "entailed"),
        *again,
    )
    state = await loops.run(QUESTION)
    assert (state.status, state.stop_reason) == ("answered", "")
    assert state.final_answer == f"{ANSWER}[1] Who pays is not told.[1]"
    assert (loops.kept, len(loops.script.calls)) == ([], 4)


async def test_a_proved_part_is_an_answer_where_other_words_find_the_same(loops: Desk) -> None:
    loops.finds("direct_chunk_search", loops.text)
    part = {"text": "Who pays is not told.", "kind": "not_told", "evidence": []}
    loops.script.enqueue(
        draft(ANSWER, part, status="partly", search_for="payer"), verdicts("entailed", "entailed")
    )
    state = await loops.run(QUESTION)
    assert (state.status, state.stop_reason, len(loops.script.calls)) == ("answered", "", 2)


@pytest.mark.parametrize(
    ("words", "reason", "searches"),
    [
        ("return period of foreign orders", "same_evidence", 3),
        ("may international orders be returned within how many days", "unsettled", 1),
    ],
)
async def test_no_progress_ends_the_loop(
    loops: Desk, words: str, reason: str, searches: int
) -> None:
    """Other words found the very passages of the poor answer, or were the same words in another
    order.
    """
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(untold(MISSING, search_for=words))
    state = await loops.run(QUESTION)
    assert (state.stop_reason, state.status, asked(loops)[0]) == (reason, "refused", "draft")
    assert len(loops.searches) <= searches
    assert loops.kept == []


async def test_without_the_outer_loop_nothing_is_corrected(loops: Desk) -> None:
    """It is judged all the same."""
    loops.settings = DualLoopSettings(outer_loop=False)
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(
        untold(MISSING, search_for="other words"), verdicts("entailed", evidence=[])
    )
    state = await loops.run(QUESTION)
    assert (state.status, len(loops.searches), asked(loops)) == ("refused", 1, ["draft", "judge"])


async def test_an_unclear_question_is_asked_back(loops: Desk) -> None:
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(draft(status="unclear", question_back="Domestic or international?"))
    state = await loops.run(QUESTION)
    assert (state.status, state.final_answer, state.stop_reason) == (
        "clarify",
        "Domestic or international?",
        "",
    )


async def test_what_changed_while_it_was_cited_is_dropped(
    loops: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer from text that is gone is no answer; the run goes on and ends honestly."""

    async def changed(_: object) -> None:
        raise Conflict("Returns was changed while it was being cited")

    monkeypatch.setattr(loops, "locate", changed)
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ANSWER)
    state = await loops.run(QUESTION)
    assert (state.status, state.proof.citations) == ("refused", [])
    assert any("was changed while" in warning for warning in state.warnings)


async def test_a_strategy_that_the_request_names_comes_first(loops: Desk) -> None:
    """Whatever the question looks like, and whatever memory says."""
    loops.forced, loops.preferred = True, "direct_chunk_search"
    loops.remembers(
        ANSWER, subject=QUESTION, kind="question", route="hierarchical_search", same=True
    )
    loops.finds("direct_chunk_search", loops.text)
    await loops.run("Summarise the return policy")
    assert loops.searches[0][0] == "direct_chunk_search"


# ---------------------------------------------------------------- the budget


@pytest.mark.parametrize(
    ("budget", "reason", "answer"),
    [
        (Budget(calls=0), "budget_calls", ANSWER),
        (Budget(tokens=60), "budget_tokens", ANSWER),
        (
            Budget(calls=1),
            "budget_calls",
            "This draft could not be checked against the documents: " + WORDED,
        ),
        (
            Budget(calls=2),
            "budget_calls",
            "This draft could not be checked against the documents: " + INVENTED,
        ),
    ],
)
async def test_a_budget_ends_it_with_what_there_is(
    loops: Desk, budget: Budget, reason: str, answer: str
) -> None:
    """No draft: the evidence itself. No judgement: the draft as such. What ended it is said."""
    loops.budget = budget
    loops.finds("direct_chunk_search", loops.text, loops.other)
    first = (
        [untold(MISSING, search_for="other words"), draft(INVENTED)]
        if budget.calls == 2
        else [draft(WORDED)]
    )
    loops.script.enqueue(*first)
    state = await loops.run(QUESTION)
    assert (state.stop_reason, state.status) == (reason, "fallback")
    assert answer in state.final_answer
    assert "allowed for one question were used up" in state.final_answer
    assert loops.kept == []


async def test_the_seconds_of_a_question_end_a_call_in_its_middle(loops: Desk) -> None:
    """A draft that never comes: the evidence itself is shown when the time is over."""
    loops.budget = Budget(seconds=0.3)
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(Line(ANSWER, delay=30.0))
    state = await loops.run(QUESTION)
    assert (state.stop_reason, state.status) == ("budget_seconds", "fallback")
    assert ANSWER in state.final_answer
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


# ---------------------------------------------------------------- without a model, and with one
# that fails


@pytest.mark.parametrize("reader", [None, ScriptedReader()])
async def test_without_a_chat_model_the_documents_sentence_answers(
    loops: Desk, reader: ScriptedReader | None
) -> None:
    """What the decision refuses is searched for in another way."""
    loops.llm, loops.reader = None, reader
    loops.finds("direct_chunk_search", loops.other, confidence=0.1)
    loops.finds("hierarchical_search", loops.text, confidence=0.8)
    state = await loops.run(QUESTION)
    assert (state.route, state.status) == ("hierarchical_search", "answered")
    assert state.final_answer.endswith(ANSWER + "[1]")
    assert bool(state.proof.sentences[0].span) is bool(reader)


async def test_a_model_that_fails_leaves_the_evidence(loops: Desk) -> None:
    """It is asked once, not at every step; what is shown says so."""
    loops.finds("direct_chunk_search", loops.text)
    loops.script.enqueue(ModelUnavailable("no chat model here"))
    state = await loops.run(QUESTION)
    assert len(loops.script.calls) == 1
    assert state.status == "fallback"
    assert f"{ANSWER}[1]" in state.final_answer
    assert any("no chat model here" in warning for warning in state.warnings)
    assert loops.kept == []


@pytest.mark.parametrize("question", ["", "   ", "x" * 501])
async def test_what_cannot_be_asked(loops: Desk, question: str) -> None:
    with pytest.raises(InvalidInput):
        await loops.run(question)


async def test_chinese_from_end_to_end(loops: Desk) -> None:
    """Question, draft, answer and ending in Chinese."""
    loops.finds(
        "direct_chunk_search",
        "国内订单签收后七天内可以退货。国际订单签收后三十天内可以退货。电池不予退货。",
    )
    loops.script.enqueue("国际订单签收后三十天内可以退货。")
    state = await loops.run("国际订单多少天内可以退货？")
    assert (state.status, state.final_answer) == ("answered", "国际订单签收后三十天内可以退货。[1]")
    loops.script.enqueue(untold("资料没有说明店长是谁。"), verdicts("entailed", evidence=[]))
    state = await loops.run("谁是店长？")
    assert state.status == "refused"
    assert state.final_answer.startswith("资料没有说明店长是谁。已搜索：按段落。")

"""The `qa` agent on an open App. The one rule: what it searches is what `citewell search` would."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import zip_longest

from citewell.agents import qa
from citewell.agents.qa_state import Deps, QAState
from citewell.errors import CitewellError
from citewell.models.base import Vector, is_connected
from citewell.retrieve.expand import expand_hits, load_whole_documents
from citewell.retrieve.query import Context
from citewell.retrieve.strategies import OTHER, Found
from citewell.runtime.app import App
from citewell.service.ask.find_confirmed import make_confirmed_search
from citewell.service.ask.locate import make_locator
from citewell.service.ask.options import get_strategy
from citewell.service.ask.run import Run
from citewell.service.ask.search import find_hits
from citewell.skills.answer.find_answer import split_question
from citewell.skills.dialogue.sensitive import load_word_list
from citewell.skills.evidence.passages import Passage, Widen, select_passages
from citewell.skills.proof.judge import Judge
from citewell.skills.proof.judges import build_judge
from citewell.store.index.base import Filter
from citewell.text.entities import extract_search_names
from citewell.text.language import count_tokens
from citewell.text.sentences import detect_language
from citewell.types import Answer, Event, Hit, Step

More = Callable[[str, str, Sequence[Passage]], Awaitable[list[Passage]]]
HITS = 8  # chunks that a search hands to an agent: as many as the reader looks at
WHOLE = 0.5  # of the budget of evidence that documents may take that are sent whole
BEST, SEVERAL = 6, 2  # a document is sent whole that has several of the best hits, or all of them
UNWIDENED = 0.6  # of the rest that hits may take before they are widened by what stands around them
# of the budget of evidence, for what is searched for where the first evidence lacks something
SHARE_OF_MORE = 0.5
HITS_CONNECTED = 24  # to one whose model has room for them


async def run_qa(run: Run) -> AsyncIterator[Event]:
    state = QAState(
        raw_user_input=run.request.question,
        raw_conversation_history=run.history,
        warnings=run.warnings,
    )
    async for event in qa.GRAPH.run(state, _build_deps(run), n=len(run.steps), done=run.count):
        yield Event("step", event) if isinstance(event, Step) else event
    if state.error and not (state.final_answer or state.initial_answer):
        raise state.error
    yield Event("answer", _build_answer(run, state))


def _build_answer(run: Run, state: QAState) -> Answer:
    return Answer(
        answer=state.final_answer or state.initial_answer,
        sentences=state.proof.sentences,
        citations=state.proof.citations,
        status=state.status if state.final_answer else "fallback",
        confidence=state.answer_confidence,
        agent="qa",
        agent_reason=run.agent_reason,
        route=get_strategy(run.options, run.app),
        stop_reason=run.meter.spent if run.meter else "",
        session_id=run.session_id,
        trace_id=run.trace_id,
        warnings=state.warnings,
        usage=run.usage(),
        followed=state.followed,
        choices=state.choices,
        error_info=state.error_info,
    )


def _build_deps(run: Run) -> Deps:
    app = run.app

    async def search(
        text: str, vector: Vector | None, entities: Sequence[str], context: Context | None
    ) -> Found:
        found = await find_hits(
            app, run.options, text, vector, entities, run.where, get_hit_limit(run), context
        )
        return merge_found(found, await search_parts(run, text))

    return Deps(
        settings=app.settings.qa,
        llm=run.meter,
        embedder=app.embedder,
        search=search,
        widen=make_widener(app),
        locate=make_locator(app),
        sensitive=load_word_list(app.settings.qa.sensitive_words),
        reader=app.reader,
        judge=get_judge(run),
        calibration=app.calibration.answer,
        known=make_confirmed_search(run),
        more=make_follow_up_search(run),
    )


def make_follow_up_search(run: Run) -> More:
    """A search for what the passages that were read lack: the question by meaning in the documents
    of the other language, and by the words that the draft names, taken in turn.
    """

    async def more(question: str, search_for: str, read: Sequence[Passage]) -> list[Passage]:
        other = OTHER[detect_language(question)]
        foreign = not run.where.langs or other in run.where.langs
        asked = [(question, replace(run.where, langs=(other,)))] if foreign else []
        asked += [(search_for, run.where)] if search_for else []
        found = [await _find_hits(run, text, where, HITS) for text, where in asked]
        spans = [(passage.hit.doc_id, passage.hit.start, passage.hit.end) for passage in read]
        fresh = [
            h
            for h in _interleave_hits(found)
            if not any(d == h.doc_id and a <= h.start and h.end <= b for d, a, b in spans)
        ]
        return await select_passages(
            question, fresh, run.meter, make_widener(run.app), share=SHARE_OF_MORE
        )

    return more


async def _find_hits(run: Run, text: str, where: Filter, k: int) -> list[Hit]:
    vector = await run.app.embedder.query(text)
    return (
        await find_hits(run.app, run.options, text, vector, extract_search_names(text), where, k)
    ).hits


def _interleave_hits(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """The best of each list, then the second ones, each hit once."""
    turns = (hit for row in zip_longest(*lists) for hit in row if hit is not None)
    return list({hit.chunk_id: hit for hit in turns}.values())


async def search_parts(run: Run, question: str) -> list[list[Hit]]:
    """One search for each part of a question that asks several things; none for others, or where a
    part cannot be embedded.
    """
    try:
        return [
            await _find_hits(run, part, run.where, get_hit_limit(run))
            for part in split_question(question)
        ]
    except CitewellError:
        return []  # the whole question was searched by words, which hold those of the parts


def merge_found(whole: Found, parts: Sequence[Sequence[Hit]]) -> Found:
    """The hits of all searches taken in turn, each once, as many as the whole question's search
    found; its confidence.
    """
    hits = _interleave_hits([*parts, whole.hits]) if parts else list(whole.hits)
    return Found(hits[: max(len(whole.hits), 2 * len(parts))], whole.confidence, whole.warnings)


def get_hit_limit(run: Run) -> int:
    """How many chunks a search shall find for this question's tier."""
    return HITS_CONNECTED if is_connected(run.meter) else HITS


def get_judge(run: Run) -> Judge | None:
    """Who judges this question's answer; its calls count as the question's own where it is the chat
    model.
    """
    return build_judge(run.meter, run.app.reader, run.app.judge_llm)


def make_widener(app: App) -> Widen:
    """For a model with room: the best documents whole where they are short, and what stands around
    the other hits.
    """

    async def widen(hits: Sequence[Hit], budget: int) -> list[Hit]:
        best = Counter(hit.doc_id for hit in hits[:BEST])
        likely = [hit for hit in hits[:BEST] if best[hit.doc_id] >= SEVERAL or len(best) == 1]
        whole = await load_whole_documents(app.index, app.catalog, likely, int(budget * WHOLE))
        beside, left = (
            app.settings.search.neighbours,
            budget - sum(count_tokens(hit.text) for hit in whole.values()),
        )
        rest = select_fitting_hits(
            [hit for hit in hits if hit.doc_id not in whole], int(left * UNWIDENED)
        )
        return [*whole.values(), *await expand_hits(app.index, rest, beside, beside, left)]

    return widen


def select_fitting_hits(hits: Sequence[Hit], budget: int) -> list[Hit]:
    """The best hits that stay within so many tokens together, one at least."""
    kept: list[Hit] = []
    for hit in hits:
        budget -= count_tokens(hit.text)
        if budget < 0 and kept:
            break
        kept.append(hit)
    return kept


Runner = Callable[[Run], AsyncIterator[Event]]

"""The `qa` agent on an open App, and the models and the search of documents that all agents share.
What they search is what `citewell search` would.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final, TypedDict

from citewell.agents.qa import qa
from citewell.agents.qa.qa_state import Deps, QAState
from citewell.errors import CitewellError
from citewell.messages import Text
from citewell.models.base import LLM, Embedder, Vector, is_connected
from citewell.models.reader_base import Reader
from citewell.retrieve.baselines import BASELINES
from citewell.retrieve.confidence import Logistic, compute_confidence
from citewell.retrieve.expand import expand_hits, load_whole_documents
from citewell.retrieve.query import Context, Found
from citewell.retrieve.strategies import OTHER
from citewell.runtime.app import App
from citewell.service.ask.find_confirmed import find_confirmed
from citewell.service.ask.locate import locate_citations
from citewell.service.ask.options import get_strategy, is_narrowed
from citewell.service.ask.run import Run
from citewell.service.ask.search import find_hits
from citewell.service.ask.survey_documents import Surveyor
from citewell.skills.answer.question_parts import split_question
from citewell.skills.dialogue.reference import STANDING, Readings, is_follow_up
from citewell.skills.dialogue.sensitive import load_word_list
from citewell.skills.evidence.confirmed_evidence import ConfirmedEvidence
from citewell.skills.evidence.passages import Passage, select_passages
from citewell.skills.proof.judge import Judge
from citewell.skills.proof.judges import build_judge
from citewell.store.index.protocol import Filter
from citewell.text.entities import extract_search_names
from citewell.text.language import count_tokens
from citewell.text.sentences import detect_language
from citewell.types import Answer, Citation, Event, Hit, Step

ONLY: Final = Text("questions are understood best in English and Chinese; try one of them")
OVERVIEW = "overview"  # route of an answer that was not searched for
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
        route=OVERVIEW if state.quotes_overview else get_strategy(run.options, run.app),
        stop_reason=run.meter.spent if run.meter else "",
        session_id=run.session_id,
        trace_id=run.trace_id,
        warnings=[
            *state.warnings,
            *([ONLY] if state.foreign and state.status == "refused" else []),
        ],
        usage=run.usage(),
        followed=state.followed,
        choices=state.choices,
        error_info=state.error_info,
    )


def _build_deps(run: Run) -> Deps:
    return Deps(
        **get_models(run),
        settings=run.app.settings.qa,
        search=DocumentSearch(run),
        survey=Surveyor(run),
    )


class Models(TypedDict):
    """The part of every agent's `Deps` that is the same."""

    llm: LLM | None
    embedder: Embedder
    reader: Reader | None
    judge: Judge | None
    calibration: Mapping[str, Logistic]
    sensitive: re.Pattern[str] | None


def get_models(run: Run) -> Models:
    app = run.app
    return Models(
        llm=run.meter,
        embedder=app.embedder,
        reader=app.reader,
        judge=get_judge(run),
        calibration=app.calibration.answer,
        sensitive=load_word_list(app.settings.qa.sensitive_words),
    )


class DocumentSearch:
    """Implements the agents' `Search` over the documents of a question."""

    def __init__(self, run: Run) -> None:
        self._run, self._app = run, run.app

    async def find(
        self, text: str, vector: Vector | None, entities: Sequence[str], context: Context | None
    ) -> Found:
        run, most = self._run, get_hit_limit(self._run)
        found = await find_hits(
            run.app, run.options, text, vector, entities, run.where, most, context
        )
        return merge_found(found, await search_parts(run, text, vector))

    async def find_by(self, route: str, read: Readings, entities: Sequence[str]) -> Found:
        return await find_readings(self._run, route, read, entities, self._run.where)

    async def find_more(
        self, question: str, search_for: str, read: Sequence[Passage]
    ) -> list[Passage]:
        """The question by meaning in the documents of the other language, and by the words that the
        draft names, taken in turn.
        """
        run, other = self._run, OTHER[detect_language(question)]
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
        return await select_passages(question, fresh, run.meter, self.widen, share=SHARE_OF_MORE)

    async def find_confirmed(self, question: str) -> list[ConfirmedEvidence]:
        """Nothing where the request says so, or names some of the documents only."""
        run = self._run
        if run.options.knowledge is False or is_narrowed(run.options):
            return []
        return await find_confirmed(run.app, question, run.agent, run.collection)

    async def widen(self, hits: Sequence[Hit], budget: int) -> list[Hit]:
        return await widen_hits(self._app, hits, budget)

    async def locate(self, citations: list[Citation]) -> list[Citation]:
        return await locate_citations(self._app, citations)

    def rate(self, text: str, hits: Sequence[Hit]) -> float:
        return compute_confidence(text, hits, self._app.calibration.retrieval)


async def find_readings(
    run: Run, route: str, read: Readings, entities: Sequence[str], where: Filter
) -> Found:
    """One search by a strategy; without vectors words alone still find."""
    named = get_strategy(run.options, run.app)
    strategy = named if named in BASELINES and route == "direct_chunk_search" else route
    options = run.options.model_copy(update={"strategy": strategy})
    most = get_hit_limit(run)
    beside: Vector | None = None
    failed: tuple[str, ...] = ()
    try:
        vector: Vector | None = await run.app.embedder.query(read.text)
        beside = await run.app.embedder.query(read.context) if read.context else None
    except CitewellError as error:
        vector = None
        failed = (Text("searched by words only: {message}", message=error.message),)
    context = Context(read.context, beside, read.weight) if read.context else None
    found = await find_hits(run.app, options, read.text, vector, entities, where, most, context)
    return Found(found.hits, found.confidence, (*failed, *found.warnings))


async def _find_hits(
    run: Run, text: str, where: Filter, k: int, context: Context | None = None
) -> list[Hit]:
    vector = await run.app.embedder.query(text)
    names = extract_search_names(text)
    return (await find_hits(run.app, run.options, text, vector, names, where, k, context)).hits


def _interleave_hits(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """The best of each list, then the second ones, each hit once."""
    turns = (hit for row in zip_longest(*lists) for hit in row if hit is not None)
    return list({hit.chunk_id: hit for hit in turns}.values())


async def search_parts(run: Run, question: str, vector: Vector | None) -> list[list[Hit]]:
    """One search for each part of a question that asks several things, beside the others as a
    follow-up beside the question before it; none for a part that leans on them, or where one cannot
    be embedded.
    """
    whole, most = Context(question, vector, STANDING), get_hit_limit(run)
    parts = [part for part in split_question(question) if not is_follow_up(part)]
    try:
        return [await _find_hits(run, part, run.where, most, whole) for part in parts]
    except CitewellError:
        return []  # the whole question was searched by words, which hold those of the parts


def merge_found(whole: Found, parts: Sequence[Sequence[Hit]]) -> Found:
    """All searches' hits in turn, each once, as many as the whole question's; its confidence."""
    hits = _interleave_hits([*parts, whole.hits]) if parts else list(whole.hits)
    return Found(hits[: max(len(whole.hits), 2 * len(parts))], whole.confidence, whole.warnings)


def get_hit_limit(run: Run) -> int:
    """How many chunks a search shall find for this question's tier."""
    return HITS_CONNECTED if is_connected(run.meter) else HITS


def get_judge(run: Run) -> Judge | None:
    """Who judges this question's answer; calls of the chat model count as the question's own."""
    return build_judge(run.meter, run.app.reader, run.app.judge_llm)


async def widen_hits(app: App, hits: Sequence[Hit], budget: int) -> list[Hit]:
    """For a model with room: the best documents whole if short, and the other hits' context."""
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

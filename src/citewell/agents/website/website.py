"""The `website` agent of spec 002: read the start pages together, then answer, or follow the links
that promise most. What a page says is evidence and never an instruction. It can make links of its
own stand out, as any page can; where they may lead was decided before, they are weighed against the
question, and a grade says whether the answer is there.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Literal

from citewell.agents.website import website_links
from citewell.agents.website.website_end import (
    find_stale_pages,
    finish_run,
    get_end_reason,
    get_stop_reason,
    prove_draft,
    try_draft,
)
from citewell.agents.website.website_links import (
    STRONG,
    build_open_check,
    choose_pages,
    learn_page_worth,
    rank_by_meaning,
    rank_by_words,
    record_page,
)
from citewell.agents.website.website_state import Deps, SitePage, WebsiteState
from citewell.errors import ModelUnavailable
from citewell.fetch.urls import canonicalize_url, get_url_identity
from citewell.graph import END, Graph, emit, node, record_detail
from citewell.messages import Text
from citewell.retrieve.frontier import Promise
from citewell.skills.dialogue.follow_up import word_follow_up
from citewell.skills.dialogue.intent import RULES as INTENTS
from citewell.skills.dialogue.intent import classify_intent
from citewell.skills.dialogue.reference import build_readings
from citewell.skills.dialogue.validate import find_question_error
from citewell.skills.evidence.passages import describe_hit, select_passages
from citewell.text.entities import extract_search_names
from citewell.text.normalize import normalize_text
from citewell.text.sentences import detect_language
from citewell.types import Event, Hit

SHOWN = 10  # links that a step of the trace tells of
# Under this calibrated confidence the model is not asked whether the answer is there, as long as
# there is a link to follow.
HOPELESS = 0.05
# unless a passage holds so much of the question: of a few passages the confidence is too low
COVERED = 0.6
GREETING = dict(INTENTS)["smalltalk"]


@node("CrawlAndExtract")
async def crawl_and_extract(state: WebsiteState, deps: Deps) -> Literal["decide"]:
    """Fetch a batch of pages at the same time, and take in their text and their links."""
    if not state.standalone:
        await _understand_question(state, deps)
    await deps.site.open()
    if not state.visited_urls and state.intent != "smalltalk":
        await _start_run(state, deps)
    urls = state.addresses(state.urls_to_process)
    problems, looked_at = [], []
    async for page in deps.site.crawl(urls):
        record_page(state, deps, page)
        looked_at.append({"url": page.url, "title": page.title, "how": page.how})
        state.visited_urls.append(state.place(page.url))
        if page.problem:
            problems.append(page.problem)
        emit(Event("progress", _describe_page(state, deps, page)))
    state.warnings += [problem for problem in problems if problem not in state.warnings]
    state.urls_to_process = []
    record_detail(
        read=len(urls) - len(problems), failed=problems, iteration=state.current_iteration
    )
    record_detail(pages=sorted(looked_at, key=lambda page: page["url"]))  # they come in any order
    return "decide"


async def _understand_question(state: WebsiteState, deps: Deps) -> None:
    """The question in full words, and how it is searched. Raises InvalidInput."""
    state.user_question = normalize_text(state.user_question)
    if found := find_question_error(
        state.user_question, deps.thresholds.question_max_chars, deps.sensitive
    ):
        raise found[1]
    question, history = state.user_question, state.conversation_history
    state.lang, state.read = detect_language(question), build_readings(question, history)
    state.intent = (await classify_intent(question, deps.embedder)).label
    if state.intent == "smalltalk" and not GREETING.search(question):
        # near a greeting by example only, as "contact" and "How does it work?" are
        state.intent = "fact"
    state.standalone = state.read.text
    try:
        state.follow_up = await word_follow_up(question, history, deps.embedder)
    except ModelUnavailable:
        state.follow_up = None  # it is read as it is searched, and the search warns
    record_detail(standalone=state.standalone, intent=state.intent)


async def _start_run(state: WebsiteState, deps: Deps) -> None:
    """What was read before counts as read; then the start pages, each once."""
    for page in deps.site.pages.values():
        record_page(state, deps, page)
    state.found = await deps.site.recall_answers(state.standalone)
    before = [page for page in deps.site.pages.values() if page.uri in state.found and page.stale]
    starts = {
        get_url_identity(url): url
        for url in reversed([canonicalize_url(url) for url in state.start_urls])
    }
    urls = list(reversed(starts.values()))
    for url in urls[deps.settings.max_pages :]:
        state.warnings.append(
            Text(
                "{url}: not read, because no more pages than {max_pages} are allowed",
                url=url,
                max_pages=deps.settings.max_pages,
            )
        )
    for url in urls[: deps.settings.max_pages]:
        place = state.place(url)
        state.depths[place] = 0
        state.reasons[place] = Text("a start page")
        state.urls_to_process.append(place)
    left = min(
        deps.settings.max_pages - len(urls),
        deps.settings.max_iterations * deps.settings.max_urls_per_iteration,
    )
    for page in before[: max(0, min(left, deps.settings.max_urls_per_iteration - len(urls)))]:
        place = state.place(page.url)
        if place not in state.urls_to_process:
            state.reasons[place] = Text(
                "it answered such a question before, but was read some time ago"
            )
            state.urls_to_process.append(place)


def _describe_page(state: WebsiteState, deps: Deps, page: SitePage) -> dict[str, Any]:
    """What is told of a page while the run goes on."""
    place = state.place(page.url)
    return {
        "kind": "page",
        "url": page.url,
        "doc_id": page.doc_id,
        "title": page.title,
        "how": page.how,
        "problem": page.problem,
        "code": page.code,
        "why": state.reasons.get(place, ""),
        "source": state.sources.get(place, ""),
        "iteration": state.current_iteration,
        "pages": len(state.visited_urls),
        "links": sum(map(build_open_check(state, deps), state.all_discovered_urls)),
    }


@node("AgentDecision")
async def agent_decision(state: WebsiteState, deps: Deps) -> Literal["answer", "explore"]:
    """Is the answer in what was read? If not, which pages come next, within the limits."""
    await deps.site.open()
    if state.intent == "smalltalk" or not any(page.doc_id for page in deps.site.pages.values()):
        state.stop_reason = "" if state.intent == "smalltalk" else "unreachable"
        return "answer"
    await _search_site(state, deps)
    if not (ended := get_end_reason(state, deps)):
        if again := find_stale_pages(state, deps):
            return _explore_pages(state, again)
        # a link whose words are those of the question, while nothing read is half as near: that
        # page first
        quick = await rank_by_words(state, deps)
        if (
            quick
            and quick[0].score >= max(STRONG, state.retrieval_confidence)
            and (following := choose_pages(state, deps, quick))
        ):
            return _follow_links(state, following)
    unlikely = (
        state.retrieval_confidence < HOPELESS and _get_top_coverage(state) < COVERED and not ended
    )
    if not unlikely and await try_draft(state, deps) and (ended or state.told == "whole"):
        return "answer"
    found = [] if (ended := get_end_reason(state, deps)) else await rank_by_meaning(state, deps)
    state.named |= any(promise.names for promise in found)
    stranger = website_links.is_off_topic(state, deps, found) and not ended
    record_detail(
        links=[{"url": p.url, "score": p.score, "why": p.why} for p in found[:SHOWN]],
        nothing_near=stranger,
    )
    if not stranger and (following := choose_pages(state, deps, found)):
        return _follow_links(state, following)
    if await try_draft(state, deps):  # nothing more to follow, so a part of the answer will do
        return "answer"
    state.stop_reason = (
        state.stop_reason or ended or get_stop_reason(state, deps, found, stranger=stranger)
    )
    return "answer"


async def _search_site(state: WebsiteState, deps: Deps) -> None:
    found = await deps.site.search(state.read, extract_search_names(state.standalone))
    state.warnings += [warning for warning in found.warnings if warning not in state.warnings]
    state.documents, state.retrieval_confidence = (
        _limit_hits(found.hits, deps.settings.content_max_chars),
        found.confidence,
    )
    state.passages = await select_passages(
        state.standalone, state.documents, deps.llm, deps.search.widen
    )
    by_page: defaultdict[str, list[Hit]] = defaultdict(list)
    for hit in found.hits:
        by_page[hit.doc_id].append(hit)
    learn_page_worth(
        state,
        deps,
        {doc_id: deps.search.rate(state.read.text, hits) for doc_id, hits in by_page.items()},
    )
    record_detail(
        confidence=found.confidence,
        evidence=[describe_hit(hit, state.user_question) for hit in state.documents],
    )


def _limit_hits(hits: list[Hit], most: int) -> list[Hit]:
    """As many passages of each page as `most` characters hold, the best ones; one at least."""
    kept, used = [], defaultdict[str, int](int)
    for hit in hits:
        if not used[hit.doc_id] or used[hit.doc_id] + len(hit.text) <= most:
            used[hit.doc_id] += len(hit.text)
            kept.append(hit)
    return kept


def _format_reason(promise: Promise) -> str:
    """Why a page is read, in words."""
    link = promise.mention.link
    where = promise.mention.source
    if link.text:
        where = Text("“{link}” on {page}", link=link.text[:60], page=where)
    return Text("{why} ({where})", why=promise.why, where=where)


def _follow_links(state: WebsiteState, found: list[Promise]) -> Literal["explore"]:
    state.sources |= {state.place(promise.url): promise.mention.source for promise in found}
    return _explore_pages(state, {promise.url: _format_reason(promise) for promise in found})


def _explore_pages(state: WebsiteState, urls: dict[str, str]) -> Literal["explore"]:
    state.urls_to_process = [state.place(url) for url in urls]
    state.reasons |= {state.place(url): why for url, why in urls.items()}
    state.current_iteration += 1
    record_detail(explore=urls)
    return "explore"


def _get_top_coverage(state: WebsiteState) -> float:
    return max((hit.signals.get("coverage", 0.0) for hit in state.documents), default=0.0)


@node("DraftAnswer")
async def draft_answer_node(state: WebsiteState, deps: Deps) -> Literal["end"]:
    """Judge the draft and show it, or say that the site does not tell, or is not about it."""
    await deps.site.open()
    await finish_run(state, deps, await prove_draft(state, deps))
    for citation in state.proof.citations:
        emit(Event("citation", citation))
    if state.status == "answered":
        await deps.site.note_answer(
            state.standalone, [citation.doc_id for citation in state.proof.citations]
        )
    return "end"


GRAPH: Graph[WebsiteState] = Graph(
    "website",
    {
        crawl_and_extract: {"decide": agent_decision},
        agent_decision: {"answer": draft_answer_node, "explore": crawl_and_extract},
        draft_answer_node: {"end": END},
    },
    step_limit=120,  # 50 rounds are the most that settings allow
)

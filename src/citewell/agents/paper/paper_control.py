"""The controller's first task: the question in full words, and the section agents that it goes to.
This is the only place that sees the conversation. What goes on from here is the clarified question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, Field

from citewell.agents.paper.paper_ask import Deps, PaperState
from citewell.agents.paper.paper_state import SECTION_AGENTS, RoutePackage
from citewell.errors import BudgetSpent, CitewellError
from citewell.graph import record_detail
from citewell.ingest.paper.shape import Part, Role
from citewell.messages import Text
from citewell.models.base import LLM, is_connected
from citewell.models.prompt import LONGEST_TURN, ask_json, fill_prompt, load_prompt
from citewell.skills.dialogue.intent import RULES as INTENTS
from citewell.skills.dialogue.reference import (
    Readings,
    build_readings,
    is_follow_up,
    join_earlier_questions,
)
from citewell.skills.dialogue.validate import find_question_error
from citewell.skills.evidence.passages import describe_hit
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.references import PaperTargets, find_paper_targets
from citewell.text.entities import extract_search_names
from citewell.text.normalize import normalize_text
from citewell.text.sentences import detect_language
from citewell.types import Hit, Message

FIGURES = "figures_and_references"
# How far behind the best section's best passage another section's may lie and still be asked too,
# in the units of a search's score. On 105 questions over 15 papers of QASPER (none of them in the
# evaluation) two sections so chosen hold 0.69 of the answers; with words of the question that name
# a section's matter counted too 0.70, the eight best passages of the whole paper 0.70.
NEAR = 3.0
# read where they are named: a title in a list of references proves nothing
_NO_ANSWER = ("front", "references")
LONGEST_CAPTION = 120  # characters that the controller is sent of one
_ENDED = re.compile(r"\s*[?？;；]\s*(?=\S)")
# how an edit of the route stands in the history: nothing that a question leans on
_EDIT = re.compile(r"\[(?:route|路线)\]")
# what a question means by these is the paper at hand, not what was said before
_THIS = re.compile(
    r"\b(?:this|the) (?:paper|method|model|approach|work|study|article|system|framework)\b"
    r"|这篇(?:论文|文章)|本文|该(?:方法|模型|论文)|这种方法|这个(?:方法|模型)",
    re.IGNORECASE,
)


class Routed(BaseModel):
    """What a connected model says as the controller."""

    clarified_question: str = Field(min_length=1, max_length=1_000)
    sections: list[str] = Field(max_length=len(SECTION_AGENTS))


async def control_route(state: PaperState, deps: Deps) -> str:
    """Rewrite and route. Raises InvalidInput. The way on: the agents' names, or `smalltalk`."""
    state.question = normalize_text(state.question)
    if found := find_question_error(
        state.question, deps.thresholds.question_max_chars, deps.sensitive
    ):
        raise found[1]
    state.lang = detect_language(state.question)
    state.intent = next((label for label, pattern in INTENTS if pattern.search(state.question)), "")
    state.clarified_question = state.question
    if state.intent == "smalltalk":
        return "smalltalk"
    package = RoutePackage(state.question, tuple(state.chat_history), build_outline(deps.book))
    chosen = await _clarify_question(package, state, deps)
    await _search_paper(state, deps)
    state.agents = choose_agents(state, deps, chosen)
    record_detail(
        received={
            "question": package.question,
            "chat_history": [message.model_dump() for message in package.chat_history],
            "outline": list(package.outline),
        },
        clarified_question=state.clarified_question,
        agents=state.agents,
        hits=[describe_hit(hit, state.question) for hit in state.hits[:6]],
    )
    return "+".join(state.agents) or "nothing"


def build_outline(book: OpenPaper) -> tuple[str, ...]:
    """The paper's sections, and its figures and tables, each with the agent that reads it."""
    named, text = [part for part in book.paper.parts if part.heading], book.document.text
    parts = [f"{' › '.join(part.heading_path)} ({get_agent(part.role)})" for part in named]
    captions = [" ".join(text[each.start : each.end].split()) for each in book.paper.floats]
    return (*parts, *(f"{caption[:LONGEST_CAPTION]} ({FIGURES})" for caption in captions))


def get_agent(role: Role) -> str:
    """The section agent that reads parts of this role."""
    return next(agent for agent, roles in SECTION_AGENTS.items() if role in roles)


async def _clarify_question(package: RoutePackage, state: PaperState, deps: Deps) -> list[str]:
    """Set the clarified question; with a connected model, the agents that it chose."""
    question = package.question
    history = [each for each in package.chat_history if not _EDIT.match(each.content)]
    alone = _THIS.sub(lambda found: "paper" if found[0].isascii() else "论文", question)
    leans = bool(history) and is_follow_up(alone, history)
    state.read = build_readings(question, history) if leans else Readings(question)
    if deps.llm is None or not is_connected(deps.llm):
        # one question: what was asked before is no part of it that wants an answer of its own
        state.clarified_question = _ENDED.sub(" — ", state.read.text) if leans else question
        return []
    try:
        routed = await _request_route(deps.llm, package)
        state.clarified_question = normalize_text(routed.clarified_question) or question
        return [name for name in routed.sections if name in SECTION_AGENTS]
    except BudgetSpent as error:
        state.stop_reason = error.code
    except CitewellError as error:
        state.degraded = True
        state.warnings.append(
            Text("the chat model did not answer: {message}", message=error.message)
        )
        state.clarified_question = join_earlier_questions(question, history)
    return []


async def _request_route(llm: LLM, package: RoutePackage) -> Routed:
    said = "\n".join(
        f"{'Reader' if m.role == 'user' else 'Guide'}: {m.content[:LONGEST_TURN]}"
        for m in package.chat_history
    )
    messages = fill_prompt(
        load_prompt(f"agents/prompts/paper/route.{detect_language(package.question)}.md"),
        agents=", ".join(SECTION_AGENTS),
        outline="\n".join(package.outline) or "-",
        history=said or "-",
        question=package.question,
    )
    return await ask_json(llm, messages, Routed)


async def _search_paper(state: PaperState, deps: Deps) -> None:
    """Passages of the whole paper for the clarified question, and what it names."""
    state.pointed = find_paper_targets(state.clarified_question, deps.book)
    read = state.read
    if state.clarified_question not in {state.question, read.text, _ENDED.sub(" — ", read.text)}:
        read = build_readings(
            state.clarified_question, [Message(role="user", content=state.question)]
        )
    found = await deps.search.find_by("", read, extract_search_names(state.clarified_question))
    state.hits = _drop_headings(found.hits)
    state.retrieval_confidence = found.confidence
    state.warnings += [warning for warning in found.warnings if warning not in state.warnings]


async def search_further(state: PaperState, deps: Deps, wanted: str) -> list[Hit]:
    """Passages for the clarified question and other words of what is missing, where any are."""
    if not wanted:
        return state.hits
    names = extract_search_names(f"{state.clarified_question} {wanted}")
    found = await deps.search.find_by("", Readings(wanted, state.clarified_question, 1.0), names)
    return _drop_headings(found.hits)


def _drop_headings(hits: Sequence[Hit]) -> list[Hit]:
    """Without those that are a heading alone, which says nothing."""
    return [hit for hit in hits if hit.text.strip() not in hit.heading_path]


def choose_agents(state: PaperState, deps: Deps, chosen: Sequence[str]) -> list[str]:
    """The section agents to ask, best first: what the question names, what a model chose, where the
    best passages stand. Those that only quote cost next to nothing, so all of them are asked.
    """
    if state.selection is not None:
        # of one that runs over the border of two parts, where most of it stands
        start, end = state.selection
        part = max(
            deps.book.paper.parts, key=lambda part: min(part.end, end) - max(part.start, start)
        )
        return [get_agent(part.role)]
    named = find_named_agents(state.pointed, deps.book)
    found = rank_agents(state.hits, deps.book)
    there = {get_agent(part.role) for part in deps.book.paper.parts} | {FIGURES}
    order = [*named, *(agent for agent in chosen if agent in there)]
    order += [] if chosen or named else found
    most = deps.settings.most_agents if is_connected(deps.llm) else len(SECTION_AGENTS)
    return list(dict.fromkeys(order))[:most]


def rank_agents(hits: Sequence[Hit], book: OpenPaper) -> list[str]:
    """The section agents whose best passage is nearly as good as the best of all, best first."""
    best: dict[str, float] = {}
    for hit in hits:
        for part in book.paper.parts:
            if part.start < hit.end and hit.start < part.end and part.role not in _NO_ANSWER:
                best.setdefault(get_agent(part.role), hit.score)
    least = max(best.values(), default=0.0) - NEAR
    return [agent for agent, score in best.items() if score >= least]


def is_on_pages(part: Part, pages: Sequence[int]) -> bool:
    """Whether any of it stands on one of these pages."""
    return any(part.first_page <= page <= part.last_page for page in pages)


def find_named_agents(named: PaperTargets, book: OpenPaper) -> list[str]:
    """Whose parts the question names."""
    agents = [FIGURES] if named.floats or named.references else []
    places = [book.paper.equations[i].start for i in named.equations]
    places += [book.paper.parts[i].start for i in named.parts]
    if not places and not agents:  # of a page, those whose parts stand on it
        places = [part.start for part in book.paper.parts if is_on_pages(part, named.pages)]
    parts = (book.paper.get_part_at(place) for place in places)
    agents += [get_agent(part.role) for part in parts if part is not None]
    return list(dict.fromkeys(agents))

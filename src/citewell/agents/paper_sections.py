"""The section agents: each drafts from its own part of the paper. The one rule: `SectionPackage` is all that one is sent.

Which sentences of its part an agent gets is decided here, by search and structure, before it is asked.
"""

from __future__ import annotations

from dataclasses import replace

from citewell.agents.paper_ask import Deps, PaperState, SectionDraft
from citewell.agents.paper_control import FIGURES, stands_on
from citewell.agents.paper_state import SECTION_AGENTS, SectionPackage
from citewell.flow import note
from citewell.ingest.paper import Role
from citewell.models.base import LLM, Embedder
from citewell.retrieve.rank import coverage
from citewell.skills.answer import tidy, together
from citewell.skills.cite import figures, split_claims
from citewell.skills.draft import Manner, grade_evidence, word
from citewell.skills.evidence import EXTRACTIVE_TOKENS, Passage
from citewell.skills.grade import GATE_THRESHOLD
from citewell.skills.intent import WIDE
from citewell.skills.paper_chunk import chunk_of, section_chunk
from citewell.skills.paper_chunk_selection import selection_chunk
from citewell.skills.pointed import Pointed
from citewell.skills.quotation import quotation, wants_quotation
from citewell.skills.reading import OpenPaper

SAME = 0.8  # share of a sentence's words, and all of its figures, that another draft has said already


def packages(state: PaperState, deps: Deps) -> dict[str, SectionPackage]:
    """What each chosen agent is sent: its part of the evidence, cut to what one prompt may carry."""
    budget = deps.llm.evidence_tokens if deps.llm else EXTRACTIVE_TOKENS
    sent = {
        agent: SectionPackage(tuple(_chunk(agent, state, deps, budget)), state.clarified_question) for agent in state.agents
    }
    return {agent: package for agent, package in sent.items() if package.document_chunk}


def _chunk(agent: str, state: PaperState, deps: Deps, budget: int) -> list[Passage]:
    question, book = state.clarified_question, deps.book
    if state.selection is not None:
        return selection_chunk(state.selection, book, budget)
    own = of_agent(state.pointed, agent, book)
    named = chunk_of(own, book, question, budget) if own else []
    if named and agent == FIGURES:
        return named
    # the title and the authors are facts of the structure, and answer nothing else
    roles = [role for role in SECTION_AGENTS[agent] if role != "front"]
    found = section_chunk(state.hits, roles, book, question, budget // 2 if named else budget)
    return [replace(passage, n=n) for n, passage in enumerate([*named, *found], start=1)]


def enough(draft: SectionDraft, state: PaperState, llm: LLM | None) -> bool:
    """Whether the agents behind this one need not be asked: for a small model each is dear, and one that knows is enough,
    unless the question is of a kind whose answer may be spread over the paper. A model with room chose the agents itself.
    """
    small = llm is None or llm.evidence_tokens <= EXTRACTIVE_TOKENS
    return small and draft.generation != "unknown" and state.intent not in WIDE


def of_agent(points: Pointed, agent: str, book: OpenPaper) -> Pointed:
    """Of what a question names, what lies in the parts that this agent reads."""
    paper, roles = book.paper, SECTION_AGENTS[agent]
    parts = tuple(i for i in points.parts if paper.parts[i].role in roles)
    if points.pages and not points.parts:
        parts = tuple(i for i, part in enumerate(paper.parts) if part.role in roles and stands_on(part, points.pages))
    figures = agent == FIGURES
    return replace(
        points,
        floats=points.floats if figures else (),
        references=points.references if figures else (),
        equations=tuple(i for i in points.equations if _role(paper.equations[i].start, book) in roles),
        parts=parts,
        pages=points.pages if parts else (),
    )


def _role(at: int, book: OpenPaper) -> Role | None:
    part = book.paper.part_at(at)
    return part.role if part else None


def manner_of(state: PaperState) -> Manner:
    """How long an answer is wanted."""
    if state.selection is not None:
        return "explain"
    return "wide" if state.intent in WIDE | {"procedure", "reason"} else "short"


async def section_agent(
    agent: str, package: SectionPackage, llm: LLM | None, embedder: Embedder, threshold: float, manner: Manner
) -> SectionDraft:
    """Draft from the package alone; a draft that says nothing where its part does not tell."""
    mine = SectionDraft(agent, package.clarified_question, list(package.document_chunk))
    note(
        received={
            "clarified_question": package.clarified_question,
            "document_chunk": [{"section": p.heading, "page": p.hit.page, "text": p.text} for p in package.document_chunk],
        }
    )
    quoted = wants_quotation(package.clarified_question)
    if quoted or (llm is None and agent == FIGURES):  # of a table the row that serves, not the first lines
        mine.response = await quotation(mine.standalone, mine.passages, embedder)
        mine.generation = "quoted" if quoted else "extracted"
        return mine
    if manner != "explain":
        odds = await grade_evidence(mine, llm)
        if odds is not None and odds < GATE_THRESHOLD:
            mine.generation = "unknown"
            return mine
    await word(mine, llm, embedder, threshold, manner=manner)
    return mine


def merged(drafts: list[SectionDraft]) -> str:
    """The drafts as one, in the order of the agents; what another has said already is said once."""
    said: list[str] = []
    for draft in drafts:
        for claim in split_claims(tidy(draft.response)) if draft.generation != "unknown" else []:
            if not any(_says(other, claim) for other in said):
                said.append(claim)
    return together(said)


def _says(other: str, claim: str) -> bool:
    return coverage(claim, [other])[0] >= SAME and figures(claim) <= figures(other)

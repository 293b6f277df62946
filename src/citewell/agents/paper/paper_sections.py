"""The section agents: each drafts from its own part of the paper. `SectionPackage` is all that one
is sent.

Which sentences of its part an agent gets is decided here, by search and structure, before it is
asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from citewell.agents.paper.paper_ask import Deps, PaperState, SectionDraft
from citewell.agents.paper.paper_control import FIGURES, is_on_pages
from citewell.agents.paper.paper_state import SECTION_AGENTS, SectionPackage
from citewell.graph import record_detail
from citewell.ingest.paper.shape import Role
from citewell.messages import Text
from citewell.models.base import is_connected
from citewell.models.prompt import load_prompt
from citewell.skills.answer.answering import Drafted, Means, draft_answer
from citewell.skills.answer.decision import get_tier
from citewell.skills.answer.draft import Draft, DraftSentence, DraftStatus
from citewell.skills.answer.rank_sentences import pick_best
from citewell.skills.evidence.numbered import number_sentences, pick_units
from citewell.skills.evidence.passages import Passage
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.references import PaperTargets
from citewell.skills.paper.section_evidence import build_section_passages, build_target_passages
from citewell.skills.paper.section_text import (
    build_best_text,
    build_section_text,
    build_whole_paper,
)
from citewell.skills.paper.selection_evidence import build_selection_passages
from citewell.text.sentences import detect_language
from citewell.types import Hit

INTRODUCTION = "introduction"  # the agent that reads the front of the paper
EXPLAINING = 3  # sentences that stand in for an explanation
QUOTED = 10  # sentences that are quoted at most where no connected model writes
Reading = Literal["parts", "whole", "selection"]
WISHES: dict[Reading, str] = {"parts": "", "whole": "whole", "selection": "explain"}  # prompts
READ_TOKENS = 2_000  # of its part that the reader looks at for an agent


def build_packages(state: PaperState, deps: Deps) -> dict[str, SectionPackage]:
    """What each chosen agent is sent: its part of the evidence, cut to what a prompt may carry. A
    paper that a connected model has room for goes whole to the first.
    """
    connected = deps.llm if deps.llm and is_connected(deps.llm) else None
    budget = connected.evidence_tokens if connected else READ_TOKENS
    chunks: dict[str, list[Passage]] = {}
    if connected and state.selection is None and state.agents:
        chunks = {state.agents[0]: build_whole_paper(deps.book, budget)}
    state.whole = any(chunks.values())
    if not state.whole:
        build = _read_sections if connected and state.selection is None else _quote_sections
        chunks = {agent: build(agent, state, deps, budget) for agent in state.agents}
    chunks = {agent: chunk for agent, chunk in chunks.items() if chunk}
    if connected and state.selection is None and chunks and not state.whole:
        reader = INTRODUCTION if INTRODUCTION in chunks else next(iter(chunks))
        chunks[reader] += _build_title_passage(deps.book, len(chunks[reader]) + 1)
    question = state.clarified_question
    return {agent: SectionPackage(tuple(chunk), question) for agent, chunk in chunks.items()}


def build_further_package(state: PaperState, deps: Deps, hits: Sequence[Hit]) -> SectionPackage:
    """What the drafts so far rest on, and what a search of the whole paper found for the rest."""
    assert deps.llm is not None, "only a connected model reads on"
    budget = deps.llm.evidence_tokens
    named = [
        (unit.start, unit.end)
        for each in state.drafts
        for sentence in each.drafted.draft.sentences
        for unit in pick_units(sentence.evidence, each.drafted.units)
    ]
    pointed = build_target_passages(state.pointed, deps.book, state.clarified_question, budget // 2)
    named += [span for passage in pointed for span in passage.spans]
    chunk = build_best_text(deps.book, named, hits, budget)
    return SectionPackage(tuple(chunk), state.clarified_question)


def _build_title_passage(book: OpenPaper, n: int) -> list[Passage]:
    """The paper's title and authors, for a question that asks for them among other things."""
    spans = sorted(span for span in (book.paper.title_span, book.paper.authors_span) if span)
    return [book.passage(n, spans)] if spans else []


def _read_sections(agent: str, state: PaperState, deps: Deps, budget: int) -> list[Passage]:
    """Its parts as they stand, for a connected model."""
    named, roles = _collect_named(agent, state, deps.book, budget)
    first = [span for passage in named for span in passage.spans]
    if not roles:
        return named
    question = state.clarified_question
    return build_section_text(roles, deps.book, question, first, state.hits, budget)


def _collect_named(
    agent: str, state: PaperState, book: OpenPaper, budget: int
) -> tuple[list[Passage], list[Role]]:
    """What the question names of an agent's part, and the roles of what it reads besides; none
    beside a figure or an entry that is named.
    """
    own = filter_for_agent(state.pointed, agent, book)
    named = build_target_passages(own, book, state.clarified_question, budget) if own else []
    if named and agent == FIGURES:
        return named, []
    # the title and the authors are facts of the structure
    return named, [role for role in SECTION_AGENTS[agent] if role != "front"]


def _quote_sections(agent: str, state: PaperState, deps: Deps, budget: int) -> list[Passage]:
    """What the search found of its parts, for the reader; or what was marked."""
    question, book = state.clarified_question, deps.book
    if state.selection is not None:
        return build_selection_passages(state.selection, book, budget)
    named, roles = _collect_named(agent, state, book, budget)
    room = budget // 2 if named else budget
    found = build_section_passages(state.hits, roles, book, question, room) if roles else []
    return [replace(passage, n=n) for n, passage in enumerate([*named, *found], start=1)]


def filter_for_agent(points: PaperTargets, agent: str, book: OpenPaper) -> PaperTargets:
    """Of what a question names, what lies in the parts that this agent reads."""
    paper, roles = book.paper, SECTION_AGENTS[agent]
    parts = tuple(i for i in points.parts if paper.parts[i].role in roles)
    if points.pages and not points.parts:
        own = (i for i, part in enumerate(paper.parts) if part.role in roles)
        parts = tuple(i for i in own if is_on_pages(paper.parts[i], points.pages))
    figures = agent == FIGURES
    holders = {i: paper.get_part_at(paper.equations[i].start) for i in points.equations}
    return replace(
        points,
        floats=points.floats if figures else (),
        references=points.references if figures else (),
        equations=tuple(i for i, part in holders.items() if part and part.role in roles),
        parts=parts,
        pages=points.pages if parts else (),
    )


def is_final_draft(draft: SectionDraft) -> bool:
    """Whether no other agent need be asked: a connected model finds all told, or that what the
    question takes for granted is denied.
    """
    drafted = draft.drafted
    return drafted.draft.status == "false_premise" or (
        drafted.tier == "connected" and drafted.draft.status == "answered"
    )


async def run_section_agent(
    agent: str, package: SectionPackage, means: Means, reading: Reading = "parts"
) -> SectionDraft:
    """Draft from the package alone, or `unknown`. `reading`: what the package holds."""
    record_detail(
        received={
            "clarified_question": package.clarified_question,
            "document_chunk": [
                {"section": p.heading, "page": p.hit.page, "text": p.text}
                for p in package.document_chunk
            ],
        }
    )
    if reading == "selection" and not is_connected(means.llm):
        drafted = _quote_selection(package, means)
    else:
        drafted = await draft_answer(
            means,
            package.clarified_question,
            package.document_chunk,
            wanted=_load_wish(reading, package.clarified_question),
            most=QUOTED,
        )
    return SectionDraft(
        agent, drafted, "unknown" if drafted.draft.status == "not_told" else "drafted"
    )


def _load_wish(reading: Reading, question: str) -> str:
    """What else the answer shall be like: an explanation of what was marked, or a no to whether a
    paper that was read whole does what it nowhere speaks of.
    """
    name, lang = WISHES[reading], detect_language(question)
    return load_prompt(f"agents/prompts/paper/{name}.{lang}.md")[0].content if name else ""


def _quote_selection(package: SectionPackage, means: Means) -> Drafted:
    """Without a connected model: the paper's own sentences on the selection's terms, or on it."""
    passages = list(package.document_chunk)
    units = number_sentences(passages[1:] or passages)[:EXPLAINING]
    sentences = [DraftSentence(text=unit.text, evidence=[unit.id]) for unit in units]
    draft, tier = Draft(status="answered", sentences=sentences), get_tier(None, means.reader)
    warning = Text(
        "these are the paper's own sentences on it: explaining it takes a connected chat model"
    )
    return Drafted(package.clarified_question, passages, draft, tier, warning=warning)


def merge_drafts(question: str, drafts: list[SectionDraft]) -> Drafted | None:
    """The section agents' drafts as one over all their passages; of drafts that quote only, their
    best sentences, and what the reader is surest of. None where no agent found anything.
    """
    told = [each.drafted for each in drafts if each.generation != "unknown"] or [
        each.drafted for each in drafts[:1]
    ]
    # one that asks back adds nothing to what others tell
    told = [each for each in told if each.draft.sentences] or told[:1]
    if len(told) < 2:
        return replace(told[0], question=question) if told else None
    quoted = [each for each in told if each.tier != "connected"]
    # where the model failed meanwhile, nothing is left that could prove what it wrote before
    told = sorted(quoted, key=lambda each: -each.reading.get("answerable", 0.0)) or told
    passages: list[Passage] = []
    written: list[list[DraftSentence]] = []
    for each in told:
        at = {passage.n: n for n, passage in enumerate(each.passages, start=len(passages) + 1)}
        passages += [replace(passage, n=at[passage.n]) for passage in each.passages]
        written.append([_renumber_evidence(s, each, at) for s in each.draft.sentences])
    merged = replace(told[0], question=question, passages=passages)
    sentences = [sentence for each in written for sentence in each]
    if quoted:  # the best of what several agents quote
        scores = [score for each in told for score in each.scores]
        best, _ = pick_best(list(zip(sentences, scores, strict=True)), QUOTED)
        return replace(merged, draft=Draft(status="answered", sentences=_merge_duplicates(best)))
    found = _merge_duplicates([s for s in sentences if s.kind != "not_told"])
    untold = _collect_untold(written)
    answered = any(each.draft.status in {"answered", "partly"} for each in told)
    status: DraftStatus = "answered" if answered else told[0].draft.status
    draft = Draft(status="partly" if untold else status, sentences=[*found, *untold])
    return replace(merged, draft=draft)


def _renumber_evidence(
    sentence: DraftSentence, drafted: Drafted, at: Mapping[int, int]
) -> DraftSentence:
    """The sentence with the ids of the merged draft. `at`: the new number of each passage."""
    units = pick_units(sentence.evidence, drafted.units)
    ids = [f"{at[u.passage.n]}.{u.id.partition('.')[2]}" for u in units]
    return sentence.model_copy(update={"evidence": ids})


def _merge_duplicates(sentences: Sequence[DraftSentence]) -> list[DraftSentence]:
    """Each sentence once, with the evidence of all that say it in the same words."""
    kept: dict[str, DraftSentence] = {}
    for sentence in sentences:
        words = " ".join(sentence.text.split()).casefold().rstrip(" .。")
        first = kept.setdefault(words, sentence)
        ids = dict.fromkeys([*first.evidence, *sentence.evidence])
        kept[words] = first.model_copy(update={"evidence": list(ids)})
    return list(kept.values())


def _collect_untold(written: Sequence[Sequence[DraftSentence]]) -> list[DraftSentence]:
    """What is missing: what no part tells is missing in every draft, so the fewest that any names
    hold it, said once. One of them that another part does tell, the audit refutes.
    """
    named = [[s for s in sentences if s.kind == "not_told"] for sentences in written]
    return _merge_duplicates(min(filter(None, named), key=len, default=[]))

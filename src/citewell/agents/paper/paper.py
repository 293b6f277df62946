"""The `paper` agent of spec 003: guide, controller, section agents, audit. No graph: the session's
states are the graph. Who is sent what is decided by types (`paper_state.py`). Only the controller's
first task sees the conversation; a section agent sees its part and the clarified question; the
audit sees the question as asked, the draft and the passages.
"""

from __future__ import annotations

from dataclasses import replace

from citewell.agents.paper.paper_ask import Deps, PaperState
from citewell.agents.paper.paper_control import control_route, search_further
from citewell.agents.paper.paper_end import cite_named_figures, finish_run
from citewell.agents.paper.paper_sections import (
    Reading,
    build_further_package,
    build_packages,
    is_final_draft,
    merge_drafts,
    run_section_agent,
)
from citewell.agents.paper.paper_state import AuditPackage
from citewell.errors import Conflict, NotFound
from citewell.graph import record_detail
from citewell.messages import Text
from citewell.models.base import is_connected
from citewell.skills.answer.answering import Drafted, decide_answer
from citewell.skills.answer.cite import Proof
from citewell.skills.answer.draft import DraftSentence
from citewell.skills.evidence.numbered import Unit
from citewell.skills.paper.paper_facts import answer_from_structure
from citewell.skills.paper.table_calculations import calculate_from_tables
from citewell.skills.proof.judge import Judgement
from citewell.skills.proof.prove import Proven, judge_draft, put_first, repair_draft, show_proof
from citewell.step_runner import Stage

# least share of what is computed from cells that is right, where 29 of 29 questions were (Wilson)
COMPUTED = 0.88


async def answer_question(state: PaperState, deps: Deps, stage: Stage) -> None:
    """From the reader's words to a proved answer, in the state. Raises InvalidInput."""
    async with stage.step("control_route") as taken:
        taken.action = await control_route(state, deps)
    if taken.action == "smalltalk":
        finish_run(state, deps)
        return
    if not await _try_structure(state, deps, stage):
        await _draft_follow_up(state, deps, stage)
        await _audit_draft(state, deps, stage)
    async with stage.step("control_answer") as taken:
        await _locate_citations(state, deps)
        finish_run(state, deps)
        taken.action = state.status


async def _try_structure(state: PaperState, deps: Deps, stage: Stage) -> bool:
    """What the paper's structure answers exactly needs no agent and no audit."""
    if state.selection is not None or state.pointed or state.pointed.missing:
        return False
    # as it was asked too: joined to the question before it, it may not show what it asks
    for question in dict.fromkeys((state.question, state.clarified_question)):
        known = await answer_from_structure(question, deps.book, deps.embedder)
        if known is not None:
            async with stage.step("section_structure") as taken:
                state.agents, state.proof, taken.action = ["structure"], known, "drafted"
                received = {"clarified_question": state.clarified_question}
                record_detail(received=received, draft=known.sentences[0].text)
            return True
    return False


async def _draft_sections(state: PaperState, deps: Deps, stage: Stage) -> None:
    """Each chosen agent drafts; their drafts become one, to the question as it was asked."""
    if state.pointed.missing and not state.pointed:
        return  # it asks for what is not there
    packages = build_packages(state, deps)
    reading: Reading = (
        "whole" if state.whole else "parts" if state.selection is None else "selection"
    )
    for agent, package in packages.items():
        async with stage.step(f"section_{agent}") as taken:
            means = _get_usable_deps(state, deps)
            draft = await run_section_agent(agent, package, means, reading)
            taken.action = draft.generation
        state.drafts.append(draft)
        failure, warning = draft.drafted.failure, draft.drafted.warning
        if failure.startswith("budget"):
            state.stop_reason = state.stop_reason or failure
        state.degraded = state.degraded or bool(failure)
        state.warnings += [warning] if warning and warning not in state.warnings else []
        if is_final_draft(draft):
            state.agents = [each.agent for each in state.drafts]
            state.drafts = [draft]
            break
    state.drafted = merge_drafts(state.question, state.drafts)
    if _is_read_on(state, deps):
        await _read_on(state, deps, stage)


def _is_read_on(state: PaperState, deps: Deps) -> bool:
    """Whether the chosen parts leave open what the rest of the paper may tell."""
    drafted = state.drafted
    return (
        drafted is not None
        and drafted.tier == "connected"
        and drafted.draft.status in {"not_told", "partly"}
        and not state.whole
        and state.selection is None
        and _get_usable_deps(state, deps).llm is not None
    )


async def _read_on(state: PaperState, deps: Deps, stage: Stage) -> None:
    """The first agent drafts once more, over what the drafts rest on and what is found for the
    rest, wherever it stands.
    """
    agent = state.agents[0]
    async with stage.step(f"section_{agent}") as taken:
        wanted = " ".join(each.drafted.draft.search_for for each in state.drafts).strip()
        package = build_further_package(state, deps, await search_further(state, deps, wanted))
        again = await run_section_agent(agent, package, deps)
        taken.action = again.generation
    if again.drafted.tier == "connected" and again.generation != "unknown":
        state.drafts = [again]
        state.drafted = merge_drafts(state.question, state.drafts)


async def _draft_follow_up(state: PaperState, deps: Deps, stage: Stage) -> None:
    """A question that leans on an earlier one is drafted joined to it and, where that is quoted,
    alone too: the surer counts, but not what the conversation was told last.
    """
    await _draft_sections(state, deps, stage)
    joined, drafts, drafted = state.clarified_question, state.drafts, state.drafted
    if joined == state.question or drafted is None or drafted.tier == "connected":
        return
    state.clarified_question, state.drafts = state.question, []
    await _draft_sections(state, deps, stage)
    alone = state.drafted
    if alone is None or (not _repeats_last_answer(drafted, state) and _is_surer(drafted, alone)):
        state.clarified_question, state.drafts, state.drafted = joined, drafts, drafted


def _is_surer(one: Drafted, other: Drafted) -> bool:
    return one.reading.get("answerable", 0.0) >= other.reading.get("answerable", 0.0)


def _repeats_last_answer(drafted: Drafted, state: PaperState) -> bool:
    last = next((m.content for m in reversed(state.chat_history) if m.role == "assistant"), "")
    said = drafted.draft.sentences
    return bool(said) and said[0].text in last  # the best of what is quoted


async def _audit_draft(state: PaperState, deps: Deps, stage: Stage) -> None:
    """The draft judged against the passages; what fails is revised once, and judged again."""
    if state.drafted is None:
        return
    package = AuditPackage(state.question, state.drafted.draft, tuple(state.drafted.passages))
    means = _get_usable_deps(state, deps)
    async with stage.step("control_audit") as taken:
        # what is quoted whole needs none
        judge = means.judge if state.drafted.tier == "connected" else None
        proven = await judge_draft(package.draft, package.question, state.drafted.units, judge)
        taken.action = "passed" if proven.proved else "failed"
        _note_audit(package, proven)
    doubted = not proven.proved and proven.judgements and not proven.failure
    if doubted and means.llm is not None and is_connected(means.llm):
        async with stage.step("control_revise") as taken:
            again = await repair_draft(
                means.llm, means.judge, package.question, state.drafted.units, proven
            )
            state.revised = again is not proven
            taken.action = "revised" if state.revised else "as it was"
            _note_audit(replace(package, draft=again.draft), again)
        proven = again
    state.stop_reason = state.stop_reason or proven.spent
    computed = await _compute_cells(state, deps)
    if computed:  # what is quoted behind it is the best sentence only
        draft = proven.draft.model_copy(update={"sentences": proven.draft.sentences[:1]})
        proven = replace(proven, draft=draft, judgements=proven.judgements[:1])
    state.decided = decide_answer(
        means, state.drafted, put_first(proven, *computed), state.retrieval_confidence
    )
    if computed:  # the reader knows nothing of it
        sure = max(state.decided.probability, COMPUTED)
        state.decided = replace(state.decided, shown=True, probability=sure)
    state.proof = show_proof(state.decided.proven)


async def _compute_cells(state: PaperState, deps: Deps) -> list[tuple[DraftSentence, Judgement]]:
    """Where no connected model computes: what the question wants computed of the rows of a table,
    proved by these rows. One or nothing.
    """
    assert state.drafted is not None, "what is audited was drafted"
    if state.drafted.tier == "connected" or state.selection is not None:
        return []
    found = await calculate_from_tables(
        state.clarified_question, deps.book, state.pointed.floats, deps.embedder, state.pointed.rest
    )
    if found is None:
        return []
    record_detail(computed=found.text)
    spans = enumerate(found.spans, start=1)
    rows = tuple(Unit(f"{n}.1", deps.book.passage(n, [span]), *span) for n, span in spans)
    sentence = DraftSentence(text=found.text, kind=found.kind, calculation=found.equation)
    return [(sentence, Judgement("entailed", 1.0, rows, calculation=found.equation))]


def _note_audit(package: AuditPackage, proven: Proven) -> None:
    """A package and its verdicts as the trace keeps them."""
    received = {
        "question": package.question,
        "draft": package.draft.text,
        "passages": [passage.text for passage in package.passages],
    }
    judged = zip(proven.draft.sentences, proven.judgements, strict=True)
    record_detail(received=received, verdicts=[(s.text, j.verdict, j.reason) for s, j in judged])


def _get_usable_deps(state: PaperState, deps: Deps) -> Deps:
    """The models as long as they work and may be asked."""
    spent = state.degraded or state.stop_reason.startswith("budget")
    return replace(deps, llm=None, judge=None) if spent else deps


async def _locate_citations(state: PaperState, deps: Deps) -> None:
    """Page, section and lines of every quote; nothing where the paper was changed meanwhile."""
    shown, figures = state.proof, cite_named_figures(state, deps.book)
    try:
        state.proof = Proof(shown.sentences, await deps.search.locate(shown.citations))
        state.figures = Proof(figures.sentences, await deps.search.locate(figures.citations))
    except (Conflict, NotFound) as error:
        state.warnings.append(Text("an answer was dropped: {message}", message=error.message))
        state.proof = Proof([], [])

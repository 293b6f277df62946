"""The `paper` agent of spec 003: guide, controller, section agents, audit. No graph: the session's
states are the graph.

The one rule: who is sent what is decided by types (`paper_state.py`). Only the controller's first
task sees the conversation; a section agent sees its part and the clarified question; the audit sees
the question as asked, the draft and the passages.
"""

from __future__ import annotations

from dataclasses import replace

from citewell.agents.paper_ask import Deps, PaperState
from citewell.agents.paper_control import control_route
from citewell.agents.paper_end import finish_run
from citewell.agents.paper_sections import (
    build_packages,
    is_final_draft,
    merge_drafts,
    run_section_agent,
)
from citewell.agents.paper_state import AuditPackage
from citewell.errors import Conflict, NotFound
from citewell.graph import record_detail
from citewell.models.base import is_connected
from citewell.skills.answer.answering import decide_answer
from citewell.skills.answer.cite import Proof
from citewell.skills.paper.structure_answers import answer_from_structure
from citewell.skills.proof.prove import Proven, judge_draft, repair_draft, show_proof
from citewell.step_runner import Stage


async def answer_question(state: PaperState, deps: Deps, stage: Stage) -> None:
    """From the reader's words to a proved answer, in the state. Raises InvalidInput for what cannot
    be asked.
    """
    async with stage.step("control_route") as taken:
        taken.action = await control_route(state, deps)
    if taken.action == "smalltalk":
        finish_run(state, deps)
        return
    if not await _try_structure(state, deps, stage):
        await _draft_sections(state, deps, stage)
        await _audit_draft(state, deps, stage)
    async with stage.step("control_answer") as taken:
        await _locate_citations(state, deps)
        finish_run(state, deps)
        taken.action = state.status


async def _try_structure(state: PaperState, deps: Deps, stage: Stage) -> bool:
    """What the paper's structure answers exactly needs no agent and no audit."""
    # as it was asked too: joined to the question before it, it may not show what it asks
    asked = dict.fromkeys((state.question, state.clarified_question))
    found = (
        [answer_from_structure(question, deps.book) for question in asked]
        if state.selection is None
        else []
    )
    known = next((fact for fact in found if fact is not None), None)
    if known is None:
        return False
    async with stage.step("section_structure") as taken:
        state.agents, state.proof, taken.action = (
            ["structure"],
            Proof(known.sentences, known.citations),
            known.kind,
        )
        record_detail(received={"clarified_question": state.clarified_question}, draft=known.text)
    return True


async def _draft_sections(state: PaperState, deps: Deps, stage: Stage) -> None:
    """Each chosen agent drafts; their drafts become one, to the question as it was asked."""
    if state.pointed.missing and not state.pointed:
        return  # it asks for what is not there
    for agent, package in build_packages(state, deps).items():
        async with stage.step(f"section_{agent}") as taken:
            draft = await run_section_agent(
                agent, package, _get_usable_deps(state, deps), explains=state.selection is not None
            )
            taken.action = draft.generation
        state.drafts.append(draft)
        failure, warning = draft.drafted.failure, draft.drafted.warning
        if failure.startswith("budget"):
            state.stop_reason = state.stop_reason or failure
        state.degraded = state.degraded or bool(failure)
        state.warnings += [warning] if warning and warning not in state.warnings else []
        if is_final_draft(draft):
            state.agents = [each.agent for each in state.drafts]
            break
    state.drafted = merge_drafts(state.question, state.drafts)


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
    if (
        not proven.proved
        and proven.judgements
        and not proven.failure
        and means.llm is not None
        and is_connected(means.llm)
    ):
        async with stage.step("control_revise") as taken:
            again = await repair_draft(
                means.llm, means.judge, package.question, state.drafted.units, proven
            )
            state.revised = again is not proven
            taken.action = "revised" if state.revised else "as it was"
            _note_audit(replace(package, draft=again.draft), again)
        proven = again
    state.stop_reason = state.stop_reason or proven.spent
    state.decided = decide_answer(means, state.drafted, proven, state.retrieval_confidence)
    state.proof = show_proof(proven)


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
    try:
        state.proof = Proof(state.proof.sentences, await deps.locate(state.proof.citations))
    except (Conflict, NotFound) as error:
        state.warnings.append(f"an answer was dropped: {error.message}")
        state.proof = Proof([], [])

"""The `paper` agent of spec 003: guide, controller, section agents, audit. No graph: the session's states are the graph.

The one rule: who is sent what is decided by types (`paper_state.py`). Only the controller's first task sees the conversation;
a section agent sees its part and the clarified question; the audit sees the question as asked, the draft and the passages.
"""

from __future__ import annotations

from dataclasses import replace

from citewell.agents.paper_ask import Deps, PaperState
from citewell.agents.paper_control import control_route
from citewell.agents.paper_end import settle
from citewell.agents.paper_sections import enough, manner_of, merged, packages, section_agent
from citewell.agents.paper_state import AuditPackage
from citewell.errors import Conflict, NotFound
from citewell.flow import note
from citewell.models.base import LLM
from citewell.skills.audit import Audit, audit
from citewell.skills.audit_revise import revise
from citewell.skills.cite import Proof
from citewell.skills.evidence import CONNECTED_TIER
from citewell.skills.paper_facts import facts_answer
from citewell.stage import Stage


async def answer(state: PaperState, deps: Deps, stage: Stage) -> None:
    """From the reader's words to a proved answer, in the state. Raises InvalidInput for what cannot be asked."""
    async with stage.step("control_route") as taken:
        taken.action = await control_route(state, deps)
    if taken.action == "smalltalk":
        settle(state, deps)
        return
    if not await _structure(state, deps, stage):
        await _sections(state, deps, stage)
        await _audited(state, deps, stage)
    async with stage.step("control_answer") as taken:
        await _located(state, deps)
        settle(state, deps)
        taken.action = state.status


async def _structure(state: PaperState, deps: Deps, stage: Stage) -> bool:
    """What the paper's structure answers exactly needs no agent and no audit."""
    # as it was asked too: joined to the question before it, it may not show what it asks
    asked = dict.fromkeys((state.question, state.clarified_question))
    found = [facts_answer(question, deps.book) for question in asked] if state.selection is None else []
    known = next((fact for fact in found if fact is not None), None)
    if known is None:
        return False
    async with stage.step("section_structure") as taken:
        state.agents, state.proof, taken.action = ["structure"], Proof(known.sentences, known.citations), known.kind
        note(received={"clarified_question": state.clarified_question}, draft=known.text)
    return True


async def _sections(state: PaperState, deps: Deps, stage: Stage) -> None:
    """Each chosen agent drafts; their drafts become one."""
    if state.absent or (state.pointed.missing and not state.pointed):
        return  # it asks for what is not there
    for agent, package in packages(state, deps).items():
        async with stage.step(f"section_{agent}") as taken:
            draft = await section_agent(
                agent, package, _llm(state, deps), deps.embedder, deps.thresholds.quality_threshold, manner_of(state)
            )
            taken.action = draft.generation
        state.drafts.append(draft)
        state.stop_reason = state.stop_reason or draft.stop_reason
        state.degraded = state.degraded or draft.degraded
        state.warnings += [warning for warning in draft.warnings if warning not in state.warnings]
        if enough(draft, state, deps.llm):
            break
    known = [draft for draft in state.drafts if draft.generation != "unknown"]
    state.draft = merged(known)
    passages = [passage for draft in known for passage in draft.passages]
    state.passages = [replace(passage, n=n) for n, passage in enumerate(passages, start=1)]


async def _audited(state: PaperState, deps: Deps, stage: Stage) -> None:
    """The draft held against the text; what fails is revised once, then held against it again."""
    if not state.draft:
        return
    package = AuditPackage(state.question, state.draft, tuple(state.passages))
    found = await _audit(package, state, deps, stage)
    if not found.passed:
        async with stage.step("control_revise") as taken:
            revised = await revise(
                package.question, package.draft, found, package.passages, llm=_llm(state, deps), embedder=deps.embedder
            )
            taken.action = "revised" if revised.strip() != package.draft.strip() else "as it was"
            note(received=_shown(package), failed=[sentence.text for sentence in found.failed], draft=revised)
        state.revised = taken.action == "revised"
        if state.revised:
            again = await _audit(replace(package, draft=revised), state, deps, stage)
            found = again if len(again.failed) <= len(found.failed) else found
    state.proof = found.proof


async def _audit(package: AuditPackage, state: PaperState, deps: Deps, stage: Stage) -> Audit:
    async with stage.step("control_audit") as taken:
        found = await audit(package.question, package.draft, package.passages, llm=_judge(state, deps), embedder=deps.embedder)
        taken.action = "failed" if found.failed else "passed" if found.passed else "partly"
        note(received=_shown(package), verdicts=[(s.text, s.verdict, s.problems) for s in found.proof.sentences])
    state.warnings += [warning for warning in found.warnings if warning not in state.warnings]
    return found


def _shown(package: AuditPackage) -> dict[str, object]:
    """A package as the trace keeps it."""
    return {"question": package.question, "draft": package.draft, "passages": [p.text for p in package.passages]}


def _llm(state: PaperState, deps: Deps) -> LLM | None:
    """The chat model, as long as it works and may be asked."""
    return None if state.degraded or state.stop_reason.startswith("budget") else deps.llm


def _judge(state: PaperState, deps: Deps) -> LLM | None:
    """The model of the audit. A small one is not asked: of 53 claims (by a trial script) its no found none that the rules had
    not, and each first one costs the reading of all passages anew, 14 s at least.
    """
    llm = _llm(state, deps)
    return llm if llm is not None and llm.evidence_tokens >= CONNECTED_TIER else None


async def _located(state: PaperState, deps: Deps) -> None:
    """Page, section and lines of every quote; nothing where the paper was changed meanwhile."""
    try:
        state.proof = Proof(state.proof.sentences, await deps.locate(state.proof.citations))
    except (Conflict, NotFound) as error:
        state.warnings.append(f"an answer was dropped: {error.message}")
        state.proof = Proof([], [])

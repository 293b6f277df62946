"""What is remembered of a run that ended well: the facts the user told, then the question that was
settled.

The one rule: what rests on a memory says so, so that it goes with it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from citewell.agents.dual_loop_state import Deps, DualLoopState
from citewell.errors import CitewellError
from citewell.skills.memory.remember import (
    extract_question_part,
    extract_stated_facts,
    is_memory_question,
)
from citewell.store.memory_judgement import Kept, Told
from citewell.text.secret import has_secret

Remember = Callable[[Told], Awaitable[Kept]]


async def remember_run(state: DualLoopState, deps: Deps, remember: Remember) -> None:
    """Facts first: the question may rest on one of them."""
    ids: dict[str, str] = {}
    for fact in extract_stated_facts(state.question):
        told = Told("fact", fact.subject, fact.text, deps.collection, trace_id=deps.trace_id)
        ids[fact.subject] = await _remember_item(state, remember, told)
    if _should_remember(state):
        state.used_memories += [ids[subject] for subject in state.used_told if ids.get(subject)]
        await _remember_item(state, remember, _build_settled_question(state, deps))


def _should_remember(state: DualLoopState) -> bool:
    """Whether the question is one to be remembered: proved, not by nearness alone; asked in full
    words, for a follow-up that is only joined to others would be taken for them; and not about the
    user, of whom facts tell.
    """
    graded = state.route != "direct" and bool(state.attempts) and state.attempts[-1].proved
    graded = graded and state.drafted is not None and state.drafted.tier != "search"
    return (
        graded
        and not state.joined
        and not is_memory_question(state.standalone)
        and not has_secret(state.standalone)
    )


async def _remember_item(state: DualLoopState, remember: Remember, told: Told) -> str:
    """The id of the memory; empty where it could not be kept. What it says otherwise than before is
    told.
    """
    try:
        result = await remember(told)
    except CitewellError as error:
        state.warnings.append(f"this could not be remembered: {error.message}")
        return ""
    state.warnings += [_describe_change(old.text, old.updated_at) for old in result.replaced]
    if result.memory is None:
        return ""
    state.kept_memories.append(result.memory.memory_id)
    return result.memory.memory_id


def _build_settled_question(state: DualLoopState, deps: Deps) -> Told:
    proved = state.attempts[-1].ending.proof
    cited = tuple(dict.fromkeys(citation.doc_id for citation in proved.citations))
    said = ("" if state.lang == "zh" else " ").join(s.text for s in proved.sentences if s.citations)
    used = tuple(state.used_memories)
    question = extract_question_part(state.standalone)  # what else was told is kept for itself
    return Told(
        "question", question, said, deps.collection, state.route, deps.trace_id, cited, used
    )


def _describe_change(old: str, when: float) -> str:
    day = datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d")
    return f"this differs from what was remembered on {day}, which is now history: {old}"

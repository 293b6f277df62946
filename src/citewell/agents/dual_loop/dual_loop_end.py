"""How a run of the dual loop ends: a settled answer, the best there was with a caution, or an
honest refusal; and what is remembered of one that ended well: the facts the user told, then the
question that was settled. An ending says what was searched and what stopped it, unless the question
is settled; what rests on a memory says so, so that it goes with it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from citewell.agents.dual_loop.dual_loop_state import Attempt, Deps, DualLoopState
from citewell.errors import CitewellError, Conflict, NotFound
from citewell.graph import emit, record_detail
from citewell.messages import Text
from citewell.skills.answer.cite import Proof
from citewell.skills.answer.decision import collect_answer_signals, get_decision_model, get_tier
from citewell.skills.answer.format import format_with_markers
from citewell.skills.answer.wording import describe_ending, format_message, format_refusal
from citewell.skills.evidence.confirmed_evidence import find_followed
from citewell.skills.memory.memory_questions import is_memory_question
from citewell.skills.memory.recollect import build_memory_citation, format_memory
from citewell.skills.memory.remember import extract_question_part, extract_stated_facts
from citewell.store.memory_judgement import Kept, Told
from citewell.text.secret import has_secret
from citewell.types import Event, Sentence, Status

UNKEPT = Text(
    "what you told of yourself was not remembered, because the question was not "
    "settled; tell it by itself"
)
# in place of what a refusal says: beside proved sentences it is the rest that nothing settles
UNPROVED_REST = {"unsettled": "rest_unproved", "corrections_exhausted": "rest_unproved_again"}
OURS: dict[str, Status] = {"remember": "answered"}  # what our own words are; else a question back


async def finish_run(state: DualLoopState, deps: Deps) -> None:
    """Write the end of the run into the state, and show its citations."""
    if state.generation == "direct":
        state.final_answer, state.status = state.response, OURS.get(state.intent, "clarify")
        state.confidence = float(state.status == "answered")
        return
    best = await _check_quotes(_pick_best_attempt(state), state, deps)
    if best is None:
        _refuse_answer(state, deps)
    else:
        _show_answer(state, deps, best)
    if (
        not (state.is_relevant and state.status == "answered")
        and extract_stated_facts(state.question)
        and deps.keeps_memories
    ):
        state.warnings.append(UNKEPT)
    record_detail(status=state.status, stop_reason=state.stop_reason)
    for citation in state.proof.citations:
        emit(Event("citation", citation))


def _pick_best_attempt(state: DualLoopState) -> Attempt | None:
    """The last attempt where it is good, else the likeliest that may be shown; None without one."""
    if state.is_relevant:
        return state.attempts[-1]
    return max((a for a in state.attempts if a.shown), key=lambda a: a.probability, default=None)


async def _check_quotes(best: Attempt | None, state: DualLoopState, deps: Deps) -> Attempt | None:
    """The same where its quotes still stand in their documents: a page may have been fetched anew
    since an earlier attempt.
    """
    if best is None or best is state.attempts[-1]:
        return best
    try:
        await deps.search.locate(best.ending.proof.citations)
    except (Conflict, NotFound) as error:
        state.warnings.append(
            Text("an earlier answer was dropped: {message}", message=error.message)
        )
        return None
    return best


def _refuse_answer(state: DualLoopState, deps: Deps) -> None:
    """In the model's own words for what is missing, where judged; a draft that could not be
    checked, as such; else ours.
    """
    last = state.attempts[-1] if state.attempts else None
    said = last.ending if last is not None else None
    if said is not None and said.status == "clarify":
        state.status, state.final_answer, state.confidence = (
            "clarify",
            said.text,
            last.probability if last else 0.0,
        )
        state.stop_reason = ""  # nothing was given up
        return
    state.status = said.status if said is not None else "refused"
    model = get_decision_model(get_tier(deps.llm, deps.reader), deps.calibration)
    nothing = round(model(collect_answer_signals(state.retrieval_confidence, state.lang)), 4)
    state.confidence = last.probability if last is not None else nothing
    text = (
        said.text if said is not None and said.text else format_refusal(state.nearest, state.lang)
    )
    state.proof = said.proof if said is not None else Proof([], [])
    state.warnings += said.warnings if said is not None else []
    state.final_answer = _join_parts(
        state,
        text,
        describe_ending(state.searched, state.stop_reason, state.lang, web=deps.has_web),
    )


def _show_answer(state: DualLoopState, deps: Deps, best: Attempt) -> None:
    state.warnings += best.ending.warnings
    state.confidence, state.route = best.probability, best.route
    state.proof = _add_memories(state, best.ending.proof)
    state.followed = find_followed(state.proof.citations, state.vouched)
    remembered = format_with_markers(
        state.proof.sentences[len(best.ending.proof.sentences) :], state.lang
    )
    text = _join_parts(state, best.ending.text, remembered)
    limited = state.degraded or state.stop_reason.startswith("budget")
    if best.proved and not limited:
        # all of it is proved, what is missing is said in it, and no search that was left found more
        state.status, state.final_answer, state.stop_reason = "answered", text, ""
        return
    state.status = "fallback"
    words = UNPROVED_REST.get(state.stop_reason, state.stop_reason)
    state.final_answer = _join_parts(
        state, text, describe_ending(state.searched, words, state.lang, web=deps.has_web)
    )


def _join_parts(state: DualLoopState, *parts: str) -> str:
    return ("" if state.lang == "zh" else " ").join(part for part in parts if part)


def _add_memories(state: DualLoopState, proof: Proof) -> Proof:
    """What the rewrite took from memory, said and cited behind the answer."""
    sentences, citations = list(proof.sentences), list(proof.citations)
    cited = {citation.doc_id for citation in citations}
    for recalled in state.memories:
        memory = recalled.memory
        if memory.memory_id in state.used_memories and memory.memory_id not in cited:
            n = len(citations) + 1
            citations.append(build_memory_citation(n, memory, state.lang))
            text = format_message("remembered", state.lang, text=format_memory(memory))
            sentences.append(Sentence(text=text, citations=[n], verdict="supported"))
    return Proof(sentences, citations)


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
    """The id of the memory; empty where it could not be kept. What it changes is told."""
    try:
        result = await remember(told)
    except CitewellError as error:
        state.warnings.append(
            Text("this could not be remembered: {message}", message=error.message)
        )
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
    return Text(
        "this differs from what was remembered on {day}, which is now history: {old}",
        day=day,
        old=old,
    )

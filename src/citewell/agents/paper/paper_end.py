"""How a question to a paper ends: what the audit left of the draft, with what failed marked, or a
plain no. A sentence that the paper does not prove is never shown without saying so.
"""

from __future__ import annotations

from citewell.agents.paper.paper_ask import Deps, PaperState
from citewell.graph import record_detail
from citewell.skills.answer.answering import Decided, Drafted
from citewell.skills.answer.cite import Proof, number_citations
from citewell.skills.answer.decision import collect_answer_signals, get_decision_model, get_tier
from citewell.skills.answer.ending import end_answer
from citewell.skills.answer.format import format_with_markers
from citewell.skills.answer.wording import format_message
from citewell.skills.evidence.numbered import Unit
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.references import describe_missing
from citewell.types import Sentence

SURE = 0.95  # of what the structure answers: of 25 such questions about made papers all were right


def finish_run(state: PaperState, deps: Deps) -> None:
    """Write the end of the run into the state."""
    if state.intent == "smalltalk":
        state.final_answer, state.status = format_message("smalltalk_paper", state.lang), "clarify"
        return
    if state.agents == ["structure"] and state.proof.sentences:
        state.status, state.confidence = "answered", SURE
        state.final_answer = format_with_markers(state.proof.sentences, state.lang)
    elif (
        state.drafted is None
        or state.decided is None
        or not (state.proof.sentences or _is_unclear(state.decided))
    ):
        _refuse_answer(state, deps)
    else:
        _show_answer(state, state.drafted, state.decided, deps)
    record_detail(status=state.status, stop_reason=state.stop_reason)


def cite_named_figures(state: PaperState, book: OpenPaper) -> Proof:
    """Captions of the figures that the question names, where nothing in words answers it."""
    named, bound = [book.paper.floats[i] for i in state.pointed.floats], []
    for n, each in enumerate((each for each in named if each.kind == "figure"), start=1):
        passage = book.passage(n, [(each.start, each.end)])
        caption = Sentence(text=" ".join(passage.text.split()), verdict="supported")
        bound.append((caption, [Unit(f"{n}.1", passage, each.start, each.end)], 1.0))
    return number_citations(bound)


def _is_unclear(decided: Decided) -> bool:
    return decided.proven.draft.status == "unclear"


def _show_answer(state: PaperState, drafted: Drafted, decided: Decided, deps: Deps) -> None:
    end = end_answer(drafted, decided, state.proof, state.hits, state.lang, degraded=state.degraded)
    state.confidence, state.warnings = decided.probability, [*state.warnings, *end.warnings]
    state.proof = end.proof
    if end.status == "refused" and not end.proof.sentences:
        _refuse_answer(state, deps)
        return
    state.status, state.final_answer = end.status, end.text
    if end.status == "fallback":
        state.stop_reason = state.stop_reason or ("model_failed" if state.degraded else "unsettled")


def _refuse_answer(state: PaperState, deps: Deps) -> None:
    state.status = "refused"
    if not state.confidence:
        model = get_decision_model(get_tier(deps.llm, deps.reader), deps.calibration)
        state.confidence = round(
            model(collect_answer_signals(state.retrieval_confidence, state.lang)), 4
        )
    state.proof = Proof([], []) if state.pointed.missing else state.figures
    joint = "、" if state.lang == "zh" else ", "
    parts = []
    if state.pointed.missing:
        parts.append(describe_missing(state.pointed, deps.book, state.lang))
    elif state.figures.sentences:
        captions = format_with_markers(state.figures.sentences, state.lang)
        parts.append(format_message("refused_figure", state.lang, captions=captions))
    else:
        parts.append(format_message("refused_paper", state.lang))
        if places := list(dict.fromkeys(_list_places(state))):
            parts.append(format_message("nearest_paper", state.lang, places=joint.join(places[:3])))
    if state.stop_reason.startswith("budget"):
        parts.append(format_message(state.stop_reason, state.lang))
    state.stop_reason = state.stop_reason or "unsettled"
    state.final_answer = ("" if state.lang == "zh" else " ").join(filter(None, parts))


def _list_places(state: PaperState) -> list[str]:
    """Where what was read for this question stands."""
    hits = [
        passage.hit for draft in state.drafts for passage in draft.drafted.passages
    ] or state.hits
    names = []
    for hit in hits:
        page = f" ({format_message('page', state.lang, page=str(hit.page))})" if hit.page else ""
        names.append((hit.heading_path[-1] if hit.heading_path else hit.title) + page)
    return names

"""How a run of `qa` ends: the answer as it was decided, or the draft unrefined where it cannot be
proved. An answer that was not checked says so.
"""

from __future__ import annotations

from citewell.agents.qa.qa_state import QAState
from citewell.messages import Text
from citewell.skills.answer.answering import Decided, Drafted
from citewell.skills.answer.cite import Proof
from citewell.skills.answer.ending import end_answer
from citewell.skills.answer.format import format_citations
from citewell.skills.answer.overview import format_overview
from citewell.skills.answer.wording import format_message
from citewell.skills.evidence.confirmed_evidence import find_followed
from citewell.text.sentences import detect_language
from citewell.types import Sentence

# what is left of an answer's confidence where the question was taken word for word
NOT_UNDERSTOOD = 0.8


def recover_answer(state: QAState) -> None:
    """The draft unrefined, said to be so; without one the error itself is what the user is told."""
    state.node_execution_status["AnswerRefinementNode"] = "failed"
    lang = detect_language(state.validated_question)
    state.status = "fallback"
    state.final_answer = f"{format_message('unchecked', lang)} {state.initial_answer}"
    unchecked = Sentence(
        text=state.initial_answer, verdict="unsupported", problems=[Text("it could not be checked")]
    )
    state.proof = Proof([unchecked], [])


def finish_run(state: QAState, drafted: Drafted, decided: Decided) -> None:
    """Write the end of the run into the state."""
    lang = detect_language(state.validated_question)
    understood = state.node_execution_status.get("QuestionUnderstandingNode") != "failed"
    state.answer_confidence = round(decided.probability * (1 if understood else NOT_UNDERSTOOD), 4)
    ending = end_answer(
        drafted,
        decided,
        state.proof,
        state.retrieved_documents,
        lang,
        degraded=bool(drafted.warning),
    )
    state.status, state.final_answer, state.proof = ending.status, ending.text, ending.proof
    if state.surveyed and drafted.tier != "connected" and ending.status == "answered":
        state.quotes_overview = True
        state.final_answer = format_overview(state.proof.sentences, state.proof.citations, lang)
    state.warnings += ending.warnings
    state.followed = find_followed(state.proof.citations, state.vouched)
    state.formatted_citations = format_citations(state.proof.citations, lang)

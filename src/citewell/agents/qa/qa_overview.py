"""How `qa` answers what asks for no fact: an overview of documents, several of them compared, or
what can be asked. A connected model writes it from the documents' sections as it writes any answer;
else their own sentences are it.
"""

from __future__ import annotations

from citewell.agents.qa.qa_state import Deps, QAState, Survey
from citewell.graph import record_detail
from citewell.models.base import is_connected
from citewell.retrieve.query import Found
from citewell.skills.answer.answering import Drafted
from citewell.skills.answer.decision import get_tier
from citewell.skills.answer.overview import count_points, quote_overview, quote_sides
from citewell.skills.answer.wording import format_message
from citewell.skills.evidence.passages import Passage, join_spans
from citewell.text.sentences import detect_language, split_sentences
from citewell.types import Hit

OVERVIEWS = frozenset({"overview", "summary"})


async def offer_questions(state: QAState, survey: Survey) -> None:
    """What the documents are, and what they were found to answer."""
    lang = detect_language(state.validated_question)
    titles, questions = await survey.list_offered_questions(lang)
    parts = [format_message("offer", lang, titles=("、" if lang == "zh" else ", ").join(titles))]
    if not titles:
        parts = [format_message("smalltalk", lang)]
    if questions:
        parts.append(format_message("offer_questions", lang))
    listed = "\n".join(f"- {question}" for question in questions)
    state.final_answer = "\n\n".join([*parts, *([listed] if listed else [])])
    state.status, state.choices = "clarify", questions


async def survey_documents(state: QAState, deps: Deps) -> Found | None:
    """The sections of what is to be given an overview of, or to be compared; None where a search
    is to find the evidence.
    """
    if deps.survey is None or deps.reader is None:
        return None
    question, found = state.standalone_question, Found([], 0.0)
    if state.question_intent in OVERVIEWS:
        found = await deps.survey.survey(question)
    elif state.question_intent == "comparison" and not is_connected(deps.llm):
        found = await deps.survey.survey_named_documents(question)
    state.surveyed = bool(found.hits)
    record_detail(surveyed=len({hit.doc_id for hit in found.hits}))
    return found if state.surveyed else None


async def draft_overview(state: QAState, deps: Deps) -> Drafted | None:
    """Sentences of what was surveyed; None where nothing was, or a connected model writes it."""
    if not state.surveyed or is_connected(deps.llm) or deps.reader is None:
        return None
    question = state.standalone_question
    state.passages = [read_whole(n, hit) for n, hit in enumerate(state.retrieved_documents, 1)]
    if state.question_intent in OVERVIEWS:
        points = count_points(question, (hit.title for hit in state.retrieved_documents))
        draft = await quote_overview(state.passages, points, deps.embedder)
    else:
        draft = await quote_sides(question, state.passages, deps.reader, deps.embedder)
    return Drafted(question, state.passages, draft, get_tier(None, deps.reader))


def read_whole(n: int, hit: Hit) -> Passage:
    """A section as a passage of all its sentences."""
    spans = split_sentences(hit.text)
    places = tuple((hit.start + a, hit.start + b) for a, b in spans)
    return Passage(n, hit, places, join_spans(hit.text, spans))

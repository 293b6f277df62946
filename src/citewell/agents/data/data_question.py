"""How a question to tables is understood: a follow-up in full words, the choice of a source."""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.agents.data.data_state import DataState
from citewell.errors import CitewellError, ModelUnavailable
from citewell.messages import Text
from citewell.models.base import LLM, is_connected
from citewell.skills.answer.data_wording import is_source_question
from citewell.skills.answer.wording import is_clarifying_question
from citewell.skills.dialogue.intent import has_pattern
from citewell.skills.dialogue.reference import is_follow_up, join_earlier_questions
from citewell.skills.dialogue.understand import rewrite_in_full
from citewell.sql.plan_types import Previous
from citewell.sql.question_words import extract_content_words
from citewell.sql.source_fit import is_figure_question
from citewell.types import Message

# A question that begins so takes what was asked before and leaves rows out.
_NARROWS = re.compile(
    r"^\W*(?:(?:only|just|except|without|excluding)\b|只|仅|其中|除了|除去|不含|不算)",
    re.IGNORECASE,
)
# Where a clause ends: what it names, a pronoun behind it may stand for.
_CLAUSE = re.compile(
    r"[,，、;；.。?？]|\b(?:and|or|but|who|whose|that|by|with|their|its)\b|和|与|及|并|且|或",
    re.IGNORECASE,
)


async def make_standalone(
    state: DataState, question: str, history: list[Message], llm: LLM | None
) -> str:
    """A follow-up in full words. What answers a question of ours is joined to what was asked before
    it; of a reply that only names a source, nothing is.
    """
    if not should_use_history(question, history):
        return question
    ours = _get_own_question(history)
    asked = max((at for at, message in enumerate(history) if message.role == "user"), default=-1)
    if asked >= 0 and _is_only_source_name(question, ours):
        return await make_standalone(state, history[asked].content, history[:asked], None)
    if llm is None or ours:
        return join_earlier_questions(question, history)
    if is_connected(llm):
        state.is_joined = True
        return join_earlier_questions(question, history)
    if state.last is not None:
        before, sql, confidence = state.last
        state.previous = Previous(before, sql, question, confidence)
        problem = Text("the statement before, which this one changes")
        state.tried.append({"sql": state.previous.sql, "problem": problem})
        return join_earlier_questions(question, history)
    try:
        return await rewrite_in_full(question, history, llm)
    except ModelUnavailable:  # told where a statement is to be written
        return join_earlier_questions(question, history)
    except CitewellError as error:
        state.warnings.append(
            Text("the question was joined to the one before it: {message}", message=error.message)
        )
        return join_earlier_questions(question, history)


def should_use_history(question: str, history: Sequence[Message]) -> bool:
    """Whether what was said before counts: not for a whole new question after we asked back, nor
    where a pronoun stands for what the question itself names before it.
    """
    if not history:
        return False
    ours = _get_own_question(history)
    follows = is_follow_up(question) and not _stands_alone(question)
    if not (ours or follows or _is_fragment(question)):
        return False
    return not ours or is_follow_up(question) or not _is_new_question(question, ours)


def _stands_alone(question: str) -> bool:
    """Whether its first clause names something and depends on nothing: `teachers and what they
    teach`.
    """
    found = _CLAUSE.search(question)
    clause = question[: found.start()] if found else ""
    return bool(_extract_words(clause)) and not is_follow_up(clause)


def _is_fragment(question: str) -> bool:
    """It names nothing (`how many in all?`), leaves rows out, or asks nothing and names one thing
    at most (`Lyon, please`).
    """
    if _NARROWS.search(question) or not _extract_words(question):
        return True
    mark = question.rstrip().endswith(("?", "？"))
    asks = mark or has_pattern(question) or is_figure_question(question)
    return not asks and len(_extract_words(question)) <= 1


def _get_own_question(history: Sequence[Message]) -> str:
    """Our own question back, where that is what was said last."""
    last = history[-1]
    return last.content if last.role == "assistant" and is_clarifying_question(last.content) else ""


def _is_new_question(question: str, ours: str) -> bool:
    """It asks something, and not in the words of our question back, as a reply that chooses."""
    asks, mark = has_pattern(question), question.rstrip().endswith(("?", "？"))
    if is_source_question(ours):
        return asks or (
            (mark or is_figure_question(question)) and bool(_find_new_words(question, ours))
        )
    return (asks or mark or is_figure_question(question)) and _find_new_words(
        question, ours
    ) == _extract_words(question)


def _is_only_source_name(question: str, ours: str) -> bool:
    """A reply to our question which source is meant that says nothing else."""
    return (
        is_source_question(ours)
        and bool(_extract_words(question))
        and not _find_new_words(question, ours)
    )


def _extract_words(question: str) -> list[str]:
    """What names something, figures too."""
    return [*extract_content_words(question), *re.findall(r"\d+", question)]


def _find_new_words(question: str, ours: str) -> list[str]:
    """Its words that our question back did not say."""
    return [word for word in _extract_words(question) if word not in ours.casefold()]


def build_source_query(question: str, standalone: str, history: list[Message]) -> str:
    """Where a source may be named: the reply to our question which one is, alone where what was
    asked named several.
    """
    ours = _get_own_question(history) if history else ""
    if not is_source_question(ours):
        return standalone
    several = _is_only_source_name(question, ours) and any(
        word in standalone.casefold() for word in _extract_words(question)
    )
    return question if several else f"{standalone} {question}"

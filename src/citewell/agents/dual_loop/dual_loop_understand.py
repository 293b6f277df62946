"""How a question is understood: what needs no search (a greeting, something to remember, a question
about what was said or is remembered), and what is searched for. A question that the documents might
answer is theirs; only what plainly is not about them is answered here.
"""

from __future__ import annotations

from citewell.agents.dual_loop.dual_loop_state import Deps, DualLoopState
from citewell.messages import Text
from citewell.models.base import is_connected
from citewell.skills.answer.wording import format_message
from citewell.skills.dialogue.intent import classify_intent
from citewell.skills.dialogue.reference import (
    Readings,
    build_readings,
    find_antecedents,
    is_follow_up,
)
from citewell.skills.dialogue.route import strip_web_request
from citewell.skills.memory.memory_questions import is_conversation_question, is_memory_question
from citewell.skills.memory.recall import extract_message_facts, personalize_question
from citewell.skills.memory.remember import (
    extract_question_part,
    extract_stated_facts,
    has_only_statements,
    is_forget_request,
    is_remember_request,
)
from citewell.text.secret import has_secret, is_secret

# intents that need no search
TALK = frozenset({"smalltalk", "remember", "forget", "memory", "which"})


async def detect_intent(state: DualLoopState, deps: Deps) -> tuple[str, str]:
    """What kind of question it is, and why no search is needed where none is."""
    question = state.question
    if find_antecedents(question, state.history):
        return "which", Text("the question may mean either of two things")
    if is_forget_request(question):
        return "forget", Text("something is to be forgotten")
    if (
        is_remember_request(question)
        or has_only_statements(question)
        or (has_secret(question) and question[-1] not in "?？")
    ):
        return "remember", Text("there is nothing to answer, only something to remember")
    about_talk = bool(state.history) and deps.llm is not None and is_conversation_question(question)
    if about_talk or (is_memory_question(question) and state.memories):
        return "memory", Text("the question is about what was said before")
    intent = await classify_intent(question, deps.embedder)
    return intent.label, Text("nothing is asked of the documents")


def write_direct_reply(state: DualLoopState, deps: Deps) -> str:
    """Our own words."""
    lang, question = state.lang, state.question
    if state.intent == "which":
        return format_message(
            "which",
            lang,
            options=format_message("or", lang).join(find_antecedents(question, state.history)),
        )
    if state.intent == "smalltalk":
        return format_message("smalltalk", lang)
    if state.intent == "forget":
        return format_message("forget", lang)
    if not deps.keeps_memories:
        return format_message("memory_off", lang)
    facts = [fact.text for fact in extract_stated_facts(question)]
    if not facts:
        return format_message("secret" if is_secret(question) else "nothing_to_note", lang)
    return format_message("noted", lang, facts=("；" if lang == "zh" else "; ").join(facts))


async def build_first_reading(state: DualLoopState, deps: Deps) -> tuple[str, Readings]:
    """The question in full words, with what is remembered put in, and what is searched for."""
    question = strip_web_request(extract_question_part(state.question))
    read = build_readings(question, state.history)
    state.joined = bool(state.history) and is_follow_up(question, state.history)
    state.outside = read.text if state.joined else question
    known = [*extract_message_facts(state.question), *state.memories]
    standalone, used = personalize_question(state.outside, known)
    if used:
        state.used_memories = [memory.memory_id for memory in used if memory.memory_id]
        state.used_told = [memory.subject for memory in used if not memory.memory_id]
        read = Readings(standalone, read.context or question, read.weight or 1.0)
    # it reads all that was said, with the conversation, in its answer call
    if is_connected(deps.llm):
        standalone, _ = personalize_question(state.question, known)
    return standalone, read

"""What needs no search: a greeting, something to remember, a question about what was said or is
remembered.

The one rule: a question that the documents might answer is theirs; only what plainly is not about
them is answered here.
"""

from __future__ import annotations

from citewell.agents.dual_loop_state import Deps, DualLoopState
from citewell.skills.answer.wording import say
from citewell.skills.dialogue.intent import classify_intent
from citewell.skills.dialogue.reference import candidates
from citewell.skills.memory.remember import (
    asks_about_memory,
    asks_about_talk,
    asks_to_forget,
    asks_to_remember,
    facts_told,
    only_tells,
)
from citewell.text.secret import is_secret, tells_secret

# intents that need no search
TALK = frozenset({"smalltalk", "remember", "forget", "memory", "which"})


async def intent_of(state: DualLoopState, deps: Deps) -> tuple[str, str]:
    """What kind of question it is, and why no search is needed where none is."""
    question = state.question
    if candidates(question, state.history):
        return "which", "the question may mean either of two things"
    if asks_to_forget(question):
        return "forget", "something is to be forgotten"
    if (
        asks_to_remember(question)
        or only_tells(question)
        or (tells_secret(question) and question[-1] not in "?？")
    ):
        return "remember", "there is nothing to answer, only something to remember"
    about_talk = bool(state.history) and deps.llm is not None and asks_about_talk(question)
    if about_talk or (asks_about_memory(question) and state.memories):
        return "memory", "the question is about what was said before"
    intent = await classify_intent(question, deps.embedder)
    return intent.label, "nothing is asked of the documents"


def said(state: DualLoopState, deps: Deps) -> str:
    """Our own words."""
    lang, question = state.lang, state.question
    if state.intent == "which":
        return say("which", lang, options=say("or", lang).join(candidates(question, state.history)))
    if state.intent == "smalltalk":
        return say("smalltalk", lang)
    if state.intent == "forget":
        return say("forget", lang)
    if deps.remember is None:
        return say("memory_off", lang)
    facts = [fact.text for fact in facts_told(question)]
    if not facts:
        return say("secret" if is_secret(question) else "nothing_to_note", lang)
    return say("noted", lang, facts=("；" if lang == "zh" else "; ").join(facts))

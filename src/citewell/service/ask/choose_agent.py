"""Which agent answers, where the user leaves that open. A choice has a reason in words, and can be
overridden.

A rule is one row of `RULES`; the first that has a reason, for an agent that is there, decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from citewell.messages import Text
from citewell.skills.dialogue.intent import RULES as INTENTS
from citewell.skills.dialogue.intent import WIDE
from citewell.skills.dialogue.reference import is_follow_up
from citewell.skills.dialogue.route import is_web_request
from citewell.skills.memory.memory_questions import is_conversation_question, is_memory_question
from citewell.skills.memory.remember import extract_stated_facts, is_remember_request
from citewell.text.sentences import split_sentences
from citewell.text.tokens import tokenize_query
from citewell.types import Message

FALLBACK = "qa"
FEWEST = 2  # words of its own that a question has
ADDRESS = re.compile(r"https?://[^\s，。；、！？）)>\]\"'“”]+(?<![.,;:!?])", re.IGNORECASE)
_PERSONAL = re.compile(r"\bmy\b|我的|我们的", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what is around it: the agent of its session, the table source chosen and why
    (empty: the user says so), whether anything is remembered of the user, whether the web can be
    searched, and the kinds of questions that `qa` answers from whole documents.
    """

    question: str
    history: Sequence[Message] = ()
    session_agent: str = ""
    source: str = ""
    source_reason: str = ""
    remembers: bool = False
    web: bool = False
    surveyed: Collection[str] = ("summary",)


@dataclass(frozen=True, slots=True)
class Choice:
    agent: str
    reason: str


def _explain_data(asked: Asked) -> str:
    return (
        (asked.source_reason or Text("the table source {source} is chosen", source=asked.source))
        if asked.source
        else ""
    )


def _explain_paper(asked: Asked) -> str:
    return Text("this session reads a paper") if asked.session_agent == "paper" else ""


def _explain_website(asked: Asked) -> str:
    if urls := ADDRESS.findall(asked.question):
        return Text("the question names the address {urls}", urls=urls[0])
    return Text("this session asks a website") if asked.session_agent == "website" else ""


def _explain_dual_loop(asked: Asked) -> str:
    question = asked.question
    if is_web_request(question) and asked.web:
        return Text("the question asks for the web")
    if is_remember_request(question) or extract_stated_facts(question):
        return Text("there is something to remember")
    if is_conversation_question(question) or (asked.remembers and is_memory_question(question)):
        return Text("the question is about what was said before")
    if asked.remembers and _PERSONAL.search(question):
        return Text("the question is about the user, of whom something is remembered")
    if sum(_is_searchable_question(question[a:b]) for a, b in split_sentences(question)) > 1:
        return Text("several things are asked at once")
    intent = next((label for label, pattern in INTENTS if pattern.search(question)), "")
    if intent in WIDE and intent not in asked.surveyed:
        return Text("a question of kind {intent} may need a second search", intent=intent)
    return ""


def _is_searchable_question(sentence: str) -> bool:
    """A question with something to search for: "Really?" and "How are you?" are none."""
    return sentence.rstrip().endswith(("?", "？")) and len(tokenize_query(sentence)) >= FEWEST


def _explain_qa(asked: Asked) -> str:
    if asked.history and is_follow_up(asked.question, asked.history):
        return Text("a follow-up question about the documents")
    return Text("a question that one search of the documents should settle")


RULES: tuple[tuple[str, Callable[[Asked], str]], ...] = (
    ("data", _explain_data),
    ("paper", _explain_paper),
    ("website", _explain_website),
    ("dual_loop", _explain_dual_loop),
    ("qa", _explain_qa),
)


def choose_agent(asked: Asked, agents: Collection[str]) -> Choice:
    """One of `agents`."""
    for agent, rule in RULES:
        reason = rule(asked)
        if reason and agent in agents:
            return Choice(agent, reason)
    return Choice(FALLBACK, Text("nothing speaks for another agent"))

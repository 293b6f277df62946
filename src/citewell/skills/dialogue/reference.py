"""Resolves what a follow-up question refers to in the conversation: whether it is one, which of two
things it may mean, and the question in full words. A rewrite may only add words of the
conversation; one that fails the check is not used.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.models.base import LLM
from citewell.models.prompt import fill_prompt, load_prompt
from citewell.skills.answer.question_parts import ASKING
from citewell.skills.answer.wording import is_clarifying_question
from citewell.skills.dialogue.intent import has_pattern
from citewell.text.entities import extract_entities
from citewell.text.facts import extract_facts
from citewell.text.sentences import detect_language
from citewell.text.tokens import tokenize_query
from citewell.types import Message

FURTHEST = 3  # questions that one is joined to at most
# characters of an earlier message that are looked at; no question and hardly an answer is longer
READ = 2_000
# How much the other reading of a follow-up counts in a search; chosen on the 133 last turns of
# MTRAG with known passages.
LEANING, STANDING = 1.0, 0.2

_PRONOUN = re.compile(
    r"\b(?:its?|they|them|their|he|she|his|her|him|this|these|those|that one|the "
    r"(?:same|former|latter|other))\b"
    r"|它|他(?!人)|她|这[个些种]|那[个些种]|(?<![尤土耳极])其(?![他它实中余次])|"
    r"(?<!应)该(?![怎如不])|前者|后者|上述",
    re.IGNORECASE,
)
_ELLIPSIS = re.compile(
    r"^\W*(?:and|or|but|what about|how about|also|then|so|what "
    r"if)\b|^\W*(?:那|还有|以及|另外|如果是|换成)|呢\W*$"
    r"|^\W*(?:why|how come|when|where|为什么|多少|多久)\W*$",
    re.IGNORECASE,
)
_SINGULAR = re.compile(
    r"\b(?:it|its|this one|that one|he|she|his|her|him)\b|它(?!们)|[这那]个|[他她](?![们人])",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;，、；]|\b(?:and|or|but|if|when|while)\b|和|与|及|或|并", re.IGNORECASE)
_IT = re.compile(r"\bIT\b")
_SMALL = re.compile(r"[a-z\u4e00-\u9fff]")  # what is not written in capitals throughout
_THING = r"([A-Za-z][\w-]{0,40}(?: [A-Z0-9][\w-]{0,40}){0,5}|[\u4e00-\u9fff]{2,12}?)"
_PAIR = re.compile(
    _THING + r"\s*(?: and | or |和|与|还是|或者?|、)\s*" + _THING.replace("{2,12}?", "{2,12}")
)


def is_follow_up(question: str, history: Sequence[Message] = ()) -> bool:
    """Whether a question depends on earlier ones: by a pronoun that stands for nothing in the
    question itself, an ellipsis, few words, or as a reply.
    """
    if history and history[-1].role == "assistant" and is_clarifying_question(history[-1].content):
        return True
    words = _replace_it_acronym(question)
    pronoun = _PRONOUN.search(words)
    # "What is the notice period during probation, and after it?"
    points = pronoun and not (
        (joint := _find_last_joint(words[: pronoun.start()])) and stands_alone(words[:joint])
    )
    return bool(points or _ELLIPSIS.search(words)) or len(tokenize_query(words)) <= 1


def stands_alone(question: str) -> bool:
    """Whether a question goes back no further than itself: it asks something by a word of its own,
    and points to nothing before it. "Is parking free?" may lean on what was asked before, but what
    comes after it leans on it.
    """
    words = _replace_it_acronym(question)
    pointing = _PRONOUN.search(words) or _ELLIPSIS.search(words)
    return not pointing and bool(ASKING.search(words) and tokenize_query(ASKING.sub(" ", words)))


def _find_last_joint(text: str) -> int:
    """Where the last clause of a text begins; 0 where it is the only one."""
    return max((found.start() for found in _CLAUSE.finditer(text)), default=0)


def _replace_it_acronym(text: str) -> str:
    """Replaces IT, the department, by a plain word, because it looks like a pronoun."""
    return _IT.sub("informatics", text) if _SMALL.search(_IT.sub("", text)) else text


@dataclass(frozen=True, slots=True)
class Readings:
    """The texts by which a question is searched: `text`, and `context` (empty for a first
    question), which counts `weight` times as much.
    """

    text: str
    context: str = ""
    weight: float = 0.0


def build_readings(question: str, history: Sequence[Message]) -> Readings:
    """A follow-up is searched joined to earlier questions and, with equal weight, alone; other
    questions alone and, with a small weight, joined.
    """
    behind = join_earlier_questions(question, history) if history else question
    if behind == question:
        return Readings(question)
    if is_follow_up(question, history):
        return Readings(behind, question, LEANING)
    return Readings(question, behind, STANDING)


def get_last_question(history: Sequence[Message]) -> str:
    """The user's last question; empty for none."""
    return next((m.content[:READ] for m in reversed(history) if m.role == "user"), "")


def join_earlier_questions(question: str, history: Sequence[Message]) -> str:
    """The question after the earlier ones that it depends on, back to one that is complete in
    itself (three at most).

    Joined to the previous question alone, 16 of 16 follow-ups of the probes in the notes on models
    found their passages.
    """
    parts = [question]
    for earlier in [m.content[:READ] for m in reversed(history) if m.role == "user"][:FURTHEST]:
        parts.insert(0, earlier)
        if not is_follow_up(earlier) or stands_alone(earlier):
            break
    return " ".join(parts).strip()


def find_antecedents(question: str, history: Sequence[Message]) -> list[str]:
    """Two names that a pronoun may equally mean, if the last question joins them; else empty."""
    if not _SINGULAR.search(_replace_it_acronym(question)) or _extract_names(question):
        return []
    before = get_last_question(history)
    pair, known = _PAIR.search(before), _extract_names(before)
    options = [option.strip() for option in pair.groups()] if pair else []
    named = [option for option in options if any(name in option.casefold() for name in known)]
    return named if len(set(named)) == 2 else []


def _extract_names(text: str) -> set[str]:
    return {e.entity for e in extract_entities(text) if e.type in {"name", "code", "quoted"}}


async def rewrite_question(
    question: str, history: Sequence[Message], llm: LLM, *, earlier: str = ""
) -> str:
    """The question in full words, by the model; the joined one where its wording is no question of
    this conversation.

    `earlier`: an outline of what was said before `history`. A small model shown an answer may give
    that answer back, so it is asked a second time with the user's turns alone.
    """
    history = [m.model_copy(update={"content": m.content[:READ]}) for m in history]
    for turns in (history, [m for m in history if m.role == "user"]):
        text = await _request_rewrite(question, turns, llm, earlier)
        if _is_plausible_rewrite(text, question, history):
            return text
    return join_earlier_questions(question, history)


async def _request_rewrite(question: str, turns: Sequence[Message], llm: LLM, earlier: str) -> str:
    said = [f"{'User' if m.role == 'user' else 'Assistant'}: {m.content[:300]}" for m in turns]
    template = load_prompt(f"skills/prompts/rewrite.{detect_language(question)}.md")
    messages = fill_prompt(
        template, history="\n".join([*([earlier] if earlier else []), *said]), question=question
    )
    reply = await llm.chat(messages, max_tokens=80, stop=["\n"])
    return re.sub(
        r"^(?:standalone question|question|独立问题|问题)\s*[:：]\s*",
        "",
        reply.text.strip(),
        flags=re.IGNORECASE,
    )


def _is_plausible_rewrite(text: str, question: str, history: Sequence[Message]) -> bool:
    """Whether a rewrite asks something new, is short, and adds no word that is not in the
    conversation and no figure that only answers contain.
    """
    asked = extract_facts("\n".join([question, *(m.content for m in history if m.role == "user")]))
    said = extract_facts("\n".join([question, *(m.content for m in history)]))
    new = extract_facts(text)
    words = {w for m in history for w in tokenize_query(m.content)} | set(tokenize_query(question))
    unheard = [w for w in tokenize_query(text) if w not in words]
    asks = bool(text) and (text[-1] in "?？" or has_pattern(text))
    named = _replace_it_acronym(question)
    own = {
        w
        for w in tokenize_query(_PRONOUN.sub(" ", named).replace("informatics", "IT"))
        if w not in tokenize_query(get_last_question(history))
    }
    heard = words - set(tokenize_query(question))
    # what the pronoun stands for
    names_it = not _PRONOUN.search(named) or not heard or bool(heard & set(tokenize_query(text)))
    moves_on = text not in {m.content for m in history} and (
        not own or bool(own & set(tokenize_query(text)))
    )
    return (
        asks
        and moves_on
        and names_it
        and len(text) <= 300
        and new.numbers <= asked.numbers
        and new.names <= said.names
        and len(unheard) <= 2
    )

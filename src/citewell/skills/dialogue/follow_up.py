"""What a follow-up may ask in full words, without a chat model: what it names in place of the words
of the earlier question that are most like it, or beside that question. The earlier question itself
is never among them: its answer is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.models.base import Embedder
from citewell.skills.answer.question_parts import ASKING, split_question
from citewell.skills.dialogue.reference import FURTHEST, READ, is_follow_up, stands_alone
from citewell.text.language import detect_language
from citewell.text.tokens import STOP_EN, tag_words, tokenize_query
from citewell.types import Message

LONGEST_SPAN = 3  # words of a question that are replaced together
_FRAME = re.compile(
    r"^\W*(?:(?:and|or|but|what about|how about|also|then|so)\b\s*|那么?|还有|以及|另外|换成)+"
    r"|的?呢?\W*$",
    re.IGNORECASE,
)
# replaced names keep the preposition that stands before them
_LEADING = re.compile(r"^(?:(?:in|on|at|with|by|for|to|from|of|the|an?)\s+)+", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
# what jieba tags as things, times, places, figures and qualities
_NAMING = re.compile(r"[ntmqsfajilb]|eng|vn|x")
# of "which season" both words go when a season is named
_WHICH = re.compile(r"(?:哪[一个些种家款条位]*|什么|which\s+|what\s+)$", re.IGNORECASE)
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FollowUp:
    """`wordings`: of the question in full words, the likeliest first. `focus`: what it names and
    asks nothing about, as Toronto in "and in Toronto?"; else empty. `said`: the last answer.
    """

    wordings: tuple[str, ...]
    focus: str = ""
    said: str = ""


async def word_follow_up(
    question: str, history: Sequence[Message], embedder: Embedder
) -> FollowUp | None:
    """None for a question that needs no earlier one, a reply to a question of ours, and one that
    asks several things. Raises ModelUnavailable.
    """
    asked = [message.content[:READ] for message in history if message.role == "user"][-FURTHEST:]
    if not asked or not is_follow_up(question) or split_question(question):
        return None
    before = asked[0]
    for later in asked[1:]:
        alone = not is_follow_up(later) or stands_alone(later)
        before = later if alone else (await _word(later, before, embedder))[0]
    said = history[-1].content if history[-1].role == "assistant" else ""
    return FollowUp(await _word(question, before, embedder), _find_focus(question), said)


async def _word(question: str, before: str, embedder: Embedder) -> tuple[str, ...]:
    if focus := _find_focus(question):
        beside, name = _join(focus, before), _LEADING.sub("", focus)
        span = await _find_replaced(name, before, embedder)
        return (f"{before[: span[0]]}{name}{before[span[1] :]}", beside) if span else (beside,)
    topic = _join(_drop_asking_words(before), question)
    alone = tokenize_query(ASKING.sub(" ", question))
    return (topic, question) if alone else (topic,)


def _drop_asking_words(text: str) -> str:
    words = [(a, b) for a, b, _ in _list_words(text) if ASKING.search(text[a:b])]
    for start, end in reversed(words):
        text = text[:start] + text[end:]
    return text.strip(" ?？。")


def _find_focus(question: str) -> str:
    named = _FRAME.sub("", question).strip()
    return "" if ASKING.search(named) else named


def _join(first: str, second: str) -> str:
    return f"{first}{'' if detect_language(second) == 'zh' else ' '}{second}"


async def _find_replaced(focus: str, before: str, embedder: Embedder) -> Span | None:
    """The words of the question before that mean most nearly what is named now."""
    spans = _list_spans(before)
    if not spans:
        return None
    vectors = await embedder.passages([focus, *(before[a:b] for a, b in spans)])
    start, end = spans[int((vectors[1:] @ vectors[0]).argmax())]
    which = _WHICH.search(before[:start])
    return (which.start() if which else start, end)


def _list_spans(text: str) -> list[Span]:
    """Runs of words that may name a thing, each of `LONGEST_SPAN` words at most."""
    words = _list_words(text)
    return [
        (words[i][0], words[j][1])
        for i in range(len(words))
        for j in range(i, min(i + LONGEST_SPAN, len(words)))
        if words[i][2] and words[j][2] and not _is_broken(text[words[i][0] : words[j][1]])
    ]


def _is_broken(span: str) -> bool:
    return bool(ASKING.search(span) or re.search(r"[，。,;；?？]", span))


def _list_words(text: str) -> list[tuple[int, int, bool]]:
    """Each word's place, and whether a name may begin or end with it."""
    if detect_language(text) != "zh":
        return [
            (*found.span(), found.group().casefold() not in STOP_EN)
            for found in _WORD.finditer(text)
        ]
    words, at = [], 0
    for word, tag in tag_words(text):
        at = text.index(word, at)
        words.append((at, at + len(word), bool(_NAMING.match(tag)) and word.isalnum()))
        at += len(word)
    return words

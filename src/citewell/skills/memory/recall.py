"""Which memories bear on a question, and what the question means with them: "my plan" is "my plan
(Pro)".

Found by the vector of `subject` (a settled question, or what a fact is about), both sides by
`embedder.query`: measured with multilingual-e5-small on 32 pairs of a question and a fact
(tests/skills/memory_pairs.py), the subject parts those that bear on each other (0.854 and more)
from those that do not (0.849 and less); the fact's own words do not (0.841, 0.868), nor does the
passage side (0.814, 0.872).

A fact is for questions about its owner. One that does not speak of them calls up no fact.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.models.reader_base import Reader
from citewell.skills.answer.duplicate_question import find_same_questions, has_same_facts
from citewell.skills.memory.memory_questions import is_memory_question
from citewell.skills.memory.remember import Fact, extract_fact_value, extract_stated_facts
from citewell.skills.memory.statements import get_aliases
from citewell.store.memory import DAY
from citewell.store.memory_rows import Memory
from citewell.text.facts import count_negations
from citewell.text.tokens import STOP_EN, STOP_ZH, tokenize_query

MOST = 5
# Cosines as measured above, of questions on evals/reader/same.jsonl; of other embedders they are
# unknown, so shared words count on their own as well.
FACT_MEANING = 0.855  # a fact whose subject the question does not name
# an earlier question near enough to be worth showing beside the answer; unrelated ones end at 0.83
QUESTION_MEANING = 0.9
ASKED_MEANING = 0.8  # where the user asks for what was said before, with a word in common
RECENT = 0.1  # what a memory of now is ahead of an old one: a tenth of the scale
HALF_LIFE = 30 * DAY
LONGEST_SHOWN = 60  # characters of a value that a question is filled in with

_SELF = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b|我|咱|本人|自己|俺", re.IGNORECASE)
_ASKING_BACK = frozenset(  # words that only say that earlier conversations are asked about
    tokenize_query(
        "remember recall know about ask asked tell told say said mention question conversation "
        "chat last previous earlier time"
    )
    + tokenize_query("上次 之前 以前 刚才 问题 问过 问 说过 说 记得 知道 聊 告诉 关于 提过 叫")
)


@dataclass(frozen=True, slots=True)
class Recalled:
    """`score`: 0 to 1, by meaning, words and recency. `same`: asks just what is asked now."""

    memory: Memory
    score: float
    same: bool = False


async def recall_memories(
    question: str,
    near: Sequence[tuple[Memory, float]],
    now: float,
    reader: Reader | None = None,
    *,
    collection: str | None = None,
    most: int = MOST,
) -> list[Recalled]:
    """Those that bear on the question, the best first; the one that settles it before all others.
    `near`: with cosines, the nearest first, from `Memories.find_near`. With `collection`, only what
    was settled in it counts; facts count in all.
    """
    back = is_memory_question(question)
    facts_ = [each for each in near if each[0].kind == "fact"]
    settled = [
        each
        for each in near
        if each[0].kind == "question" and (back or collection in {None, each[0].collection})
    ]
    found = [
        _score_memory(question, memory, cosine, now, asked_back=back) for memory, cosine in facts_
    ]
    # what was settled for the plan (Pro) was asked of "my plan"
    full, _ = personalize_question(question, _sort_recalled(found))
    same = await find_same_questions(
        full, [memory.subject for memory, _ in settled], None if back else reader
    )
    for (memory, cosine), asks_same in zip(settled, same, strict=True):
        found.append(_score_memory(full, memory, cosine, now, asked_back=back, same=asks_same))
    return _sort_recalled(found)[:most]


def _score_memory(
    question: str,
    memory: Memory,
    cosine: float,
    now: float,
    *,
    asked_back: bool,
    same: bool = False,
) -> Recalled | None:
    meaning = 1.0 if same else _score_relevance(question, memory, cosine, asked_back=asked_back)
    if meaning is None:
        return None
    recency = 0.5 ** (max(0.0, now - memory.updated_at) / HALF_LIFE)
    return Recalled(
        memory, round((1 - RECENT) * min(1.0, max(0.0, meaning)) + RECENT * recency, 4), same
    )


def _sort_recalled(found: Sequence[Recalled | None]) -> list[Recalled]:
    return sorted(
        (each for each in found if each is not None), key=lambda each: (not each.same, -each.score)
    )


def extract_message_facts(text: str) -> list[Recalled]:
    """The facts of the very message that asks, as memories that have no id yet."""
    return [Recalled(_build_unsaved_memory(fact), 1.0) for fact in extract_stated_facts(text)]


def _build_unsaved_memory(fact: Fact) -> Memory:
    return Memory(
        memory_id="",
        user_id="",
        kind="fact",
        subject=fact.subject,
        text=fact.text,
        collection="",
        route="",
        trace_id="",
        doc_ids=[],
        derived_from=[],
        created_at=0.0,
        updated_at=0.0,
        expires_at=0.0,
    )


def personalize_question(question: str, known: Sequence[Recalled]) -> tuple[str, list[Memory]]:
    """The question with the user's own facts filled in, and the facts that were. Unchanged where it
    names none of them, says the value itself, or asks just for the fact.
    """
    used: list[Memory] = []
    if is_memory_question(question):
        return question, used
    for each in known:
        value = extract_fact_value(each.memory.text) if each.memory.kind == "fact" else ""
        if (
            not value
            or len(value) > LONGEST_SHOWN
            or count_negations(value)
            or _has_words(question, value)
        ):
            continue
        place = _find_mention(question, each.memory.subject)
        if place is not None:
            chinese = not question[place - 1].isascii()
            shown = f"（{value}）" if chinese else f" ({value})"
            question = question[:place] + shown + question[place:]
            used.append(each.memory)
    return question, used


def _score_relevance(
    question: str, memory: Memory, cosine: float, *, asked_back: bool
) -> float | None:
    """How well a memory fits, 0 to 1; None where it does not bear on the question."""
    wanted = _extract_content_words(question)
    if asked_back and not wanted:
        return (
            ASKED_MEANING  # "what do you know about me?", "what did I ask last time?": the latest
        )
    shared = wanted & _extract_content_words(f"{memory.subject} {memory.text}")
    if memory.kind == "fact":
        if not _SELF.search(question):
            return None
        if _find_mention(question, memory.subject) is not None:
            return max(cosine, FACT_MEANING)
        return cosine if cosine >= (ASKED_MEANING if shared else FACT_MEANING) else None
    if asked_back:
        return max(cosine, ASKED_MEANING) * len(shared) / len(wanted) if shared else None
    return (
        cosine if cosine >= QUESTION_MEANING and has_same_facts(question, memory.subject) else None
    )


def _find_mention(question: str, subject: str) -> int | None:
    """Where the words for this subject of the user's end in the question: `my plan`, 我的套餐,
    我们公司.
    """
    for name in get_aliases(subject):
        owner = (
            r"\b(?:my|our)\s+(?:[\w'’-]+\s+){0,2}?" if name.isascii() else r"(?:我们|咱们|我)的?"
        )
        after = r"\b(?!\s*[(（])(?!['’]s\b)" if name.isascii() else r"(?![（(])"
        match = re.search(owner + re.escape(name) + after, question, re.IGNORECASE)
        if match:
            return match.end()
    return None


def _extract_content_words(text: str) -> set[str]:
    return set(tokenize_query(text)) - _ASKING_BACK - STOP_EN - STOP_ZH


def _has_words(text: str, words: str) -> bool:
    return (
        unicodedata.normalize("NFKC", words).casefold()
        in unicodedata.normalize("NFKC", text).casefold()
    )

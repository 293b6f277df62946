"""Which memories bear on a question, and what the question means with them: "my plan" is "my plan
(Pro)".

Found by the vector of `subject` (a settled question, or what a fact is about), both sides by
`embedder.query`: measured with multilingual-e5-small on 32 pairs of a question and a fact
(tests/skills/memory_pairs.py), the subject parts those that bear on each other (0.854 and more)
from those that do not (0.849 and less); the fact's own words do not (0.841, 0.868), nor does the
passage side (0.814, 0.872).

The one rule: a fact is for questions about its owner. One that does not speak of them calls up no
fact.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.models.reader_base import Reader
from citewell.skills.answer.duplicate_question import find_same, same_things
from citewell.skills.memory.remember import Fact, asks_about_memory, facts_told, value_of
from citewell.skills.memory.statements import aliases
from citewell.store.memory import DAY, Memory
from citewell.text.facts import negations
from citewell.text.tokens import STOP_EN, STOP_ZH, query_tokens

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
    query_tokens(
        "remember recall know about ask asked tell told say said mention question conversation "
        "chat last previous earlier time"
    )
    + query_tokens("上次 之前 以前 刚才 问题 问过 问 说过 说 记得 知道 聊 告诉 关于 提过 叫")
)


@dataclass(frozen=True, slots=True)
class Recalled:
    """`score`: 0 to 1, by meaning, words and recency. `same`: a settled question that asks just
    what is asked now.
    """

    memory: Memory
    score: float
    same: bool = False


async def recalled(
    question: str,
    near: Sequence[tuple[Memory, float]],
    now: float,
    reader: Reader | None = None,
    *,
    collection: str | None = None,
    most: int = MOST,
) -> list[Recalled]:
    """Those that bear on the question, the best first; the one that settles it before all others.
    `near`: with cosines, the nearest first, from `Memories.near`. With `collection`, only what was
    settled in it counts; facts count in all.
    """
    back = asks_about_memory(question)
    facts_ = [each for each in near if each[0].kind == "fact"]
    settled = [
        each
        for each in near
        if each[0].kind == "question" and (back or collection in {None, each[0].collection})
    ]
    found = [_scored(question, memory, cosine, now, asked_back=back) for memory, cosine in facts_]
    # what was settled for the plan (Pro) was asked of "my plan"
    full, _ = personalised(question, _best(found))
    same = await find_same(
        full, [memory.subject for memory, _ in settled], None if back else reader
    )
    for (memory, cosine), asks_same in zip(settled, same, strict=True):
        found.append(_scored(full, memory, cosine, now, asked_back=back, same=asks_same))
    return _best(found)[:most]


def _scored(
    question: str,
    memory: Memory,
    cosine: float,
    now: float,
    *,
    asked_back: bool,
    same: bool = False,
) -> Recalled | None:
    meaning = 1.0 if same else _meaning(question, memory, cosine, asked_back=asked_back)
    if meaning is None:
        return None
    recency = 0.5 ** (max(0.0, now - memory.updated_at) / HALF_LIFE)
    return Recalled(
        memory, round((1 - RECENT) * min(1.0, max(0.0, meaning)) + RECENT * recency, 4), same
    )


def _best(found: Sequence[Recalled | None]) -> list[Recalled]:
    return sorted(
        (each for each in found if each is not None), key=lambda each: (not each.same, -each.score)
    )


def told_now(text: str) -> list[Recalled]:
    """The facts of the very message that asks, as memories that have no id yet."""
    return [Recalled(_unkept(fact), 1.0) for fact in facts_told(text)]


def _unkept(fact: Fact) -> Memory:
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


def personalised(question: str, known: Sequence[Recalled]) -> tuple[str, list[Memory]]:
    """The question with the user's own facts filled in, and the facts that were. Unchanged where it
    names none of them, says the value itself, or asks just for the fact.
    """
    used: list[Memory] = []
    if asks_about_memory(question):
        return question, used
    for each in known:
        value = value_of(each.memory.text) if each.memory.kind == "fact" else ""
        if not value or len(value) > LONGEST_SHOWN or negations(value) or _holds(question, value):
            continue
        place = _mentioned(question, each.memory.subject)
        if place is not None:
            chinese = not question[place - 1].isascii()
            shown = f"（{value}）" if chinese else f" ({value})"
            question = question[:place] + shown + question[place:]
            used.append(each.memory)
    return question, used


def _meaning(question: str, memory: Memory, cosine: float, *, asked_back: bool) -> float | None:
    """How well a memory fits, 0 to 1; None where it does not bear on the question."""
    wanted = _content(question)
    if asked_back and not wanted:
        return (
            ASKED_MEANING  # "what do you know about me?", "what did I ask last time?": the latest
        )
    shared = wanted & _content(f"{memory.subject} {memory.text}")
    if memory.kind == "fact":
        if not _SELF.search(question):
            return None
        if _mentioned(question, memory.subject) is not None:
            return max(cosine, FACT_MEANING)
        return cosine if cosine >= (ASKED_MEANING if shared else FACT_MEANING) else None
    if asked_back:
        return max(cosine, ASKED_MEANING) * len(shared) / len(wanted) if shared else None
    return cosine if cosine >= QUESTION_MEANING and same_things(question, memory.subject) else None


def _mentioned(question: str, subject: str) -> int | None:
    """Where the words for this subject of the user's end in the question: `my plan`, 我的套餐,
    我们公司.
    """
    for name in aliases(subject):
        owner = (
            r"\b(?:my|our)\s+(?:[\w'’-]+\s+){0,2}?" if name.isascii() else r"(?:我们|咱们|我)的?"
        )
        after = r"\b(?!\s*[(（])(?!['’]s\b)" if name.isascii() else r"(?![（(])"
        match = re.search(owner + re.escape(name) + after, question, re.IGNORECASE)
        if match:
            return match.end()
    return None


def _content(text: str) -> set[str]:
    return set(query_tokens(text)) - _ASKING_BACK - STOP_EN - STOP_ZH


def _holds(text: str, words: str) -> bool:
    return (
        unicodedata.normalize("NFKC", words).casefold()
        in unicodedata.normalize("NFKC", text).casefold()
    )

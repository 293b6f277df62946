"""A reader that follows a script: for tests and demonstrations.

    reader = ScriptedReader()
    reader.read_with(lambda question, passage: Reading(0, 5, 0.9, 4.0))
    reader.judge_with(lambda claim, evidence: Judgement(0.1, 0.2, 0.7))
    reader.same_with(lambda one, other: 0.9)

The one rule: same calls, same results; without a script, shared words decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from citewell.models.observed import observe_call
from citewell.models.reader_base import Judgement, Pair, Reading
from citewell.models.script_reply import extract_words

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]?")


class ScriptedReader:
    """Implements `Reader`. `questions`, `headings` and `pairs` record what it was asked."""

    name = "scripted"
    same_threshold: float | None = 0.5

    def __init__(self, *, judges: bool = False) -> None:
        self.judges = judges
        self.questions: list[tuple[str, tuple[str, ...]]] = []
        self.headings: list[str] = []
        self.pairs: list[Pair] = []
        self.closed = False
        self._read: Callable[[str, str], Reading] = read_by_words
        self._judge: Callable[[str, str], Judgement] = judge_by_words
        self._same: Callable[[str, str], float] = lambda one, other: float(
            extract_words(one) == extract_words(other)
        )

    def read_with(self, function: Callable[[str, str], Reading]) -> None:
        """Read by `function` of question and passage."""
        self._read = function

    def judge_with(self, function: Callable[[str, str], Judgement]) -> None:
        """Judge by `function` of claim and evidence."""
        self._judge = function

    def compare_with(self, function: Callable[[str, str], float]) -> None:
        """Whether two questions ask the same, by `function` of both."""
        self._same = function

    @observe_call("read")
    async def read(
        self, question: str, passages: Sequence[str], headings: Sequence[str] = ()
    ) -> list[Reading]:
        self.questions.append((question, tuple(passages)))
        self.headings += headings
        return [self._read(question, passage) for passage in passages]

    @observe_call("judge")
    async def judge(self, pairs: Sequence[Pair]) -> list[Judgement]:
        self.pairs += pairs
        return [self._judge(claim, evidence) for claim, evidence in pairs]

    @observe_call("same")
    async def compare_questions(self, pairs: Sequence[Pair]) -> list[float]:
        self.pairs += pairs
        return [self._same(one, other) for one, other in pairs]

    async def close(self) -> None:
        self.closed = True


def read_by_words(question: str, passage: str) -> Reading:
    """The sentence with most of the question's words answers, as probably as it holds them."""
    spans = [found.span() for found in _SENTENCE.finditer(passage)] or [(0, len(passage))]
    start, end = max(spans, key=lambda span: compute_word_overlap(question, passage[slice(*span)]))
    share = compute_word_overlap(question, passage[start:end])
    return Reading(start, end, share, 2 * share - 1)


def judge_by_words(claim: str, evidence: str) -> Judgement:
    """Entailed as far as the claim's words are the evidence's; the rest is not stated."""
    share = compute_word_overlap(claim, evidence)
    return Judgement(entailed=share, not_stated=1 - share, contradicted=0.0)


def compute_word_overlap(text: str, other: str) -> float:
    """The share of the words of `text` that `other` has, 0 where `text` has none."""
    wanted, present = set(extract_words(text)), set(extract_words(other))
    return len(wanted & present) / len(wanted) if wanted else 0.0

"""The built-in reader: multilingual-e5-small trained to read, on onnxruntime, in threads of this
process.

Long passages are read in overlapping windows: of a question the window with the best span counts,
of a claim the window that says most about it. What the heads say becomes probabilities here, by the
constants beside the weights, and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from citewell.config import Settings
from citewell.errors import ModelUnavailable
from citewell.messages import Text
from citewell.models.builtin.cores import count_cores
from citewell.models.builtin.e5_file import Floats
from citewell.models.builtin.lanes import Lanes
from citewell.models.builtin.reader_network import (
    CLAIM,
    FIRST_TOKENS,
    QUESTION,
    WEIGHTS,
    Heads,
    Network,
    Span,
    Tokens,
    get_network,
)
from citewell.models.observed import observe_call
from citewell.models.reader_base import Judgement, Pair, Reading
from citewell.text.sanitize import replace_unsafe_chars

MOST_THREADS = 4
LONGEST_ANSWER = 80  # tokens: a list of steps is one answer
NOTHING = Reading(0, 0, 0.0, -20.0)  # of a passage without text
SAME = 2  # a task of the claim head, beside QUESTION and CLAIM
Result = Reading | Judgement | float


@dataclass(frozen=True, slots=True)
class Task:
    """One pair to read, and its job. `heading`: of the second text, with its line end."""

    kind: int
    first: str
    second: str
    heading: str = ""


class BuiltinReader:
    """Implements `Reader`."""

    name = "builtin:reader"

    def __init__(self, settings: Settings) -> None:
        self._lanes: Lanes[Task, Result] = Lanes(
            run_task, settings.reader_threads or min(count_cores(), MOST_THREADS)
        )

    @property
    def judges(self) -> bool:
        """As the file beside the weights says; False where there is none."""
        return bool(_read_constants().get("judges"))

    @property
    def same_threshold(self) -> float | None:
        """As `judges`."""
        threshold: float | None = _read_constants().get("same", {}).get("threshold")
        return threshold

    async def load(self) -> None:
        await self.judge([(".", ".")])

    @observe_call("read")
    async def read(
        self, question: str, passages: Sequence[str], headings: Sequence[str] = ()
    ) -> list[Reading]:
        under = headings or [""] * len(passages)
        return await self.run_tasks(
            [
                Task(QUESTION, question, passage, heading)
                for passage, heading in zip(passages, under, strict=True)
            ]
        )

    @observe_call("judge")
    async def judge(self, pairs: Sequence[Pair]) -> list[Judgement]:
        return await self.run_tasks([Task(CLAIM, claim, evidence) for claim, evidence in pairs])

    @observe_call("same")
    async def compare_questions(self, pairs: Sequence[Pair]) -> list[float]:
        if self.same_threshold is None:
            raise ModelUnavailable(
                Text("the built-in reader cannot tell whether two questions ask the same")
            )
        return await self.run_tasks([Task(SAME, one, other) for one, other in pairs])

    async def close(self) -> None:
        """Nothing is held but what the process shares."""

    async def run_tasks(self, tasks: list[Task]) -> list[Any]:
        """Each task's result, in order; longest first for equal finish, equal ones once."""
        todo = sorted(dict.fromkeys(tasks), key=lambda task: len(task.second), reverse=True)
        try:
            done = dict(zip(todo, await self._lanes.results(todo), strict=True))
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            raise ModelUnavailable(
                Text("the built-in reader cannot be loaded: {error}", error=error),
                hint=Text("install citewell again, or set reader"),
            ) from error
        return [done[task] for task in tasks]


def _read_constants() -> dict[str, Any]:
    """What the file beside the weights says; nothing where there is none."""
    file = WEIGHTS.with_suffix(".json")
    return dict(json.loads(file.read_text("utf-8"))) if file.is_file() else {}


def run_task(task: Task) -> Result:
    texts = replace_unsafe_chars(task.first), replace_unsafe_chars(task.second)
    if task.kind == QUESTION:
        return read_passage(get_network(), *texts, replace_unsafe_chars(task.heading))
    return (judge_claim if task.kind == CLAIM else compare_questions)(get_network(), *texts)


def read_passage(net: Network, question: str, passage: str, heading: str = "") -> Reading:
    """The best span of all windows. A passage is as answerable as its most answerable window."""
    first, second, under = net.first(question), net.tokens(passage), net.heading(heading)
    if not len(second):
        return NOTHING
    parts = net.split_windows(first, second, under)
    readings = [
        build_reading(net.heads(first, part, QUESTION, under), part, net.constants)
        for part in parts
    ]
    best = max(readings, key=lambda reading: reading.span_score)
    return Reading(
        best.start, best.end, max(reading.answerable for reading in readings), best.span_score
    )


def build_reading(heads: Heads, part: Tokens, constants: dict[str, Any]) -> Reading:
    start, end, score = find_best_span(heads.starts, heads.ends)
    weights, bias = constants["answerable"]["weights"], constants["answerable"]["bias"]
    odds = weights[0] * score + weights[1] * heads.answerable + bias
    return Reading(part.spans[start][0], part.spans[end][1], float(1 / (1 + np.exp(-odds))), score)


def find_best_span(starts: Floats, ends: Floats) -> tuple[int, int, float]:
    """First and last token, and how much its log-odds are above those of no answer."""
    number = len(starts) - 1
    sums = starts[1:, None] + ends[None, 1:]
    sums = np.where(_mask_valid_spans(number), sums, -np.inf)
    start, end = divmod(int(sums.argmax()), number)
    return start, end, float(sums[start, end] - starts[0] - ends[0])


def _mask_valid_spans(number: int) -> Any:
    """Which pairs of tokens are a span: the last not before the first, nor too far behind it."""
    return np.triu(np.tri(number, k=LONGEST_ANSWER - 1, dtype=bool))


def judge_claim(net: Network, claim: str, evidence: str) -> Judgement:
    """By the window that says most: where "not stated" is the least probable."""
    first, second = net.first(claim), net.tokens(evidence)
    judgements = [
        build_judgement(net.heads(first, part, CLAIM), first, net.constants)
        for part in net.split_windows(first, second)
    ]
    return min(judgements, key=lambda judgement: judgement.not_stated)


def build_judgement(heads: Heads, claim: Tokens, constants: dict[str, Any]) -> Judgement:
    odds = heads.support / constants["judge"]["temperature"] + np.array(constants["judge"]["bias"])
    shares = np.exp(odds - odds.max())
    shares /= shares.sum()
    least = constants["unsupported"]["log_odds"]
    ranges = [
        span
        for span, odds in zip(claim.spans, heads.tokens, strict=True)
        if odds >= least and span[0] < span[1]
    ]
    entailed, not_stated, contradicted = map(float, shares)
    return Judgement(entailed, not_stated, contradicted, join_ranges(ranges))


def join_ranges(ranges: list[Span]) -> tuple[Span, ...]:
    """Ranges that touch or have one character between them become one."""
    made: list[Span] = []
    for start, end in ranges:
        if made and start <= made[-1][1] + 1:
            made[-1] = made[-1][0], max(end, made[-1][1])
        else:
            made.append((start, end))
    return tuple(made)


def compare_questions(net: Network, one: str, other: str) -> float:
    return compute_same_share(compute_same_odds(net, one, other), net.constants["same"])


def compute_same_share(odds: float, constants: dict[str, float]) -> float:
    """The probability that two questions of these log-odds ask the same."""
    return float(1 / (1 + np.exp(-(constants["weight"] * odds + constants["bias"]))))


def compute_same_odds(net: Network, one: str, other: str) -> float:
    """Log-odds of "entailed", mean of both orders; lowest for a question too long to read."""
    texts = net.tokens(one), net.tokens(other)
    if max(map(len, texts)) > FIRST_TOKENS:
        return -np.inf
    found = [net.heads(first, second, CLAIM).support for first, second in (texts, texts[::-1])]
    return float(np.mean([entailed - np.logaddexp(*others) for entailed, *others in found]))

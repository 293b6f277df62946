"""A chat model that counts calls, tokens and the prompts that were sent, for `Usage` and the trace,
and stops at a budget. One meter a question; the model behind it is shared.
"""

from __future__ import annotations

import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, Unpack

import anyio

from citewell.errors import BudgetSpent, CitewellError
from citewell.graph import get_current_node
from citewell.messages import Text
from citewell.models.base import LLM, ChatOptions, Reply, Tokens, YesNo
from citewell.text.sanitize import replace_unsafe_chars
from citewell.types import Message

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Budget:
    """What a question may cost; None: as much as it takes. `tokens` counts those sent and those
    written, cached ones too; `seconds` are counted from the question's beginning, whatever they are
    spent on.
    """

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None


def estimate_tokens(messages: Sequence[Message]) -> int:
    """About how many tokens: one for four letters, or for a Chinese character and a half."""
    text = "".join(message.content for message in messages)
    ascii_ = sum(char.isascii() for char in text)
    return round(ascii_ / 4 + (len(text) - ascii_) / 1.5)


class Metered:
    """Wraps an LLM for the time of one question. Raises BudgetSpent instead of a call that the
    budget does not allow, and in the middle of one that lasts longer.
    """

    def __init__(self, llm: LLM, budget: Budget = Budget()) -> None:
        self._llm = llm
        self._budget = budget
        self._began = time.monotonic()
        self.name = llm.name
        self.evidence_tokens = llm.evidence_tokens
        self.calls = 0
        self.tokens = Tokens()
        self.prompts: list[dict[str, Any]] = []
        self.cut = 0  # structured replies that were longer than their limit of tokens
        self.spent = ""  # the limit that a call was refused for, as BudgetSpent names it

    async def chat(self, messages: Sequence[Message], **options: Unpack[ChatOptions]) -> Reply:
        call = self._llm.chat(messages, **options)
        reply = await self._run_within_budget(call, messages)
        reply = replace(reply, text=replace_unsafe_chars(reply.text))
        known = {} if reply.log_prob is None else {"log_prob": round(reply.log_prob, 4)}
        self._record_call("chat", messages, reply.text, reply.tokens, **known)
        self.cut += options.get("schema") is not None and not reply.finished
        return reply

    async def yes_no(self, messages: Sequence[Message]) -> YesNo:
        grade = await self._run_within_budget(self._llm.yes_no(messages), messages)
        self._record_call("yes_no", messages, round(grade.log_odds, 3), grade.tokens)
        return grade

    async def close(self) -> None:
        """The model behind is not this question's to close."""

    @property
    def seconds(self) -> float:
        """Seconds since the question began."""
        return time.monotonic() - self._began

    def restore(
        self, calls: int, tokens: Tokens, prompts: Sequence[dict[str, Any]], seconds: float
    ) -> None:
        """Count on from what the question has cost in an earlier process."""
        self.calls, self.tokens, self.prompts = calls, tokens, list(prompts)
        self._began -= seconds

    def _check_budget(self, messages: Sequence[Message]) -> None:
        limits = self._budget
        used = self.tokens.prompt + self.tokens.completion
        if limits.calls is not None and self.calls >= limits.calls:
            raise self._mark_budget_spent(
                "budget_calls",
                Text("the {calls} model calls of this question are used up", calls=limits.calls),
            )
        if limits.tokens is not None and used + estimate_tokens(messages) > limits.tokens:
            raise self._mark_budget_spent(
                "budget_tokens",
                Text(
                    "the {tokens} tokens of this question do not allow another call",
                    tokens=limits.tokens,
                ),
            )
        if limits.seconds is not None and self.seconds >= limits.seconds:
            raise self._mark_time_spent()

    async def _run_within_budget(
        self, call: Coroutine[Any, Any, T], messages: Sequence[Message]
    ) -> T:
        try:
            self._check_budget(messages)
        except BudgetSpent:
            call.close()
            raise
        left = None if self._budget.seconds is None else self._budget.seconds - self.seconds
        with anyio.move_on_after(left) as scope:
            try:
                return await call
            except CitewellError:
                self.calls += 1  # it was sent
                raise
        assert scope.cancelled_caught, "only the budget's own time ends a call without a reply"
        raise self._mark_time_spent()

    def _mark_budget_spent(self, limit: str, message: str) -> BudgetSpent:
        self.spent = limit
        return BudgetSpent(message, code=limit)

    def _mark_time_spent(self) -> BudgetSpent:
        return self._mark_budget_spent(
            "budget_seconds",
            Text("the {seconds:g} seconds of this question are over", seconds=self._budget.seconds),
        )

    def _record_call(
        self,
        job: str,
        messages: Sequence[Message],
        reply: str | float,
        tokens: Tokens,
        **known: float,
    ) -> None:
        self.calls += 1
        self.tokens = Tokens(
            self.tokens.prompt + tokens.prompt,
            self.tokens.cached + tokens.cached,
            self.tokens.completion + tokens.completion,
        )
        self.prompts.append(
            {
                "node": get_current_node(),
                "job": job,
                "messages": [m.model_dump() for m in messages],
                "reply": reply,
                **known,
            }
        )

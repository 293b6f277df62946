"""A chat model that counts: calls, tokens, and the prompts that were sent, for `Usage` and the trace.

The one rule: one meter a question; the model behind it is shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from citewell.models.base import LLM, OnToken, Reply, Tokens, YesNo
from citewell.types import Message


class Metered:
    """Wraps an LLM for the time of one question."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        self.name = llm.name
        self.evidence_tokens = llm.evidence_tokens
        self.calls = 0
        self.tokens = Tokens()
        self.prompts: list[dict[str, Any]] = []

    async def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 256,
        temperature: float = 0.0,
        schema: dict[str, Any] | None = None,
        stop: Sequence[str] = (),
        on_token: OnToken | None = None,
    ) -> Reply:
        reply = await self._llm.chat(
            messages, max_tokens=max_tokens, temperature=temperature, schema=schema, stop=stop, on_token=on_token
        )
        self._count("chat", messages, reply.text, reply.tokens)
        return reply

    async def yes_no(self, messages: Sequence[Message]) -> YesNo:
        grade = await self._llm.yes_no(messages)
        self._count("yes_no", messages, round(grade.log_odds, 3), grade.tokens)
        return grade

    async def close(self) -> None:
        """The model behind is not this question's to close."""

    def _count(self, job: str, messages: Sequence[Message], reply: str | float, tokens: Tokens) -> None:
        self.calls += 1
        self.tokens = Tokens(
            self.tokens.prompt + tokens.prompt,
            self.tokens.cached + tokens.cached,
            self.tokens.completion + tokens.completion,
        )
        self.prompts.append({"job": job, "messages": [m.model_dump() for m in messages], "reply": reply})

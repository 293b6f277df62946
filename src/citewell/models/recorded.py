"""A chat model that says again what a trace recorded, for a replay.

The one rule: a reply is given only to the very prompt that it was given to; every other prompt is
told, and goes to the model behind, where there is one.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import Any

from citewell.errors import ModelUnavailable
from citewell.models.base import LLM, OnToken, Reply, YesNo
from citewell.types import Message

EVIDENCE_TOKENS = (
    500  # where there is no model to ask for how much it takes: that of the packaged one
)


class Recorded:
    """An LLM. `prompts` as `Metered` keeps them. `unknown`: jobs with the last message of prompts
    that are not among them.
    """

    def __init__(self, prompts: Sequence[Mapping[str, Any]], behind: LLM | None) -> None:
        self._behind = behind
        self._replies: defaultdict[str, deque[Any]] = defaultdict(deque)
        for prompt in prompts:
            self._replies[_build_key(str(prompt["job"]), prompt["messages"])].append(
                prompt["reply"]
            )
        self.name = behind.name if behind is not None else "recorded"
        self.evidence_tokens = behind.evidence_tokens if behind is not None else EVIDENCE_TOKENS
        self.unknown: list[str] = []

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
        known, reply = self._find_reply("chat", messages)
        if known:
            if on_token is not None:
                on_token(str(reply))
            return Reply(str(reply))
        return await self._get_live_model("chat", messages).chat(
            messages,
            max_tokens=max_tokens,
            temperature=temperature,
            schema=schema,
            stop=stop,
            on_token=on_token,
        )

    async def yes_no(self, messages: Sequence[Message]) -> YesNo:
        known, reply = self._find_reply("yes_no", messages)
        return (
            YesNo(float(reply))
            if known
            else await self._get_live_model("yes_no", messages).yes_no(messages)
        )

    async def close(self) -> None:
        """The model behind is not this question's to close."""

    def _find_reply(self, job: str, messages: Sequence[Message]) -> tuple[bool, Any]:
        """Replies to the same prompt come in their order; the last one again and again."""
        replies = self._replies.get(_build_key(job, [message.model_dump() for message in messages]))
        if not replies:
            return False, None
        return True, replies.popleft() if len(replies) > 1 else replies[0]

    def _get_live_model(self, job: str, messages: Sequence[Message]) -> LLM:
        self.unknown.append(f"{job}: {messages[-1].content[-200:].strip()}" if messages else job)
        if self._behind is None:
            raise ModelUnavailable(
                "the recorded prompts do not hold this one, and there is no chat model",
                hint="setting llm",
            )
        return self._behind


def _build_key(job: str, messages: Any) -> str:
    return json.dumps([job, messages], ensure_ascii=False, sort_keys=True)

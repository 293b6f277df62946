"""A chat model that says again what a trace recorded, for a replay. A reply is given only to the
very prompt that it was given to; every other prompt is told, and goes to the model behind, where
there is one.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from citewell.errors import ModelUnavailable
from citewell.models.base import LLM, ChatOptions, Reply, YesNo
from citewell.types import Message

# where there is no model to ask for how much it takes: that of the packaged one
EVIDENCE_TOKENS = 500


class Recorded:
    """An LLM. `prompts` as `Metered` keeps them. `unknown`: jobs with the last message of prompts
    that are not among them.
    """

    def __init__(self, prompts: Sequence[Mapping[str, Any]], behind: LLM | None) -> None:
        self._behind = behind
        self._replies: defaultdict[str, deque[Mapping[str, Any]]] = defaultdict(deque)
        for prompt in prompts:
            self._replies[_build_key(str(prompt["job"]), prompt["messages"])].append(prompt)
        self.name = behind.name if behind is not None else "recorded"
        self.evidence_tokens = behind.evidence_tokens if behind is not None else EVIDENCE_TOKENS
        self.unknown: list[str] = []

    async def chat(self, messages: Sequence[Message], **options: Unpack[ChatOptions]) -> Reply:
        known = self._find_reply("chat", messages)
        if known is not None:
            text = str(known["reply"])
            if on_token := options.get("on_token"):
                on_token(text)
            return Reply(text, log_prob=known.get("log_prob"))
        return await self._get_live_model("chat", messages).chat(messages, **options)

    async def yes_no(self, messages: Sequence[Message]) -> YesNo:
        known = self._find_reply("yes_no", messages)
        return (
            YesNo(float(known["reply"]))
            if known is not None
            else await self._get_live_model("yes_no", messages).yes_no(messages)
        )

    async def close(self) -> None:
        """The model behind is not this question's to close."""

    def _find_reply(self, job: str, messages: Sequence[Message]) -> Mapping[str, Any] | None:
        """Replies to the same prompt come in their order; the last one again and again."""
        replies = self._replies.get(_build_key(job, [message.model_dump() for message in messages]))
        if not replies:
            return None
        return replies.popleft() if len(replies) > 1 else replies[0]

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

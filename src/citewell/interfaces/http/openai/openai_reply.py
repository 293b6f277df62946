"""An Answer in OpenAI's form, whole or in chunks. `content` is only what was checked; a draft is
reasoning.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from citewell import __version__
from citewell.interfaces.links import Linked, link_citations
from citewell.types import Answer, Usage


@dataclass(frozen=True, slots=True)
class Reply:
    """What stays the same through one reply. `base`: where this server is asked, for the links of
    citations.
    """

    model: str
    base: str
    sources: bool = True
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def build_completion(self, answer: Answer) -> dict[str, Any]:
        """A `chat.completion`."""
        text = self._link_answer(answer)
        whole = self.build_text_completion(text.text, to_annotations(text), answer.usage)
        return whole | {"citewell": answer.model_dump(mode="json")}

    def build_text_completion(
        self, text: str, annotations: Sequence[dict[str, Any]] = (), usage: Usage | None = None
    ) -> dict[str, Any]:
        """The same of a text that is no Answer."""
        message = {
            "role": "assistant",
            "content": text,
            "refusal": None,
            "annotations": list(annotations),
        }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return self._build_frame("chat.completion") | {
            "choices": [choice],
            "usage": to_usage(usage or Usage()),
        }

    def build_first_chunk(self) -> dict[str, Any]:
        return self._build_chunk({"role": "assistant", "content": ""})

    def to_thought_chunk(self, text: str) -> dict[str, Any]:
        return self._build_chunk({"reasoning_content": text})

    def build_chunks(self, answer: Answer) -> list[dict[str, Any]]:
        """The answer by sentence; the last chunk has annotations, the Answer, and why it ends."""
        text = self._link_answer(answer)
        last = self._build_chunk({"annotations": to_annotations(text)}, "stop")
        return [
            *(self._build_chunk({"content": piece}) for piece in text.pieces),
            last | {"citewell": answer.model_dump(mode="json")},
        ]

    def build_text_chunks(self, text: str) -> list[dict[str, Any]]:
        return [self._build_chunk({"content": text}), self._build_chunk({}, "stop")]

    def build_usage_chunk(self, answer: Answer) -> dict[str, Any]:
        """The chunk that `stream_options.include_usage` asks for."""
        return self._build_frame("chat.completion.chunk") | {
            "choices": [],
            "usage": to_usage(answer.usage),
        }

    def _link_answer(self, answer: Answer) -> Linked:
        return link_citations(answer, self.base, sources=self.sources)

    def _build_chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._build_frame("chat.completion.chunk") | {"choices": [choice]}

    def _build_frame(self, kind: str) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "system_fingerprint": f"citewell-{__version__}",
        }


def to_annotations(text: Linked) -> list[dict[str, Any]]:
    """One for each link of the text: `content[start_index:end_index]` is `[[1]](url)`."""
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": mark.start,
                "end_index": mark.end,
                "title": mark.title,
                "url": mark.url,
            },
        }
        for mark in text.marks
    ]


def to_usage(usage: Usage) -> dict[str, Any]:
    """Tokens of all calls that the answer took; none without a chat model."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }

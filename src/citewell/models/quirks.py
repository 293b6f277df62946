"""What OpenAI-compatible servers are known to refuse, and the form they take instead.

The one rule: a quirk is tried only when the server's complaint names it, and is kept only when the server then answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Request = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Quirk:
    """`words`: what a complaint about it mentions. `has`: whether a request has it. `change`: the request in the other form."""

    words: tuple[str, ...]
    has: Callable[[Request], bool]
    change: Callable[[Request], Request]

    def explains(self, complaint: str, request: Request) -> bool:
        return self.has(request) and any(word in complaint.lower() for word in self.words)


def without(*names: str) -> Callable[[Request], Request]:
    return lambda request: {name: value for name, value in request.items() if name not in names}


def format_is(kind: str) -> Callable[[Request], bool]:
    return lambda request: bool(request.get("response_format", {}).get("type") == kind)


def renamed_limit(request: Request) -> Request:
    """OpenAI's reasoning models."""
    changed = without("max_tokens")(request)
    return changed | {"max_completion_tokens": request["max_tokens"]} if "max_tokens" in request else changed


def schema_in_words(request: Request) -> Request:
    """JSON of any shape is asked for, and the shape in the prompt: DeepSeek, older servers."""
    if not format_is("json_schema")(request):
        return request
    schema = json.dumps(request["response_format"]["json_schema"]["schema"], ensure_ascii=False)
    order = {"role": "system", "content": f"Reply with one JSON object of this JSON schema and nothing else: {schema}"}
    return request | {"messages": [order, *request["messages"]], "response_format": {"type": "json_object"}}


_FORMAT = ("response_format", "json_schema", "json_object", "json schema")
QUIRKS = (
    Quirk(_FORMAT, format_is("json_schema"), schema_in_words),
    Quirk(_FORMAT, format_is("json_object"), without("response_format")),
    Quirk(("logprobs",), lambda request: "logprobs" in request, without("logprobs", "top_logprobs")),
    Quirk(("stream_options",), lambda request: "stream_options" in request, without("stream_options")),
    Quirk(("max_tokens", "max_completion_tokens"), lambda request: "max_tokens" in request, renamed_limit),
    Quirk(("temperature",), lambda request: "temperature" in request, without("temperature")),
)

"""What OpenAI-compatible servers are known to refuse, and the form they take instead. A quirk is
tried only when the server's complaint names it, and is kept only when the server then answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Request = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Quirk:
    """`name`: what is not taken. `words`: what a complaint about it mentions. `has`: whether a
    request has it. `change`: the request in the other form.
    """

    name: str
    words: tuple[str, ...]
    has: Callable[[Request], bool]
    change: Callable[[Request], Request]

    def can_explain(self, complaint: str, request: Request) -> bool:
        return self.has(request) and any(word in complaint.lower() for word in self.words)


def drop_fields(*names: str) -> Callable[[Request], Request]:
    return lambda request: {name: value for name, value in request.items() if name not in names}


def has_format(kind: str) -> Callable[[Request], bool]:
    return lambda request: bool(request.get("response_format", {}).get("type") == kind)


def rename_limit(request: Request) -> Request:
    """OpenAI's reasoning models."""
    changed = drop_fields("max_tokens")(request)
    return (
        changed | {"max_completion_tokens": request["max_tokens"]}
        if "max_tokens" in request
        else changed
    )


def put_schema_in_words(request: Request) -> Request:
    """JSON of any shape is asked for, and the shape in words: DeepSeek, older servers. At the end
    of the last message, so that prompts keep the beginning that they share, and in the language of
    the first.
    """
    if not has_format("json_schema")(request):
        return request
    schema = json.dumps(request["response_format"]["json_schema"]["schema"], ensure_ascii=False)
    *before, last = request["messages"]
    order = _ORDERS[bool(_HAN.search(request["messages"][0]["content"]))]
    worded = last | {"content": f"{last['content']}\n\n{order}{schema}"}
    return request | {"messages": [*before, worded], "response_format": {"type": "json_object"}}


_HAN = re.compile(r"[\u3400-\u9fff]")
_ORDERS = (
    "Reply with one JSON object of this JSON schema and nothing else: ",
    "只输出一个符合以下 JSON Schema 的 JSON 对象：",
)
_FORMAT = ("response_format", "json_schema", "json_object", "json schema")
QUIRKS = (
    Quirk("json_schema", _FORMAT, has_format("json_schema"), put_schema_in_words),
    Quirk("json_object", _FORMAT, has_format("json_object"), drop_fields("response_format")),
    Quirk(
        "logprobs",
        ("logprobs",),
        lambda request: "logprobs" in request,
        drop_fields("logprobs", "top_logprobs"),
    ),
    Quirk(
        "stream_options",
        ("stream_options",),
        lambda request: "stream_options" in request,
        drop_fields("stream_options"),
    ),
    Quirk(
        "max_tokens",
        ("max_tokens", "max_completion_tokens"),
        lambda request: "max_tokens" in request,
        rename_limit,
    ),
    Quirk(
        "temperature",
        ("temperature",),
        lambda request: "temperature" in request,
        drop_fields("temperature"),
    ),
)


def adapt_request(request: Request, names: Sequence[str]) -> Request:
    """The request in the form for a server with these quirks."""
    for quirk in QUIRKS:
        if quirk.name in names:
            request = quirk.change(request)
    return request


def find_next_quirk(complaint: str, request: Request, names: Sequence[str]) -> str | None:
    """The name of one more quirk that explains why an adapted request was refused."""
    return next(
        (q.name for q in QUIRKS if q.name not in names and q.can_explain(complaint, request)), None
    )

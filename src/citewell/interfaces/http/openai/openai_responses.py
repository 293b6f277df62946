"""`POST /v1/responses`: the newer of OpenAI's two ways to ask; the same questions and answers as
`/v1/chat/completions`, in its own form. A response is known by its trace, so `previous_response_id`
goes on with the session that the trace belongs to.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from fastapi.sse import format_sse_event
from pydantic import BaseModel, Field

from citewell.errors import NotFound
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.interfaces.http.openai.openai_chat import SCHEMA, AtWork, start_events
from citewell.interfaces.http.openai.openai_errors import OpenAIRoute, Unsupported, join_hint
from citewell.interfaces.http.openai.openai_messages import (
    MOST_MESSAGES,
    ChatMessage,
    ChatRequest,
    Ours,
    to_ask_request,
)
from citewell.interfaces.http.routes.ask_routes import run_while_connected
from citewell.interfaces.http.security.address import get_base_url
from citewell.interfaces.http.sse import Pair, stream_events
from citewell.interfaces.links import Linked, link_citations
from citewell.runtime.app import App
from citewell.service.ask.ask import ask as answer_to
from citewell.service.ask.default_collection import add_default_collection, add_warnings
from citewell.service.ask.run import AskRequest
from citewell.types import Answer, Event, Step, Usage

router = APIRouter(tags=["openai"], route_class=OpenAIRoute)
ID, TRACE = "resp_", "tr_"  # what ids begin with: a response's, and its trace's


class ResponseRequest(BaseModel):
    """What is not named here (temperature, reasoning, truncation, ...) is ignored."""

    model: str
    input: str | list[dict[str, Any]] = Field(max_length=1_000_000)
    instructions: str | None = None
    previous_response_id: str | None = Field(None, max_length=100)
    store: bool | None = True
    stream: bool | None = False
    background: bool | None = False
    conversation: Any = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = None
    text: dict[str, Any] | None = None
    citewell: Ours = Ours()


@router.post(
    "/v1/responses",
    response_class=Response,
    responses={200: SCHEMA},
    operation_id="create_response",
)
async def create_response(
    request: Request, body: ResponseRequest, app: Citewell, caller: Asking, at_work: AtWork
) -> Response:
    """Answer the last message of the input; `previous_response_id` goes on with a conversation."""
    asked, warnings = await _to_question(app, body, caller.user_id)
    asked, chosen = await add_default_collection(app, asked)
    reply = _Reply(body, get_base_url(request), [*warnings, *chosen])
    if not body.stream:
        answer = await run_while_connected(request, answer_to(app, asked))
        reply.id = name_response(answer.trace_id)
        return JSONResponse(reply.build_whole(answer))
    events = await start_events(app, asked, at_work)
    return stream_events(request, _stream_pairs(events, reply), _format_line)


async def _to_question(
    app: App, body: ResponseRequest, user_id: str
) -> tuple[AskRequest, list[str]]:
    """Raises Unsupported, InvalidInput, UnknownModel, NotFound."""
    if body.background or body.conversation is not None:
        name = "background" if body.background else "conversation"
        raise Unsupported(name, f"{name} is not supported", hint=f"leave {name} out")
    if body.citewell.draft or body.citewell.steps:
        raise Unsupported(
            "citewell.draft", "draft and steps come by /v1/chat/completions", hint="leave them out"
        )
    try:
        asked, warnings = to_ask_request(_to_chat(body), user_id)
    except Unsupported as error:
        error.param = error.param.replace("messages.", "input.").replace("response_", "text.")
        raise
    session = asked.session_id
    if body.previous_response_id:
        session = await _find_session(app, body.previous_response_id, user_id)
    if session or (body.store is not False and not asked.history):
        return asked.model_copy(update={"session_id": session, "history": None}), warnings
    return asked, warnings


def _to_chat(body: ResponseRequest) -> ChatRequest:
    """The same as a chat; what earlier responses thought is left out. Raises Unsupported."""
    given = (
        body.input if isinstance(body.input, list) else [{"role": "user", "content": body.input}]
    )
    if not given or len(given) > MOST_MESSAGES:
        raise Unsupported(
            "input", f"input has 1 to {MOST_MESSAGES:,} messages", code="invalid_value"
        )
    messages = [ChatMessage(role="system", content=body.instructions)] if body.instructions else []
    for n, item in enumerate(given):
        kind = item.get("type", "message")
        if kind == "reasoning":
            continue
        content, role = item.get("content"), item.get("role")
        known = role in ("system", "developer", "user", "assistant")
        if kind != "message" or not known or not isinstance(content, str | list):
            what = kind if kind != "message" else f"message of {role!r}"
            raise Unsupported(f"input.[{n}]", f"an item of type {what} is not supported")
        messages.append(ChatMessage.model_validate({"role": role, "content": content}))
    return ChatRequest(
        model=body.model,
        messages=messages,
        tools=body.tools,
        tool_choice=body.tool_choice,
        response_format=(body.text or {}).get("format"),
        citewell=body.citewell,
    )


async def _find_session(app: App, response_id: str, user_id: str) -> str:
    """Raises NotFound, also for a response that kept no session."""
    try:
        trace = await app.traces.get(TRACE + response_id.removeprefix(ID), user_id)
    except NotFound:
        trace = None
    if trace is None or not trace.session_id:
        raise NotFound(
            f"previous response {response_id!r} not found",
            hint="it was asked with store: false or its own history, or is no longer kept",
            code="previous_response_not_found",
        )
    return trace.session_id


def name_response(trace_id: str) -> str:
    return ID + (trace_id.removeprefix(TRACE) or secrets.token_hex(8))


@dataclass(slots=True)
class _Reply:
    """What stays the same through one response. `base`: where this server is asked, for links."""

    body: ResponseRequest
    base: str
    warnings: list[str]
    id: str = ""
    created: int = field(default_factory=lambda: int(time.time()))
    numbers: count[int] = field(default_factory=count)

    def build_whole(self, answer: Answer) -> dict[str, Any]:
        """A finished `response`."""
        answer = add_warnings(answer, self.warnings)
        text = link_citations(answer, self.base, sources=self.body.citewell.sources)
        done = {
            "output": [self._build_message(text)],
            "usage": _to_usage(answer.usage),
            "citewell": answer.model_dump(mode="json"),
        }
        return self.build_frame("completed") | done

    def build_frame(self, status: str) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": self.body.instructions,
            "metadata": {},
            "model": self.body.model,
            "output": [],
            "parallel_tool_calls": False,
            "previous_response_id": self.body.previous_response_id,
            "store": self.body.store is not False,
            "temperature": None,
            "text": {"format": {"type": "text"}},
            "tool_choice": "none",
            "tools": [],
            "top_p": None,
            "usage": None,
        }

    def list_begin(self) -> Iterator[Pair]:
        for kind in ("created", "in_progress"):
            yield self._number(f"response.{kind}", response=self.build_frame("in_progress"))

    def list_parts(self, answer: Answer) -> Iterator[Pair]:
        """The answer sentence by sentence, then its links, then all of it."""
        whole = self.build_whole(answer)
        [message], at = whole["output"], {"output_index": 0}
        text = link_citations(
            add_warnings(answer, self.warnings), self.base, sources=self.body.citewell.sources
        )
        begun = message | {"status": "in_progress", "content": []}
        part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        yield self._number("response.output_item.added", item=begun, **at)
        at |= {"item_id": message["id"], "content_index": 0}
        yield self._number("response.content_part.added", part=part, **at)
        for piece in text.pieces:
            yield self._number("response.output_text.delta", delta=piece, logprobs=[], **at)
        for n, each in enumerate(message["content"][0]["annotations"]):
            kind = "response.output_text.annotation.added"
            yield self._number(kind, annotation=each, annotation_index=n, **at)
        yield self._number("response.output_text.done", text=text.text, logprobs=[], **at)
        yield self._number("response.content_part.done", part=message["content"][0], **at)
        yield self._number("response.output_item.done", item=message, output_index=0)
        yield self._number("response.completed", response=whole)

    def _number(self, kind: str, **values: Any) -> Pair:
        return kind, {"type": kind, "sequence_number": next(self.numbers), **values}

    def _build_message(self, text: Linked) -> dict[str, Any]:
        annotations = [
            {
                "type": "url_citation",
                "start_index": mark.start,
                "end_index": mark.end,
                "title": mark.title,
                "url": mark.url,
            }
            for mark in text.marks
        ]
        part = {
            "type": "output_text", "text": text.text, "annotations": annotations, "logprobs": []
        }  # fmt: skip
        return {
            "type": "message",
            "id": "msg_" + self.id.removeprefix(ID),
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }


async def _stream_pairs(events: AsyncGenerator[Event, None], reply: _Reply) -> AsyncIterator[Pair]:
    """The first step tells the trace, and so the response's id."""
    async with aclosing(events):
        async for event in events:
            if not reply.id:
                detail = event.data.detail if isinstance(event.data, Step) else {}
                reply.id = name_response(str(detail.get("trace_id", "")))
                for pair in reply.list_begin():
                    yield pair
            if isinstance(event.data, Answer):
                for pair in reply.list_parts(event.data):
                    yield pair


def _format_line(event: str, value: Any) -> bytes:
    """Each event has its name; an error has the shape of OpenAI's `error` event."""
    if event == "error":
        inner = value["error"]
        message = join_hint(str(inner["message"]), str(inner.get("hint", "")))
        value = {"type": "error", "code": inner["code"], "message": message, "param": None}
    return format_sse_event(event=event, data_str=json.dumps(value, ensure_ascii=False))


def _to_usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }

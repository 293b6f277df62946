"""`/v1/chat/completions` and `/v1/models` as the official client uses them."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx
import openai
import pytest
from prometheus_client.parser import text_string_to_metric_families

from citewell.errors import ModelUnavailable
from citewell.interfaces.http import create_app
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.types import Answer

if TYPE_CHECKING:
    from tests.interfaces.conftest import FakeAgent

WHEN = "When was the Northgate lighthouse built?"
ASKED = [{"role": "user", "content": WHEN}]


@pytest.fixture
def chat_agent(agent: FakeAgent, monkeypatch: pytest.MonkeyPatch) -> FakeAgent:
    monkeypatch.setattr("citewell.interfaces.http.openai.openai_chat.stream_answer", agent.stream)
    monkeypatch.setattr("citewell.interfaces.http.openai.openai_chat.answer_to", agent.ask)
    return agent


async def chat(
    ai: openai.AsyncOpenAI, messages: Any = ASKED, model: str = "citewell/qa", **more: Any
) -> Any:
    return await ai.chat.completions.create(model=model, messages=messages, **more)


async def test_an_answer_with_links_and_annotations(ai: openai.AsyncOpenAI, northgate: str) -> None:
    """The text links each citation and lists them; annotations say where the links stand; the
    Answer is there whole.
    """
    reply = await chat(ai)
    message = reply.choices[0].message
    assert (reply.object, reply.model, reply.choices[0].finish_reason, message.role) == (
        "chat.completion",
        "citewell/qa",
        "stop",
        "assistant",
    )
    base = str(ai.base_url).removesuffix("v1/")
    link = message.annotations[0].url_citation.url
    assert link.startswith(f"{base}#/source/{northgate}?")
    assert f"1857.[[1]]({link})" in message.content
    assert (
        f'\n\n**Sources**\n\n1. [Northgate]({link}): "The Northgate lighthouse was built in 1857."'
        in message.content
    )
    cited = [annotation.url_citation for annotation in message.annotations]
    assert cited[0].title == "Northgate"
    assert message.content[cited[0].start_index : cited[0].end_index] == f"[[1]]({cited[0].url})"
    answer = Answer(**reply.citewell)
    assert answer.status == "answered"
    assert [citation.doc_id for citation in answer.citations] == [northgate] * len(cited)
    assert reply.usage.prompt_tokens == answer.usage.prompt_tokens > 0
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    async with httpx.AsyncClient(
        trust_env=False
    ) as client:  # what the page asks for where the link is opened
        place = (
            await client.get(f"{base}api/documents/{northgate}/span?{link.partition('?')[2]}")
        ).json()
        assert (place["changed"], place["citation"]["quote"]) == (False, answer.citations[0].quote)


async def test_a_chat_in_chunks(ai: openai.AsyncOpenAI, northgate: str) -> None:
    """The chunks make the same text; the last ones have annotations, Answer and usage."""
    whole = await chat(ai)
    chunks = [c async for c in await chat(ai, stream=True, stream_options={"include_usage": True})]
    assert chunks[0].choices[0].delta.role == "assistant"
    assert (
        "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
        == whole.choices[0].message.content
    )
    assert sum(bool(c.choices and c.choices[0].delta.content) for c in chunks) >= 2
    end = next(c for c in chunks if c.choices and c.choices[0].finish_reason)
    assert end.choices[0].finish_reason == "stop"
    assert end.choices[0].delta.annotations == [
        a.model_dump() for a in whole.choices[0].message.annotations
    ]
    assert end.citewell["citations"][0]["doc_id"] == northgate
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens > 0
    assert len({c.id for c in chunks}) == 1
    bare = [c async for c in await chat(ai, stream=True)]
    assert all(c.usage is None and c.choices for c in bare)


async def test_only_what_was_checked_is_content(
    ai: openai.AsyncOpenAI, chat_agent: FakeAgent
) -> None:
    """The draft and the steps come as reasoning, and only where they are asked for."""
    plain = [c async for c in await chat(ai, stream=True)]
    assert not any("reasoning_content" in (c.choices[0].delta.model_extra or {}) for c in plain)
    extra = {"citewell": {"draft": True, "steps": True}}
    loud = [c async for c in await chat(ai, stream=True, extra_body=extra)]
    thoughts = "".join(
        (c.choices[0].delta.model_extra or {}).get("reasoning_content", "") for c in loud
    )
    assert thoughts == "InputValidationNode: default\nIt was built"
    assert "".join(c.choices[0].delta.content or "" for c in loud) == "".join(
        c.choices[0].delta.content or "" for c in plain
    )


async def test_history_is_understood(ai: openai.AsyncOpenAI, northgate: str, app: App) -> None:
    """A follow-up question is answered from what the messages say was asked before, as this server
    wrote it.
    """
    first = (await chat(ai)).choices[0].message.content
    follow = [
        *ASKED,
        {"role": "assistant", "content": first},
        {"role": "user", "content": "When was it built?"},
    ]
    answer = Answer(**(await chat(ai, follow)).citewell)
    assert answer.status == "answered"
    assert answer.session_id == ""
    assert isinstance(app.llm, ScriptedLLM)
    seen = [" ".join(message.content for message in call.messages) for call in app.llm.calls]
    assert any("When was it built?" in text and WHEN in text for text in seen)
    assert not any("**Sources**" in text or "api/documents" in text for text in seen)


async def test_what_reaches_the_agent(ai: openai.AsyncOpenAI, chat_agent: FakeAgent) -> None:
    """Model, collection, source, options and messages in their places; links and reasoning of
    earlier replies are left out.
    """
    reply = (await chat(ai)).choices[0].message.content
    assert "**Sources**" in reply
    messages = [
        {"role": "system", "content": "Answer for children."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "When was"},
                {"type": "text", "text": "it built?"},
            ],
        },
        {"role": "assistant", "content": "<think>hm</think>" + reply},
        {"role": "user", "content": "And red?"},
    ]
    extra = {
        "citewell": {"collection": "docs", "options": {"max_calls": 3}},
        "chat_id": "of Open WebUI",
    }
    whole = await chat(
        ai, messages, model="citewell/qa:other", temperature=0.2, seed=1, extra_body=extra
    )
    asked = chat_agent.asked[-1]
    assert (asked.agent, asked.collection, asked.question, asked.options) == (
        "qa",
        "docs",
        "And red?",
        {"max_calls": 3},
    )
    assert asked.history is not None
    assert [(m.role, m.content) for m in asked.history] == [
        ("user", "When was\nit built?"),
        ("assistant", chat_agent.answer.answer),
    ]
    assert any("system message was not used" in warning for warning in whole.citewell["warnings"])

    site = {"citewell": {"start_urls": ["http://x.example/"]}}
    await chat(ai, messages, model="citewell/website", extra_body=site)
    assert chat_agent.asked[-1].options == {
        "start_urls": ["http://x.example/"],
        "instruction": "Answer for children.",
    }
    await chat(ai, model="citewell/data:sales")
    assert (chat_agent.asked[-1].collection, chat_agent.asked[-1].options) == (
        None,
        {"source": "sales"},
    )
    await chat(
        ai, messages, model="citewell/auto", extra_body={"citewell": {"session_id": "ses_1"}}
    )
    assert (chat_agent.asked[-1].session_id, chat_agent.asked[-1].history) == ("ses_1", None)


async def test_refusals_are_messages(ai: openai.AsyncOpenAI, northgate: str, app: App) -> None:
    """Where nothing proves an answer, that is what the assistant says."""
    assert isinstance(app.llm, ScriptedLLM)
    app.llm.reply_with(lambda _: "I don't know.")
    reply = await chat(ai, [{"role": "user", "content": "Zebra xylophone quantum?"}])
    assert reply.citewell["status"] in {"refused", "clarify", "fallback"}
    assert reply.choices[0].message.content
    assert reply.choices[0].finish_reason == "stop"


REFUSED: list[tuple[dict[str, Any], int, str | None, str]] = [
    ({"model": "gpt-4o"}, 404, "model", "model_not_found"),
    ({"model": "citewell/nobody"}, 404, "model", "model_not_found"),
    ({"model": "citewell/qa:nowhere"}, 404, None, "not_found"),
    ({"model": "citewell/qa:nowhere", "stream": True}, 404, None, "not_found"),
    ({"n": 2}, 400, "n", "unsupported_value"),
    ({"tools": [{"type": "web_search"}]}, 400, "tools", "unsupported_parameter"),
    (
        {"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required"},
        400,
        "tool_choice",
        "unsupported_parameter",
    ),
    (
        {"response_format": {"type": "json_object"}},
        400,
        "response_format",
        "unsupported_parameter",
    ),
    ({"logprobs": True}, 400, "logprobs", "unsupported_parameter"),
    (
        {"stream_options": {"include_usage": True}},
        400,
        "stream_options",
        "unsupported_parameter",
    ),
    ({"messages": []}, 400, "messages", "invalid_value"),
    (
        {"messages": [{"role": "pirate", "content": "x"}]},
        400,
        "messages.0.role",
        "invalid_value",
    ),
    ({"messages": [{"role": "assistant", "content": "x"}]}, 400, None, "invalid_input"),
    ({"messages": [{"role": "user", "content": "   "}]}, 400, None, "invalid_input"),
    (
        {"messages": [{"role": "tool", "content": "x", "tool_call_id": "1"}]},
        400,
        "messages.[0].role",
        "unsupported_parameter",
    ),
    (
        {
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "image_url", "image_url": {"url": "data:,"}}],
                }
            ]
        },
        400,
        "messages.[0].content.[0]",
        "unsupported_content",
    ),
    (
        {"extra_body": {"citewell": {"colection": "x"}}},
        400,
        "citewell.colection",
        "invalid_value",
    ),
    (
        {"extra_body": {"citewell": {"options": {"x": 1}}}},
        400,
        "citewell.options.x",
        "unknown_option",
    ),
]


async def test_what_is_refused(ai: openai.AsyncOpenAI, northgate: str) -> None:
    """In OpenAI's own shape, with a status of its own even where a stream was asked for."""
    for changes, status, param, code in REFUSED:
        given: dict[str, Any] = {"model": "citewell/qa", "messages": ASKED} | changes
        with pytest.raises(openai.APIStatusError) as caught:
            await ai.chat.completions.create(**given)
        error = caught.value
        assert (error.status_code, error.param, error.code) == (status, param, code), changes
        assert error.type == "invalid_request_error"
        assert error.body["message"]  # type: ignore[index]


async def test_broken_bodies(client: httpx.AsyncClient) -> None:
    """No JSON, half a character, a wrong type: 400 in the same shape."""
    said = {"Content-Type": "application/json"}
    for body in (
        b"{",
        b'{"model": "citewell/qa", "messages": [{"role": "user", "content": "\\ud800"}]}',
        b'{"model": 3}',
    ):
        reply = await client.post("/v1/chat/completions", content=body, headers=said)
        assert reply.status_code == 400, body
        assert set(reply.json()["error"]) == {"message", "type", "param", "code"}


async def test_a_failing_model(ai: openai.AsyncOpenAI, chat_agent: FakeAgent) -> None:
    """A status where it fails before the stream begins, an error in the stream afterwards."""
    chat_agent.error = ModelUnavailable("no model", hint="pull one")
    with pytest.raises(openai.InternalServerError, match=r"no model \(pull one\)") as caught:
        await chat(ai)
    assert (caught.value.status_code, caught.value.type, caught.value.code) == (
        503,
        "server_error",
        "model_unavailable",
    )
    with pytest.raises(openai.APIError, match="no model"):
        _ = [c async for c in await chat(ai, stream=True)]
    chat_agent.error = ZeroDivisionError("secret")  # type: ignore[assignment]
    with pytest.raises(openai.InternalServerError) as hidden:
        await chat(ai)
    assert "secret" not in str(hidden.value)


async def test_a_client_that_leaves_stops_the_work(
    ai: openai.AsyncOpenAI, chat_agent: FakeAgent
) -> None:
    """Whole or in chunks."""
    chat_agent.hang = True
    asking = asyncio.create_task(chat(ai))
    await asyncio.wait_for(chat_agent.started.wait(), 120)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await asyncio.wait_for(chat_agent.cancelled.wait(), 120)
    chat_agent.cancelled.clear()
    reply = await chat(ai, stream=True)
    assert (await anext(reply)).choices[0].delta.role == "assistant"
    await reply.close()
    await asyncio.wait_for(chat_agent.cancelled.wait(), 120)


async def test_a_client_that_leaves_before_the_reply_begins(
    app: App, chat_agent: FakeAgent
) -> None:
    """Nothing was sent, nobody reads: the work ends all the same."""
    chat_agent.hang = True
    http = create_app(app)
    body = json.dumps({"model": "citewell/qa", "messages": ASKED, "stream": True}).encode()
    gone = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return gone.pop() if gone else {"type": "http.disconnect"}

    async def send(_: object) -> None:
        raise OSError("the client has left")

    headers = [
        (b"host", b"127.0.0.1"),
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/v1/chat/completions",
        "headers": headers,
        "query_string": b"",
    }
    scope |= {
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "client": ("127.0.0.1", 5),
        "server": ("127.0.0.1", 80),
    }
    scope |= {
        "scheme": "http",
        "root_path": "",
        "raw_path": b"/v1/chat/completions",
        "http_version": "1.1",
    }
    async with http.router.lifespan_context(http):
        with suppress(Exception):
            await http(scope, receive, send)
        assert chat_agent.started.is_set()
        assert chat_agent.cancelled.is_set()


async def test_the_figures_of_a_stream_name_its_agent(
    ai: openai.AsyncOpenAI, northgate: str, client: httpx.AsyncClient
) -> None:
    """Every node of it, not only what came before the first event."""
    _ = [c async for c in await chat(ai, stream=True)]
    samples = [
        each
        for family in text_string_to_metric_families((await client.get("/metrics")).text)
        for each in family.samples
        if each.name == "citewell_node_seconds_count"
    ]
    assert len({each.labels["node"] for each in samples}) >= 4
    assert {each.labels["agent"] for each in samples} == {"qa"}


async def test_silence_is_bridged_by_comments(
    client: httpx.AsyncClient, chat_agent: FakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And every other line is data."""
    monkeypatch.setattr("citewell.interfaces.http.sse.KEEP_ALIVE", 0.05)
    chat_agent.hang = True
    body = {"model": "citewell/qa", "messages": ASKED, "stream": True}
    async with client.stream("POST", "/v1/chat/completions", json=body) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        async for line in reply.aiter_lines():
            assert line.startswith((":", "data: ")) or not line
            if line.startswith(":"):
                break


async def test_models(ai: openai.AsyncOpenAI, northgate: str, app: App) -> None:
    """Agents, collections and the embedder are listed, and each can be asked for; others are
    404.
    """
    names = [model.id async for model in ai.models.list()]
    assert names[0] == "citewell/auto"
    assert {
        "citewell/qa",
        "citewell/dual_loop",
        "citewell/website",
        "citewell/data",
        "citewell/qa:default",
    } <= set(names)
    assert app.embedder.name in names
    for name in [*names, "citewell/paper"]:
        assert (await ai.models.retrieve(name)).id == name
    for name in ("gpt-4o", "citewell/qa:nowhere", "citewell/nobody"):
        with pytest.raises(openai.NotFoundError) as caught:
            await ai.models.retrieve(name)
        assert caught.value.code == "model_not_found"


async def test_a_page_of_another_site_may_not_ask(
    client: httpx.AsyncClient, chat_agent: FakeAgent
) -> None:
    """The same guard as everywhere stands before these paths."""
    body = {"model": "citewell/qa", "messages": ASKED}
    reply = await client.post(
        "/v1/chat/completions", json=body, headers={"Origin": "http://evil.example"}
    )
    assert reply.status_code == 403
    assert (await client.get("/v1/models", headers={"Host": "evil.example"})).status_code == 421
    assert chat_agent.asked == []

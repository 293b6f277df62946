"""The client of OpenAI-compatible endpoints, against a real server on the loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from citewell.config import Settings
from citewell.errors import ConfigError, PermanentError, TransientError
from citewell.models.openai import OpenAIEmbedder, OpenAILLM
from citewell.models.providers import build_embedder, build_llm
from citewell.types import Message

KEY = "sk-made-up-for-a-test"
ASK = [
    Message(role="system", content="Be brief."),
    Message(role="user", content="Which town?\x00\ud800"),
]
SCHEMA = {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}


def connected(server: Any, **more: Any) -> Settings:
    return Settings(
        home=server.home, llm="openai", llm_url=server.url, llm_model="m", llm_key=SecretStr(KEY),
        embedder="openai", embed_url=server.url, embed_model="e", embed_key=SecretStr(KEY), **more,
    )  # fmt: skip


@pytest.fixture
async def llm(server: Any) -> AsyncIterator[OpenAILLM]:
    model = OpenAILLM(connected(server, llm_timeout=5.0))
    yield model
    await model.close()


async def test_chat(llm: OpenAILLM, server: Any) -> None:
    """A chat sends the messages, made safe, with the key, and reads text, tokens and whether it was
    cut.
    """
    server.then_text("Leeds")
    server.then_text("Lee", finish="length")
    reply = await llm.chat(ASK, max_tokens=7, stop=["."])
    assert (reply.text, reply.finished) == ("Leeds", True)
    assert (reply.tokens.prompt, reply.tokens.cached, reply.tokens.completion) == (10, 4, 2)
    assert not (await llm.chat(ASK)).finished
    sent = server.requests[0]
    assert (sent["model"], sent["max_tokens"], sent["stop"], sent["temperature"]) == (
        "m",
        7,
        ["."],
        0.0,
    )
    assert sent["messages"][1] == {"role": "user", "content": "Which town?  "}
    assert server.keys[0] == f"bearer {KEY}"


async def test_stream(llm: OpenAILLM, server: Any) -> None:
    """Tokens arrive in order, and the usage that comes last is read."""
    usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    last = server.piece("") | {"choices": [], "usage": usage}
    server.then([server.piece("Le"), server.piece("eds"), server.piece("", "length"), last])
    tokens: list[str] = []
    reply = await llm.chat(ASK, on_token=tokens.append)
    assert (tokens, reply.text, reply.finished, reply.tokens.prompt) == (
        ["Le", "eds"],
        "Leeds",
        False,
        5,
    )


async def test_thinking_is_not_streamed(llm: OpenAILLM, server: Any) -> None:
    """Neither its marks nor its words reach the receiver; what only looked like its beginning
    does.
    """
    for parts in (["<thi", "nk>Hm.", " So:</think>\n\nLee", "ds"], ["<", "b>"]):
        server.then([server.piece(part) for part in parts])
    tokens: list[str] = []
    assert (await llm.chat(ASK, on_token=tokens.append)).text == "Leeds"
    assert "".join(tokens) == "Leeds"
    tokens.clear()
    assert (await llm.chat(ASK, on_token=tokens.append)).text == "".join(tokens) == "<b>"


REPLIES = [
    (
        {"text": None, "refusal": "I cannot help with that."},
        "model_refused",
        "refused to answer: I cannot help",
    ),
    ({"text": "Lee", "finish": "content_filter"}, "content_filter", "content filter"),
    ({"text": ""}, "empty_reply", "reply is empty"),
    ({"text": "<think>Hm.</think>\n"}, "empty_reply", "reply is empty"),
    (
        {"text": "<think>Hm.", "finish": "length"},
        "empty_reply",
        "limit of tokens before its first word",
    ),
]


@pytest.mark.parametrize(("said", "code", "words"), REPLIES)
async def test_no_reply_is_told_as_such(
    llm: OpenAILLM, server: Any, said: dict[str, Any], code: str, words: str
) -> None:
    """A refusal, a filter and nothing at all are errors that name the endpoint and say what to
    do.
    """
    server.then_text(**said)
    with pytest.raises(PermanentError, match=words) as caught:
        await llm.chat(ASK)
    assert caught.value.code == code
    assert server.url in caught.value.message
    assert "another model" in caught.value.hint


async def test_refusal_in_a_stream(llm: OpenAILLM, server: Any) -> None:
    """In pieces too."""
    pieces = [server.piece("") for _ in range(2)]
    for piece, words in zip(pieces, ("I can", "not."), strict=True):
        piece["choices"][0]["delta"] = {"refusal": words}
    server.then(pieces)
    with pytest.raises(PermanentError, match=r"refused to answer: I cannot\."):
        await llm.chat(ASK, on_token=lambda _: None)


async def test_nothing_before_a_stop_is_a_reply(llm: OpenAILLM, server: Any) -> None:
    """A reply that ended at once at a word it was told to stop at."""
    server.then_text("")
    assert (await llm.chat(ASK, stop=["."])).text == ""


async def test_cancel_closes_the_connection(llm: OpenAILLM, server: Any) -> None:
    """Cancelling the task makes the server see that nobody reads any more."""
    server.then(None)
    started = asyncio.Event()
    task = asyncio.create_task(llm.chat(ASK, on_token=lambda _: started.set()))
    await asyncio.wait_for(started.wait(), 120)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(server.gone.wait(), 120)


async def test_timeout_is_transient(server: Any) -> None:
    """A server that takes too long, even in mid-stream, is a TransientError that tells the
    limit.
    """
    llm = OpenAILLM(connected(server, llm_timeout=0.3))
    server.then(None)
    with pytest.raises(TransientError, match=r"no reply within 0\.3 seconds"):
        await llm.chat(ASK, on_token=lambda _: None)
    await llm.close()


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
async def test_busy_server_is_transient(llm: OpenAILLM, server: Any, status: int) -> None:
    """Statuses after which another try may work."""
    server.then_refuse("busy", status)
    with pytest.raises(TransientError, match=f"status {status}: .*busy"):
        await llm.chat(ASK)


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "permanent"), (401, "unauthorised"), (404, "permanent"), (422, "permanent")],
)
async def test_refusal_is_permanent(llm: OpenAILLM, server: Any, status: int, code: str) -> None:
    """Other statuses are permanent; the message names endpoint and model, never the key, even if
    the server quotes it.
    """
    server.then_refuse(f"wrong: {KEY}", status)
    with pytest.raises(PermanentError) as caught:
        await llm.chat(ASK)
    assert caught.value.code == code
    assert server.url in caught.value.message
    assert "(m)" in caught.value.message
    assert KEY not in caught.value.message + caught.value.hint


async def test_too_long_a_prompt_has_a_code(llm: OpenAILLM, server: Any) -> None:
    """The caller can tell that less evidence would do."""
    server.then_refuse("This model's maximum context length is 4096 tokens")
    with pytest.raises(PermanentError) as caught:
        await llm.chat(ASK)
    assert caught.value.code == "prompt_too_long"


async def test_no_server_is_transient() -> None:
    """Nobody listens: it may be starting."""
    settings = Settings(llm_url="http://127.0.0.1:9/v1", llm_model="m")
    llm = OpenAILLM(settings)
    with pytest.raises(TransientError, match=r"127\.0\.0\.1:9"):
        await llm.chat(ASK)
    await llm.close()


async def test_web_page_instead_of_json(llm: OpenAILLM, server: Any) -> None:
    """A wrong address often answers with a page; the hint says to look at the address."""
    server.then({"hello": "world"})
    with pytest.raises(PermanentError, match="no choices") as caught:
        await llm.chat(ASK)
    assert "/v1" in caught.value.hint


async def test_schema_falls_back_and_is_remembered(llm: OpenAILLM, server: Any) -> None:
    """A server without json_schema gets json_object and the schema in the prompt, the second time
    at once.
    """
    server.then_refuse("This response_format type is unavailable now")
    server.then_text('{"town": "Leeds"}')
    server.then_text('{"town": "York"}')
    assert (await llm.chat(ASK, schema=SCHEMA)).text == '{"town": "Leeds"}'
    assert (await llm.chat(ASK, schema=SCHEMA)).text == '{"town": "York"}'
    formats = [request["response_format"]["type"] for request in server.requests]
    assert formats == ["json_schema", "json_object", "json_object"]
    whole, worded = server.requests[0]["messages"], server.requests[2]["messages"]
    assert worded[0] == whole[0]  # what prompts share stays at their beginning
    assert worded[1]["content"].startswith(whole[1]["content"])
    assert '"town"' in worded[1]["content"]


async def test_what_a_request_taught_is_remembered(llm: OpenAILLM, server: Any) -> None:
    """A form that was found by a refused request serves the next process at once, in the prompt's
    language.
    """
    server.then_refuse("This response_format type is unavailable now")
    server.then_text('{"town": "Leeds"}')
    await llm.chat(ASK, schema=SCHEMA)
    other = OpenAILLM(connected(server))
    server.then_text('{"town": "利兹"}')
    asked = [Message(role="system", content="请简短。"), Message(role="user", content="哪个城市？")]
    await other.chat(asked, schema=SCHEMA)
    await other.close()
    assert server.requests[-1]["response_format"] == {"type": "json_object"}
    assert "只输出一个" in server.requests[-1]["messages"][1]["content"]


async def test_other_limit_and_no_temperature(llm: OpenAILLM, server: Any) -> None:
    """Reasoning models take neither max_tokens nor a temperature."""
    server.then_refuse("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    server.then_refuse("Unsupported value: 'temperature' does not support 0.0")
    server.then_text("Leeds")
    assert (await llm.chat(ASK, max_tokens=9)).text == "Leeds"
    last = server.requests[-1]
    assert last["max_completion_tokens"] == 9
    assert not {"max_tokens", "temperature"} & set(last)


async def test_yes_no_by_probabilities(llm: OpenAILLM, server: Any) -> None:
    """Spellings of a word add up; one token is asked for."""
    server.then_text("Yes", logprobs={"Yes": -0.5, " yes": -1.5, "No": -2.0, "Maybe": -4.0})
    grade = await llm.yes_no(ASK)
    assert grade.log_odds == pytest.approx(np.log(np.exp(-0.5) + np.exp(-1.5)) + 2.0)
    assert (server.requests[0]["max_tokens"], server.requests[0]["logprobs"]) == (1, True)


async def test_yes_no_by_the_word(llm: OpenAILLM, server: Any) -> None:
    """Without probabilities, or with a server that refuses to give them, the word counts."""
    server.then_text("No")
    server.then_refuse("logprobs is not supported")
    server.then_text("yes.")
    server.then_text("Perhaps")
    assert [(await llm.yes_no(ASK)).log_odds for _ in range(3)] == [-5.0, 5.0, 0.0]


async def test_retries(server: Any) -> None:
    """The model that is built tries again when the server was busy, with the settings' endpoint."""
    llm = build_llm(connected(server))
    assert llm is not None
    server.then_refuse("busy", 429)
    server.then_text("Leeds")
    assert (await llm.chat(ASK)).text == "Leeds"
    assert (llm.name, llm.evidence_tokens) == ("openai:m", 8000)
    await llm.close()


async def test_embeddings(server: Any) -> None:
    """Vectors come back in order whatever order the server uses, and have length 1; dim is known
    from then on.
    """
    embedder = OpenAIEmbedder(connected(server))
    made = {1: [0.0, 2.0], 0: [3.0, 4.0]}
    rows = [
        {"object": "embedding", "index": index, "embedding": row} for index, row in made.items()
    ]
    server.then(
        {
            "object": "list",
            "data": rows,
            "model": "e",
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
    )
    vectors = await embedder.passages(["a\x00", ""])
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, [[0.6, 0.8], [0.0, 1.0]])
    assert embedder.dim == 2
    assert server.requests[0]["input"] == ["a ", " "]
    assert (await embedder.passages([])).shape == (0, 2)
    await embedder.close()


async def test_too_few_embeddings(server: Any) -> None:
    """A server that loses texts is an error, not a shift of all that follow."""
    embedder = build_embedder(connected(server))
    server.then(
        {
            "object": "list",
            "data": [{"object": "embedding", "index": 0, "embedding": [1.0]}],
            "model": "e",
        }
    )
    with pytest.raises(PermanentError, match="1 embeddings for 2 texts"):
        await embedder.passages(["a", "b"])
    await embedder.close()


def test_endpoint_needs_url_and_model() -> None:
    """The setting that is missing is named."""
    with pytest.raises(ConfigError, match="llm_model"):
        OpenAILLM(Settings(llm_url="http://127.0.0.1:9/v1"))

"""What is learned of an endpoint before its first question, how it is remembered, and what it
changes.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from citewell.config import Settings
from citewell.errors import PermanentError
from citewell.models.base import ROOMY, Learns, is_connected
from citewell.models.openai import OpenAILLM
from citewell.models.probe import FILE, KEPT, Known
from citewell.models.providers import build_judge_llm, build_llm
from citewell.types import Message

KEY = "sk-made-up-for-a-test"
ASK = [Message(role="user", content="Which town?")]
SCHEMA = {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}
GOOD = '{"capital": "Paris", "numbers": [1, 2, 3]}'


def connected(server: Any, **more: Any) -> Settings:
    named = {
        "llm_model": "m",
        "judge_model": "m",
        "llm_key": SecretStr(KEY),
        "judge_key": SecretStr(KEY),
    }
    return Settings(
        **(
            {"home": server.home, "llm": "openai", "llm_url": server.url, "judge_url": server.url}
            | named
            | more
        )
    )


def listed(**facts: Any) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": "other"}, {"id": "m", "object": "model", **facts}]}


async def learned(server: Any, **more: Any) -> Known:
    llm = OpenAILLM(connected(server, **more))
    known = await llm.learn()
    await llm.close()
    return known


async def test_all_is_learned_in_two_requests(server: Any) -> None:
    """Context, schema, log-probabilities, thinking and speed of a server that does all that is
    asked.
    """
    server.then(listed(max_model_len=32_768))
    server.then_text(GOOD, logprobs={"{": -0.1}, tokens=40)
    known = await learned(server)
    assert (known.context, known.keeps_schema, known.logprobs, known.thinks, known.quirks) == (
        32_768,
        True,
        True,
        False,
        (),
    )
    assert known.speed is not None
    assert server.paths == ["/v1/models", "/v1/chat/completions"]
    assert not known.is_due


@pytest.mark.parametrize(("models", "path", "more"), [
    (listed(owned_by="llamacpp", meta={"n_ctx_train": 40_960}), "/props",
     {"default_generation_settings": {"n_ctx": 4096}}),
    (listed(owned_by="library"), "/api/ps",
     {"models": [{"name": "m:latest", "context_length": 4096}]}),
    (listed(owned_by="organization_owner"), "/api/v0/models",
     listed(max_context_length=9, loaded_context_length=4096)),
])  # fmt: skip
async def test_the_context_that_runs(server: Any, models: Any, path: str, more: Any) -> None:
    """llama.cpp, Ollama and LM Studio tell it in a place of their own; a third request looks
    there.
    """
    server.then(models)
    server.then_text(GOOD)
    server.then(more)
    assert (await learned(server)).context == 4096
    assert server.paths[2] == path
    assert len(server.paths) == 3


async def test_remembered_by_address_and_model(server: Any) -> None:
    """Another process asks nothing; another model does; the file holds neither key nor address."""
    server.then(listed(context_length=8192))
    server.then_text(GOOD)
    known = await learned(server)
    assert await learned(server) == known
    assert len(server.paths) == 2
    server.then(listed())
    server.then_text(GOOD)
    assert (await learned(server, llm_model="other")).context is None
    kept = (server.home / FILE).read_text("utf-8")
    assert len(json.loads(kept)) == 2
    assert KEY not in kept
    assert "127.0.0.1" not in kept


async def test_made_anew_when_old_or_told_to(server: Any) -> None:
    """After a week, and for the doctor; a server that is down then does not make it forgotten."""
    llm = OpenAILLM(connected(server))
    for _ in range(2):
        server.then(listed(context_length=8192))
        server.then_text(GOOD)
    await llm.learn()
    llm.known = llm.known.model_copy(update={"at": datetime.now(UTC) - KEPT - timedelta(minutes=1)})
    await llm.learn()
    assert len(server.paths) == 4
    for _ in range(2):
        server.then_refuse("down", 503)
    known = await llm.learn(anew=True)
    assert len(server.paths) == 6
    assert known.context == 8192
    await llm.close()


async def test_a_schema_that_is_ignored_or_refused(server: Any) -> None:
    """Prose in the place of JSON, and a refusal: the first question is sent the schema in words
    straight away.
    """
    server.then(listed())
    server.then_text("Paris. 1, 2, 3.")
    assert (await learned(server)).keeps_schema is False
    server.then(listed())
    server.then_refuse("response_format: json_schema is not supported")
    server.then_text('{"city": "Paris"}')
    llm = OpenAILLM(connected(server, llm_model="other"))
    known = await llm.learn()
    assert (known.keeps_schema, known.quirks, known.thinks) == (False, ("json_schema",), False)
    server.then_text('{"town": "Leeds"}')
    await llm.chat(ASK, schema=SCHEMA)
    assert server.requests[-1]["response_format"] == {"type": "json_object"}
    assert len(server.requests) == 6
    await llm.close()


async def test_a_server_that_refuses_much(server: Any) -> None:
    """What one probe and the questions after it found out is where the next one begins."""
    server.then(listed())
    server.then_refuse("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    server.then_refuse("Unsupported value: 'temperature' does not support 0.0")
    llm = OpenAILLM(connected(server))
    known = await llm.learn()
    assert (set(known.quirks), known.thinks) == ({"max_tokens", "temperature"}, None)
    server.then(listed())
    server.then_refuse("logprobs are not supported with reasoning models")
    server.then_text(GOOD)
    known = await llm.learn(anew=True)
    assert (set(known.quirks), known.keeps_schema) == (
        {"max_tokens", "temperature", "logprobs"},
        True,
    )
    assert len(server.paths) == 6
    await llm.close()


@pytest.mark.parametrize(("message", "unopened"), [
    ({"text": GOOD, "reasoning_content": "Hm."}, False),
    ({"text": f"<think>Hm.</think>\n{GOOD}"}, False),
    ({"text": f"Hm.</think>\n{GOOD}"}, True),
    ({"text": "<think>Hm.", "finish": "length"}, False),
])  # fmt: skip
async def test_a_model_that_thinks(server: Any, message: dict[str, Any], unopened: bool) -> None:
    """It gets room to think beside its reply, its thinking is taken off, and its first token is no
    verdict.
    """
    server.then(listed())
    server.then_text(**message)
    llm = OpenAILLM(connected(server))
    known = await llm.learn()
    assert (known.thinks, known.unopened, known.keeps_schema) == (
        True,
        unopened,
        None if "finish" in message else True,
    )
    begun = "" if unopened else "<think>"
    server.then_text(f"{begun}No? Yes.</think>\n\nYes.")
    assert (await llm.yes_no(ASK)).log_odds == 5.0
    assert server.requests[-1]["max_tokens"] > 1000
    server.then(
        [server.piece(part) for part in (begun, "Leeds? ", "York.</think>", "\n\nYo", "rk")]
    )
    tokens: list[str] = []
    assert (await llm.chat(ASK, on_token=tokens.append)).text == "".join(tokens) == "York"
    server.then_text('{"town": "a</think>b"}')
    assert (await llm.chat(ASK, schema=SCHEMA)).text == '{"town": "a</think>b"}'
    await llm.close()


async def test_no_log_probabilities(server: Any) -> None:
    """A model that gives none is asked for its word, not for one token of it."""
    server.then(listed())
    server.then_text(GOOD)
    llm = OpenAILLM(connected(server))
    await llm.learn()
    server.then_text("**Yes**")
    assert (await llm.yes_no(ASK)).log_odds == 5.0
    assert server.requests[-1]["max_tokens"] > 1
    await llm.close()


@pytest.mark.parametrize(
    "body",
    [{"data": 3}, {"data": [{"id": "m", "context_length": "much"}]}, b"<html>", {"models": [7]}],
)
async def test_strange_replies_tell_nothing(server: Any, body: Any) -> None:
    """Whatever a server sends, the question goes on."""
    server.then(body)
    server.then({"choices": [{"message": None}]})
    known = await learned(server)
    assert (known.context, known.thinks) == (None, None)


async def test_no_server_is_no_error(server: Any) -> None:
    """Nobody listens: nothing is known, nothing is raised, and the next minutes do not ask
    again.
    """
    llm = OpenAILLM(connected(server, llm_url="http://127.0.0.1:9/v1"))
    known = await llm.learn()
    assert (known.thinks, known.is_due) == (None, False)
    assert llm.evidence_tokens == 8000
    await llm.close()


async def test_a_slow_server_is_not_waited_for(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it told before the time was over is kept."""
    monkeypatch.setattr("citewell.models.openai.SECONDS", 3.0)
    server.then(listed(max_model_len=4096))
    server.then(None)
    known = await learned(server)
    assert (known.context, known.thinks) == (4096, None)


@pytest.mark.parametrize(("context", "thinks", "least", "most", "tier"), [
    (4_096, False, 500, 1_999, False),
    (ROOMY, False, 2_000, 5_000, True),
    (ROOMY, True, 2_000, 3_000, True),
    (131_072, True, 8_000, 8_000, True),
    (None, None, 8_000, 8_000, True),
    (1_024, False, 500, 500, False),
])  # fmt: skip
async def test_the_context_bounds_the_evidence(
    server: Any, context: int | None, thinks: bool | None, least: int, most: int, tier: bool
) -> None:
    """Evidence, prompt and reply fit in the context together; a model without room for them is not
    asked to write answers.
    """
    llm = OpenAILLM(connected(server))
    llm.known = Known(context=context, thinks=thinks)
    assert least <= llm.evidence_tokens <= most
    assert is_connected(llm) is tier
    if context is not None and tier:
        assert llm.evidence_tokens + llm.known.reply_tokens(4_000) < context - 1_000
    server.then_text("Leeds")
    await llm.chat(ASK, max_tokens=100_000)
    assert context is None or server.requests[0]["max_tokens"] < context
    await llm.close()


async def test_built_models_learn(server: Any) -> None:
    """Behind the retries too, for chat model and judge, which share what is known of one
    endpoint.
    """
    llm, judge = build_llm(connected(server)), build_judge_llm(connected(server))
    assert isinstance(llm, Learns)
    assert isinstance(judge, Learns)
    server.then(listed(max_model_len=4096))
    server.then_text(GOOD)
    await llm.learn()
    assert llm.evidence_tokens < 2_000
    assert build_judge_llm(connected(server)).known == llm.known
    await llm.close()
    await judge.close()


async def test_a_probe_that_fails_leaves_the_error_to_the_question(server: Any) -> None:
    """A wrong key is not the probe's to tell."""
    server.then_refuse("wrong", 401)
    server.then_refuse("wrong", 401)
    llm = OpenAILLM(connected(server))
    await llm.learn()
    server.then_refuse("wrong", 401)
    with pytest.raises(PermanentError, match="status 401"):
        await llm.chat(ASK)
    await llm.close()

"""`/v1/responses` as the official client uses it."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from citewell.runtime.app import App
from citewell.types import Answer

WHEN = "When was the Northgate lighthouse built?"


async def ask(ai: openai.AsyncOpenAI, **given: Any) -> Any:
    return await ai.responses.create(**{"model": "citewell/qa", "input": WHEN} | given)


async def test_an_answer_with_annotations(ai: openai.AsyncOpenAI, northgate: str) -> None:
    """They say where the links to the sources stand; the whole Answer is there too."""
    reply = await ask(ai, instructions="Be kind.")
    [message] = reply.output
    text = reply.output_text
    assert (reply.status, reply.object, message.role) == ("completed", "response", "assistant")
    assert "in 1857.[[1]](" in text
    mark = message.content[0].annotations[0]
    assert (mark.type, mark.title) == ("url_citation", "Northgate")
    assert text[mark.start_index : mark.end_index] == f"[[1]]({mark.url})"
    assert f"#/source/{northgate}?" in mark.url
    answer = Answer(**reply.citewell)
    assert reply.id == answer.trace_id.replace("tr_", "resp_")
    assert any("system message was not used" in each for each in answer.warnings)
    assert reply.usage.total_tokens == reply.usage.input_tokens + reply.usage.output_tokens


async def test_a_response_goes_on(ai: openai.AsyncOpenAI, app: App, northgate: str) -> None:
    """With the session of the one before; there is none with `store: false`, nor where the input
    brings the conversation.
    """
    first = await ask(ai)
    second = await ask(ai, input="And who built it?", previous_response_id=first.id)
    session = first.citewell["session_id"]
    assert second.citewell["session_id"] == session
    assert second.id != first.id
    said = [each.content for each in await app.sessions.history(session) if each.role == "user"]
    assert said == [WHEN, "And who built it?"]
    talk = [
        {"role": "user", "content": WHEN},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
        {"role": "user", "content": [{"type": "input_text", "text": WHEN}]},
    ]
    for given in ({"store": False}, {"input": talk}):
        alone = await ask(ai, **given)
        assert alone.citewell["session_id"] == ""
        with pytest.raises(openai.NotFoundError) as refused:
            await ask(ai, previous_response_id=alone.id)
        assert refused.value.code == "previous_response_not_found"


async def test_a_stream(ai: openai.AsyncOpenAI, northgate: str) -> None:
    """Events in the order that the client needs; their pieces are the text."""
    text, kinds, numbers = "", [], []
    async with ai.responses.stream(model="citewell/qa", input=WHEN) as stream:
        async for event in stream:
            kinds.append(event.type)
            numbers.append(event.sequence_number)
            if event.type == "response.output_text.delta":
                text += event.delta
        final = await stream.get_final_response()
    assert final.output_text == text
    assert final.id.startswith("resp_")
    assert [kinds[0], kinds[1], kinds[-1]] == [
        "response.created", "response.in_progress", "response.completed",
    ]  # fmt: skip
    assert "response.output_text.annotation.added" in kinds
    assert numbers == sorted(set(numbers))


NOT_DONE: list[tuple[dict[str, Any], str]] = [
    ({"background": True}, "background"),
    ({"conversation": "conv_1"}, "conversation"),
    ({"tools": [{"type": "web_search"}]}, "tools"),
    ({"text": {"format": {"type": "json_object"}}}, "text.format"),
    ({"input": []}, "input"),
    ({"input": [{"type": "function_call", "name": "x"}]}, "input.[0]"),
    (
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]},
        "input.[0].content.[0]",
    ),
    ({"extra_body": {"citewell": {"draft": True}}}, "citewell.draft"),
]


async def test_what_is_not_done_is_refused(ai: openai.AsyncOpenAI) -> None:
    for given, param in NOT_DONE:
        with pytest.raises(openai.BadRequestError) as refused:
            await ask(ai, **given)
        assert refused.value.param == param, given


async def test_a_wrong_model(ai: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as refused:
        await ask(ai, model="gpt-5")
    assert refused.value.code == "model_not_found"

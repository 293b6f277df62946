"""What Open WebUI 0.12 sends to `/v1/chat/completions` by itself: tools with each question, and
requests for a title, tags, next questions and queries. Their prompts are cut to what is told apart.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import openai
import pytest

from citewell.interfaces.http.openai.chat_tasks import parse_chat_task
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.library.offered_questions import get_questions, scale_vector
from citewell.store.library.questions import CheckedQuestion

WHEN = "When was the Northgate lighthouse built?"
PROMPT = """### Task:
{task}
### Guidelines:
- Your entire response must consist solely of the JSON object. {filling}
### Output:
JSON format: {{ "{key}": {example} }}
### Chat History:
<chat_history>
{history}
</chat_history>"""


def write_prompt(key: str, history: str) -> str:
    filling = "Prioritize accuracy over creativity. " * 20  # longer than a question may be
    return PROMPT.format(
        task=f"Generate {key}.", filling=filling, key=key, example='["..."]', history=history
    )


async def chat(ai: openai.AsyncOpenAI, text: str, **more: Any) -> Any:
    messages: Any = [{"role": "user", "content": text}]
    return await ai.chat.completions.create(model="citewell/qa", messages=messages, **more)


async def have_history(ai: openai.AsyncOpenAI) -> str:
    reply = await chat(ai, WHEN)
    return f"USER: {WHEN}\nASSISTANT: {reply.choices[0].message.content}"


async def answer_task(ai: openai.AsyncOpenAI, key: str, history: str) -> Any:
    reply = await chat(ai, write_prompt(key, history), stream=False)
    return json.loads(reply.choices[0].message.content)[key]


async def test_offered_tools_are_left_alone(ai: openai.AsyncOpenAI, northgate: str) -> None:
    """Open WebUI offers its own with every question; what they said to another model is left
    out.
    """
    tools: Any = [{"type": "function", "function": {"name": "get_current_timestamp"}}]
    call: Any = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages: Any = [
        {"role": "user", "content": "What time is it?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "12:00"},
        {"role": "assistant", "content": "It is noon."},
        {"role": "user", "content": WHEN},
    ]
    reply = await ai.chat.completions.create(model="citewell/qa", messages=messages, tools=tools)
    assert "in 1857.[[1]](" in (reply.choices[0].message.content or "")
    assert reply.choices[0].message.tool_calls is None


async def test_title_tags_and_queries_are_of_the_conversation(
    ai: openai.AsyncOpenAI, northgate: str, app: App
) -> None:
    """No model is asked; a long question is cut, tags are the titles of the sources."""
    history = await have_history(ai)
    assert isinstance(app.llm, ScriptedLLM)
    calls = len(app.llm.calls)
    assert await answer_task(ai, "title", history) == WHEN
    assert await answer_task(ai, "tags", history) == ["Northgate"]
    assert await answer_task(ai, "queries", history) == [WHEN]
    long = await answer_task(ai, "title", "USER: " + "Which of the towers is the oldest? " * 9)
    assert len(long) <= 60
    assert long.endswith("…")
    assert await answer_task(ai, "tags", "USER: Hello\nASSISTANT: Hello.") == []
    assert await answer_task(ai, "title", "") == ""
    assert len(app.llm.calls) == calls


async def test_next_questions_have_known_answers(
    ai: openai.AsyncOpenAI, northgate: str, app: App
) -> None:
    """Those that the collection offers, without the one that was asked."""
    history = await have_history(ai)
    assert await answer_task(ai, "follow_ups", history) == []
    known = ["How high is its tower?", WHEN]
    vectors = [scale_vector(await app.embedder.query(each)) for each in known]
    info = await app.catalog.document(northgate)
    found = [
        CheckedQuestion(
            question=question,
            doc_id=northgate,
            title=info.title,
            lang="en",
            confidence=0.9,
            vector=np.asarray(vector, np.float32),
        )
        for question, vector in zip(known, vectors, strict=True)
    ]
    await get_questions(app).put(northgate, info.sha256, found, [])
    assert await answer_task(ai, "follow_ups", history) == known[:1]


async def test_what_was_cited_is_not_asked_again(
    ai: openai.AsyncOpenAI, northgate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The places are read from the links of the replies."""
    given: list[dict[str, Any]] = []

    async def note(*_: Any, **options: Any) -> list[Any]:
        given.append(options)
        return []

    monkeypatch.setattr("citewell.interfaces.http.openai.chat_tasks.list_suggestions", note)
    reply = await chat(ai, WHEN)
    history = f"USER: {WHEN}\nASSISTANT: {reply.choices[0].message.content}"
    await answer_task(ai, "follow_ups", history)
    places = {(each["doc_id"], each["start"], each["end"]) for each in reply.citewell["citations"]}
    assert places
    assert set(given[0]["shown"]) == places
    assert set(given[0]["documents"]) == {northgate}


async def test_a_task_in_chunks(ai: openai.AsyncOpenAI, northgate: str) -> None:
    prompt = write_prompt("title", f"USER: {WHEN}")
    chunks = [each async for each in await chat(ai, prompt, stream=True)]
    text = "".join(each.choices[0].delta.content or "" for each in chunks)
    assert json.loads(text) == {"title": WHEN}
    assert chunks[-1].choices[0].finish_reason == "stop"


async def test_what_is_not_made_names_another_way(ai: openai.AsyncOpenAI, northgate: str) -> None:
    with pytest.raises(openai.BadRequestError, match="Task Model"):
        await answer_task(ai, "prompt", f"USER: {WHEN}")


def test_only_such_a_request_is_one() -> None:
    assert parse_chat_task("What does <chat_history> mean?") is None
    assert parse_chat_task('<chat_history>\nUSER: {"title": 1}\n</chat_history>') is None
    task = parse_chat_task(write_prompt("tags", "USER: a\nb </chat_history> c\nASSISTANT: d"))
    assert task is not None
    assert (task.questions, task.replies) == (["a\nb </chat_history> c"], ["d"])


def test_hostile_texts_take_no_time() -> None:
    for part in ("<chat_history>", '{ "', "{  ", "</chat_history>", "1. [", "\nUSER: "):
        began = time.process_time()
        parse_chat_task(f'{{"title": 1}}<chat_history>{part * 60_000}</chat_history>')
        assert time.process_time() - began < 2

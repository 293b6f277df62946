"""A model that says again what was recorded, and only to the very prompt it was said to."""

from __future__ import annotations

from typing import Any

import pytest

from citewell.errors import ModelUnavailable
from citewell.models.recorded import Recorded
from citewell.models.scripted import ScriptedLLM
from citewell.types import Message


def asked(text: str) -> list[Message]:
    return [Message(role="user", content=text)]


def prompt(job: str, text: str, reply: Any) -> dict[str, Any]:
    return {
        "node": "x",
        "job": job,
        "messages": [m.model_dump() for m in asked(text)],
        "reply": reply,
    }


async def test_the_same_prompt_gets_the_same_reply() -> None:
    """In order where it was asked more than once; the last one then stays."""
    llm = Recorded(
        [prompt("chat", "a", "one"), prompt("chat", "a", "two"), prompt("yes_no", "a", -1.5)], None
    )
    assert [(await llm.chat(asked("a"))).text for _ in range(3)] == ["one", "two", "two"]
    assert (await llm.yes_no(asked("a"))).log_odds == -1.5
    pieces: list[str] = []
    await llm.chat(asked("a"), on_token=pieces.append)
    assert pieces == ["two"]
    assert llm.unknown == []


async def test_how_much_a_reply_surprised_the_model_is_kept() -> None:
    llm = Recorded([{**prompt("chat", "a", "one"), "log_prob": -0.25}], None)
    assert (await llm.chat(asked("a"))).log_prob == -0.25


async def test_another_prompt_goes_to_the_model_and_is_told() -> None:
    behind = ScriptedLLM("live")
    llm = Recorded([prompt("chat", "a", "one")], behind)
    assert (await llm.chat(asked("b"))).text == "live"
    assert (await llm.yes_no(asked("a"))).log_odds > 0, "a chat is no yes_no"
    assert llm.unknown == ["chat: b", "yes_no: a"]
    with pytest.raises(ModelUnavailable):
        await Recorded([], None).chat(asked("a"))

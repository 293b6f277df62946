"""A conversation that a request brings: as much as counts, read in one pass whatever it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.timing import cpu_seconds

from citewell.interfaces.http.openai.openai_messages import ChatRequest, to_ask_request
from citewell.interfaces.links import unlink_citations
from citewell.service.ask.run import LONGEST_MESSAGE, MOST_HISTORY

if TYPE_CHECKING:
    from tests.interfaces.conftest import FakeAgent

HOSTILE = [
    "<think>",
    "<details ",
    '<details type="reasoning">',
    'type="reasoning" ',
    "<think></think>",
    "\n",
    "\n**Sources**\n\n",
    "[[1]](",
]


def history_of(*said: str) -> list[tuple[str, str]]:
    messages = [{"role": "assistant", "content": each} for each in said]
    body = ChatRequest(
        model="citewell/qa", messages=[*messages, {"role": "user", "content": "And?"}]
    )
    asked, _ = to_ask_request(body, "local")
    return [(m.role, m.content) for m in asked.history or []]


def test_reasoning_is_left_out() -> None:
    thought = '<details type="reasoning" done="true">\n<summary>hm</summary></details>'
    assert history_of(f"{thought}One <think>x</think>two.") == [("assistant", "One two.")]
    kept = "<details><summary>a</summary></details> <think>open"
    assert history_of(kept) == [("assistant", kept)]


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("before", ["", "<details "])
def test_a_hostile_reply_takes_no_time(unit: str, before: str) -> None:
    text = before + unit * (400_000 // len(unit))
    assert cpu_seconds(lambda: history_of(text), tries=2) < 3.0
    assert cpu_seconds(lambda: unlink_citations(text), tries=2) < 3.0


def test_programs_that_send_all_are_cut() -> None:
    said = history_of("first", *["x" * 30_000] * 3, *["y"] * (MOST_HISTORY - 2))
    assert [len(text) for _, text in said] == [LONGEST_MESSAGE] * 2 + [1] * (MOST_HISTORY - 2)


@pytest.mark.parametrize(
    ("history", "named"),
    [
        (
            [{"role": "user", "content": "x" * (LONGEST_MESSAGE + 1)}],
            "message 1 has 20001 characters, 20000 are allowed",
        ),
        ([{"role": "user", "content": "x"}] * (MOST_HISTORY + 1), "at most 100 items"),
    ],
)
async def test_a_history_too_long_is_refused(
    client: httpx.AsyncClient, history: list[Any], named: str
) -> None:
    reply = await client.post("/api/ask", json={"question": "And?", "history": history})
    assert reply.status_code == 422
    assert named in reply.json()["error"]["message"]


async def test_as_much_as_is_allowed_is_taken(client: httpx.AsyncClient, agent: FakeAgent) -> None:
    history = [{"role": "user", "content": "A " * 4_000}] * MOST_HISTORY
    reply = await client.post("/api/ask", json={"question": "And?", "history": history})
    assert reply.status_code == 200, reply.text
    assert len(agent.asked[-1].history or []) == MOST_HISTORY

"""A meter counts what a question costs, and stops it at its budget, in the middle of a call where
need be.
"""

from __future__ import annotations

import asyncio
import time

import pytest

from citewell.errors import BudgetSpent, TransientError
from citewell.models.base import Tokens
from citewell.models.metered import Budget, Metered
from citewell.models.script_lines import Line
from citewell.models.scripted import ScriptedLLM
from citewell.types import Message

SAID = [Message(role="user", content="one two three")]


async def test_calls_tokens_and_prompts_are_counted() -> None:
    meter = Metered(ScriptedLLM("four five"))
    await meter.chat(SAID)
    await meter.yes_no(SAID)
    assert (meter.calls, meter.tokens) == (2, Tokens(6, 0, 3))
    assert [(p["job"], p["reply"]) for p in meter.prompts] == [
        ("chat", "four five"),
        ("yes_no", 3.0),
    ]


@pytest.mark.parametrize(
    ("budget", "code"),
    [
        (Budget(calls=1), "budget_calls"),
        (Budget(tokens=5), "budget_tokens"),
        (Budget(seconds=0.0001), "budget_seconds"),
    ],
)
async def test_what_the_budget_does_not_allow_is_not_sent(budget: Budget, code: str) -> None:
    """The model never hears of it; the error says which limit."""
    llm = ScriptedLLM()
    meter = Metered(llm, budget)
    if code != "budget_seconds":
        await meter.chat(SAID)
    sent = len(llm.calls)
    await asyncio.sleep(0.01)
    with pytest.raises(BudgetSpent) as error:
        await meter.yes_no(SAID)
    assert (error.value.code, len(llm.calls)) == (code, sent)


async def test_a_call_that_lasts_longer_is_stopped() -> None:
    """At the moment the time is over, not when the model is ready; what it cost until then is not
    counted as a call.
    """
    meter = Metered(ScriptedLLM(Line("late", delay=30)), Budget(seconds=0.2))
    started = time.monotonic()
    with pytest.raises(BudgetSpent, match=r"0\.2 seconds of this question are over"):
        await meter.chat(SAID)
    assert time.monotonic() - started < 10
    assert meter.calls == 0


async def test_a_failing_model_is_not_taken_for_a_spent_budget() -> None:
    meter = Metered(ScriptedLLM(TransientError("busy")), Budget(calls=3, tokens=100, seconds=60))
    with pytest.raises(TransientError, match="busy"):
        await meter.chat(SAID)
    assert meter.calls == 1, "it was sent, and counts"


async def test_it_counts_on_from_an_earlier_process() -> None:
    """Calls, tokens and seconds alike."""
    meter = Metered(ScriptedLLM(), Budget(calls=3, seconds=100))
    meter.restore(3, Tokens(10, 5, 2), [{"job": "chat"}], 99.0)
    assert meter.seconds >= 99.0
    with pytest.raises(BudgetSpent):
        await meter.chat(SAID)
    assert meter.prompts == [{"job": "chat"}]

"""`auto`: which agent for what, always with a reason, and never one that is not there."""

from __future__ import annotations

import time

import pytest
from tests.error_codes import raises_code

from citewell.errors import InvalidInput
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.choose_agent import Asked, choose_agent
from citewell.service.ask.run import AskRequest
from citewell.types import Message

ALL = ("qa", "dual_loop", "website", "paper", "data")
HISTORY = (Message(role="user", content="How long is the warranty of the trail bike?"),)


@pytest.mark.parametrize(
    ("asked", "agent", "word"),
    [
        (Asked("How long is the warranty?"), "qa", "one search"),
        (Asked("And of its battery?", HISTORY), "qa", "follow-up"),
        (Asked("How many orders were there in May?", source="orders"), "data", "orders"),
        (Asked("What is its method?", session_agent="paper"), "paper", "paper"),
        (
            Asked("What does https://example.com/faq say about refunds?"),
            "website",
            "https://example.com/faq",
        ),
        (
            Asked("看看 https://example.com/常见问题，退款要多久？"),
            "website",
            "https://example.com/",
        ),
        (Asked("Search the web for the newest release", web=True), "dual_loop", "web"),
        (Asked("Search the web for the newest release", web=False), "qa", ""),
        (Asked("Remember that my plan is Pro."), "dual_loop", "remember"),
        (Asked("请记住：我叫李雷。"), "dual_loop", "remember"),
        (Asked("What is my plan?", remembers=True), "dual_loop", "said before"),
        (Asked("How much does my plan cost a month?", remembers=True), "dual_loop", "user"),
        (Asked("How much does my plan cost a month?", remembers=False), "qa", ""),
        (Asked("How long is the warranty? And who pays the shipping?"), "dual_loop", "several"),
        (Asked("Does it work? Really?"), "qa", ""),
        (Asked("What is my notice period?"), "qa", ""),
        (Asked("Compare the basic plan with the premium plan"), "dual_loop", "comparison"),
        (Asked("标准版和专业版有什么区别？"), "dual_loop", "comparison"),
    ],
)
def test_the_choice_and_its_reason(asked: Asked, agent: str, word: str) -> None:
    choice = choose_agent(asked, ALL)
    assert choice.agent == agent
    assert word in choice.reason


def test_an_agent_that_is_not_there_is_not_chosen() -> None:
    """The next rule decides."""
    assert (
        choose_agent(Asked("What does https://example.com say?"), ("qa", "dual_loop")).agent == "qa"
    )
    assert (
        choose_agent(Asked("anything", source="orders", session_agent="paper"), ("qa",)).agent
        == "qa"
    )


async def test_the_answer_says_who_gave_it_and_why(app: App) -> None:
    """On the answer, and as the first step of the trace; naming an agent overrules the choice."""
    assert isinstance(app.llm, ScriptedLLM)
    answer = await ask(app, AskRequest(question="Remember that my plan is Pro.", agent="auto"))
    assert (answer.agent, answer.agent_reason) == ("dual_loop", "there is something to remember")
    trace = await app.traces.get(answer.trace_id)
    first = trace.steps[0]
    assert (first.n, first.node, first.action) == (1, "choose_agent", "dual_loop")
    assert first.detail["reason"] == answer.agent_reason
    assert [step.n for step in trace.steps] == list(range(1, len(trace.steps) + 1))
    await app.collections.create("default")
    overruled = await ask(app, AskRequest(question="Remember that my plan is Basic.", agent="qa"))
    assert (overruled.agent, overruled.agent_reason) == ("qa", "")


async def test_what_cannot_be_asked_is_refused_before_anybody_is_chosen(app: App) -> None:
    """A text of a megabyte keeps nobody waiting."""
    started = time.monotonic()
    with pytest.raises(InvalidInput, match="characters"):
        await ask(app, AskRequest(question="last time " * 50_000, agent="auto"))
    assert time.monotonic() - started < 60


async def test_white_space_keeps_nobody_waiting(app: App) -> None:
    """Whoever is asked: it is gone before a pattern looks at it."""
    await app.collections.create("default")
    started = time.monotonic()
    answer = await ask(
        app,
        AskRequest(
            question=f"Remember{' ' * 200_000}that my plan is Pro{' ' * 200_000}.", agent="auto"
        ),
    )
    assert answer.agent == "dual_loop"
    assert time.monotonic() - started < 60


async def test_an_unknown_agent_is_refused_by_name(app: App) -> None:
    with raises_code(InvalidInput, "unknown_agent") as error:
        await ask(app, AskRequest(question="Why?", agent="oracle"))
    assert "auto" in error.value.hint

"""What the second loop costs: the time of `dual_loop` over that of `qa` on the same easy questions,
with the built-in model.

The one rule: both find the model's cache empty. It is closed before every question and warmed with
another prompt, so that neither is quick because the other has just sent the same passages.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import AsyncIterator

from citewell.models.base import LLM
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.types import Answer, Message

QUESTIONS = (
    "How long is the frame warranty?",
    "How many days may I work from home each week?",
    "保修期是多久？",
    "退货运费由谁承担？",
)
AGENTS = ("qa", "dual_loop")


async def loops(app: App, collection: str) -> AsyncIterator[str]:
    """A line for each question, then the median of the ratios."""
    llm = app.llm
    if llm is None:
        return
    ratios = []
    for n, question in enumerate(QUESTIONS):
        seconds, answers = {}, {}
        for agent in AGENTS if n % 2 else reversed(AGENTS):  # who comes first takes turns
            await _empty(llm)
            started = time.perf_counter()
            answers[agent] = await ask(
                app, AskRequest(question=question, agent=agent, collection=collection, keep=False)
            )
            seconds[agent] = time.perf_counter() - started
        ratios.append(seconds["dual_loop"] / seconds["qa"])
        told = ", ".join(
            f"{agent} {seconds[agent]:.1f} s ({_cost(answers[agent])})" for agent in AGENTS
        )
        yield f"{ratios[-1]:.2f} x: {told}"
    yield f"{statistics.median(ratios):.2f} x in the median (goal 1.25)"


def _cost(answer: Answer) -> str:
    usage = answer.usage
    read = usage.prompt_tokens - usage.cached_tokens
    return (
        f"{answer.status}, {usage.calls} calls, {read} tokens read, {usage.completion_tokens} "
        "written"
    )


async def _empty(llm: LLM) -> None:
    await llm.close()
    await llm.chat([Message(role="user", content="Say hello.")], max_tokens=4)

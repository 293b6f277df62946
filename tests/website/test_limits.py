"""The limits of a run are kept to the request, and at a limit there is an answer all the same."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.website.conftest import Desk, Web

QUESTION = "Where is the brass key of the tower kept?"
FACT = "The brass key of the tower is kept under the third stair."
MENU = "".join(
    f'<p><a href="{{0}}-{name}">Where the brass key of the tower is kept</a></p>' for name in "abc"
)


@pytest.fixture
def tree(web: Web) -> Web:
    """Every page leads to three more, all as promising as each other; none has the answer."""
    for depth in range(5):
        for name in _names(depth):
            web.page(f"/{name}", "<p>Doors and stairs.</p>" + MENU.format(f"/{name}"))
    web.pages["/"] = web.pages["/t"]
    return web


def _names(depth: int) -> list[str]:
    return (
        ["t"]
        if depth == 0
        else [f"{name}-{child}" for name in _names(depth - 1) for child in "abc"]
    )


@pytest.mark.parametrize("most", [0, 1, 2, 4])
async def test_rounds(desk: Desk, tree: Web, most: int) -> None:
    """The start page, and so many rounds after it; then an answer is forced."""
    answer = await desk.ask(QUESTION, max_iterations=most, max_urls_per_iteration=2)
    assert desk.rounds == [1] + [2] * most
    assert len(tree.paths()) == 1 + 2 * most
    assert [step.node for step in desk.steps] == ["CrawlAndExtract", "AgentDecision"] * (
        most + 1
    ) + ["DraftAnswer"]
    assert (answer.status, answer.stop_reason) == ("refused", "iterations_exhausted")
    assert "as many rounds" in answer.answer


@pytest.mark.parametrize("most", [1, 2, 4, 6])
async def test_pages(desk: Desk, tree: Web, most: int) -> None:
    """Start pages count; the last round is cut to what is left."""
    answer = await desk.ask(QUESTION, max_pages=most, max_urls_per_iteration=3)
    assert len(tree.paths()) == most
    assert (answer.status, answer.stop_reason) == ("refused", "pages_exhausted")
    assert "pages allowed" in answer.answer


async def test_start_pages_count_as_pages(desk: Desk, tree: Web) -> None:
    """No more of them than pages are allowed, and it is told which were left out."""
    starts = [tree.at(f"/t-{name}") for name in "abc"]
    answer = await desk.ask(QUESTION, start_urls=starts, max_pages=2)
    assert sorted(tree.paths()) == ["/t-a", "/t-b"]
    assert starts[2] in " ".join(answer.warnings)


@pytest.mark.parametrize("most", [1, 2, 3, 5])
async def test_pages_of_a_round(desk: Desk, tree: Web, most: int) -> None:
    """As many as are allowed, where so many promise enough."""
    await desk.ask(QUESTION, max_urls_per_iteration=most, max_iterations=2)
    assert desk.rounds == [1, min(3, most), most]


async def test_pages_that_failed_count(desk: Desk, tree: Web) -> None:
    """A site of missing pages ends as soon."""
    for path in list(tree.pages):
        if path not in {"/", "/t"}:
            tree.page(path, "", status=404)
    answer = await desk.ask(QUESTION, max_pages=3)
    assert len(tree.paths()) == 3
    assert answer.stop_reason == "pages_exhausted"


async def test_an_answer_at_the_limit(desk: Desk, tree: Web) -> None:
    """What the last round brings is looked at."""
    tree.page("/t-a", f"<p>{FACT}</p>")
    desk.knows(FACT)
    answer = await desk.ask(QUESTION, max_iterations=1, max_pages=4)
    assert (answer.status, answer.answer, len(tree.paths())) == ("answered", FACT + "[1]", 4)


async def test_nothing_is_read_once_the_answer_is_there(desk: Desk, tree: Web) -> None:
    """The start page has it: one request, and one for robots.txt."""
    tree.page("/", f"<p>{FACT}</p>" + '<p><a href="/t-a">Other doors</a></p>')
    desk.knows(FACT)
    answer = await desk.ask(QUESTION)
    assert (answer.status, [asked.path for asked in tree.asked]) == (
        "answered",
        ["/robots.txt", "/"],
    )


async def test_seconds(desk: Desk, tree: Web) -> None:
    """A slow site: no more is tried after that, and what is there is used."""
    for path in tree.pages:
        tree.stored(path).slow = 0.3
    started = time.monotonic()
    answer = await desk.ask(QUESTION, max_seconds=1.0)
    assert time.monotonic() - started < 2.5
    assert (answer.status, answer.stop_reason) == ("refused", "budget_seconds")
    assert "time allowed" in answer.answer


async def test_seconds_of_a_page(desk: Desk, tree: Web, open_desk: Callable[..., Any]) -> None:
    """One that hangs is given up, and the others go on."""
    tree.page("/t-a", "<p>Late.</p>", slow=30)
    tree.page("/t-b", f"<p>{FACT}</p>")
    async with open_desk({"page_seconds": 0.6}) as hasty:
        hasty.knows(FACT)
        started = time.monotonic()
        answer = await hasty.ask(QUESTION)
        assert time.monotonic() - started < 3
    assert (answer.status, answer.citations[0].quote) == ("answered", FACT)
    assert any("/t-a" in warning and "not there within" in warning for warning in answer.warnings)


async def test_characters_of_a_page(desk: Desk, web: Web) -> None:
    """Of a long page only its best passages are handed on, however much of it would fit the
    question.
    """
    filler = "".join(
        f"<h2>Door {n}</h2><p>{'The brass key of the tower opens a door. ' * 20}</p>"
        for n in range(20)
    )
    web.page("/", f"<h2>Keeping</h2><p>{FACT}</p>{filler}")
    desk.knows(FACT)
    texts = {}
    for most in (200, 10_000):
        await desk.ask(QUESTION, content_max_chars=most, max_iterations=0)
        (step,) = [step for step in desk.steps if step.node == "AgentDecision"]
        texts[most] = step.detail["evidence"]
    assert len(texts[200]) == 1
    assert len(texts[10_000]) > 1


async def test_the_budget_of_calls(desk: Desk, tree: Web) -> None:
    """One call of the model: a quotation that nobody may judge is proved by itself; other words are
    shown as unchecked.
    """
    tree.page("/", f"<p>{FACT}</p>")
    desk.knows(FACT)
    answer = await desk.ask(QUESTION, max_calls=1)
    assert (answer.usage.calls, answer.status, answer.stop_reason) == (
        1,
        "answered",
        "budget_calls",
    )
    worded = "Under the third stair of the tower the brass key is kept."
    desk.llm.reply_with(lambda _: worded)
    answer = await desk.ask(QUESTION, max_calls=1)
    assert (answer.usage.calls, answer.status, answer.stop_reason) == (
        1,
        "fallback",
        "budget_calls",
    )
    assert "could not be checked" in answer.answer
    assert {sentence.verdict for sentence in answer.sentences} == {"unsupported"}


async def test_the_settings_are_the_defaults_of_the_spec(desk: Desk, tree: Web) -> None:
    """Five pages a round, five rounds, a hundred pages."""
    website = desk.settings.website
    assert (website.max_urls_per_iteration, website.max_iterations, website.max_pages) == (
        5,
        5,
        100,
    )
    assert website.content_max_chars == 10_000
    await desk.ask(QUESTION)
    assert desk.rounds == [1, 3, 5, 5, 5, 5]

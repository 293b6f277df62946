"""What is told while a run goes on: pages, links left, and why each page is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.types import Answer, Step

if TYPE_CHECKING:
    from tests.website.conftest import Desk, Web

QUESTION = "Within how many days may domestic orders be returned?"
FACT = "Domestic orders may be returned within 14 days of delivery."


async def test_every_page_is_told_as_it_comes(desk: Desk, shop: Web) -> None:
    """With its title, how it was had, how many pages there are and how many links are left; each
    for a reason.
    """
    desk.knows(FACT)
    answer = await desk.ask(QUESTION)
    visited = desk.visited
    assert [page["url"].removeprefix(shop.at()) for page in visited][:2] == [
        "/",
        visited[1]["url"].removeprefix(shop.at()),
    ]
    assert sorted(page["url"] for page in visited) == sorted(shop.at(path) for path in shop.paths())
    assert [page["pages"] for page in visited] == list(range(1, len(visited) + 1))
    assert all(
        page["how"] == "fetched" and not page["problem"] and page["title"] for page in visited
    )
    assert all(page["links"] > 0 for page in visited)
    assert visited[0]["why"] == "a start page"
    assert all("“" in page["why"] and shop.url in page["why"] for page in visited[1:])
    urls = [page["url"] for page in visited]
    assert visited[0]["source"] == ""
    assert all(
        urls.index(page["source"]) < urls.index(page["url"]) for page in visited[1:]
    )  # the page that led there
    assert all(page["doc_id"] for page in visited)
    assert "returned" in next(
        page["why"] for page in visited if page["url"].endswith("/help/returns")
    )
    iterations = [page["iteration"] for page in visited]
    assert iterations == sorted(iterations)
    begin = desk.events[0].data
    assert isinstance(begin, dict)
    assert (begin["kind"], begin["trace_id"], begin["site"]) == (
        "begin",
        answer.trace_id,
        answer.route,
    )


async def test_the_order_of_events(desk: Desk, shop: Web) -> None:
    """Pages before the step that read them, citations before the answer, warnings between, the
    answer last.
    """
    shop.page("/help/international", "", status=500)
    desk.knows(FACT)
    answer = await desk.ask(QUESTION)
    kinds = [event.kind for event in desk.events]
    assert kinds[:3] == ["progress", "progress", "step"]
    assert kinds[-1] == "answer"
    assert kinds.index("citation") < kinds.index("warning") < len(kinds) - 1
    assert [event.data for event in desk.events if event.kind == "warning"] == answer.warnings
    assert isinstance(desk.events[-1].data, Answer)
    (failed,) = [page for page in desk.visited if page["how"] == "failed"]
    assert failed["url"] == shop.at("/help/international")
    assert failed["code"] == "site_busy"


async def test_links_left_are_those_not_followed(desk: Desk, shop: Web) -> None:
    """Pages that failed, and addresses that led elsewhere, are no links left."""
    shop.page(
        "/",
        '<p><a href="/moved">orders</a> <a href="/bad">orders</a> <a href="/other">Journal</a></p>',
    )
    shop.leads("/moved", "/about/team")
    shop.page("/bad", "", status=404)
    shop.page("/about/team", "<p>Ines draws.</p>")
    shop.page("/other", "<p>Other.</p>")
    await desk.ask("orders returned within days?", max_iterations=1, max_urls_per_iteration=2)
    assert len(desk.visited) == 3
    assert desk.visited[-1]["links"] == 1


async def test_steps_tell_the_choice(desk: Desk, shop: Web) -> None:
    """Of each decision: the evidence, the best links with score and reason, what is followed; kept
    in the trace.
    """
    desk.knows(FACT)
    answer = await desk.ask(QUESTION)
    trace = await desk.app.traces.get(answer.trace_id)
    assert [step.node for step in trace.steps] == [step.node for step in desk.steps]
    decisions = [step for step in trace.steps if step.node == "AgentDecision"]
    assert [step.action for step in decisions] == ["explore"] * (len(decisions) - 1) + ["answer"]
    followed = [url for step in decisions for url in step.detail.get("explore", {})]
    assert sorted(followed) == sorted(shop.at(path) for path in shop.paths()[1:])
    assert all(
        {"url", "score", "why"} <= set(link)
        for step in decisions
        for link in step.detail.get("links", [])
    )
    assert decisions[-1].detail["evidence"][0]["text"]
    assert isinstance(desk.steps[-1], Step)
    assert desk.steps[-1].detail["status"] == "answered"
    assert answer.usage.seconds.keys() >= {
        "CrawlAndExtract",
        "AgentDecision",
        "DraftAnswer",
        "total",
    }


async def test_tokens_come_before_the_answer(desk: Desk, shop: Web) -> None:
    """Each draft, piece by piece; a step ends one."""
    desk.knows(FACT)
    await desk.ask(QUESTION)
    drafts = [""]
    for event in desk.events:
        if event.kind == "token":
            drafts[-1] += str(event.data)
        elif isinstance(event.data, Step):
            drafts.append("")
    assert [draft for draft in drafts if draft][-1] == FACT

"""Pages of one round are fetched at the same time, politely: what the hosts want is kept, and
told.
"""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING

from citewell.service.ask.ask import ask

if TYPE_CHECKING:
    from tests.website.conftest import Desk, Web

SLOW = 0.5
QUESTION = "What does the ferry to the island cost?"
FACT = "The ferry to the island costs nine kroner."
NAMES = ["a", "b", "c", "d", "e"]
EVERY = ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"]


def spread(web: Web, hosts: list[str], slow: float = SLOW) -> None:
    """A first page with five promising links, one host after the other; the last has the answer."""
    there = [web.at(f"/ferry-{name}", hosts[n % len(hosts)]) for n, name in enumerate(NAMES)]
    web.page(
        "/",
        "<p>Harbour.</p>"
        + "".join(f'<p><a href="{url}">The ferry to the island, cost</a></p>' for url in there),
    )
    for name in NAMES:
        web.page(f"/ferry-{name}", "<p>Boats.</p>", slow=slow)
    web.page("/ferry-e", f"<p>{FACT}</p>", slow=slow)


def started(web: Web) -> list[float]:
    """When each page but the first was asked for."""
    return sorted(asked.at for asked in web.asked if asked.path.startswith("/ferry"))


async def test_a_round_takes_as_long_as_its_slowest_page(desk: Desk, web: Web) -> None:
    """Five slow pages of four hosts: all are under way before the first one is there, so it is not
    five after each other.
    """
    spread(web, EVERY)
    desk.knows(FACT)
    answer = await desk.ask(QUESTION, allowed_domains=EVERY)
    assert (answer.status, answer.citations[0].quote) == ("answered", FACT)
    assert desk.rounds == [1, 5]
    assert started(web)[-1] - started(web)[0] < SLOW
    assert web.most["all"] == 5
    crawls = [step for step in desk.steps if step.node == "CrawlAndExtract"]
    assert crawls[1].seconds >= SLOW


async def test_never_more_than_two_at_once_at_a_host(desk: Desk, web: Web) -> None:
    """Five of one host go two by two."""
    spread(web, EVERY[:1], slow=0.2)
    desk.knows(FACT)
    answer = await desk.ask(QUESTION)
    assert answer.status == "answered"
    assert desk.rounds == [1, 5]
    assert web.most["127.0.0.1"] == 2
    first, *_, last = started(web)
    assert last - first >= 2 * 0.2 * 0.9


async def test_two_questions_share_what_a_host_bears(desk: Desk, web: Web) -> None:
    """Two at once, asked about the same site: no page twice, and never more than two under way."""
    spread(web, EVERY[:1], slow=0.2)
    desk.knows(FACT)
    first, second = await asyncio.gather(*[ask(desk.app, desk.request(QUESTION)) for _ in range(2)])
    assert first.answer == second.answer
    assert web.most["127.0.0.1"] == 2
    assert len(web.paths()) == len(set(web.paths())) == 6


async def test_crawl_delay_is_kept(desk: Desk, web: Web) -> None:
    """What robots.txt wants between two requests, across rounds."""
    web.page("/robots.txt", b"User-agent: *\nCrawl-delay: 0.25\n", kind="text/plain")
    spread(web, EVERY[:1], slow=0.0)
    desk.knows(FACT)
    answer = await desk.ask(QUESTION)
    assert answer.status == "answered"
    times = sorted(asked.at for asked in web.asked if asked.path != "/robots.txt")
    assert len(times) >= 6
    assert (
        times[-1] - times[0] >= 0.25 * (len(times) - 1) - 0.1
    )  # the server may see one late, and the next at once
    assert min(later - earlier for earlier, later in pairwise(times)) >= 0.1


async def test_what_robots_txt_forbids_is_not_read_and_told(desk: Desk, web: Web) -> None:
    """Not one request; the answer and its warnings name the page and why."""
    web.page(
        "/robots.txt",
        b"User-agent: citewell-test\nDisallow: /ferry-a\nDisallow: /ferry-e\n",
        kind="text/plain",
    )
    spread(web, EVERY[:1], slow=0.0)
    desk.knows(FACT)
    answer = await desk.ask(QUESTION)
    assert answer.status == "refused"
    assert not {"/ferry-a", "/ferry-e"} & set(web.paths())
    assert {"/ferry-b", "/ferry-c", "/ferry-d"} <= set(web.paths())
    told = [warning for warning in answer.warnings if "robots.txt" in warning]
    assert [web.at("/ferry-a") in " ".join(told), web.at("/ferry-e") in " ".join(told)] == [
        True,
        True,
    ]
    assert "robots.txt" in answer.answer


async def test_one_failing_page_does_not_end_a_round(desk: Desk, web: Web) -> None:
    """Four of five fail, each its own way; the fifth answers, and the four are told."""
    spread(web, EVERY, slow=0.0)
    web.page("/ferry-a", "", status=500)
    web.page("/ferry-b", "", status=404)
    web.page("/ferry-c", b"\x89PNG", kind="image/png")
    web.page("/ferry-d", "", status=403)
    desk.knows(FACT)
    answer = await desk.ask(QUESTION, allowed_domains=EVERY)
    assert (answer.status, answer.citations[0].quote) == ("answered", FACT)
    for name in "abcd":
        assert any(f"/ferry-{name}" in warning for warning in answer.warnings)
    (step,) = [
        step
        for step in desk.steps
        if step.node == "CrawlAndExtract" and step.detail["iteration"] == 1
    ]
    assert (step.detail["read"], len(step.detail["failed"])) == (1, 4)

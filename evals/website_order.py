"""How many pages of a site are fetched until the page that answers was read: by the agent's choice,
in order, by chance.

The agent's choice is that of the real agent, asked through `service.ask` as by anybody, that
nothing satisfies: without a chat model evidence is enough from `qa.retrieval_threshold` on, and a
threshold of 2 is more than any confidence (`model_copy` checks nothing). Limits are so wide that
the whole site is within them, and it is not let end because nothing seems near; how often it would
have ended so is counted. So searches, what is learned and all that is made of it are the agent's,
no copy.

The one rule: passages are embedded once for a site. Every question has a collection of its own that
is deleted after it, and texts that were embedded bring their vectors along: every passage of a page
read has one, where the agent on its own embeds the two dozen nearest.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from unittest.mock import patch

from citewell.agents.website import website_links
from citewell.agents.website.website_state import Deps, WebsiteState
from citewell.config import Settings
from citewell.errors import CitewellError, NotFound
from citewell.fetch.urls import canonicalize_url, get_origin
from citewell.graph import record_detail
from citewell.retrieve.frontier import Promise
from citewell.runtime.app import App
from citewell.service.ask.ask import request_stop, stream_answer
from citewell.service.ask.run import AskRequest
from citewell.service.library.embedding import embed_pending
from citewell.service.sites.keep_pages import open_pages
from citewell.service.sites.sites import delete_site
from citewell.types import Step
from website_sets import Fetched, Question, Served, SiteSet, fetched, page_name

ASKED = "asked"
DRAWS = 20
LATE = 3  # pages; a gold page that is read later is listed
TOGETHER = 5  # `max_urls_per_iteration` as shipped
WITHIN = (2, 3, 6)
_NOTHING_NEAR = website_links.is_off_topic
_WIDE = {"max_iterations": 50, "max_pages": 100, "max_seconds": 3_600.0}


@dataclass(frozen=True)
class Choice:
    """One decision: what the best links promised, and where among those that the trace shows the
    gold page stood (from 1; None: not among them, or the links were weighed by their words only,
    which is not told).
    """

    best: list[tuple[str, float, str]]
    gold: tuple[int, float, str] | None


@dataclass
class Own:
    """The agent's way. `position`: pages asked for when the round that brought the gold page was
    over; None: it never came. `gave_up`: it would have ended before.
    """

    position: int | None = None
    rounds: int = 0
    gave_up: bool = False
    pages: list[Fetched] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)


@dataclass
class Ordered:
    """Pages until the gold page was read, the start page included: by the agent, one a round and as
    shipped, and the others.
    """

    id: str
    question: str
    gold_page: str
    one: Own
    shipped: Own
    breadth: int
    by_chance: list[int]
    site_pages: int

    def positions(self) -> dict[str, list[int]]:
        """By way of choosing. Where the gold page was never read, one more than all pages of the
        site is counted.
        """
        never = self.site_pages + 1
        return {
            "agent, one a round": [self.one.position or never],
            f"agent, {TOGETHER} a round": [self.shipped.position or never],
            "breadth-first": [self.breadth],
            f"breadth-first, {TOGETHER} a round": [
                min(self.site_pages, 1 + TOGETHER * math.ceil((self.breadth - 1) / TOGETHER))
            ],
            "by chance": self.by_chance,
        }


@dataclass(frozen=True)
class Graph:
    """The pages that can be read, each with those it leads to, in the order of their discovery."""

    leads: Mapping[str, Sequence[str]]

    def breadth_first(self, gold: str) -> int:
        return list(self.leads).index(gold) + 1

    def by_chance(self, gold: str, chance: random.Random) -> int:
        """Any of the links seen and not followed may come next."""
        read: list[str] = []
        seen = [next(iter(self.leads))]
        while gold not in read:
            page = chance.choice([page for page in seen if page not in read])
            read.append(page)
            seen += [each for each in self.leads[page] if each not in seen]
        return len(read)


def unsatisfied(settings: Settings) -> Settings:
    """For an agent that goes on until all is read."""
    return settings.model_copy(
        update={"llm": "none", "qa": settings.qa.model_copy(update={"retrieval_threshold": 2.0})}
    )


async def ordered(
    settings: Settings, site: SiteSet, questions: Sequence[Question]
) -> AsyncIterator[Ordered]:
    """Every question in turn. `settings.home` keeps the vectors of the pages, for another run
    too.
    """
    async with App(unsatisfied(settings)) as app:
        with Served(site) as served, patch.object(website_links, "is_off_topic", _never):
            graph = await _read_all(app, served.start, f"site-{site.name}")
            for question in questions:
                chance = random.Random(question.id)
                yield Ordered(
                    question.id,
                    question.question,
                    question.gold_page,
                    await _own(app, served.start, question, 1),
                    await _own(app, served.start, question, TOGETHER),
                    graph.breadth_first(question.gold_page),
                    [graph.by_chance(question.gold_page, chance) for _ in range(DRAWS)],
                    len(graph.leads),
                )


async def _read_all(app: App, start: str, collection: str) -> Graph:
    """Breadth-first, with the agent's own reader and links; then every passage is embedded."""
    before: list[str] = []
    with suppress(NotFound):
        before = [info.doc_id for info in await app.catalog.documents(collection)]
    leads: dict[str, list[str]] = {}
    todo, seen = [canonicalize_url(start)], {canonicalize_url(start)}
    for url in todo:  # grows
        leads[page_name(url)] = []
        try:
            page = await open_pages(app).page(url, collection, seconds=30)
        except CitewellError:
            continue
        links = dict.fromkeys(
            link.url for link in page.links if get_origin(link.url) == get_origin(url)
        )
        leads[page_name(url)] = [page_name(link) for link in links]
        todo += [link for link in links if link not in seen]
        seen |= links.keys()
    await embed_pending(app)
    await app.catalog.delete(*before)  # another port's
    return Graph(leads)


def _never(state: WebsiteState, deps: Deps, found: list[Promise]) -> bool:
    """The agent's own judgement is noted, and not followed."""
    record_detail(would_end=_NOTHING_NEAR(state, deps, found))
    return False


async def _own(app: App, start: str, question: Question, together: int) -> Own:
    own, trace_id = Own(), ""
    options = {"start_urls": [start], "max_urls_per_iteration": together, **_WIDE}
    request = AskRequest(
        question=question.question, agent="website", collection=ASKED, keep=False, options=options
    )
    try:
        async for event in stream_answer(app, request):
            if isinstance(event.data, dict):
                trace_id = event.data.get("trace_id", trace_id)
            if page := fetched(event):
                own.pages.append(page)
            elif isinstance(event.data, Step) and own.position is None:
                if any(page.page == question.gold_page and not page.problem for page in own.pages):
                    own.position, own.rounds = len(own.pages), own.pages[-1].round
                    await request_stop(app, trace_id)
                _note(own, event.data, question.gold_page)
    finally:
        with suppress(NotFound):
            await delete_site(app, ASKED)
    return own


def _note(own: Own, step: Step, gold_page: str) -> None:
    links = [
        (page_name(link["url"]), link["score"], link["why"])
        for link in step.detail.get("links", [])
    ]
    if step.node != "AgentDecision":
        return
    places = [(n, score, why) for n, (page, score, why) in enumerate(links, 1) if page == gold_page]
    own.choices.append(Choice(links[:3], places[0] if places else None))
    own.gave_up |= bool(step.detail.get("would_end"))


def figures(items: Sequence[Ordered]) -> dict[str, dict[str, float]]:
    """By way of choosing."""
    ways = {
        way: list(chain.from_iterable(item.positions()[way] for item in items))
        for way in items[0].positions()
    }
    means = {way: statistics.fmean(positions) for way, positions in ways.items()}
    return {
        way: {
            "mean": means[way],
            "median": statistics.median(positions),
            **{
                f"<= {most}": statistics.fmean(position <= most for position in positions)
                for most in WITHIN
            },
            "/ breadth-first": means[way] / means["breadth-first"],
            "/ chance": means[way] / means["by chance"],
        }
        for way, positions in ways.items()
    }


def table(items: Sequence[Ordered]) -> list[str]:
    """As shown in the terminal."""
    rows = figures(items)
    widths = {name: max(8, len(name) + 2) for name in rows["breadth-first"]}
    lines = [
        f"{'pages until gold is read':28}"
        + "".join(f"{name:>{width}}" for name, width in widths.items())
    ]
    lines += [
        f"{way:28}" + "".join(f"{row[name]:{width}.2f}" for name, width in widths.items())
        for way, row in rows.items()
    ]
    ways = {
        "one a round": [item.one for item in items],
        f"{TOGETHER} a round": [item.shipped for item in items],
    }
    for way, owns in ways.items():
        rounds = statistics.fmean(own.rounds for own in owns)
        never, gave_up = sum(own.position is None for own in owns), sum(own.gave_up for own in owns)
        lines.append(
            f"{way}: {rounds:.2f} rounds; never read {never}, would have given up before "
            f"{gave_up}, of {len(items)}"
        )
    return lines


def late(items: Sequence[Ordered]) -> list[Ordered]:
    """Those whose gold page came late, one page a round."""
    return [item for item in items if item.one.position is None or item.one.position > LATE]


def told(item: Ordered) -> list[str]:
    """How it came that the gold page was late."""
    lines = [
        f"{item.question}  [{item.id}] -> {item.gold_page}",
        f"  {item.one.position or 'never'}; {item.breadth} breadth-first",
    ]
    for n, page in enumerate(item.one.pages):
        lines.append(f"  {n + 1} {page.page}: {page.problem or page.why}")
        if n < len(item.one.choices):
            choice = item.one.choices[n]
            best = ", ".join(f"{page} {score:.2f}" for page, score, _ in choice.best)
            gold = (
                f"place {choice.gold[0]}, {choice.gold[1]:.2f}: {choice.gold[2]}"
                if choice.gold
                else "not shown"
            )
            lines.append(f"      best {best or 'not shown'}; gold {gold}")
    return lines

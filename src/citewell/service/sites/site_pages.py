"""The pages of one site for the `website` agent: fetched and kept as a collection; what is known of
them is loaded once. A page that fails is told with its reason, and the others go on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from math import inf
from typing import Any
from urllib.parse import urlsplit

from citewell.agents.website.website_state import SitePage
from citewell.config import WebsiteSettings
from citewell.errors import CitewellError, ConfigError, StorageError, TransientError
from citewell.fetch.domains import Domains
from citewell.fetch.urls import get_origin, get_url_identity, strip_www
from citewell.ingest.web.links import Link
from citewell.messages import Text
from citewell.retrieve.frontier import fold_line
from citewell.service.ask.lazy_embedding import Labels
from citewell.service.ask.run import Run
from citewell.service.sites.keep_pages import open_pages
from citewell.store.pages import Snapshot

log = logging.getLogger(__name__)

UNFETCHED = Text("it is not kept, and a replay fetches nothing unless it is told to")
GONE = "page_missing"  # the code of what is not there any more
SITEMAP_SECONDS = 5.0  # for all sitemaps of a site
SITEMAP_PAGES = 2_000


class SitePages:
    """What is known of a site, and what is fetched of it. `run.options` say nothing here:
    `settings` and `domains` are those of the run.
    """

    def __init__(
        self,
        run: Run,
        settings: WebsiteSettings,
        domains: Domains,
        labels: Labels,
        starts: Sequence[str],
    ) -> None:
        self.name = " + ".join(dict.fromkeys(urlsplit(url).netloc for url in starts))
        self._collection = run.collection
        self.pages: dict[str, SitePage] = {}
        self._run, self._app = run, run.app
        self._settings, self._domains, self._labels = settings, domains, labels
        self._starts = starts
        named = {entry.host for entry in domains.entries if not entry.below}
        self._hosts = {strip_www(url) for url in starts if urlsplit(url).hostname in named}
        # such a host with or without www., where a start page led to it
        self._moved: set[str] = set()
        self._judged: dict[str, bool] = {}  # links stand on many pages
        self._led: dict[str, str] = {}  # what was asked for, and what it led to
        self._signs: dict[str, frozenset[str]] = {}
        self._opened = False
        self._map: list[Link] | None = None

    async def open(self) -> None:
        if self._opened:
            return
        for url in self._starts:
            before = await self._app.snapshots.get(self._collection, url)
            if before is not None and before.doc_id:
                self._note_move(before.uri)
        for snapshot in await self._app.snapshots.of(self._collection):
            if (
                snapshot.doc_id
                and snapshot.code != GONE
                and self.is_allowed(snapshot.uri)
                and not self._is_later(snapshot)
            ):
                self._add_page(self._build_page(snapshot))
        self._opened = True

    def _is_later(self, snapshot: Snapshot) -> bool:
        """In a replay: whether it was not known yet when the replayed question began."""
        again = self._run.again
        if again is None:
            return False
        return snapshot.fetched_at > again.at or bool(
            {get_url_identity(snapshot.url), get_url_identity(snapshot.uri)} & again.read
        )

    def is_allowed(self, url: str) -> bool:
        """The domains of the run, and hosts that start pages have moved to."""
        known = self._judged.get(url)
        if known is None:
            known = self._judged[url] = (
                self._domains.is_allowed(url) or urlsplit(url).netloc in self._moved
            )
        return known

    def _is_near_start(self, url: str) -> bool:
        """Where a start page may lead: its host may stand at `www.` now, or no longer."""
        return self.is_allowed(url) or strip_www(url) in self._hosts

    def _note_move(self, url: str) -> None:
        if not self.is_allowed(url) and strip_www(url) in self._hosts:
            self._moved.add(urlsplit(url).netloc)
            self._judged.clear()

    def read(self, url: str) -> bool:
        return get_url_identity(url) in self._led

    def _add_page(self, page: SitePage) -> None:
        """The latest stands last."""
        place = get_url_identity(page.uri)
        self._led |= {get_url_identity(page.url): place, place: place}
        self.pages.pop(place, None)
        if page.doc_id:
            self.pages[place] = page
            self._signs[page.doc_id] = frozenset(
                fold_line(link.text) for link in page.links if link.text
            )

    def _build_page(self, snapshot: Snapshot) -> SitePage:
        return SitePage(
            url=snapshot.url,
            uri=snapshot.uri,
            doc_id=snapshot.doc_id,
            title=snapshot.title,
            links=snapshot.links,
            fetched_at=snapshot.fetched_at if snapshot.problem else snapshot.checked_at,
            how="reused",
            stale=time.time() - snapshot.checked_at > self._settings.fresh_seconds,
            notes=(_format_stale_problem(snapshot.problem, snapshot.fetched_at),)
            if snapshot.problem
            else (),
        )

    async def crawl(self, urls: Sequence[str]) -> AsyncIterator[SitePage]:
        tasks = {asyncio.create_task(self._fetch_page(url)): url for url in urls}
        stop = asyncio.create_task(self._run.stop.wait())
        try:
            left: set[asyncio.Task[SitePage]] = set(tasks)
            while left and not stop.done():
                done, _ = await asyncio.wait([*left, stop], return_when=asyncio.FIRST_COMPLETED)
                for task in [task for task in tasks if task in done]:
                    left.discard(task)
                    page = task.result()
                    self._add_page(page)
                    yield page
            for task in left:
                yield SitePage(
                    tasks[task],
                    tasks[task],
                    how="failed",
                    problem=Text("{tasks}: not waited for any longer", tasks=tasks[task]),
                )
        finally:
            await _cancel_tasks(*tasks, stop)

    async def _fetch_page(self, url: str) -> SitePage:
        seconds = self._settings.page_seconds
        if (left := self._run.seconds_left) is not None:
            seconds = max(0.001, min(seconds, left))
        within = self._is_near_start if url in self._starts else self.is_allowed
        fresh = self._settings.fresh_seconds
        if self._run.again is not None and not self._run.again.fetch:
            if await self._app.snapshots.get(self._collection, url) is None:
                return SitePage(
                    url,
                    url,
                    how="failed",
                    problem=Text("{url}: {unfetched}", url=url, unfetched=UNFETCHED),
                )
            fresh = inf
        try:
            async with asyncio.timeout(
                seconds + self._app.settings.ingest.parse_seconds if left is None else left
            ):
                page = await open_pages(self._app).page(
                    url, self._collection, seconds=seconds, max_age=fresh, within=within
                )
        except (StorageError, ConfigError):
            raise
        except TimeoutError:
            return self._build_failed_page(
                url, TransientError(Text("{url}: no time was left to read it", url=url))
            )
        except Exception as error:  # noqa: BLE001  # whatever it is, the other pages go on
            return self._build_failed_page(url, error)
        self._note_move(page.uri)
        return SitePage(
            url,
            page.uri,
            page.doc_id,
            page.title,
            page.links,
            page.checked_at,
            page.how,
            notes=page.notes,
        )

    def _build_failed_page(self, url: str, error: Exception) -> SitePage:
        """What was read of it before still counts, and says of when it is; but not where its site
        says that there is no such page any more.
        """
        why, code = _format_error(url, error), getattr(error, "code", "")
        old = self.pages.get(self._led.get(get_url_identity(url), ""))
        if old is None or code == GONE:
            return SitePage(url, old.uri if old else url, how="failed", problem=why, code=code)
        why = _format_stale_problem(why, old.fetched_at)
        return replace(old, url=url, how="failed", stale=False, problem=why, code=code)

    async def sitemap(self) -> list[Link]:
        if self._map is None:
            again = self._run.again
            self._map = await self._fetch_sitemaps() if again is None or again.fetch else []
        return self._map

    async def _fetch_sitemaps(self) -> list[Link]:
        """Of each start page's host; none where it takes too long, or an answer is wanted now."""
        left = self._run.seconds_left
        seconds = SITEMAP_SECONDS if left is None else min(SITEMAP_SECONDS, left / 4)
        hosts = {get_origin(url): url for url in self._starts}.values()
        tasks = [
            asyncio.create_task(
                open_pages(self._app).fetch_sitemap(
                    url, self.is_allowed, most=SITEMAP_PAGES, seconds=seconds
                )
            )
            for url in hosts
        ]
        stop = asyncio.create_task(self._run.stop.wait())
        entries = []
        try:
            waiting: set[asyncio.Task[Any]] = {*tasks}
            while waiting and not stop.done():
                done, _ = await asyncio.wait({*waiting, stop}, return_when=asyncio.FIRST_COMPLETED)
                for task in done & waiting:
                    try:
                        entries += task.result()
                    except CitewellError as error:
                        # most sites have none; links lead there too
                        log.info("no sitemap: %s", error.message)
                waiting -= done
        finally:
            await _cancel_tasks(*tasks, stop)
        return [Link(entry.url, entry.title) for entry in entries]


def _format_stale_problem(problem: str, fetched_at: float) -> str:
    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(fetched_at))
    return Text("{problem}; what was read on {day} is used", problem=problem, day=day)


async def _cancel_tasks(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _format_error(url: str, error: Exception) -> str:
    if not isinstance(error, CitewellError):
        log.error("crawling %s", url, exc_info=error)  # a fault of ours
        return Text(
            "{url}: internal error: {name}: {error}",
            url=url,
            name=type(error).__name__,
            error=error,
        )
    why = error.explanation
    return why if url in why else Text("{url}: {why}", url=url, why=why)

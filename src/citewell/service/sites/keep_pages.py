"""A web page becomes a document: the one way of web search, the `website` agent, `citewell add URL`
and refreshing. The document is committed before its snapshot. A stop between the two costs a
request, and never leaves an ETag that stands for a text we do not have.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Literal
from weakref import WeakValueDictionary

import anyio

from citewell.errors import CitewellError, PermanentError, TransientError, UnreadableFile
from citewell.fetch.browser import Browser
from citewell.fetch.fetcher import ATTEMPTS, Fetcher
from citewell.fetch.page_reply import Page
from citewell.fetch.urls import canonicalize_url, get_url_identity
from citewell.ingest.web.sitemap import Entry, list_site_pages
from citewell.ingest.web.web_file import as_file, is_readable_page
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.library.add_report import FileReport
from citewell.service.library.intake import Allowed, add_data, compute_hash
from citewell.service.sites.kept_page import (
    Crawled,
    Kept,
    KnownPage,
    WantedPage,
    build_crawled,
    build_reused,
    build_unchanged,
)
from citewell.service.sites.page_body import PageBody, Render, build_body, build_page_snapshot
from citewell.store.pages import Snapshot

SECONDS = 60.0  # for a page that is asked for by hand, the wait for its host's turn included
PART_SECONDS = 10.0  # for one thing that the scripts of a page ask for


def open_pages(app: App) -> Pages:
    """What fetches pages of the web and keeps them, one for all of an App. Raises ConfigError."""
    return app.part(_open_pages, Pages.close)


def _open_pages(app: App) -> Pages:
    pages = Pages(app)
    if app.settings.website.browser == "auto":
        pages.browser = browser = Browser()
        pages.render = lambda url, seconds: browser.render(url, pages.part, seconds)
    return pages


class Pages:
    """Shared by all of an App: how often a host is asked is counted here. `render` runs the scripts
    of pages that are next to empty without them; None: they are read as they come. Raises
    ConfigError where `allow_private_hosts` is not understood.
    """

    def __init__(self, app: App, render: Render | None = None) -> None:
        self.render = render
        self.browser: Browser | None = None
        self._app = app
        self._fetcher = Fetcher(app.settings, max_bytes=app.settings.web.page_bytes)
        self._locks: WeakValueDictionary[tuple[str, str, str], anyio.Lock] = WeakValueDictionary()

    async def close(self) -> None:
        if self.browser is not None:
            await self.browser.close()
        await self._fetcher.close()

    async def page(
        self,
        url: str,
        collection: str,
        *,
        seconds: float,
        max_age: float = 0.0,
        links: bool = True,
        attempts: int = ATTEMPTS,
        within: Callable[[str], bool] | None = None,
    ) -> Crawled:
        """The page of `url` as a document of `collection`, not yet embedded. What its site said
        less than `max_age` seconds ago holds without a request, that there is no such page
        included. `links` False: without them. `attempts`: how often a busy site is asked, at most.
        `within` False of where it leads: it is not followed.

        Raises what `Fetcher.page` raises, and UnreadableFile where its parser does; `seconds` are
        for fetching, and parsing takes its own time.
        """
        wanted = WantedPage(
            canonicalize_url(url),
            collection,
            time.monotonic() + seconds,
            attempts=attempts,
            within=within,
        )
        crawled, _ = await self._crawl_page(wanted, max_age)
        return crawled if links else replace(crawled, links=())

    async def file(
        self,
        url: str,
        collection: str,
        *,
        seconds: float,
        priority: int | None = None,
        allowed: Allowed | None = None,
    ) -> FileReport:
        """The same, added by hand, asked anew; what became of it. `allowed`: see `Intake`."""
        wanted = WantedPage(
            canonicalize_url(url), collection, time.monotonic() + seconds, priority, allowed
        )
        crawled, report = await self._crawl_page(wanted, 0.0)
        if report.status == "unchanged" and priority is not None:
            info = await self._app.catalog.document(report.doc_id)
            if info.priority != priority:
                await self._app.catalog.set_priority(info.doc_id, priority)
        return report.model_copy(update={"warnings": [*crawled.notes, *report.warnings]})

    async def part(self, url: str, within: Callable[[str], bool] | None = None) -> Page:
        """What the scripts of a page ask for; not kept. `within` False of where it leads: it is not
        followed. Raises what `Fetcher.page` raises.
        """
        return await self._fetcher.page(url, seconds=PART_SECONDS, within=within)

    async def fetch_sitemap(
        self, url: str, allowed: Callable[[str], bool], *, most: int, seconds: float
    ) -> list[Entry]:
        """Pages that the sitemaps of this URL's site name, of such as are `allowed`; none where
        there are no sitemaps, or where they are not there in time.
        """

        async def fetch(each: str) -> Page:
            return await self._fetcher.page(each, seconds=seconds, attempts=ATTEMPTS)

        with anyio.move_on_after(seconds):
            named = [each for each in await self._fetcher.sitemaps(url) if allowed(each)]
            found = await list_site_pages(fetch, named, most=most)
            return [entry for entry in found.pages if allowed(entry.url)]
        return []

    async def _crawl_page(self, wanted: WantedPage, max_age: float) -> Kept:
        """One at a time asks for an address; who waited for it has what the first one got."""
        since = time.time() - max_age
        async with self._wait_for_turn(wanted):
            known = await self._find_known(wanted.collection, wanted.url)
            if (
                known is not None
                and known.snapshot.checked_at >= since
                and (known.info or known.snapshot.problem)
            ):
                return build_reused(known)
            return await self._request_page(wanted, known)

    async def _request_page(self, wanted: WantedPage, known: KnownPage | None) -> Kept:
        old = known if known is not None and known.info and not known.snapshot.problem else None
        page = await self._fetch_from_site(wanted, old.snapshot if old else None)
        if old is None or not page.not_modified:
            return await self._keep_page(wanted, page)
        # it leads elsewhere now, and that has the same ETag
        if get_url_identity(page.final_url) != get_url_identity(old.snapshot.uri):
            return await self._keep_page(wanted, await self._fetch_from_site(wanted, None))
        await self._app.snapshots.note_check(wanted.collection, wanted.url, page.fetched_at)
        return build_unchanged(
            replace(old.snapshot, checked_at=page.fetched_at), old.info, page.notes
        )

    async def _fetch_from_site(self, wanted: WantedPage, old: Snapshot | None) -> Page:
        etag, last_modified = (old.etag, old.last_modified) if old else ("", "")
        try:
            return await self._fetcher.page(
                wanted.url,
                etag=etag,
                last_modified=last_modified,
                seconds=wanted.left,
                readable=is_readable_page,
                attempts=wanted.attempts,
                within=wanted.within,
            )
        except (PermanentError, UnreadableFile) as error:
            if error.code != "leads_away":  # another caller may follow it
                await self._note_failure(wanted, error)
            raise

    async def _keep_page(self, wanted: WantedPage, page: Page) -> Kept:
        """Two addresses that lead to one page take turns here, where nobody waits for another
        address, so never in a circle. A page keeps the spelling of its address that it has already.
        """
        lock = self._get_lock("keep", wanted.collection, page.final_url)
        async with lock, self._app.turns.reading(len(page.data)):
            data, name = as_file(page)
            digest = await compute_hash(data)
            known = await self._find_known(wanted.collection, page.final_url)
            if known is not None and get_url_identity(known.snapshot.uri) != get_url_identity(
                page.final_url
            ):
                known = None  # that address led elsewhere before
            if known is not None and known.info is not None and known.snapshot.sha256 == digest:
                snapshot = replace(
                    known.snapshot,
                    url=wanted.url,
                    etag=page.etag,
                    last_modified=page.last_modified,
                    checked_at=page.fetched_at,
                    problem="",
                    code="",
                )
                await self._app.snapshots.put(snapshot)
                return build_unchanged(snapshot, known.info, page.notes)
            uri = known.snapshot.uri if known is not None and known.info else page.final_url
            body = await build_body(
                data, name, page.final_url, wanted, self._app.settings.ingest, self.render
            )
            if {"nofollow", "none"} & {part.strip() for part in page.robots_tag.split(",")}:
                body.found = replace(body.found, links=())
            return await self._add_document(wanted, page, uri, body)

    async def _add_document(self, wanted: WantedPage, page: Page, uri: str, body: PageBody) -> Kept:
        app = self._app
        try:
            report = await add_data(
                app,
                body.data,
                body.name,
                uri,
                wanted.collection,
                priority=wanted.priority,
                allowed=wanted.allowed,
            )
        except UnreadableFile as error:
            if body.found.scripted and not body.ran:
                error = UnreadableFile(
                    Text(
                        "{message}; it is written by scripts, which were not run",
                        message=error.message,
                    ),
                    hint=error.hint,
                )
            await self._note_failure(wanted, error)
            raise error from None
        info = await app.catalog.document(report.doc_id)
        snapshot = build_page_snapshot(wanted, page, uri, info, body)
        await app.snapshots.put(snapshot)
        how: Literal["fetched", "unchanged"] = (
            "unchanged" if report.status == "unchanged" else "fetched"
        )
        return build_crawled(snapshot, how, (*page.notes, *body.notes)), report

    async def _find_known(self, collection: str, url: str) -> KnownPage | None:
        snapshot = await self._app.snapshots.get(collection, url)
        if snapshot is None:
            return None
        info = await self._app.catalog.find(collection, snapshot.uri) if snapshot.doc_id else None
        whole = (
            info is not None and info.doc_id == snapshot.doc_id and info.sha256 == snapshot.sha256
        )
        return KnownPage(snapshot, info if whole else None)

    async def _note_failure(self, wanted: WantedPage, error: CitewellError) -> None:
        """What would fail the same way again is not asked for again at once."""
        why = error.explanation
        await self._app.snapshots.note_failure(
            wanted.collection, wanted.url, why, error.code, time.time()
        )

    @asynccontextmanager
    async def _wait_for_turn(self, wanted: WantedPage) -> AsyncIterator[None]:
        lock = self._get_lock("ask", wanted.collection, wanted.url)
        try:
            with anyio.fail_after(wanted.left):
                await lock.acquire()
        except TimeoutError:
            hint = Text("it is being fetched for somebody else; try again later")
            raise TransientError(
                Text("{url}: not there in time", url=wanted.url), hint=hint, code="timeout"
            ) from None
        try:
            yield
        finally:
            lock.release()

    def _get_lock(self, what: str, collection: str, url: str) -> anyio.Lock:
        """One for all who want the same now; it goes with the last of them."""
        return self._locks.setdefault((what, collection, get_url_identity(url)), anyio.Lock())

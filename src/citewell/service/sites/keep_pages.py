"""A web page becomes a document: the one way of web search, the `website` agent, `citewell add URL`
and refreshing.

The one rule: the document is committed before its snapshot. A stop between the two costs a request,
and never leaves an ETag that stands for a text we do not have.
"""

from __future__ import annotations

import codecs
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Literal
from weakref import WeakValueDictionary

import anyio

from citewell.errors import (
    CitewellError,
    ConfigError,
    PermanentError,
    TransientError,
    UnreadableFile,
)
from citewell.fetch.browser import Browser
from citewell.fetch.fetcher import ATTEMPTS, Fetcher
from citewell.fetch.page_reply import Page
from citewell.fetch.urls import canonicalize_url, get_url_identity
from citewell.ingest.bounded import run_bounded
from citewell.ingest.web.links import Link, PageLinks
from citewell.ingest.web.sitemap import Entry, list_site_pages
from citewell.ingest.web.web_file import as_file, is_readable_page
from citewell.runtime.app import App
from citewell.service.library.intake import Allowed, add_data, compute_hash
from citewell.service.library.report import FileReport
from citewell.store.library.documents import DocumentInfo
from citewell.store.pages import Snapshot

log = logging.getLogger(__name__)

HTML = {".html", ".htm", ".xhtml"}
SECONDS = 60.0  # for a page that is asked for by hand, the wait for its host's turn included
PART_SECONDS = 10.0  # for one thing that the scripts of a page ask for
LEAST = 0.001  # seconds: what is left of a time that has run out
# (address, seconds) -> the HTML that scripts have made of it, in UTF-8
Render = Callable[[str, float], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class Crawled:
    """The page that `url` led to. `reused`: nothing was asked; `unchanged`: its site says, or its
    bytes show, that it is as it was. `fetched_at`: when these bytes came first; `checked_at`: when
    its site last said so. Seconds since the epoch.
    """

    url: str
    uri: str
    doc_id: str
    title: str
    links: tuple[Link, ...]
    fetched_at: float
    how: Literal["fetched", "unchanged", "reused"]
    notes: tuple[str, ...] = ()
    checked_at: float = 0.0


@dataclass(frozen=True, slots=True)
class _Wanted:
    """An address that is asked for, and where its page is to be kept. `until` is by
    `time.monotonic`.
    """

    url: str
    collection: str
    until: float
    priority: int | None = None
    allowed: Allowed | None = None
    attempts: int = ATTEMPTS
    within: Callable[[str], bool] | None = None

    @property
    def left(self) -> float:
        return max(LEAST, self.until - time.monotonic())


@dataclass(frozen=True, slots=True)
class _Known:
    """A snapshot, and its document where that is still what was made of it."""

    snapshot: Snapshot
    info: DocumentInfo | None


@dataclass(slots=True)
class _Body:
    """What is parsed of a page. `ran`: its scripts have written it, so no ETag speaks for it."""

    data: bytes
    name: str
    found: PageLinks = field(default_factory=PageLinks)
    ran: bool = False
    notes: list[str] = field(default_factory=list)


Kept = tuple[Crawled, FileReport]


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
        wanted = _Wanted(
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
        """The same where it is added by hand, asked for anew; with what became of it. `allowed` as
        in `Intake`.
        """
        wanted = _Wanted(
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

    async def _crawl_page(self, wanted: _Wanted, max_age: float) -> Kept:
        """One at a time asks for an address; who has waited for it meanwhile has what the first one
        got.
        """
        since = time.time() - max_age
        async with self._wait_for_turn(wanted):
            known = await self._find_known(wanted.collection, wanted.url)
            if (
                known is not None
                and known.snapshot.checked_at >= since
                and (known.info or known.snapshot.problem)
            ):
                return _build_reused(known)
            return await self._request_page(wanted, known)

    async def _request_page(self, wanted: _Wanted, known: _Known | None) -> Kept:
        old = known if known is not None and known.info and not known.snapshot.problem else None
        page = await self._fetch_from_site(wanted, old.snapshot if old else None)
        if old is None or not page.not_modified:
            return await self._keep_page(wanted, page)
        # it leads elsewhere now, and that has the same ETag
        if get_url_identity(page.final_url) != get_url_identity(old.snapshot.uri):
            return await self._keep_page(wanted, await self._fetch_from_site(wanted, None))
        await self._app.snapshots.checked(wanted.collection, wanted.url, page.fetched_at)
        return _build_unchanged(
            replace(old.snapshot, checked_at=page.fetched_at), old.info, page.notes
        )

    async def _fetch_from_site(self, wanted: _Wanted, old: Snapshot | None) -> Page:
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

    async def _keep_page(self, wanted: _Wanted, page: Page) -> Kept:
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
                return _build_unchanged(snapshot, known.info, page.notes)
            uri = known.snapshot.uri if known is not None and known.info else page.final_url
            body = await self._build_body(data, name, page.final_url, wanted)
            if {"nofollow", "none"} & {part.strip() for part in page.robots_tag.split(",")}:
                body.found = replace(body.found, links=())
            return await self._add_document(wanted, page, uri, body)

    async def _add_document(self, wanted: _Wanted, page: Page, uri: str, body: _Body) -> Kept:
        app, collection = self._app, wanted.collection
        try:
            report = await add_data(
                app,
                body.data,
                body.name,
                uri,
                collection,
                priority=wanted.priority,
                allowed=wanted.allowed,
            )
        except UnreadableFile as error:
            if body.found.scripted and not body.ran:
                error = UnreadableFile(
                    f"{error.message}; it is written by scripts, which were not run",
                    hint=error.hint,
                )
            await self._note_failure(wanted, error)
            raise error from None
        info = await app.catalog.document(report.doc_id)
        snapshot = Snapshot(
            collection=collection,
            url=wanted.url,
            uri=uri,
            doc_id=info.doc_id,
            title=info.title,
            sha256=info.sha256,
            etag="" if body.ran else page.etag,
            last_modified="" if body.ran else page.last_modified,
            fetched_at=page.fetched_at,
            checked_at=page.fetched_at,
            links=body.found.links,
        )
        await app.snapshots.put(snapshot)
        how: Literal["fetched", "unchanged"] = (
            "unchanged" if report.status == "unchanged" else "fetched"
        )
        return _build_crawled(snapshot, how, (*page.notes, *body.notes)), report

    async def _build_body(self, data: bytes, name: str, url: str, wanted: _Wanted) -> _Body:
        """The bytes and their links; those that its scripts make of it where it is next to empty
        without.
        """
        body = _Body(data, name)
        if PurePath(name).suffix not in HTML:
            return body
        body.found = await self._extract_links(data, name, url, body.notes)
        if not body.found.scripted:
            return body
        if self.render is None:
            body.notes.append(
                f"{url}: it is written by scripts, which were not run; little of it could be read"
            )
            return body
        try:
            made = await self.render(url, wanted.left)
        except (TransientError, PermanentError, UnreadableFile, ConfigError) as error:
            body.notes.append(f"{url}: its scripts could not be run: {error.message}")
            return body
        # the page may name the encoding that it came in
        body.data, body.ran = codecs.BOM_UTF8 + made.removeprefix(codecs.BOM_UTF8), True
        body.found = await self._extract_links(body.data, name, url, body.notes)
        return body

    async def _extract_links(self, data: bytes, name: str, url: str, notes: list[str]) -> PageLinks:
        """A page whose links cannot be read may still be read itself."""
        settings = self._app.settings.ingest
        try:
            found: PageLinks = await run_bounded(
                "citewell.ingest.web.links:extract_page_links", data, name, settings, url
            )
        except UnreadableFile as error:
            notes.append(f"{url}: its links could not be read: {error.message}")
            return PageLinks()
        return found

    async def _find_known(self, collection: str, url: str) -> _Known | None:
        snapshot = await self._app.snapshots.get(collection, url)
        if snapshot is None:
            return None
        info = await self._app.catalog.find(collection, snapshot.uri) if snapshot.doc_id else None
        whole = (
            info is not None and info.doc_id == snapshot.doc_id and info.sha256 == snapshot.sha256
        )
        return _Known(snapshot, info if whole else None)

    async def _note_failure(self, wanted: _Wanted, error: CitewellError) -> None:
        """What would fail the same way again is not asked for again at once."""
        why = f"{error.message}; {error.hint}".removesuffix("; ")
        await self._app.snapshots.failed(
            wanted.collection, wanted.url, why, error.code, time.time()
        )

    @asynccontextmanager
    async def _wait_for_turn(self, wanted: _Wanted) -> AsyncIterator[None]:
        lock = self._get_lock("ask", wanted.collection, wanted.url)
        try:
            with anyio.fail_after(wanted.left):
                await lock.acquire()
        except TimeoutError:
            hint = "it is being fetched for somebody else; try again later"
            raise TransientError(
                f"{wanted.url}: not there in time", hint=hint, code="timeout"
            ) from None
        try:
            yield
        finally:
            lock.release()

    def _get_lock(self, what: str, collection: str, url: str) -> anyio.Lock:
        """One for all who want the same now; it goes with the last of them."""
        return self._locks.setdefault((what, collection, get_url_identity(url)), anyio.Lock())


def _build_reused(known: _Known) -> Kept:
    """Raises the problem that its site told."""
    snapshot = known.snapshot
    if snapshot.problem:
        kind = UnreadableFile if snapshot.code == UnreadableFile.code else PermanentError
        raise kind(snapshot.problem, code=snapshot.code)
    assert known.info is not None
    return _build_crawled(snapshot, "reused"), _build_unchanged_report(known.info)


def _build_unchanged(snapshot: Snapshot, info: DocumentInfo | None, notes: tuple[str, ...]) -> Kept:
    assert info is not None
    return _build_crawled(snapshot, "unchanged", notes), _build_unchanged_report(info)


def _build_unchanged_report(info: DocumentInfo) -> FileReport:
    return FileReport(path=info.uri, status="unchanged", chunks=info.chunks, doc_id=info.doc_id)


def _build_crawled(
    snapshot: Snapshot, how: Literal["fetched", "unchanged", "reused"], notes: tuple[str, ...] = ()
) -> Crawled:
    return Crawled(
        url=snapshot.url,
        uri=snapshot.uri,
        doc_id=snapshot.doc_id,
        title=snapshot.title,
        links=snapshot.links,
        fetched_at=snapshot.fetched_at,
        how=how,
        notes=notes,
        checked_at=snapshot.checked_at,
    )

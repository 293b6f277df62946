"""The pages of a kept site, asked for anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import anyio
from pydantic import Field

from citewell.errors import (
    InvalidInput,
    NotFound,
    PermanentError,
    TransientError,
    UnreadableFile,
    unwrap_first_error,
)
from citewell.fetch.domains import parse_domains
from citewell.fetch.urls import canonicalize_url, get_url_identity, strip_www
from citewell.messages import AnyText, Text
from citewell.runtime.app import App
from citewell.runtime.progress import OnProgress, Progress, ignore_progress
from citewell.service.library.collection_owner import ensure_collection
from citewell.service.library.embedding import Embedding
from citewell.service.library.intake import Allowed
from citewell.service.sites.keep_pages import SECONDS, open_pages
from citewell.service.sites.sites import AT_ONCE, PAGE, REFRESH, PageProblem, get_site, is_page
from citewell.store.job_rows import BULK, USUAL, Job
from citewell.store.library.collection_rows import check_name
from citewell.store.sites import Site
from citewell.types import Shown


class Refreshed(Shown):
    """What became of a site's pages. `changed` and new ones are embedded; `problem` says why some
    could not be. `removed` are gone from the site; `failed` ones stay as they were.
    """

    collection: str
    pages: int = 0
    unchanged: int = 0
    changed: int = 0
    removed: list[str] = Field(default=[])
    failed: list[PageProblem] = Field(default=[])
    warnings: list[AnyText] = Field(default=[])
    embedded: int = 0
    problem: AnyText = ""


async def submit_page(app: App, collection: str, url: str) -> Job:
    """Have the server's worker fetch and add a page. Raises InvalidInput for no address."""
    payload = {"collection": check_name(collection), "url": canonicalize_url(url)}
    await ensure_collection(app, collection)
    return await _submit_job(app, PAGE, payload)


async def submit_refresh(app: App, name: str) -> Job:
    """Have `refresh` done by the server's worker. Raises NotFound."""
    await get_site(app, name)
    return await _submit_job(app, REFRESH, {"collection": name})


async def _submit_job(app: App, kind: str, payload: dict[str, str]) -> Job:
    job = await app.jobs.create(kind, payload, BULK if kind == REFRESH else USUAL)
    app.new_job.set()
    return job


async def refresh_site(
    app: App, name: str, on_progress: OnProgress | None = None, *, allowed: Allowed | None = None
) -> Refreshed:
    """Ask for every page of a site anew, with its ETag; embed what has changed beside it. Each page
    is committed alone, so a stop keeps what was done. A page that leads to another site now is one
    that failed. `allowed` as in `Intake`. Raises NotFound, StorageError.
    """
    await get_site(app, name)
    site = await app.sites.site(name)
    documents = {info.doc_id: info for info in await app.catalog.documents(name)}
    pages = {each.uri: each.doc_id for each in await app.snapshots.of(name, links=False)}
    # pages of the time before snapshots were kept
    pages |= {
        info.uri: doc_id
        for doc_id, info in documents.items()
        if is_page(info) and doc_id not in pages.values()
    }
    work = _Refresh(app, name, pages, on_progress or ignore_progress, allowed, site)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(work.embedding.run_beside)
            async with anyio.create_task_group() as readers:
                for _ in range(min(AT_ONCE, len(pages))):
                    readers.start_soon(work.read)
            work.embedding.close()
    except BaseExceptionGroup as errors:
        raise unwrap_first_error(errors) from None
    return work.report()


class _Refresh:
    """A few readers that take the next page each, and an embedding beside them."""

    def __init__(
        self,
        app: App,
        name: str,
        pages: dict[str, str],
        tell: OnProgress,
        allowed: Allowed | None,
        site: Site | None,
    ) -> None:
        self.embedding = Embedding(app, tell, docs=())
        self._app, self._name, self._pages, self._tell, self._allowed = (
            app,
            name,
            pages,
            tell,
            allowed,
        )
        self._ours = _make_site_filter(site) if site is not None and site.allowed_domains else None
        self._next: Iterator[str] = iter(sorted(pages))
        self._done = self._unchanged = self._changed = 0
        self._removed: list[str] = []
        self._failed: dict[str, str] = {}
        self._warnings: list[str] = []

    async def read(self) -> None:
        for url in self._next:
            await self._tell(Progress("read", self._done, len(self._pages), url))
            try:
                await self._refresh_page(url)
            except (InvalidInput, TransientError, PermanentError, UnreadableFile) as error:
                if error.code == "page_missing":
                    await self._remove_page(url)
                else:
                    self._failed[url] = error.explanation
            self._done += 1
            await self._tell(Progress("read", self._done, len(self._pages)))

    async def _refresh_page(self, url: str) -> None:
        if self._allowed is not None:
            await self._allowed()
        within = (
            self._ours if self._ours is not None and self._ours(url) else _make_host_filter(url)
        )
        page = await open_pages(self._app).page(
            url, self._name, seconds=SECONDS, links=False, within=within
        )
        self._warnings += page.notes
        # for a time, or for ever: the site does not say it so that one could rely on it
        if get_url_identity(page.uri) != get_url_identity(url):
            self._warnings.append(
                Text(
                    "{url} leads to {page} now; what was read of it before is kept",
                    url=url,
                    page=page.uri,
                )
            )
        self._unchanged += page.how != "fetched"
        self._changed += page.how == "fetched"
        self.embedding.announce_document(page.doc_id)

    async def _remove_page(self, url: str) -> None:
        if doc_id := self._pages[url]:
            with suppress(NotFound):  # somebody else has removed it meanwhile
                await self._app.catalog.delete(doc_id)
            self._removed.append(url)
        await self._app.snapshots.delete(self._name, url)

    def report(self) -> Refreshed:
        return Refreshed(
            collection=self._name,
            pages=len(self._pages),
            unchanged=self._unchanged,
            changed=self._changed,
            removed=sorted(self._removed),
            failed=[
                PageProblem(url=url, reason=reason) for url, reason in sorted(self._failed.items())
            ],
            warnings=self._warnings,
            embedded=self.embedding.done,
            problem=self.embedding.problem,
        )


def _make_site_filter(site: Site) -> Callable[[str], bool]:
    """What belongs to an explored site: domains, start pages' hosts, with and without `www.`."""
    named, starts = (
        parse_domains(site.allowed_domains),
        {strip_www(url) for url in site.start_urls},
    )
    return lambda url: named.is_allowed(url) or strip_www(url) in starts


def _make_host_filter(url: str) -> Callable[[str], bool]:
    """What is of the same host, with or without `www.`."""
    return lambda there: strip_www(there) == strip_www(url)

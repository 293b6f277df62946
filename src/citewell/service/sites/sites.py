"""Web sites that are kept: list them and their pages, ask for the pages anew, export them, delete
them.

The one rule: a site is a collection that has pages of the web; what else somebody has put into it
is left alone.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from urllib.parse import urlsplit

import anyio
from pydantic import Field

from citewell.errors import (
    CitewellError,
    Conflict,
    InvalidInput,
    NotFound,
    PermanentError,
    StorageError,
    TransientError,
    UnreadableFile,
)
from citewell.fetch.domains import parse_domains
from citewell.fetch.urls import canonicalize_url, get_url_identity
from citewell.runtime.app import App
from citewell.runtime.progress import OnProgress, Progress, ignore_progress
from citewell.service.library.collection_owner import ensure_collection
from citewell.service.library.embedding import Embedding
from citewell.service.library.intake import Allowed
from citewell.service.sites.keep_pages import SECONDS, open_pages
from citewell.store.job_rows import ENDED, Job
from citewell.store.library.collection_rows import check_name
from citewell.store.library.documents import DocumentInfo
from citewell.store.pages import Sums
from citewell.store.sites import Site
from citewell.types import Shown

PAGE, REFRESH = "page", "refresh"  # kinds of jobs
AT_ONCE = 4  # pages asked for at once; two of them of one host
MOST_JOBS = 10_000  # looked at for those of a site that is deleted


class SiteInfo(Shown):
    """`pages` can be searched (`embedded` of their `chunks` by meaning), `problems` addresses
    cannot be read. `oldest` and `newest`: when the first and the last of them was asked for, in
    seconds since the epoch; None where there are none. `start_urls` and what follows are as the
    site was last explored.
    """

    collection: str
    pages: int = 0
    problems: int = 0
    bytes: int = 0
    chunks: int = 0
    embedded: int = 0
    oldest: float | None = None
    newest: float | None = None
    start_urls: list[str] = Field(default=[])
    allowed_domains: list[str] = Field(default=[])
    instruction: str = ""


class SitePage(Shown):
    """`fetched_at`: when these bytes came; `checked_at`: when its site last said that they are so,
    or which `problem` there is. Seconds since the epoch.
    """

    url: str
    title: str
    doc_id: str
    sha256: str
    fetched_at: float
    checked_at: float
    problem: str = ""


class PageProblem(Shown):
    url: str
    reason: str


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
    warnings: list[str] = Field(default=[])
    embedded: int = 0
    problem: str = ""


class SiteDeleted(Shown):
    """`kept`: documents of the collection that are no pages of the web; without any, the collection
    is gone too.
    """

    collection: str
    pages: int
    kept: int


async def list_sites(app: App) -> list[SiteInfo]:
    """In the order of their names. A page that could not be added to a collection makes no site of
    it.
    """
    sums = {
        each.collection: each for each in await app.snapshots.count_by_collection(app.embedder.name)
    }
    explored = {each.collection: each for each in await app.sites.sites()}
    there = {*explored, *(name for name, each in sums.items() if each.pages)}
    if app.viewer is not None:
        there &= {each.name for each in await app.catalog.collections()}
    return [_build_info(name, sums.get(name), explored.get(name)) for name in sorted(there)]


async def get_site(app: App, name: str) -> SiteInfo:
    """Raises NotFound, naming the sites there are."""
    known = {each.collection: each for each in await list_sites(app)}
    if name not in known:
        there = f"there are: {', '.join(known)}" if known else "there are none yet"
        raise NotFound(
            f"no site named {name}", hint=f"{there}; `citewell add URL -c NAME` makes one of a page"
        )
    return known[name]


async def list_pages(app: App, name: str) -> list[SitePage]:
    """In the order of their addresses, those that cannot be read among them. Raises NotFound."""
    await get_site(app, name)
    return [
        SitePage(
            url=each.uri,
            title=each.title,
            doc_id=each.doc_id,
            sha256=each.sha256,
            fetched_at=each.fetched_at,
            checked_at=each.checked_at,
            problem=each.problem,
        )
        for each in await app.snapshots.of(name, links=False)
    ]


async def submit_page(app: App, collection: str, url: str) -> Job:
    """Have a page of the web fetched and added by the server's worker. Raises InvalidInput where
    the address is none.
    """
    payload = {"collection": check_name(collection), "url": canonicalize_url(url)}
    await ensure_collection(app, collection)
    return await _submit_job(app, PAGE, payload)


async def submit_refresh(app: App, name: str) -> Job:
    """Have `refresh` done by the server's worker. Raises NotFound."""
    await get_site(app, name)
    return await _submit_job(app, REFRESH, {"collection": name})


async def _submit_job(app: App, kind: str, payload: dict[str, str]) -> Job:
    job = await app.jobs.create(kind, payload)
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
        if _is_page(info) and doc_id not in pages.values()
    }
    work = _Refresh(app, name, pages, on_progress or ignore_progress, allowed, site)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(work.embed)
            async with anyio.create_task_group() as readers:
                for _ in range(min(AT_ONCE, len(pages))):
                    readers.start_soon(work.read)
            work.embedding.close()
    except BaseExceptionGroup as errors:
        raise _unwrap_first_error(errors) from None
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
        self._problem = ""

    async def embed(self) -> None:
        """What the embedder refuses must not stop the reading: what was read can be found by its
        words.
        """
        try:
            await self.embedding.run()
        except (Conflict, StorageError):
            raise
        except CitewellError as error:
            self._problem = _format_error(error)

    async def read(self) -> None:
        for url in self._next:
            await self._tell(Progress("read", self._done, len(self._pages), url))
            try:
                await self._refresh_page(url)
            except (InvalidInput, TransientError, PermanentError, UnreadableFile) as error:
                if error.code == "page_missing":
                    await self._remove_page(url)
                else:
                    self._failed[url] = _format_error(error)
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
                f"{url} leads to {page.uri} now; what was read of it before is kept"
            )
        self._unchanged += page.how != "fetched"
        self._changed += page.how == "fetched"
        self.embedding.more(page.doc_id)

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
            problem=self._problem,
        )


async def export_site(app: App, name: str) -> AsyncIterator[str]:
    """One JSON object a page, as lines: address, title, when it was fetched, hash, language, text,
    links. Raises NotFound before the first one.
    """
    for page in await list_pages(app, name):
        try:
            document = await app.catalog.content(page.doc_id)
        except NotFound:
            continue  # it could not be read, or was removed meanwhile
        snapshot = await app.snapshots.get(name, page.url)
        row = {
            "url": page.url,
            "title": page.title,
            "fetched_at": page.fetched_at,
            "sha256": page.sha256,
            "lang": document.lang,
            "text": document.text,
            "links": [asdict(link) for link in snapshot.links] if snapshot else [],
        }
        yield json.dumps(row, ensure_ascii=False) + "\n"


async def delete_site(app: App, name: str) -> SiteDeleted:
    """Its pages and all that is known of them; work under way on it is cancelled. Raises
    NotFound.
    """
    await get_site(app, name)
    for job in await app.jobs.list(MOST_JOBS):
        if (
            job.state not in ENDED
            and job.kind in {PAGE, REFRESH}
            and job.payload.get("collection") == name
        ):
            with suppress(Conflict):  # it has ended just now
                await app.jobs.cancel(job.job_id)
    documents = await app.catalog.documents(name)
    pages = [info.doc_id for info in documents if _is_page(info)]
    kept = len(documents) - len(pages)
    if kept:
        await app.catalog.delete(*pages)
        await app.sites.forget(name)
    else:
        await app.catalog.delete_collection(name)
    return SiteDeleted(collection=name, pages=len(pages), kept=kept)


def _build_info(name: str, sums: Sums | None, site: Site | None) -> SiteInfo:
    found = asdict(sums) if sums else {"collection": name}
    explored = (
        {"start_urls": list(site.start_urls), "allowed_domains": list(site.allowed_domains)}
        if site
        else {}
    )
    return SiteInfo(**found, **explored, instruction=site.instruction if site else "")


def _make_site_filter(site: Site) -> Callable[[str], bool]:
    """What belongs to a site as it is explored: its domains, and the hosts of its start pages with
    or without `www.`.
    """
    named, starts = (
        parse_domains(site.allowed_domains),
        {_strip_www(url) for url in site.start_urls},
    )
    return lambda url: named.is_allowed(url) or _strip_www(url) in starts


def _make_host_filter(url: str) -> Callable[[str], bool]:
    """What is of the same host, with or without `www.`."""
    return lambda there: _strip_www(there) == _strip_www(url)


def _strip_www(url: str) -> str:
    return urlsplit(url).netloc.removeprefix("www.")


def _is_page(info: DocumentInfo) -> bool:
    return info.uri.startswith(("http://", "https://"))


def _format_error(error: CitewellError) -> str:
    return f"{error.message}; {error.hint}".removesuffix("; ")


def _unwrap_first_error(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    error = errors.exceptions[0]
    return _unwrap_first_error(error) if isinstance(error, BaseExceptionGroup) else error

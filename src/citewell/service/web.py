"""Web search: ask the provider, fetch the pages it names, keep and embed them. The one rule: a page that fails is a warning.

All of it ends within `web.seconds`, or sooner where the caller has less. What is kept stays in the collection
`web.collection`, like any document.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from dataclasses import dataclass, field

import anyio

from citewell.errors import CitewellError, TransientError
from citewell.ingest.fetch import Fetcher, Page
from citewell.ingest.urls import identity
from citewell.ingest.webfile import as_file, readable
from citewell.knowledge.documents import DocumentInfo
from citewell.retrieve.websearch import Provider, WebResult, build_provider
from citewell.service.app import App
from citewell.service.embedding import Embedding
from citewell.service.intake import add_data

log = logging.getLogger(__name__)

REMEMBERED = 2_000  # pages of which this process knows the ETag


@dataclass(frozen=True, slots=True)
class WebFound:
    """`pages`: the documents that can be searched now, in the provider's order, and when each was fetched (seconds since the
    epoch). `warnings` name pages by their address, and say why each is not there.
    """

    provider: str
    pages: dict[str, float]
    warnings: list[str]
    results: list[WebResult]


@dataclass(frozen=True, slots=True)
class _Version:
    """What a page was kept under, and by what its site tells whether it has changed."""

    uri: str
    etag: str
    last_modified: str


@dataclass(slots=True)
class _Search:
    """One search under way. `ended`: places of results that came to an end, `pages` those that can be searched."""

    embedding: Embedding
    until: float
    pages: dict[int, tuple[str, float]] = field(default_factory=dict)
    warnings: dict[int, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)  # pages to which two results may lead


class Web:
    """Holds the provider and the fetcher of an App; both are built when first used, and closed by `close`."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._provider: Provider | None = None
        self._fetcher: Fetcher | None = None
        self._versions: OrderedDict[str, _Version] = OrderedDict()

    async def close(self) -> None:
        provider, self._provider = self._provider, None
        fetcher, self._fetcher = self._fetcher, None
        if provider is not None:
            await provider.close()
        if fetcher is not None:
            await fetcher.close()

    async def search(self, query: str, lang: str, seconds: float | None = None) -> WebFound:
        """All of it within `seconds`, where they are fewer than `web.seconds`. Raises what the provider raises (TransientError,
        PermanentError), TransientError where it does not reply within `seconds`, and ConfigError where the settings are wrong.
        """
        settings, started = self._app.settings.web, time.monotonic()
        limit = settings.seconds if seconds is None else max(0.0, min(seconds, settings.seconds))
        if self._fetcher is None:
            self._fetcher = Fetcher(self._app.settings, max_bytes=settings.page_bytes)
        if self._provider is None:
            self._provider = build_provider(self._app.settings)
        results = await self._found(self._provider, query, lang, limit)
        search = _Search(Embedding(self._app, docs=()), started + limit)
        with anyio.move_on_after(search.until - time.monotonic()):
            await self._read(results, search)
        for n, result in enumerate(results):
            if n not in search.pages:
                search.warnings.setdefault(n, f"{result.url}: not there within {limit:g} seconds")
        pages = {doc_id: at for _, (doc_id, at) in sorted(search.pages.items())}
        if pages and (waiting := await self._app.catalog.waiting(list(pages))):
            search.notes.append(f"{waiting} passages of these pages could not be embedded in time; their words can be searched")
        warnings = [warning for _, warning in sorted(search.warnings.items()) if warning]
        return WebFound(self._provider.name, pages, warnings + search.notes, results)

    async def _found(self, provider: Provider, query: str, lang: str, limit: float) -> list[WebResult]:
        try:
            with anyio.fail_after(limit):
                return await provider.search(query, self._app.settings.web.results, lang)
        except TimeoutError:
            raise TransientError(f"{provider.name}: no reply within {limit:g} seconds", hint="there was no more time") from None

    async def _read(self, results: list[WebResult], search: _Search) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._embed, search)
            async with anyio.create_task_group() as readers:
                for n, result in enumerate(results):
                    readers.start_soon(self._one, n, result, search)
            search.embedding.close()

    async def _embed(self, search: _Search) -> None:
        try:
            await search.embedding.run()
        except Exception as error:  # noqa: BLE001  # the pages are there and their words can be searched
            search.notes.append(f"the pages could not be embedded: {_why(error)}")

    async def _one(self, n: int, result: WebResult, search: _Search) -> None:
        try:
            doc_id, fetched_at = await self._page(result.url, search)
        except Exception as error:  # noqa: BLE001  # whatever it is, the other pages go on
            reason = _why(error)
            search.warnings[n] = reason if reason.startswith(result.url) else f"{result.url}: {reason}"
            return
        if doc_id:
            search.pages[n] = doc_id, fetched_at
            search.embedding.more(doc_id)
        else:
            search.warnings[n] = ""  # another result led to the same page

    async def _page(self, url: str, search: _Search) -> tuple[str, float]:
        """The document of a page and when it was fetched; no document where another result has brought it."""
        assert self._fetcher is not None
        known, info = await self._known(url)
        page = await self._fetcher.page(
            url,
            etag=known.etag if known else "",
            last_modified=known.last_modified if known else "",
            seconds=max(0.001, search.until - time.monotonic()),
            readable=readable,
        )
        search.notes += page.notes
        uri = known.uri if known and page.not_modified else page.final_url
        if identity(uri) in search.taken:
            return "", 0.0
        search.taken.add(identity(uri))
        if info is not None and page.not_modified:
            return info.doc_id, page.fetched_at
        return await self._keep(url, page), page.fetched_at

    async def _known(self, url: str) -> tuple[_Version | None, DocumentInfo | None]:
        """What was fetched here before, if it is still kept."""
        version = self._versions.get(url)
        info = await self._app.catalog.find(self._app.settings.web.collection, version.uri) if version else None
        return (version, info) if info else (None, None)

    async def _keep(self, url: str, page: Page) -> str:
        data, name = as_file(page)
        async with self._app.turns.reading(len(data)):
            report = await add_data(self._app, data, name, page.final_url, self._app.settings.web.collection)
        self._versions.pop(url, None)
        if page.etag or page.last_modified:
            self._versions[url] = _Version(page.final_url, page.etag, page.last_modified)
            while len(self._versions) > REMEMBERED:
                self._versions.popitem(last=False)
        return report.doc_id


def _why(error: Exception) -> str:
    if isinstance(error, CitewellError):
        return f"{error.message}; {error.hint}".removesuffix("; ")
    log.error("web search", exc_info=error)  # a fault of ours
    return f"internal error: {type(error).__name__}: {error}"

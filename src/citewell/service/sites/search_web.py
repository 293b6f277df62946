"""Web search: ask the provider, fetch the pages it names, keep and embed them. A page that fails is
a warning.

All of it ends within `web.seconds`, or sooner where the caller has less. What is kept stays in the
collection `web.collection`, like any document.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

import anyio

from citewell.config import WebSettings
from citewell.errors import CitewellError, TransientError
from citewell.messages import Text
from citewell.retrieve.providers.base import Provider, WebResult
from citewell.retrieve.websearch import build_provider
from citewell.runtime.app import App
from citewell.service.library.embedding import Embedding
from citewell.service.sites.keep_pages import Pages, open_pages

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WebFound:
    """`pages`: the documents that can be searched now, in the provider's order, and when the site
    of each last said that it is so (seconds since the epoch). `warnings` name pages by their
    address, and say why each is not there.
    """

    provider: str
    pages: dict[str, float]
    warnings: list[str]
    results: list[WebResult]


@dataclass(slots=True)
class _Search:
    """One search under way. `pages` and `warnings` are by the place of their result."""

    reader: Pages
    embedding: Embedding
    until: float
    pages: dict[int, tuple[str, float]] = field(default_factory=dict)
    warnings: dict[int, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def open_web(app: App) -> Web:
    """What searches the web, one for all of an App."""
    return app.part(Web, Web.close)


class Web:
    """Holds the provider of an App; it is built when first used and when the settings name
    another, and closed by `close`, as searches may be under way with it.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._providers: list[tuple[WebSettings, Provider]] = []  # the one in use is the last

    async def close(self) -> None:
        while self._providers:
            await self._providers.pop()[1].close()

    def _get_provider(self) -> Provider:
        settings = self._app.settings
        if not self._providers or self._providers[-1][0] != settings.web:
            self._providers.append((settings.web, build_provider(settings)))
        return self._providers[-1][1]

    async def search(self, query: str, lang: str, seconds: float | None = None) -> WebFound:
        """All of it within `seconds`, where they are fewer than `web.seconds`. Raises what the
        provider raises (TransientError, PermanentError), TransientError where it does not reply
        within `seconds`, and ConfigError where the settings are wrong.
        """
        settings, started = self._app.settings.web, time.monotonic()
        limit = settings.seconds if seconds is None else max(0.0, min(seconds, settings.seconds))
        # settings that are wrong for it are told before anybody is asked
        pages = open_pages(self._app)
        provider = self._get_provider()
        results = await self._ask_provider(provider, query, lang, limit)
        search = _Search(pages, Embedding(self._app, docs=()), started + limit)
        with anyio.move_on_after(search.until - time.monotonic()):
            await self._read_results(results, search)
        for n, result in enumerate(results):
            if n not in search.pages:
                search.warnings.setdefault(n, f"{result.url}: not there within {limit:g} seconds")
        found = {doc_id: at for _, (doc_id, at) in sorted(search.pages.items())}
        if found and (waiting := await self._app.pending_chunks.count_unembedded(list(found))):
            search.notes.append(
                Text(
                    "{waiting} passages of these pages could not be embedded in time; "
                    "their words can be searched",
                    waiting=waiting,
                )
            )
        warnings = [warning for _, warning in sorted(search.warnings.items()) if warning]
        return WebFound(provider.name, found, warnings + search.notes, results)

    async def _ask_provider(
        self, provider: Provider, query: str, lang: str, limit: float
    ) -> list[WebResult]:
        try:
            with anyio.fail_after(limit):
                return await provider.search(query, self._app.settings.web.results, lang)
        except TimeoutError:
            raise TransientError(
                Text("{name}: no reply within {limit:g} seconds", name=provider.name, limit=limit),
                hint=Text("there was no more time"),
            ) from None

    async def _read_results(self, results: list[WebResult], search: _Search) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._embed_pages, search)
            async with anyio.create_task_group() as readers:
                for n, result in enumerate(results):
                    readers.start_soon(self._read_result, n, result, search)
            search.embedding.close()

    async def _embed_pages(self, search: _Search) -> None:
        try:
            await search.embedding.run()
        except Exception as error:  # noqa: BLE001  # the pages are there and their words can be searched
            search.notes.append(
                Text("the pages could not be embedded: {error}", error=_format_error(error))
            )

    async def _read_result(self, n: int, result: WebResult, search: _Search) -> None:
        collection, left = (
            self._app.settings.web.collection,
            max(0.001, search.until - time.monotonic()),
        )
        try:
            page = await search.reader.page(
                result.url, collection, seconds=left, links=False, attempts=1
            )
        except Exception as error:  # noqa: BLE001  # whatever it is, the other pages go on
            reason = _format_error(error)
            search.warnings[n] = (
                reason
                if reason.startswith(result.url)
                else Text("{url}: {reason}", url=result.url, reason=reason)
            )
            return
        if any(page.doc_id == doc_id for doc_id, _ in search.pages.values()):
            search.warnings[n] = ""  # another result led to the same page
            return
        search.notes += page.notes
        search.pages[n] = page.doc_id, page.checked_at
        search.embedding.announce_document(page.doc_id)


def _format_error(error: Exception) -> str:
    if isinstance(error, CitewellError):
        return error.explanation
    log.error("web search", exc_info=error)  # a fault of ours
    return Text("internal error: {name}: {error}", name=type(error).__name__, error=error)

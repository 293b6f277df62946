"""A news feed (RSS, Atom), a sitemap, or a list of addresses: the pages that it names. A feed names
its newest pages only, so one that it names no more is asked for itself before it is held to be
gone.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from typing import Final

from citewell.config import Settings
from citewell.errors import TransientError
from citewell.fetch.fetcher import ATTEMPTS, Fetcher
from citewell.fetch.page_reply import Page
from citewell.ingest.web.sitemap import list_site_pages
from citewell.messages import Text
from citewell.service.sync.connectors.connector import Item, WebPage
from citewell.service.sync.places import Place

_SECONDS: Final = 60.0
_MOST_FILES: Final = 100  # sitemaps that an index names


class Feed:
    mark = ""

    def __init__(self, place: Place, secret: str, settings: Settings, mark: str = "") -> None:  # noqa: ARG002 - the protocol's form
        self._url = place.address
        self._settings = settings
        self._fetcher = Fetcher(settings, max_bytes=settings.ingest.max_bytes)

    async def list_items(self, known: Mapping[str, str]) -> AsyncIterator[Item]:
        """A page whose day is not told is asked once a day whether it has changed."""
        today = time.strftime("%Y-%m-%d", time.gmtime())
        found = await list_site_pages(
            self._fetch,
            [self._url],
            self._settings.ingest,
            most=self._settings.sync.max_items + 1,
            files=_MOST_FILES,
        )
        named = set[str]()
        for entry in found.pages:
            named.add(entry.url)
            yield Item(entry.url, "", str(entry.dated or today), dated=entry.dated)
        if found.problems:
            raise TransientError(
                Text("; ").join(found.problems),
                hint=Text("the pages that it names could not all be listed"),
            )
        for url in known.keys() - named:
            yield Item(url, "", f"{today}, named no more")

    async def _fetch(self, url: str) -> Page:
        return await self._fetcher.page(url, seconds=_SECONDS, attempts=ATTEMPTS)

    async def read_item(self, item: Item) -> WebPage:
        return WebPage(item.uri)

    async def close(self) -> None:
        await self._fetcher.close()

"""Wikipedia, in the language of the question: the MediaWiki API, `action=query&list=search`. Needs
no key. With `web.url` any MediaWiki can be asked (its address up to `/w/api.php`), and the results
are pages of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from citewell.config import Settings
from citewell.errors import PermanentError, TransientError
from citewell.messages import Text
from citewell.retrieve.providers.base import Endpoint, WebResult, select_results

BASE = "https://{lang}.wikipedia.org"
LANGUAGES = ("en", "zh")
LONGEST = 300  # characters of a query that MediaWiki takes
_AGAIN = {"ratelimited", "maxlag", "readonly"}


class Wikipedia:
    """Implements `Provider`."""

    name = "wikipedia"

    def __init__(self, settings: Settings) -> None:
        self._endpoints = {
            lang: Endpoint(self.name, settings, BASE.format(lang=lang)) for lang in LANGUAGES
        }

    async def search(self, query: str, k: int, lang: str) -> list[WebResult]:
        endpoint = self._endpoints.get(lang, self._endpoints["en"])
        params = {
            "action": "query",
            "list": "search",
            "srsearch": query[:LONGEST],
            "srlimit": k,
            "srprop": "snippet",
        }
        reply = await endpoint.json(
            "GET", "/w/api.php", params={**params, "format": "json", "formatversion": 2}
        )
        if "error" in reply:
            raise self._make_error(endpoint, reply["error"])
        found = reply.get("query")
        rows = endpoint.rows(found.get("search") if isinstance(found, dict) else None)
        return select_results(_parse_pages(endpoint.base, rows), k)

    async def close(self) -> None:
        for endpoint in self._endpoints.values():
            await endpoint.close()

    def _make_error(self, endpoint: Endpoint, error: Any) -> TransientError | PermanentError:
        """MediaWiki says status 200 to these."""
        code = str(error.get("code", "")) if isinstance(error, dict) else ""
        if code in _AGAIN:
            return TransientError(
                Text("{name}: {shown}: {code}", name=self.name, shown=endpoint.shown, code=code),
                hint=Text("it is busy; try again later"),
            )
        return endpoint.make_error(f"the reply is an error: {code or 'unknown'}")


def _parse_pages(base: str, rows: list[dict[str, Any]]) -> Iterator[tuple[str, Any, Any]]:
    for row in rows:
        title = row.get("title")
        if isinstance(title, str) and title:
            yield (
                f"{base}/wiki/{quote(title.replace(' ', '_'), safe=':()!,')}",
                title,
                row.get("snippet"),
            )

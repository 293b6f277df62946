"""SearXNG: a search engine of one's own that asks others. `GET {url}/search?q=...&format=json`. An
instance replies in JSON only where its settings.yml says so under `search.formats`; else it says
403.
"""

from __future__ import annotations

from citewell.config import Settings
from citewell.errors import PermanentError
from citewell.messages import Text
from citewell.retrieve.providers.base import LONGEST_QUERY, Endpoint, WebResult, select_results

LANGUAGES = {"zh": "zh-CN", "en": "en"}


class SearXNG:
    """Implements `Provider`. Raises ConfigError where the url is missing."""

    name = "searxng"

    def __init__(self, settings: Settings) -> None:
        self._endpoint = Endpoint(self.name, settings, "")

    async def search(self, query: str, k: int, lang: str) -> list[WebResult]:
        params = {
            "q": query[:LONGEST_QUERY],
            "format": "json",
            "language": LANGUAGES.get(lang, "all"),
        }
        try:
            reply = await self._endpoint.json("GET", "/search", params=params)
        except PermanentError as error:
            if error.code == "unauthorised":
                hint = Text(
                    "its settings.yml must list json under search.formats, and its "
                    "limiter must let this machine pass"
                )
                raise PermanentError(error.message, hint=hint, code=error.code) from None
            raise
        rows = self._endpoint.rows(reply.get("results"))
        return select_results(
            ((row.get("url"), row.get("title"), row.get("content")) for row in rows), k
        )

    async def close(self) -> None:
        await self._endpoint.close()

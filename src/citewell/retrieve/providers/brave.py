"""Brave Search: `GET {url}/res/v1/web/search`, the key in the header `X-Subscription-Token`. Where
nothing was found the reply has no `web` at all, and is known by its `type`.
"""

from __future__ import annotations

from citewell.config import Settings
from citewell.retrieve.providers.base import LONGEST_QUERY, Endpoint, WebResult, select_results

BASE = "https://api.search.brave.com"
MOST = 20  # results of one request
LANGUAGES = {"zh": "zh-hans", "en": "en"}


class Brave:
    """Implements `Provider`. Raises ConfigError where the key is missing."""

    name = "brave"

    def __init__(self, settings: Settings) -> None:
        self._endpoint = Endpoint(self.name, settings, BASE, key_header="X-Subscription-Token")

    async def search(self, query: str, k: int, lang: str) -> list[WebResult]:
        params: dict[str, str | int] = {
            "q": query[:LONGEST_QUERY],
            "count": MOST,
            "text_decorations": "false",
        }
        if lang in LANGUAGES:
            params["search_lang"] = LANGUAGES[lang]
        reply = await self._endpoint.json("GET", "/res/v1/web/search", params=params)
        if "web" not in reply and reply.get("type") == "search":
            return []
        web = reply.get("web")
        rows = self._endpoint.rows(web.get("results") if isinstance(web, dict) else None)
        return select_results(
            ((row.get("url"), row.get("title"), row.get("description")) for row in rows), k
        )

    async def close(self) -> None:
        await self._endpoint.close()

"""Tavily: `POST {url}/search` with a JSON body, the key as a bearer token. Only addresses and
snippets are asked for; Tavily's own answer and its copies of pages are not, for we cite pages.
"""

from __future__ import annotations

from citewell.config import Settings
from citewell.retrieve.providers.base import LONGEST_QUERY, Endpoint, WebResult, select_results

BASE = "https://api.tavily.com"
SPARE = 2  # more results than wanted, for those that are no page or there twice
MOST = 20


class Tavily:
    """Implements `Provider`. Raises ConfigError where the key is missing."""

    name = "tavily"

    def __init__(self, settings: Settings) -> None:
        self._endpoint = Endpoint(self.name, settings, BASE, key_header="Authorization")

    async def search(self, query: str, k: int, lang: str) -> list[WebResult]:  # noqa: ARG002  it tells the language itself
        body = {
            "query": query[:LONGEST_QUERY],
            "max_results": min(k + SPARE, MOST),
            "search_depth": "basic",
        }
        reply = await self._endpoint.json("POST", "/search", json=body)
        rows = self._endpoint.rows(reply.get("results"))
        return select_results(
            ((row.get("url"), row.get("title"), row.get("content")) for row in rows), k
        )

    async def close(self) -> None:
        await self._endpoint.close()

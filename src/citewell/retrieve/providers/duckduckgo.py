"""DuckDuckGo's page for browsers without JavaScript: `POST {url}/html/`. Needs no key, and may ask
who is there. A page that holds neither results nor the word that there are none is an error, not an
empty search.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from citewell.config import Settings
from citewell.errors import PermanentError
from citewell.messages import Text
from citewell.retrieve.providers.base import LONGEST_QUERY, Endpoint, WebResult, select_results

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

BASE = "https://html.duckduckgo.com"
REGIONS = {"zh": "cn-zh", "en": "us-en"}
_OWN = ("duckduckgo.com", "www.duckduckgo.com", "html.duckduckgo.com")
_CAPTCHA = "form#challenge-form, .anomaly-modal__modal, .anomaly-modal__title"


class DuckDuckGo:
    """Implements `Provider`."""

    name = "duckduckgo"

    def __init__(self, settings: Settings) -> None:
        self._endpoint = Endpoint(self.name, settings, BASE, accept="text/html")

    async def search(self, query: str, k: int, lang: str) -> list[WebResult]:
        from selectolax.lexbor import LexborHTMLParser

        form = {"q": query[:LONGEST_QUERY], "b": "", "kl": REGIONS.get(lang, "wt-wt")}
        try:
            page = await self._endpoint.text("POST", "/html/", data=form)
        except PermanentError as error:
            raise self._convert_error(error) from None
        tree = LexborHTMLParser(page)
        if tree.css_first(_CAPTCHA) is not None:
            raise self._make_captcha_error()
        if tree.css_first(".result, .no-results, #links") is None:
            raise self._endpoint.make_error("the reply is not a page of results")
        return select_results(_parse_results(tree), k)

    async def close(self) -> None:
        await self._endpoint.close()

    def _convert_error(self, error: PermanentError) -> PermanentError:
        """It says 202 or 403 to those it takes for a program, with a puzzle instead of results."""
        return (
            self._make_captcha_error()
            if error.code == "unauthorised" or "status 202" in error.message
            else error
        )

    def _make_captcha_error(self) -> PermanentError:
        hint = Text(
            "it takes this machine for a robot; wait an hour, or choose another web.provider"
        )
        return PermanentError(
            Text(
                "{name}: {shown}: it wants a captcha solved",
                name=self.name,
                shown=self._endpoint.shown,
            ),
            hint=hint,
            code="captcha",
        )


def _parse_results(tree: LexborHTMLParser) -> Iterator[tuple[str, str, str]]:
    for row in tree.css(".result"):
        link = row.css_first("a.result__a")
        if link is None or "result--ad" in (row.attributes.get("class") or "").split():
            continue
        snippet = row.css_first(".result__snippet")
        yield (
            _extract_target(link.attributes.get("href") or ""),
            link.text(),
            snippet.text() if snippet is not None else "",
        )


def _extract_target(href: str) -> str:
    """Where a link leads: results are wrapped as `//duckduckgo.com/l/?uddg=...`; advertisements
    lead to `y.js` of its own.
    """
    try:
        parts = urlsplit(href)
    except ValueError:
        return ""
    if parts.netloc not in {"", *_OWN}:
        return href
    target = parse_qs(parts.query).get("uddg", [""])[0] if parts.path.startswith("/l/") else ""
    return (
        ""
        if target.partition("://")[2].startswith(tuple(f"{host}/y.js" for host in _OWN))
        else target
    )

"""What every provider of web search is and shares: results, one request with its limits, and what
goes wrong with it. The key is in no message, and a reply counts whole or not at all.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from citewell.config import Settings
from citewell.errors import CitewellError, ConfigError, InvalidInput, PermanentError, TransientError
from citewell.fetch.urls import canonicalize_url, get_url_identity
from citewell.messages import Text

if TYPE_CHECKING:
    import httpx2

LARGEST = 2_000_000  # bytes of a reply
LONGEST_QUERY = 400  # characters; what Brave and Tavily take at most
SHARE = 0.5  # of `web.seconds` that the provider has; the rest is for the pages
_AGAIN = {408, 425, 429}  # and every 5xx
_LOGIN = re.compile(r"//[^/@]*@")
_TAG = re.compile(r"<[^<>]{0,200}>")


@dataclass(frozen=True, slots=True)
class WebResult:
    """A page that a provider names. `url` is canonical; `title`, `snippet`: a line of text."""

    url: str
    title: str
    snippet: str


class Provider(Protocol):
    """`search` finds at most `k` pages, none twice, best first; `lang` is that of the question
    (`zh`, `en`, ...). It raises TransientError and PermanentError (`unauthorised`, or `permanent`
    where the reply is not one of this provider).
    """

    name: str

    async def search(self, query: str, k: int, lang: str) -> list[WebResult]: ...

    async def close(self) -> None: ...


class Endpoint:
    """The HTTP of a provider. Settings name it, so its address is trusted and unchecked."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        base: str,
        *,
        key_header: str = "",
        accept: str = "application/json",
    ) -> None:
        """`base`: where it is if `web.url` does not say. `key_header`: the header that its key goes
        into, if it needs one.
        """
        self.name = name
        self.base = (settings.web.url.strip() or base).rstrip("/")
        self.shown = _LOGIN.sub("//", self.base)
        self._key = settings.web.key.get_secret_value().strip()
        self._seconds = settings.web.seconds * SHARE
        self._headers = {"User-Agent": settings.user_agent, "Accept": accept}
        self._client: httpx2.AsyncClient | None = None
        if not self.base:
            raise ConfigError(
                Text("setting web.url is empty"),
                hint=Text(
                    'web.provider = "{name}" needs its base URL (CITEWELL_WEB__URL)', name=name
                ),
            )
        if key_header:
            if not self._key or not self._key.isascii() or not self._key.isprintable():
                what = Text("has characters that no key has") if self._key else Text("is empty")
                raise ConfigError(
                    Text("setting web.key {what}", what=what),
                    hint=Text('web.provider = "{name}" needs a key (CITEWELL_WEB__KEY)', name=name),
                )
            self._headers[key_header] = (
                f"Bearer {self._key}" if key_header == "Authorization" else self._key
            )

    async def json(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        """The reply as a JSON object. `request` as httpx takes it."""
        reply = await self.text(method, path, **request)
        try:
            found = json.loads(reply)
        except (ValueError, RecursionError):
            raise self.make_error(Text("the reply is not JSON")) from None
        if not isinstance(found, dict):
            raise self.make_error(Text("the reply is not a JSON object"))
        return found

    async def text(self, method: str, path: str, **request: Any) -> str:
        import httpx2

        if self._client is None:
            self._client = httpx2.AsyncClient(headers=self._headers, timeout=self._seconds)
        try:
            with anyio.fail_after(self._seconds):
                async with self._client.stream(method, self.base + path, **request) as response:
                    data = await self._read_body(response)
        except TimeoutError:
            hint = Text("a larger web.seconds gives it more time")
            raise TransientError(
                Text(
                    "{name}: no reply within {seconds:g} seconds",
                    name=self.name,
                    seconds=self._seconds,
                ),
                hint=hint,
            ) from None
        except httpx2.InvalidURL as error:
            raise PermanentError(
                Text("{name}: {shown}: {error}", name=self.name, shown=self.shown, error=error),
                hint=Text("is web.url right?"),
            ) from None
        except httpx2.HTTPError as error:
            reason = self._redact_key(str(error) or type(error).__name__)
            raise TransientError(
                Text("{name}: {shown}: {reason}", name=self.name, shown=self.shown, reason=reason),
                hint=Text("is it there, and is this machine connected?"),
            ) from None
        if response.status_code != 200:
            raise self._make_status_error(response.status_code, data.decode("utf-8", "replace"))
        return data.decode("utf-8", "replace")

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def rows(self, rows: Any) -> list[dict[str, Any]]:
        """A list of results, each an object. Raises PermanentError for anything else."""
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self.make_error(Text("there is no list of results in the reply"))
        return rows

    def make_error(self, what: str) -> PermanentError:
        hint = Text("is web.url right, and does it belong to this web.provider?")
        return PermanentError(
            Text(
                "{name}: {shown}: {key}",
                name=self.name,
                shown=self.shown,
                key=self._redact_key(what),
            ),
            hint=hint,
        )

    async def _read_body(self, response: httpx2.Response) -> bytes:
        data = bytearray()
        async for part in response.aiter_bytes():
            data += part
            if len(data) > LARGEST:
                raise self.make_error(
                    Text("the reply is larger than {largest:,} bytes", largest=LARGEST)
                )
        return bytes(data)

    def _make_status_error(self, status: int, message: str) -> CitewellError:
        where = Text(
            "{name}: {shown}: status {status}", name=self.name, shown=self.shown, status=status
        )
        if status in _AGAIN or status >= 500:
            return TransientError(
                where, hint=Text("it is busy, failing, or asked too often; try again later")
            )
        if status in {401, 403}:  # servers quote part of the key in these
            hint = Text("see that web.key (CITEWELL_WEB__KEY) is right for this provider")
            return PermanentError(where, hint=hint, code="unauthorised")
        return PermanentError(
            Text("{where}: {key}", where=where, key=self._redact_key(strip_tags(message))),
            hint=Text("is web.url right?"),
        )

    def _redact_key(self, text: str) -> str:
        return (text.replace(self._key, "[key]") if self._key else text)[:300]


def strip_tags(text: Any) -> str:
    """One line of text without tags; nothing of what is no text."""
    return " ".join(html.unescape(_TAG.sub("", text)).split()) if isinstance(text, str) else ""


def select_results(found: Iterable[tuple[Any, Any, Any]], k: int) -> list[WebResult]:
    """The first `k` of (url, title, snippet) that are pages of the web, each page once."""
    results: dict[str, WebResult] = {}
    for url, title, snippet in found:
        try:
            address = canonicalize_url(url if isinstance(url, str) else "")
        except InvalidInput:
            continue  # a file, a mail address, nothing at all: no page
        results.setdefault(
            get_url_identity(address), WebResult(address, strip_tags(title), strip_tags(snippet))
        )
    return list(results.values())[:k]

"""One page in the browser: its requests answered, its scripts waited for, its HTML read. A page
gets what its own site has, and scripts of others; nothing else that could be read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from citewell.errors import CitewellError, TransientError
from citewell.fetch.page_reply import Page
from citewell.messages import Text

if TYPE_CHECKING:
    from playwright.async_api import (
        BrowserContext,
        CDPSession,
        Dialog,
        Request,
        Route,
        WebSocketRoute,
    )
    from playwright.async_api import Page as Window

Within = Callable[[str], bool]
# (address, where its redirects may lead; None: anywhere)
Fetch = Callable[[str, Within | None], Awaitable[Page]]

_MOST_REQUESTS: Final = 60  # of one page
# of its document; one that loads itself again and again stays where it then is
_MOST_LOADS: Final = 5
_MOST_BYTES: Final = 30_000_000  # that one page gets, in all
_LONGEST: Final = 10_000_000  # characters of the HTML that comes of it
_LOOK: Final = 0.1  # seconds between two looks at a page
_TRIES: Final = 10  # to look at a page
_QUIET: Final = 0.5  # seconds without a change after which a page that waits for nothing is done
_LONG_QUIET: Final = 2.0  # and one that goes on asking for something, but has so many words already
_WORDS: Final = 500  # characters
# what can bring text; pictures, styles and the like cannot
_KINDS: Final = frozenset({"document", "script", "xhr", "fetch"})
# run in a page before its own scripts: what could send packets past the requests
_WITHOUT = (
    "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) "
    "delete globalThis[name];"
)
# Both run in a world of our own, where a page's scripts have changed nothing. What components keep
# to themselves is text too.
_STATE = """[document.readyState, document.body ? document.body.innerText.length : 0,
    document.getElementsByTagName('*').length, location.href].join(' ')"""
_HTML = """(() => {
    const inert = document.implementation.createHTMLDocument('');
    const flat = node => {
        const copy = inert.importNode(node, false);
        for (const child of [
            ...(node.shadowRoot ? node.shadowRoot.childNodes : []), ...node.childNodes])
            copy.appendChild(flat(child));
        return copy;
    };
    const root = document.documentElement;
    let whole = root;
    try {
        if ([...document.querySelectorAll('*')].some(each => each.shadowRoot)) whole = flat(root);
    } catch (error) { if (!(error instanceof RangeError)) throw error }
    return '<!doctype html>' + whole.outerHTML.slice(0, MOST);
})()""".replace("MOST", str(_LONGEST))


class Visit:
    """One page in the browser. `first`: its document, which has been fetched already."""

    def __init__(self, first: Page, fetch: Fetch) -> None:
        self.first = first
        self.fetch = fetch
        self.requests = self.size = self.loads = 0  # requests and bytes of what was fetched for it
        self.broken: Exception | None = None
        self.open: set[asyncio.Future[Page]] = set()

    async def html(self, context: BrowserContext, enough: float) -> bytes:
        """`enough`: when, by the loop's clock, it is taken as it then is."""
        await context.add_init_script(_WITHOUT)
        await context.route("**/*", self._answer_request)
        await context.route_web_socket(lambda _: True, _close_socket)
        page = await context.new_page()
        context.on("page", _close_page)  # what a page opens
        page.on("dialog", _dismiss_dialog)
        crashed = asyncio.Event()
        page.on("crash", lambda _: crashed.set())
        eyes = await context.new_cdp_session(page)
        await page.goto(self.first.final_url, wait_until="commit", timeout=0)  # `render` ends it
        await self._wait_until_stable(eyes, enough, crashed)
        text = await self._read_html(eyes)
        if self.broken is not None:
            raise self.broken
        return text.encode("utf-8", "replace")

    async def _read_html(self, eyes: CDPSession) -> str:
        from playwright.async_api import Error

        for _ in range(_TRIES):
            with suppress(Error):  # the page is being exchanged for another
                return str(await _evaluate_script(eyes, _HTML))
            await asyncio.sleep(_LOOK)
        return str(await _evaluate_script(eyes, _HTML))

    async def stop(self) -> None:
        for each in self.open:
            each.cancel()
        await asyncio.gather(*self.open, return_exceptions=True)

    async def _wait_until_stable(
        self, eyes: CDPSession, ends: float, crashed: asyncio.Event
    ) -> None:
        """Until the page looks the same for a while, or `ends`."""
        from playwright.async_api import Error

        clock = asyncio.get_running_loop().time
        changed = asked = clock()
        before, requests = "loading 0", 0
        while clock() < ends:
            await asyncio.sleep(_LOOK)
            if crashed.is_set():
                raise TransientError(
                    Text("{url}: its scripts broke the browser", url=self.first.url),
                    code="browser_crashed",
                )
            with suppress(Error):  # the page is being exchanged for another
                state = str(await _evaluate_script(eyes, _STATE))
                if state != before:
                    changed, before = clock(), state
            if self.open or self.requests != requests or not before.startswith("complete"):
                asked, requests = clock(), self.requests
            quiet = clock() - changed
            if quiet >= _QUIET and clock() - asked >= _QUIET:
                return
            if quiet >= _LONG_QUIET and int(before.split()[1]) >= _WORDS:
                return

    async def _answer_request(self, route: Route) -> None:
        from playwright.async_api import Error

        page, missing = None, False
        try:
            page = await self._fetch_response(route.request)
        except CitewellError as error:
            missing = error.code == "page_missing"  # an application may have an answer to that
        except Exception as error:  # noqa: BLE001  # raised again where the page is waited for
            self.broken = error
        with suppress(Error):  # the page may be gone by now
            if page is not None:
                kind = page.media_type or "text/plain"
                charset = f"; charset={page.charset}" if page.charset else ""
                await route.fulfill(status=200, body=page.data, content_type=kind + charset)
            elif route.request.is_navigation_request():
                # a browser stays where it is, and shows no error in place of the page
                await route.fulfill(status=204)
            elif missing:
                await route.fulfill(status=404, body="")
            else:
                await route.abort()

    async def _fetch_response(self, request: Request) -> Page | None:
        """What a request is answered with; None where it is not."""
        url, kind = request.url.partition("#")[0], request.resource_type
        if (
            request.method != "GET"
            or kind not in _KINDS
            or urlsplit(url).scheme not in {"http", "https"}
        ):
            return None
        if url == self.first.final_url and kind == "document":
            self.loads += 1
            return self.first if self.loads <= _MOST_LOADS else None
        script = kind == "script"
        if not script and not self._is_own_site(url):
            return None
        self.requests += 1
        if self.requests > _MOST_REQUESTS or self.size > _MOST_BYTES:
            return None
        # the page is given what comes as its own site's, so a redirect may not bring it from
        # elsewhere
        task = asyncio.ensure_future(self.fetch(url, None if script else self._is_own_site))
        self.open.add(task)
        try:
            page = await task
        except asyncio.CancelledError:
            if task.cancelled():  # nobody looks at the page any more
                return None
            raise
        finally:
            self.open.discard(task)
        self.size += len(page.data)
        runs = script and ("javascript" in page.media_type or "ecmascript" in page.media_type)
        return (
            page
            if (runs or self._is_own_site(page.final_url)) and self.size <= _MOST_BYTES
            else None
        )

    def _is_own_site(self, url: str) -> bool:
        return _is_same_site(self.first.final_url, url)


def _is_same_site(page: str, url: str) -> bool:
    """Whether `url` is of the page's own site, or of a host below its own. A page of one site must
    not read another through us, for we may be where that one trusts its visitors; scripts, which
    run but cannot be read, may come from anywhere.
    """
    one, other = urlsplit(page), urlsplit(url)
    if (one.scheme, one.netloc) == (other.scheme, other.netloc):
        return True
    own = (one.hostname or "").removeprefix("www.")
    host = other.hostname or ""
    return one.port is None and other.port is None and (host == own or host.endswith(f".{own}"))


def is_same_host(page: str, url: str) -> bool:
    """Whether `url` is of the page's own host and port, encrypted or not."""
    one, other = urlsplit(page), urlsplit(url)
    return (one.hostname, one.port) == (other.hostname, other.port)


async def _evaluate_script(eyes: CDPSession, expression: str) -> Any:
    tree = await eyes.send("Page.getFrameTree")
    frame = tree["frameTree"]["frame"]["id"]
    world = await eyes.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "citewell"})
    asked = {
        "expression": expression,
        "contextId": world["executionContextId"],
        "returnByValue": True,
    }
    return (await eyes.send("Runtime.evaluate", asked))["result"].get("value", "")


async def _close_socket(socket: WebSocketRoute) -> None:
    await socket.close()


async def _close_page(page: Window) -> None:
    from playwright.async_api import Error

    with suppress(Error):  # it is gone already
        await page.close()


async def _dismiss_dialog(dialog: Dialog) -> None:
    from playwright.async_api import Error

    with suppress(Error):
        await dialog.dismiss()

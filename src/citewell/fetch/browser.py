"""Pages that only scripts write: run in the Chromium of this machine, which Playwright drives
(extra `citewell[browser]`).

The one rule: the browser reaches no network. Every request of a page is answered here, with what
the guarded `fetch` of the caller brings, or not at all; and what would slip past that finds no
host, for none resolves and its only proxy is none.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit

import anyio

from citewell.errors import (
    CitewellError,
    ConfigError,
    PermanentError,
    TransientError,
    UnreadableFile,
)
from citewell.fetch.fetcher import Page

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import (
        BrowserContext,
        CDPSession,
        Dialog,
        Playwright,
        Request,
        Route,
        WebSocketRoute,
    )
    from playwright.async_api import Page as Window

Within = Callable[[str], bool]
# (address, where its redirects may lead; None: anywhere)
Fetch = Callable[[str, Within | None], Awaitable[Page]]

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_AT_ONCE: Final = 2  # pages, of about 100 MB of memory each
_MOST_REQUESTS: Final = 60  # of one page
_MOST_LOADS: Final = (
    5  # of its document; one that loads itself again and again stays where it then is
)
_MOST_BYTES: Final = 30_000_000  # that one page gets, in all
_LONGEST: Final = 10_000_000  # characters of the HTML that comes of it
_START_SECONDS: Final = 30.0
_CLOSE_SECONDS: Final = 5.0
_LOOK: Final = 0.1  # seconds between two looks at a page
_TRIES: Final = 10  # to look at a page
_QUIET: Final = 0.5  # seconds without a change after which a page that waits for nothing is done
_LONG_QUIET: Final = 2.0  # and one that goes on asking for something, but has so many words already
_WORDS: Final = 500  # characters
_ENOUGH: Final = 0.7  # share of its seconds after which a page that never rests is taken as it is
# what can bring text; pictures, styles and the like cannot
_KINDS: Final = frozenset({"document", "script", "xhr", "fetch"})
# of the environment: no keys of ours
_KEPT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TMP", "TEMP", "SYSTEMROOT")
# a proxy at the port where nothing answers; no name resolves, this one neither
_NOWHERE: Final = "http://127.0.0.1:9"
_FLAGS: Final = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    # the next one is its name in older ones, and does nothing in newer
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-background-networking",
    "--disable-domain-reliability",
    "--disable-gpu",
    "--disable-3d-apis",
    "--disable-remote-fonts",
    "--blink-settings=imagesEnabled=false",
    "--js-flags=--max-old-space-size=512",
)
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


def find_chromium() -> str:
    """The path of the machine's Chromium or Chrome; empty where there is none."""
    return next((path for name in _NAMES if (path := shutil.which(name))), "")


class Browser:
    """One Chromium, started for the first page and kept for the next ones until `close`.
    `executable`: which one, found where empty. Raises ConfigError where it or Playwright is
    missing.
    """

    def __init__(self, executable: str = "") -> None:
        if importlib.util.find_spec("playwright") is None:
            raise ConfigError(
                "pages that scripts write need Playwright",
                hint="install it with: pip install 'citewell[browser]'",
            )
        found = shutil.which(executable) if executable else find_chromium()
        if not found:
            hint = "install it, for instance with: apt install chromium"
            raise ConfigError(
                f"no Chromium {f'at {executable}' if executable else 'on this machine'}", hint=hint
            )
        self._executable = found
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._lock = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._chromium: Chromium | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the process, whatever its pages are busy with. The next page starts another."""
        with anyio.CancelScope(shield=True):
            async with self._lock:
                await self._stop_chromium()

    async def render(self, url: str, fetch: Fetch, seconds: float) -> bytes:
        """The HTML (UTF-8) of the page at the canonical `url` after its scripts ran; `fetch` brings
        it and what they ask for. The page comes from the host of `url` itself, whatever that leads
        to.

        Raises TransientError (`timeout`, `browser_crashed`), PermanentError (`leads_away`),
        UnreadableFile where it is no HTML, and what `fetch` raises.
        """
        from playwright.async_api import Error

        async with self._slots:
            chromium = await self._ensure_running()
            try:
                with anyio.fail_after(seconds):
                    return await self._load_page(chromium, url, fetch, seconds)
            except TimeoutError:
                hint = "its scripts do not come to an end, or the site is slow"
                raise TransientError(
                    f"{url}: not there within {seconds:g} seconds", hint=hint, code="timeout"
                ) from None
            except Error as error:
                why = error.message.splitlines()[0][:200] if error.message else "it broke"
                raise TransientError(
                    f"{url}: the browser could not show it ({why})", code="browser_crashed"
                ) from None

    async def _load_page(self, chromium: Chromium, url: str, fetch: Fetch, seconds: float) -> bytes:
        enough = asyncio.get_running_loop().time() + _ENOUGH * seconds
        first = await fetch(url, lambda there: _is_same_host(url, there))
        if not _is_same_host(url, first.final_url):
            hint = "ask for the page under that address"
            raise PermanentError(
                f"{url} leads to {first.final_url}, which is elsewhere",
                hint=hint,
                code="leads_away",
            )
        if first.media_type not in {"text/html", "application/xhtml+xml", ""}:
            raise UnreadableFile(
                f"{url}: it is {first.media_type}, no page that scripts could write"
            )
        context = await chromium.new_context(
            service_workers="block", accept_downloads=False, permissions=[]
        )
        visit = _Visit(first, fetch)
        try:
            return await visit.html(context, enough)
        finally:
            await self._close_visit(context, visit)

    async def _close_visit(self, context: BrowserContext, visit: _Visit) -> None:
        """A page that cannot be closed goes with its whole browser."""
        from playwright.async_api import Error

        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(_CLOSE_SECONDS) as limit, suppress(Error):
                await visit.stop()
                await context.close()
        if limit.cancelled_caught:
            await self.close()

    async def _ensure_running(self) -> Chromium:
        with anyio.CancelScope(shield=True):  # one that is half started would be nobody's
            async with self._lock:
                if self._chromium is None or not self._chromium.is_connected():
                    await self._stop_chromium()
                    self._chromium = await self._start_chromium()
                chromium = self._chromium
        return chromium

    async def _start_chromium(self) -> Chromium:
        from playwright.async_api import Error, async_playwright

        try:
            self._playwright = await async_playwright().start()
            return await self._playwright.chromium.launch(
                executable_path=self._executable,
                args=[*_FLAGS],
                proxy={"server": _NOWHERE, "bypass": "<-loopback>"},
                # it does not work as root
                chromium_sandbox=not (hasattr(os, "geteuid") and os.geteuid() == 0),
                env={name: os.environ[name] for name in _KEPT if name in os.environ},
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                timeout=1_000 * _START_SECONDS,
            )
        except Error as error:
            await self._stop_chromium()
            why = error.message.splitlines()[0][:300]
            hint = "does it start by itself? its sandbox needs user namespaces"
            raise ConfigError(f"{self._executable} does not start: {why}", hint=hint) from None

    async def _stop_chromium(self) -> None:
        from playwright.async_api import Error

        chromium, self._chromium = self._chromium, None
        playwright, self._playwright = self._playwright, None
        if chromium is not None and chromium.is_connected():
            with anyio.move_on_after(_CLOSE_SECONDS), suppress(Error):
                await chromium.close()
        if playwright is not None:  # its process takes what is left of Chromium with it
            with anyio.move_on_after(_CLOSE_SECONDS), suppress(Error):
                await playwright.stop()


class _Visit:
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
                    f"{self.first.url}: its scripts broke the browser", code="browser_crashed"
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


def _is_same_host(page: str, url: str) -> bool:
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

"""Pages that only scripts write: run in the Chromium of this machine, which Playwright drives
(extra `citewell[browser]`). The browser reaches no network. Every request of a page is answered
with what the guarded `fetch` of the caller brings, or not at all (`browser_page.py`); and what
would slip past that finds no host, for none resolves and its only proxy is none.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Self

import anyio

from citewell.errors import ConfigError, PermanentError, TransientError, UnreadableFile
from citewell.fetch.browser_page import Fetch, Visit, is_same_host
from citewell.messages import Text

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, Playwright

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_AT_ONCE: Final = 2  # pages, of about 100 MB of memory each
_START_SECONDS: Final = 30.0
_CLOSE_SECONDS: Final = 5.0
_ENOUGH: Final = 0.7  # share of its seconds after which a page that never rests is taken as it is
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
                Text("pages that scripts write need Playwright"),
                hint=Text("install it with: pip install 'citewell[browser]'"),
            )
        found = shutil.which(executable) if executable else find_chromium()
        if not found:
            hint = Text("install it, for instance with: apt install chromium")
            raise ConfigError(
                (
                    Text("no Chromium at {executable}", executable=executable)
                    if executable
                    else Text("no Chromium on this machine")
                ),
                hint=hint,
            )
        self._executable = found
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._lock = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._chromium: Chromium | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
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
                hint = Text("its scripts do not come to an end, or the site is slow")
                raise TransientError(
                    Text("{url}: not there within {seconds:g} seconds", url=url, seconds=seconds),
                    hint=hint,
                    code="timeout",
                ) from None
            except Error as error:
                why = error.message.splitlines()[0][:200] if error.message else Text("it broke")
                raise TransientError(
                    Text("{url}: the browser could not show it ({why})", url=url, why=why),
                    code="browser_crashed",
                ) from None

    async def _load_page(self, chromium: Chromium, url: str, fetch: Fetch, seconds: float) -> bytes:
        enough = asyncio.get_running_loop().time() + _ENOUGH * seconds
        first = await fetch(url, lambda there: is_same_host(url, there))
        if not is_same_host(url, first.final_url):
            hint = Text("ask for the page under that address")
            raise PermanentError(
                Text(
                    "{url} leads to {final_url}, which is elsewhere",
                    url=url,
                    final_url=first.final_url,
                ),
                hint=hint,
                code="leads_away",
            )
        if first.media_type not in {"text/html", "application/xhtml+xml", ""}:
            raise UnreadableFile(
                Text(
                    "{url}: it is {media_type}, no page that scripts could write",
                    url=url,
                    media_type=first.media_type,
                )
            )
        context = await chromium.new_context(
            service_workers="block", accept_downloads=False, permissions=[]
        )
        visit = Visit(first, fetch)
        try:
            return await visit.html(context, enough)
        finally:
            await self._close_visit(context, visit)

    async def _close_visit(self, context: BrowserContext, visit: Visit) -> None:
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
            hint = Text("does it start by itself? its sandbox needs user namespaces")
            raise ConfigError(
                Text("{executable} does not start: {why}", executable=self._executable, why=why),
                hint=hint,
            ) from None

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

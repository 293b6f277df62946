"""A Chromium and its windows for tests of the page. The one rule: a test finds nothing that another
one left.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

# what a test may do to a window that stays: such a window is closed after the test
LASTING = (
    "add_init_script",
    "add_locator_handler",
    "emulate_media",
    "expose_binding",
    "expose_function",
    "on",
    "once",
    "route",
    "route_web_socket",
    "set_extra_http_headers",
)


class Chromium:
    """One for all modules, at one address of their servers, so that it has compiled the page's
    scripts once. It ends with the last test of this folder: while Playwright is open, no other
    event loop can run in this thread.
    """

    def __init__(self) -> None:
        self.url = ""
        self._closing = ExitStack()
        self._browser: Browser | None = None
        self._windows: dict[str, Windows] = {}

    def launch(self, executable: str) -> Browser:
        if self._browser is None or not self._browser.is_connected():
            self.close()
            root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
            playwright = self._closing.enter_context(sync_playwright())
            self._browser = playwright.chromium.launch(
                executable_path=executable, args=[*root, "--disable-gpu", "--process-per-site"]
            )
            self._closing.callback(self._browser.close)
        return self._browser

    def windows(self, browser: Browser, url: str) -> Windows:
        return self._windows.setdefault(url, Windows(browser, url))

    def close(self) -> None:
        self._browser = None
        self._windows.clear()
        self._closing.close()


class Windows:
    """Browser contexts at one address, by language and touch. A small page of ours stays open in
    each, and with it the process that has compiled the page's scripts: opening the page then takes
    1.3 s of CPU instead of 3. A window that a test leaves as it was is the next one's: 0.6 s.
    """

    def __init__(self, browser: Browser, url: str) -> None:
        self._browser, self._url = browser, url
        self._kept: dict[tuple[str, bool], tuple[BrowserContext, Page]] = {}
        self._left: dict[BrowserContext, Page] = {}
        self._changed: set[Page] = set()

    def open(self, width: int, theme: Any, language: str) -> Page:
        """A window in which nothing is kept of an earlier test."""
        context = self._clean_context("zh-CN" if language == "zh" else "en-GB", width < 600)
        window = self._left.pop(context, None) or self._make_window(context)
        window.set_viewport_size({"width": width, "height": 800})
        Page.emulate_media(window, color_scheme=theme)
        return window

    def leave(self, window: Page) -> None:
        """Close it, or empty it for the next test: what its tab keeps, and its history."""
        if window in self._changed or not window.url.startswith(self._url):
            window.close()
            return
        try:
            window.goto("/api/health")
            window.evaluate("sessionStorage.clear()")
            window.mouse.move(-1, -1)
            devtools = window.context.new_cdp_session(window)
            devtools.send("Page.resetNavigationHistory")
            devtools.detach()
        except Error:  # closed, crashed, or its server is down
            window.close()
        else:
            self._left[window.context] = window

    def _make_window(self, context: BrowserContext) -> Page:
        window = context.new_page()
        for name in LASTING:
            setattr(window, name, self._note_change(window, getattr(window, name)))
        return window

    def _note_change(self, window: Page, method: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            self._changed.add(window)
            return method(*arguments, **named)

        return call

    def _clean_context(self, locale: str, touch: bool) -> BrowserContext:
        if (locale, touch) not in self._kept:
            made = self._browser.new_context(
                base_url=self._url, locale=locale, reduced_motion="reduce", has_touch=touch
            )
            self._kept[locale, touch] = made, made.new_page()
            self._kept[locale, touch][1].goto("/api/health")
        context, small = self._kept[locale, touch]
        for window in context.pages:
            if window not in (small, self._left.get(context)):
                window.close()
        context.clear_cookies()
        context.clear_permissions()
        small.evaluate("localStorage.clear()")
        return context

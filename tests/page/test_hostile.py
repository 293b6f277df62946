"""Nothing that anybody says is run: not what a document holds, not what people type, not what a
model answers.

The one rule: each test lets the page show it all, then asks the browser what happened and what
stands in the page's tree.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page
from tests.conftest import Reply, SiteServer
from tests.page.conftest import Served
from tests.page.hostile import LOOK, MARK, OURS, STILL, WORDS, Taint, looked_at, theirs
from tests.page.hostile_world import fill, web

Goto = Callable[..., Page]
PARTS = ("", "/rules", "/conflicts", "/wrong", "/health", "/mine")
LISTS = ("/ask", "/library", "/sites", "/papers", "/data", "/memory", "/traces", "/settings")
QUIET = {
    "/knowledge/conflicts",
    "/knowledge/health",
    "/settings",
}  # where nobody's words stand, or none yet
NAMES = {
    "/data",
    "/data/ships",
    "/library",
    "/sites",
}  # where only names stand, and none of these may be one


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """No chat model and no reader: answers are extracts of what the documents say, whatever is
    asked, so they carry it on.
    """
    return {
        "CITEWELL_LLM": "none",
        "CITEWELL_READER": "none",
        "CITEWELL_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8",
    }


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = SiteServer()
    server.pages["/"] = Reply(body=web(OURS).encode())
    thread = threading.Thread(
        target=lambda: server.server.serve_forever(poll_interval=0.02), daemon=True
    )
    thread.start()
    yield server.url
    server.server.shutdown()
    server.server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def views(served: Served, site: str) -> list[str]:
    """The addresses of every view, over an installation that is full of strings of ours."""
    found = fill(served, OURS, site)
    trace = next(view for view in found if view.startswith("/traces/"))
    return [
        *found,
        *(f"{trace}?tab={tab}" for tab in ("steps", "prompts", "replay")),
        *(f"/knowledge{p}" for p in PARTS),
        *LISTS,
    ]


@pytest.fixture
def watched(page: Page, served: Served) -> Iterator[list[str]]:
    with looked_at(page, served.url) as wrong:
        yield wrong


def opened(page: Page, goto: Goto, view: str, watched: list[str]) -> str:
    """The words of a view, when it has said all that it has to say."""
    goto(view)
    page.wait_for_load_state("networkidle")
    page.evaluate(STILL)
    assert page.evaluate(LOOK) == [], view
    assert watched == [], view
    return str(page.evaluate(WORDS))


def test_every_view_of_what_is_kept(
    page: Page, views: list[str], goto: Goto, watched: list[str]
) -> None:
    silent = {view for view in views if MARK not in opened(page, goto, view, watched)}
    assert silent <= QUIET | NAMES


def test_every_reply_filled(page: Page, views: list[str], goto: Goto, watched: list[str]) -> None:
    taint = Taint(OURS)
    taint.on(page)
    silent = {view for view in views if MARK not in opened(page, goto, view, watched)}
    assert silent <= QUIET
    assert taint.used == set(OURS)
    assert {
        "title",
        "text",
        "quote",
        "question",
        "answer",
        "section",
        "uri",
        "name",
    } <= taint.fields


def test_every_reply_filled_with_theirs(
    shared_data: Path, page: Page, views: list[str], goto: Goto, watched: list[str]
) -> None:
    strings = theirs(shared_data)
    taint = Taint(strings)
    taint.on(page)
    for view in views:
        opened(page, goto, view, watched)
    assert taint.used == set(strings)

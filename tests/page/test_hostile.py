"""Nothing that anybody says is run: not what a document holds, not what people type, not what a model answers.

The one rule: each test lets the page show it all, then asks the browser what happened and what stands in the page's tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page
from tests.page.conftest import Served
from tests.page.hostile import KEEP, LOOK, MARK, OURS, WORDS, Taint, theirs
from tests.page.hostile_world import fill
from tests.page.sources import watch

Goto = Callable[..., Page]
PARTS = ("", "/rules", "/conflicts", "/wrong", "/health", "/mine")
TABS = ("?tab=steps", "?tab=prompts", "?tab=replay")


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_EMBEDDER": "scripted"}


@pytest.fixture(scope="module")
def views(served: Served) -> list[str]:
    """The addresses of every view, over an installation that is full of strings of ours."""
    found = fill(served, OURS)
    traces = [found["trace"] + tab for tab in TABS]
    knowledge = [f"/knowledge{part}" for part in PARTS]
    return [*found.values(), *traces, *knowledge, "/ask", "/library", "/sites", "/papers", "/data", "/data/ships", "/memory", "/traces", "/settings"]


@pytest.fixture
def watched(page: Page, served: Served) -> Iterator[list[str]]:
    page.add_init_script(f"({KEEP})()")
    page.add_init_script("localStorage.setItem('citewell.user_id', 'local')")
    wrong = watch(page, served.url)
    yield wrong
    page.wait_for_timeout(300)  # for what comes late
    assert page.evaluate(LOOK) == []
    assert wrong == []


def settle(page: Page) -> str:
    """The page's words, when it has said all that it has to say."""
    page.wait_for_load_state("networkidle")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return str(page.evaluate(WORDS))


def test_every_view_of_what_is_kept(page: Page, views: list[str], goto: Goto, watched: list[str]) -> None:
    silent = []
    for view in views:
        goto(view)
        words = settle(page)
        assert page.evaluate(LOOK) == [], view
        assert watched == [], view
        if MARK not in words:
            silent.append(view)
    print("SILENT", silent)


def filled(page: Page, goto: Goto, views: list[str], strings: list[str], watched: list[str]) -> Taint:
    """Every view with its replies filled, until all strings were in."""
    taint = Taint(strings)
    taint.on(page)
    for view in views:
        goto(view)
        words = settle(page)
        assert page.evaluate(LOOK) == [], view
        assert watched == [], view
        print(view, len(words), MARK in words)
    return taint


def test_every_reply_filled(page: Page, views: list[str], goto: Goto, watched: list[str]) -> None:
    taint = filled(page, goto, views, list(OURS), watched)
    print(sorted(taint.fields), set(OURS) - taint.used)


def test_every_reply_filled_with_theirs(page: Page, views: list[str], goto: Goto, watched: list[str], shared_data: Path) -> None:
    strings = theirs(shared_data)
    taint = filled(page, goto, views, strings, watched)
    assert taint.used == set(strings)

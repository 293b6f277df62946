"""Back on a phone: it closes what covers the page, and does not leave the page.

The one rule: afterwards nothing is left of it in the browser's history; the next Back goes to the
page before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import Served, until
from tests.page.told import LINE, answer

Goto = Callable[..., Page]


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none"}


@pytest.fixture
def width() -> int:
    return 360


def test_back_closes_a_sheet_and_the_drawer(served: Served, goto: Goto, page: Page) -> None:
    doc: Any = served.add("default", "handbook.md", "# Leave\n\nEmployees get 27 days.")
    goto("/memory")
    goto("/ask")
    page.evaluate(LINE)
    page.get_by_role("textbox", name="Your question").fill("How many days?")
    page.get_by_role("button", name="Send").click()
    until(page, "() => window.asked.length === 1")
    told = answer()
    told["citations"][0]["doc_id"] = doc
    page.evaluate("(told) => window.line('answer', told)", told)
    page.evaluate("() => window.cut()")
    sheet = page.locator("dialog.sheet")
    for close in (page.go_back, lambda: page.keyboard.press("Escape")):
        page.get_by_role("button", name=re.compile("^Source 1:")).click()
        expect(sheet).to_be_visible()
        close()
        expect(sheet).to_have_count(0)
        until(page, "() => !history.state?.over")
        expect(page.get_by_role("article", name="Answer")).to_be_visible()

    drawer = page.locator("dialog.drawer[open]")
    page.get_by_role("button", name="Open the menu").click()
    expect(drawer).to_be_visible()
    page.go_back()
    expect(drawer).to_have_count(0)
    expect(page).to_have_url(re.compile("#/ask$"))
    page.get_by_role("button", name="Open the menu").click()
    drawer.get_by_role("link", name="Knowledge").click()
    expect(page).to_have_url(re.compile("#/knowledge$"))
    expect(drawer).to_have_count(0)
    page.go_back()
    expect(page).to_have_url(re.compile("#/ask$"))
    page.go_back()
    expect(page).to_have_url(re.compile("#/memory$"))

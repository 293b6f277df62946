"""After `make start`, whose documents are in a collection other than the usual one: the first
question is answered.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from tests.page.conftest import Served, until
from tests.page.told import LINE

POLICY = (
    Path(__file__).resolve().parents[2] / "samples" / "library" / "information-security-policy.md"
)


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none"}


def test_the_collection_that_has_documents_is_asked(served: Served, page: Page) -> None:
    """At the bare address, with nothing chosen."""
    served.add("samples", POLICY.name, POLICY.read_bytes())
    page.goto(served.url)
    expect(page.get_by_role("button", name="Asking: samples (1)")).to_be_visible()
    page.get_by_role("textbox", name="Your question").fill(
        "How many characters does a password have at least?"
    )
    page.keyboard.press("Enter")
    expect(page.get_by_role("article", name="Answer")).to_contain_text(
        "Passwords have at least 14 characters"
    )
    expect(page).to_have_url(re.compile(r"#/ask/ses_\w+$"))


def test_a_question_waits_until_the_collections_are_known(served: Served, page: Page) -> None:
    """Who types faster than the page loads asks the collection that has documents too."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/collections", hold)
    with page.expect_request("**/api/collections"):
        page.goto(f"{served.url}/#/ask")
    page.evaluate(LINE)
    page.get_by_role("textbox", name="Your question").fill("How long is a password?")
    page.keyboard.press("Enter")
    page.wait_for_timeout(100)
    held[0].continue_()
    until(page, "() => window.asked.length === 1")
    assert page.evaluate("() => window.asked[0].collection") == "samples"

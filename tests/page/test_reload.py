"""A page that is loaded anew while an answer is made: the question is still there, with what became
of it.

The one rule: only the line of the answer is held by the test; what became of the question is asked
of the real server.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import Served, until
from tests.page.told import LINE

Goto = Callable[..., Page]
STEP = {"n": 1, "node": "InputValidationNode", "action": "default", "seconds": 0.01}


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none"}


def asked(page: Page, text: str, agent: str) -> None:
    page.evaluate(LINE)
    page.get_by_label("Who answers").select_option(agent)
    page.get_by_role("textbox", name="Your question").fill(text)
    page.keyboard.press("Enter")
    until(page, "() => window.asked.length === 1")


def test_what_was_not_answered_can_be_asked_again(goto: Goto, page: Page) -> None:
    goto("/ask")
    asked(page, "Who reads the minutes of the meeting?", "qa")
    page.reload()
    expect(
        page.get_by_role("heading", name="Who reads the minutes of the meeting?")
    ).to_be_visible()
    lost = page.get_by_role("alert").filter(
        has_text="The page was loaded anew before the answer came."
    )
    expect(lost).to_contain_text("nothing of it is kept")
    page.evaluate(LINE)
    page.get_by_role("button", name="Ask again", exact=True).click()
    until(page, "() => window.asked.length === 1")
    again = page.evaluate("() => window.asked[0]")
    assert (again["question"], again["agent"]) == ("Who reads the minutes of the meeting?", "qa")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("You stopped this.", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("textbox", name="Your question")).to_be_visible()
    expect(page.locator(".question")).to_have_count(0)  # what became of it is known


def test_what_was_answered_meanwhile_is_there(served: Served, goto: Goto, page: Page) -> None:
    goto("/ask")
    served.add("default", "travel.md", "The travel form is signed by the head of the department.")
    asked(page, "Who signs the travel form?", "qa")
    finished = served.api(
        "POST", "/ask", json={"question": "Who signs the travel form?", "agent": "qa"}
    )
    page.reload()
    expect(page.get_by_role("article", name="Answer")).to_be_visible()
    expect(page).to_have_url(re.compile(f"#/ask/{finished['session_id']}$"))
    page.reload()
    expect(page.get_by_role("article", name="Answer")).to_have_count(1)
    assert page.evaluate("() => sessionStorage.length") == 0


def test_what_is_kept_goes_on(goto: Goto, page: Page) -> None:
    """The sidebar and the conversation tell of one and the same question."""
    left: dict[str, Any] = {
        "trace_id": "tr_9",
        "agent": "dual_loop",
        "question": "What holds?",
        "session_id": "",
        "updated_at": 1,
    }
    for path in ("**/api/runs", "**/api/runs?*"):
        page.route(path, lambda route: route.fulfill(json={"runs": [left]}))
    goto("/ask")
    asked(page, "What holds?", "dual_loop")
    page.evaluate(
        "([event, data]) => window.line(event, data)",
        ["step", {**STEP, "detail": {"trace_id": "tr_9"}}],
    )
    expect(page.locator(".ask-steps-list")).to_contain_text("InputValidationNode")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("it can go on where it was")
    page.evaluate(LINE)
    page.get_by_role("button", name=re.compile("^What holds\\?")).click()
    until(page, "() => window.asked.length === 1")
    assert page.evaluate("() => window.asked[0].resume") == "tr_9"
    expect(page.locator(".question")).to_have_count(1)

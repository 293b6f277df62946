"""Reading an answer: its citations keep to their words and to the keyboard, and what was said
elsewhere is shown here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from tests.page.conftest import Served
from tests.page.told import LINE, answer

Goto = Callable[..., Page]
POLICY = (
    Path(__file__).resolve().parents[2] / "samples" / "library" / "information-security-policy.md"
)
QUESTION = "How many characters does a password have at least?"
# For each number: whether it stands in the line of what is before it.
BESIDE = """() => [...document.querySelectorAll(".md .cite")].map((each) => {
    const word = each.closest(".cited").firstChild.getClientRects();
    const mine = each.getBoundingClientRect();
    return word.length === 1 && word[0].top < mine.bottom && mine.top < word[0].bottom;
})"""


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none"}


def shown(page: Page, goto: Goto, text: str, verdict: str = "supported") -> None:
    """An answer of this text, each of whose sentences has this verdict."""
    goto("/ask")
    page.evaluate(LINE)
    page.get_by_role("textbox", name="Your question").fill("?")
    page.keyboard.press("Enter")
    cite = answer()["citations"][0]
    parts = [part.strip() for part in re.split(r"\s*\[\d\]\s*", text) if part.strip()]
    sentences = [
        {"text": part, "citations": [1], "verdict": verdict, "problems": []} for part in parts
    ]
    event = answer(answer=text, sentences=sentences, citations=[cite, cite | {"n": 2}])
    page.evaluate("([event]) => window.line('answer', event)", [event])
    page.evaluate("() => window.cut()")
    expect(page.locator(".md .cite").first).to_be_visible()


@pytest.mark.parametrize(
    ("word", "verdict"), [("a ", "supported"), ("啊", "partly"), ("aa aaa ", "supported")]
)
def test_a_number_does_not_begin_a_line(page: Page, goto: Goto, word: str, verdict: str) -> None:
    """Whatever the width: the sentences end at every place of a line."""
    page.set_viewport_size({"width": 420, "height": 800})
    shown(
        page, goto, "\n\n".join(f"{word * count}b。 [1][2]" for count in range(4, 60, 3)), verdict
    )
    assert set(page.evaluate(BESIDE)) == {True}
    assert page.locator(".md .cited .cite").count() == page.locator(".md .cite").count()
    assert page.locator(".md").inner_text().startswith(f"{word * 4}b。")


def test_formulas_that_come_late_leave_the_focus(page: Page, goto: Goto) -> None:
    held: list[Route] = []
    page.route("**/temml.mjs", lambda route: held.append(route))  # noqa: PLW0108 - playwright marks what it calls
    shown(page, goto, r"Its area is $\pi r^2$. [1]")
    page.get_by_role("button", name=re.compile("^Source 1:")).first.focus()
    expect(page.get_by_role("tooltip")).to_be_visible()
    expect(page.locator(".md code")).to_have_text(r"\pi r^2")
    held[0].continue_()
    expect(page.locator(".md math")).to_have_count(1)
    expect(page.get_by_role("button", name=re.compile("^Source 1:")).first).to_be_focused()
    expect(page.get_by_role("tooltip")).to_be_visible()


def test_what_was_said_in_another_window_is_here(served: Served, page: Page, goto: Goto) -> None:
    """When one comes back: the new conversation, and the new turn of the one that is open."""
    served.add("default", POLICY.name, POLICY.read_bytes())
    ask = {"question": QUESTION, "agent": "qa", "collection": "default"}
    session = served.api("POST", "/ask", json=ask)["session_id"]
    goto(f"/ask/{session}")
    expect(page.get_by_role("article", name="Answer")).to_have_count(1)
    served.api("POST", "/ask", json=ask | {"session_id": session})
    served.api("POST", "/ask", json=ask | {"question": "Who reports a lost laptop?"})
    assert json.loads(page.evaluate("() => JSON.stringify(document.visibilityState)")) == "visible"
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_role("article", name="Answer")).to_have_count(2)
    expect(
        page.get_by_role("region", name="Conversations").get_by_text("Who reports a lost laptop?")
    ).to_be_visible()


def test_a_source_goes_with_what_it_belongs_to(served: Served, page: Page, goto: Goto) -> None:
    served.add("default", POLICY.name, POLICY.read_bytes())
    session = served.api(
        "POST", "/ask", json={"question": QUESTION, "agent": "qa", "collection": "default"}
    )["session_id"]
    panel = page.locator(".panel")
    for leave in ("Library", "New conversation"):
        goto(f"/ask/{session}")
        page.get_by_role("button", name=re.compile("^Source 1:")).first.click()
        expect(panel).to_be_visible()
        page.locator(".sidebar").get_by_text(leave, exact=True).click()
        expect(panel).to_have_count(0)

"""Links to a citation from elsewhere (`#/source/DOC?start=&end=`): the sentence, what became of it,
the way to a question.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import PATIENCE, Served, until
from tests.page.sources import cite, sample
from tests.page.told import LINE, answer

from citewell.interfaces.links import build_citation_url
from citewell.types import Citation

Goto = Callable[..., Page]
PDF = "drover-2-owners-manual.pdf"
LAMP = "# Lamp\n\nThe lamp is {} metres tall.\n\nIt is red.\n"


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_EMBEDDER": "builtin", "CITEWELL_LLM": "none"}


def link_to(citation: dict[str, Any]) -> str:
    """As answers of the OpenAI-compatible routes have it, without the server."""
    return build_citation_url(Citation(**citation), "/").removeprefix("/#")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_a_sentence_of_a_pdf(
    served: Served, goto: Goto, page: Page, axe: Any, picture: Any, language: str
) -> None:
    """The page of the PDF, the sentence marked; and a question about that document alone."""
    doc = sample(served, "handbooks", PDF)
    content = served.api("GET", f"/documents/{doc}/content")
    quote = max(re.findall(r"[A-Z][^.\n]{30,90}\.", content["text"][500:6000]), key=len)
    goto(link_to(cite(served, doc, PDF, quote)))
    expect(page.get_by_role("heading", level=1)).to_have_text(content["title"])
    expect(page.locator(".panel-mark").first).to_be_visible()
    expect(page.locator(".panel-quote")).to_contain_text(quote[:30])
    assert (
        page.evaluate("() => document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
    )
    axe(page)
    picture("source-alone")
    page.get_by_role("button", name="Ask about this" if language == "en" else "就此提问").click()
    expect(page).to_have_url(re.compile("#/ask$"))
    page.evaluate(LINE)
    page.get_by_role("textbox", name=re.compile("Your question|您的问题")).fill("Why?")
    page.keyboard.press("Enter")
    until(page, "() => window.asked.length === 1")
    asked = page.evaluate("() => window.asked[0]")
    assert (asked["agent"], asked["collection"], asked["options"]) == (
        "qa",
        "handbooks",
        {"doc_ids": [doc]},
    )


def test_what_was_changed_or_deleted_says_so(
    served: Served, goto: Goto, page: Page, axe: Any
) -> None:
    """Other words are never marked as those that were cited."""
    doc = served.add("lamps", "lamp.md", LAMP.format(41))
    link = link_to(cite(served, doc, "lamp.md", "The lamp is 41 metres tall."))
    goto(link)
    expect(
        page.locator("mark").filter(has_text="The lamp is 41 metres tall.").first
    ).to_be_visible()
    served.add("lamps", "lamp.md", LAMP.format(42))
    page.reload()
    expect(
        page.get_by_role("status").filter(has_text="has changed since it was cited")
    ).to_be_visible()
    expect(page.locator(".panel-text")).to_contain_text("42 metres")
    expect(page.locator("mark")).to_have_count(0)
    goto(f"/source/{doc}?start=100000&end=100005")
    expect(
        page.get_by_role("status").filter(has_text="has changed since it was cited")
    ).to_be_visible()
    served.api("DELETE", f"/documents/{doc}")
    page.reload()
    expect(page.locator(".panel-about strong")).to_have_text("This document no longer exists.")
    axe(page)


def test_a_confirmed_answer_is_read_as_markdown(
    served: Served, goto: Goto, page: Page, axe: Any, picture: Any
) -> None:
    """Its document has headings and a fence, not their signs."""
    served.add("red", "lamp.md", LAMP.format(41))
    said = served.api(
        "POST", "/ask", json={"question": "How tall is the lamp?", "collection": "red"}
    )
    served.api("POST", "/feedback", json={"trace_id": said["trace_id"], "is_correct": True})
    ends = time.monotonic() + 4 * PATIENCE
    while not (
        (items := served.api("GET", "/knowledge/confirmed")["confirmed"]) and items[0]["doc_id"]
    ):
        assert time.monotonic() < ends, f"it never became knowledge: {items}"
        page.wait_for_timeout(100)
    goto(f"/source/{items[0]['doc_id']}")
    shown = page.locator(".panel-markdown")
    expect(shown.get_by_role("heading", name="用户问题")).to_be_visible()
    expect(shown).to_contain_text("How tall is the lamp?")
    expect(shown).not_to_contain_text("---")
    expect(shown.locator("math")).to_have_count(0)  # its escapes are no formula
    expect(shown).to_contain_text("41 metres tall")
    expect(shown).not_to_contain_text("&#")
    expect(shown.locator(".facts")).to_contain_text("human-verified")
    axe(page)
    picture("source-confirmed")
    text = served.api("GET", f"/documents/{items[0]['doc_id']}/content")["text"]
    start = text.index("41 metres")
    goto(f"/source/{items[0]['doc_id']}?start={start}&end={start + 9}")
    expect(shown.locator("mark").first).to_have_text("41 metres")


def test_a_question_back_is_answered_with_one_press(goto: Goto, page: Page, axe: Any) -> None:
    """Each of what may be meant is a button; the choice is the next question, asked as the first
    was; then it is no button.
    """
    goto("/ask")
    page.evaluate(LINE)
    page.get_by_label("Answered by").select_option("data")
    page.get_by_role("textbox", name="Your question").fill("How many are there?")
    page.keyboard.press("Enter")
    until(page, "() => window.asked.length === 1")
    back = answer(
        status="clarify",
        answer="Do you mean ships or <i>lamps</i>?",
        sentences=[],
        citations=[],
        agent="data",
    )
    page.evaluate(
        "told => { window.line('answer', told); window.cut(); }",
        back | {"choices": ["ships", "<i>lamps</i>"]},
    )
    choices = page.get_by_role("list", name="Possible meanings").get_by_role("button")
    expect(choices).to_have_text(["ships", "<i>lamps</i>"])
    axe(page)
    choices.nth(1).click()
    until(page, "() => window.asked.length === 2")
    asked = page.evaluate("() => window.asked[1]")
    assert (asked["question"], asked["agent"]) == ("<i>lamps</i>", "data")
    expect(choices).to_have_count(0)


def test_what_can_be_asked_is_chosen(goto: Goto, page: Page) -> None:
    """An answer that ends with the list of what can be chosen has buttons in its place, and no head
    that says that something is unclear.
    """
    goto("/ask")
    page.evaluate(LINE)
    page.get_by_role("textbox", name="Your question").fill("What can I ask you?")
    page.keyboard.press("Enter")
    until(page, "() => window.asked.length === 1")
    offer = answer(
        status="clarify",
        answer="About ships. For example:\n\n- How long is it?\n- How old is it?",
        sentences=[],
        citations=[],
    )
    page.evaluate(
        "told => { window.line('answer', told); window.cut(); }",
        offer | {"choices": ["How long is it?", "How old is it?"]},
    )
    choices = page.get_by_role("list", name="Possible meanings").get_by_role("button")
    expect(choices).to_have_text(["How long is it?", "How old is it?"])
    expect(page.locator(".answer").get_by_text("How long is it?")).to_have_count(1)
    expect(page.locator(".answer-head")).to_have_count(0)

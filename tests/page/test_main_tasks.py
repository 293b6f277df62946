"""What a person does in the first hour, from an empty installation, through the page alone: no
request but the page's own.

The one rule: one task leads to the next as the page leads a person. What a part does beyond that is
tested beside it, from an empty installation too: questions in `test_ask.py`, files in
`test_library.py`, tables in `test_data.py`, sites in `test_sites.py`, papers in `test_papers.py`,
signing in in `test_sign_in.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.page.conftest import PATIENCE, Served

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
POLICY = SAMPLES / "library" / "information-security-policy.md"
QUESTION = "How many characters does a password have at least?"
PROOF = "Passwords have at least 14 characters"
LONG: Any = {"timeout": 4 * PATIENCE * 1000}  # work on a loaded machine
TABS = 60  # more of them than any of these pages needs


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none"}


def reach(page: Page, wanted: Locator) -> Locator:
    """Go there with the Tab key."""
    expect(wanted).to_be_visible(**LONG)
    for _ in range(TABS):
        if wanted.evaluate("each => each === document.activeElement"):
            return wanted
        page.keyboard.press("Tab")
    raise AssertionError(f"the Tab key does not lead to {wanted}")


def press(page: Page, wanted: Locator) -> None:
    reach(page, wanted)
    page.keyboard.press("Enter")


def test_from_a_file_to_a_confirmed_answer(
    served: Served, page: Page, goto: Callable[..., Page]
) -> None:
    """Add, ask, look at the source, say that it is right, see what became of it, undo it: all with
    the keyboard.
    """
    goto("/ask")
    press(page, page.get_by_role("link", name="Add documents"))
    with page.expect_file_chooser() as chooser:
        press(page, page.get_by_role("button", name="Add files"))
    chooser.value.set_files(POLICY)
    expect(page.locator("article.lib-work.over", has_text=POLICY.name)).to_be_visible(**LONG)
    press(page, page.get_by_role("navigation").get_by_role("link", name="Ask"))
    page.locator('html[data-view="ask"]').wait_for(state="attached")
    page.get_by_label("Answered by").select_option("qa")
    reach(page, page.get_by_role("textbox", name="Your question"))
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text(PROOF, **LONG)
    expect(page).to_have_title(f"{QUESTION} · Ask · Citewell")
    press(page, answer.get_by_role("button", name=re.compile("^Source 1:")))
    expect(
        page.get_by_role("dialog").locator("mark").filter(has_text="14 characters").first
    ).to_be_visible()
    page.keyboard.press("Escape")
    press(page, answer.get_by_role("button", name="This is right"))
    press(page, answer.get_by_role("link", name="View"))
    expect(page.get_by_role("heading", name=QUESTION)).to_be_visible()
    press(page, page.get_by_role("button", name="Undo", exact=True))
    page.keyboard.type("a trial")
    press(page, page.get_by_role("dialog").get_by_role("button", name="Undo"))
    expect(page.get_by_text("Undone. Ask again")).to_be_visible()
    [item] = served.api("GET", "/knowledge/confirmed")["confirmed"]
    assert (item["question"], item["state"], item["reason"]) == (QUESTION, "undone", "a trial")


def test_the_way_of_an_answer_is_found_again(page: Page, goto: Callable[..., Page]) -> None:
    """From the conversation in the sidebar to its trace, and a replay of it. The conversation is
    that of the test before.
    """
    goto("/ask")
    press(page, page.get_by_role("region", name="Conversations").get_by_role("link", name=QUESTION))
    press(page, page.locator(".answer-small > summary"))
    press(page, page.get_by_role("article", name="Answer").get_by_role("link", name="Trace"))
    expect(page).to_have_title(f"{QUESTION} · Traces · Citewell")
    press(page, page.get_by_role("link", name="Steps"))
    expect(page.locator(".trace-step-node").first).to_have_text("Checking the question")
    press(page, page.get_by_role("link", name="Replay"))
    press(page, page.get_by_role("button", name="Replay as recorded"))
    expect(page.get_by_text("Replies of the chat model as recorded.")).to_be_visible(**LONG)


def test_what_is_told_is_remembered_until_it_is_forgotten(
    served: Served, page: Page, goto: Callable[..., Page]
) -> None:
    """Told in a conversation, found in Memory, reworded and forgotten there."""
    goto("/ask")
    page.get_by_label("Answered by").select_option("dual_loop")
    page.get_by_role("textbox", name="Your question").fill(
        "Remember that our office is in Shenzhen."
    )
    page.keyboard.press("Enter")
    expect(page.get_by_role("article", name="Answer")).to_be_visible(**LONG)
    press(page, page.get_by_role("navigation").get_by_role("link", name="Settings"))
    press(page, page.get_by_role("navigation").get_by_role("link", name="Memory"))
    card = page.locator(".memory-card")
    expect(card).to_contain_text("Shenzhen")
    press(page, card.get_by_role("button", name="Edit"))
    page.get_by_role("textbox", name="What to remember").fill("our office is in Chengdu")
    press(page, page.get_by_role("button", name="Save"))
    expect(card).to_contain_text("Chengdu")
    [memory] = served.api("GET", "/memories")["memories"]
    assert "Chengdu" in memory["text"]
    press(page, card.get_by_role("button", name="Forget"))
    press(page, page.get_by_role("dialog").get_by_role("button", name="Forget"))
    expect(page.get_by_role("heading", name="Nothing is remembered yet")).to_be_visible()
    assert served.api("GET", "/memories")["memories"] == []


def test_settings_by_keyboard(page: Page, goto: Callable[..., Page]) -> None:
    """Language and theme with the arrow keys, then a name, which the sidebar says at once; all is
    kept.
    """
    goto("/settings")
    reach(page, page.get_by_role("radio", name="English"))
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", level=1)).to_have_text("设置")
    reach(page, page.get_by_role("radio", name="跟随系统"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    reach(page, page.get_by_role("textbox", name="用户名"))
    page.keyboard.type("小李")
    page.keyboard.press("Enter")
    expect(page.locator(".who")).to_have_text("小李")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("设置")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator(".who")).to_have_text("小李")


def test_the_name_that_is_given_for_papers_is_said_everywhere(
    page: Page, goto: Callable[..., Page]
) -> None:
    goto("/papers")
    page.get_by_role("textbox", name="Your name").fill("ann")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="No paper yet")).to_be_visible()
    expect(page.locator(".who")).to_have_text("ann")
    page.get_by_role("button", name="Change", exact=True).click()
    page.get_by_role("textbox", name="Your name").fill("bo")
    page.keyboard.press("Enter")
    expect(page.locator(".who")).to_have_text("bo")

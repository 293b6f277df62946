"""Conversations: found by what was said, pinned, archived, in folders, shared, exported; and the
palette.

The one rule: all of it is kept by the server, so that it is there on every device.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import Served

Goto = Callable[..., Page]


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none"}


@pytest.fixture(scope="module", autouse=True)
def talks(served: Served) -> None:
    served.add("default", "mill.md", "# Mill\n\nThe mill grinds rye on Tuesdays.")
    served.add("default", "bridge.md", "# Bridge\n\nThe bridge was built of oak in 1820.")
    for n in range(4):
        served.api("POST", "/ask", json={"question": f"When does the mill grind rye, asked {n}?"})
    served.api("POST", "/ask", json={"question": "When was the bridge built?"})


def menu(page: Page, title: str, item: str) -> None:
    page.get_by_role("button", name=f"Actions for “{title}”").click()
    page.get_by_role("menuitem", name=item).click()


def test_what_was_said_is_found(goto: Goto, page: Page) -> None:
    """Words of an answer lead to its conversation, whatever its title."""
    goto("/ask")
    talks = page.get_by_role("region", name="Conversations")
    talks.get_by_role("searchbox").fill("oak 1820")
    expect(talks.get_by_role("link")).to_have_text([re.compile("When was the bridge built")])
    talks.get_by_role("searchbox").fill("nobody said this")
    expect(talks.get_by_text("No matches.")).to_be_visible()


def test_pinned_and_archived(goto: Goto, page: Page, axe: Any, picture: Any) -> None:
    goto("/ask")
    talks = page.get_by_role("region", name="Conversations")
    menu(page, "When does the mill grind rye, asked 0?", "Pin")
    expect(talks.get_by_role("heading").first).to_have_text("Pinned")
    expect(talks.get_by_role("link").first).to_contain_text("asked 0")
    menu(page, "When does the mill grind rye, asked 1?", "Archive")
    expect(talks.get_by_role("link", name=re.compile("asked 1"))).to_have_count(0)
    page.reload()
    expect(talks.get_by_role("link").first).to_contain_text("asked 0")
    talks.get_by_role("button", name="Show 1 archived").click()
    expect(talks.get_by_role("link", name=re.compile("asked 1"))).to_be_visible()
    picture("conversations")
    axe(page)
    menu(page, "When does the mill grind rye, asked 1?", "Move out of the archive")
    expect(talks.get_by_role("button", name="Hide archived")).to_have_count(0)


def test_more_are_asked_for_when_they_are_wanted(goto: Goto, page: Page) -> None:
    """A page of them at a time, here of two; what is searched for is found on any page."""
    page.route(
        re.compile(r"/api/sessions\?.*limit=60\b"),
        lambda route: route.continue_(url=route.request.url.replace("limit=60", "limit=2")),
    )
    goto("/ask")
    talks = page.get_by_role("region", name="Conversations")
    links = talks.get_by_role("link", name=re.compile("mill|bridge"))
    expect(links).to_have_count(2)
    talks.get_by_role("button", name="3 more").click()
    expect(links).to_have_count(5)
    expect(talks.get_by_role("button", name=re.compile("more"))).to_have_count(0)


@pytest.mark.parametrize("kind", ["Word", "PDF", "Markdown"])
def test_a_conversation_is_exported_with_footnotes(goto: Goto, page: Page, kind: str) -> None:
    goto("/ask")
    menu(page, "When was the bridge built?", "Export…")
    with page.expect_download() as saved:
        page.get_by_role("dialog").get_by_role("button", name=kind).click()
    ending, first = {"Word": ("docx", b"PK"), "PDF": ("pdf", b"%PDF"), "Markdown": ("md", b"# ")}[
        kind
    ]
    file = Path(saved.value.path())
    assert saved.value.suggested_filename == f"When was the bridge built.{ending}"
    assert file.read_bytes().startswith(first)
    expect(page.get_by_role("dialog")).to_have_count(0)
    if kind == "Markdown":
        text = file.read_text("utf-8")
        assert text.startswith("# When was the bridge built?\n\n## When was the bridge built?\n\n")
        assert "1820.[^1]" in text
        assert "\n[^1]: " in text


def test_folders(goto: Goto, page: Page, axe: Any, picture: Any) -> None:
    """Made while a conversation is moved; renamed; closed, and still closed after a reload; deleted
    without what stands in it.
    """
    goto("/ask")
    talks = page.get_by_role("region", name="Conversations")
    bridge = talks.get_by_role("link", name=re.compile("bridge built"))
    menu(page, "When was the bridge built?", "Move to folder…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Folder", exact=True).select_option("New folder")
    dialog.get_by_label("Name of the folder").fill("Bridges")
    axe(page)
    dialog.get_by_role("button", name="Save").click()
    folder = talks.locator(".talks-folder")
    expect(folder.get_by_role("link", name=re.compile("bridge built"))).to_be_visible()
    expect(
        talks.locator(".talks-day").get_by_role("link", name=re.compile("bridge"))
    ).to_have_count(0)
    picture("folders")
    axe(page)
    page.get_by_role("button", name="Actions for the folder “Bridges”").click()
    page.get_by_role("menuitem", name="Rename").click()
    dialog.get_by_label("Name of the folder").fill("Old bridges")
    dialog.get_by_role("button", name="Save").click()
    talks.get_by_text("Old bridges").click()
    expect(bridge).to_be_hidden()
    page.reload()
    expect(talks.get_by_text("Old bridges")).to_be_visible()
    expect(bridge).to_be_hidden()
    talks.get_by_role("searchbox").fill("oak 1820")
    expect(bridge).to_be_visible()
    talks.get_by_role("searchbox").fill("")
    talks.get_by_role("button", name="New folder").click()
    dialog.get_by_label("Name of the folder").fill("Old bridges")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("there is a folder 'Old bridges' already")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Actions for the folder “Old bridges”").click()
    page.get_by_role("menuitem", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(folder).to_have_count(0)
    expect(bridge).to_be_visible()


def test_a_link_is_made_read_and_revoked(
    goto: Goto, page: Page, served: Served, axe: Any, picture: Any
) -> None:
    """It shows what was said until then, without the buttons of whoever asked."""
    goto("/ask")
    menu(page, "When was the bridge built?", "Share…")
    dialog = page.get_by_role("dialog", name="Share this conversation")
    expect(dialog).to_contain_text("works on this computer only")
    dialog.get_by_label("It lasts").select_option("7 days")
    dialog.get_by_role("button", name="Create and copy link").click()
    address = dialog.get_by_role("textbox", name="Link").input_value()
    picture("share")
    axe(page)
    path = re.fullmatch(re.escape(served.url) + r"/#(/shared/[\w-]{43})", address)
    assert path
    goto(path[1])
    main = page.get_by_role("main")
    expect(main.get_by_role("heading", level=1)).to_have_text("When was the bridge built?")
    expect(main).to_contain_text("Shared by local on")
    expect(main.get_by_role("article", name="Answer")).to_contain_text("1820")
    expect(main.locator(".answer-foot")).to_have_count(0)
    expect(main.get_by_role("textbox")).to_have_count(0)
    main.locator(".source-open").first.click()
    expect(page.get_by_role("dialog", name="Source")).to_contain_text("oak in 1820")
    picture("shared")
    axe(page)
    goto("/ask")
    menu(page, "When was the bridge built?", "Share…")
    dialog.get_by_role("button", name="Revoke").click()
    expect(dialog.get_by_role("textbox", name="Link")).to_have_count(0)
    goto(path[1])
    expect(page.get_by_text("This link leads nowhere")).to_be_visible()


def test_the_palette(goto: Goto, page: Page, axe: Any, picture: Any) -> None:
    """Ctrl and K leads to every part and conversation; a slash to the question; a question mark to
    what the keys do.
    """
    goto("/settings")
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Go to or search")
    expect(box).to_be_focused()
    box.fill("mem")
    expect(page.get_by_role("dialog").get_by_role("option").first).to_contain_text("Memory")
    picture("palette")
    axe(page)
    box.fill("oak 1820")
    expect(page.get_by_role("option", name=re.compile("bridge"))).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#/ask/ses_"))
    expect(box).to_have_count(0)
    goto("/library")
    page.keyboard.press("/")
    expect(page.get_by_role("textbox", name="Your question")).to_be_focused()
    page.keyboard.type("a/b?")
    expect(page.get_by_role("textbox", name="Your question")).to_have_value("a/b?")
    goto("/library")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("Ctrl")

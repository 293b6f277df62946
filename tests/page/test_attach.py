"""What a question brings with it: files that are chosen, dropped or pasted, a long text; and
several collections at once.

The one rule: the real server reads what is attached and answers from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import Served, until
from tests.page.told import LINE
from tests.test_wheel import make_picture

Goto = Callable[..., Page]
MAIL = (
    "Dear team,\n\nI write about the pump of our fountain. "
    + "It was delivered last spring and ran well through the summer. " * 12
    + "\n\nThe pump weighs 31 kilograms.\n\nKind regards, Ann"
    + "\n\nHow many kilograms does the pump weigh?"
)
# a file as the clipboard or a hand drops it
GIVE = """([kind, name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name, { type: "text/markdown" }));
    const target = document.getElementById("ask-text") ?? document.body;
    target.dispatchEvent(kind === "paste"
        ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
        : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none"}


def paste(page: Page, name: str, text: str) -> None:
    """As soon as the composer stands; before, what is pasted reaches nobody."""
    page.get_by_role("textbox", name="Your question").wait_for()
    page.evaluate(GIVE, ["paste", name, text])


def test_a_long_text_holds_its_question(goto: Goto, page: Page, axe: Any, picture: Any) -> None:
    """Shown before it is sent; the rest is read, also where the library is empty."""
    goto("/ask")
    box = page.get_by_role("textbox", name="Your question")
    box.fill(MAIL)
    expect(page.locator(".composer-hint")).to_contain_text(re.compile(r"[\d,]+ of 8,000"))
    expect(page.locator(".composer-found")).to_contain_text("How many kilograms does the pump")
    picture("ask-long")
    axe(page)
    box.press("Enter")
    expect(page.get_by_role("article", name="Answer")).to_contain_text("31 kilograms")
    expect(page.locator(".question-text")).to_have_text("How many kilograms does the pump weigh?")


@pytest.mark.parametrize("way", ["choose", "paste", "drop", "drop elsewhere"])
def test_a_file_is_asked(served: Served, goto: Goto, page: Page, axe: Any, way: str) -> None:
    """And goes on being asked in its conversation, after a reload too."""
    served.add("default", "garden.md", "# Garden\n\nThe garden closes at dusk.")
    goto("/memory" if way == "drop elsewhere" else "/ask")
    name, text = f"heron-{way}.md", f"# Heron\n\nThe {way} heron nests in the old mill.\n"
    if way == "choose":
        field = page.get_by_label("Attach files or pictures").last
        field.set_input_files({"name": name, "mimeType": "text/markdown", "buffer": text.encode()})
    else:
        page.evaluate(GIVE, [way.split(maxsplit=1)[0], name, text])
    expect(page.get_by_role("list", name="Attached")).to_contain_text(name)
    axe(page)
    box = page.get_by_role("textbox", name="Your question")
    box.fill(f"Where does the {way} heron nest?")
    box.press("Enter")
    expect(page.get_by_role("article", name="Answer")).to_contain_text("in the old mill")
    expect(page.get_by_role("list", name="Attached")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("article", name="Answer")).to_be_visible()
    page.evaluate(LINE)
    box.fill("And then?")
    box.press("Enter")
    until(page, "() => window.asked.length === 1")
    [shelf] = page.evaluate("() => window.asked[0].options.collections")
    assert shelf.startswith("Attached 2")


def test_a_file_that_cannot_be_read_says_why(goto: Goto, page: Page) -> None:
    """A picture leads to the setting that reads it."""
    goto("/ask")
    paste(page, "empty.md", "")
    expect(page.locator(".composer-file-failed")).to_contain_text("empty")
    page.get_by_label("Attach files or pictures").last.set_input_files(
        {"name": "poster.png", "mimeType": "image/png", "buffer": make_picture()}
    )
    told = page.locator(".composer-file-failed", has_text="poster.png")
    expect(told).to_contain_text("Turn on “Read text in pictures” in Settings")
    expect(told).not_to_contain_text("CITEWELL_")
    expect(told.get_by_role("link", name="Settings")).to_be_visible()


def test_a_long_file_is_asked_before_its_meanings_are_learned(goto: Goto, page: Page) -> None:
    added = {"path": "long.md", "status": "added", "reason": "", "chunks": 1000, "doc_id": "doc_1"}
    job = {"state": "running", "done": 32, "total": 1000, "result": {"files": [added]}}
    told = f"event: progress\ndata: {json.dumps(job)}\n\n"
    page.route(
        "**/api/jobs/*/events",
        lambda route: route.fulfill(content_type="text/event-stream", body=told),
    )
    goto("/ask")
    paste(page, "long.md", "# Long\n\nIt is long.\n")
    expect(page.locator(".composer-file-read")).to_contain_text("long.md")


def test_a_file_is_taken_off_again(served: Served, goto: Goto, page: Page) -> None:
    """Before the question: nothing is left of it, and the question does not ask it."""
    goto("/ask")
    paste(page, "secret.md", "# Secret\n\nThe secret colour is teal.\n")
    expect(page.locator(".composer-file-read")).to_have_count(1)
    shelves = [each["name"] for each in served.api("GET", "/collections")["collections"]]
    [shelf] = [name for name in shelves if name.startswith("Attached") and listed(served, name)]
    with page.expect_response("**/api/documents/*"):
        page.get_by_role("button", name="Remove secret.md").click()
    expect(page.locator(".composer-file")).to_have_count(0)
    assert listed(served, shelf) == []
    goto("/library")  # where what conversations brought stands apart
    expect(page.get_by_role("link", name=shelf)).to_be_hidden()
    page.get_by_text("Attached in conversations").click()
    expect(page.get_by_role("link", name=shelf)).to_be_visible()


def listed(served: Served, collection: str) -> list[str]:
    found = served.api("GET", f"/collections/{collection}/documents")["documents"]
    return [each["title"] for each in found if each["title"] == "Secret"]


def test_all_collections_are_asked(served: Served, goto: Goto, page: Page) -> None:
    served.add("north", "bell.md", "# Bell\n\nThe bell of the north tower weighs nine tons.")
    served.add("south", "gate.md", "# Gate\n\nThe gate of the south wall is made of oak.")
    goto("/ask")
    page.get_by_role("button", name="Asking").click()
    page.get_by_role("checkbox", name="All").check()
    page.keyboard.press("Escape")
    box = page.get_by_role("textbox", name="Your question")
    for question, told in (
        ("How much does the bell of the north tower weigh?", "nine tons"),
        ("What is the gate of the south wall made of?", "oak"),
    ):
        box.fill(question)
        box.press("Enter")
        expect(page.get_by_role("article", name="Answer").last).to_contain_text(told)
    page.reload()
    expect(
        page.get_by_role("button", name=re.compile(r"Asking: All \d+ collections"))
    ).to_be_visible()


def test_some_collections_are_ticked(served: Served, goto: Goto, page: Page, axe: Any) -> None:
    for name in ("default", "north", "south", "west"):
        served.add(name, f"{name}.md", f"# Well\n\nThe well of the {name} is deep.")
    goto("/ask")
    asked = page.get_by_role("button", name="Asking")
    asked.click()
    page.get_by_role("checkbox", name="north").check()
    page.get_by_role("checkbox", name="default").uncheck()
    expect(page.get_by_role("checkbox", name="north")).to_be_disabled()  # one is asked at least
    page.get_by_role("checkbox", name="west").check()
    axe(page)
    page.reload()
    expect(asked).to_have_accessible_name("Asking: 2 collections")
    page.evaluate(LINE)
    page.get_by_role("textbox", name="Your question").fill("How deep is the well?")
    page.keyboard.press("Enter")
    until(page, "() => window.asked.length === 1")
    request = page.evaluate("() => window.asked[0]")
    assert (request["collection"], request["options"]["collections"]) == ("north", ["west"])


def test_documents_and_tables_are_ticked(served: Served, goto: Goto, page: Page, axe: Any) -> None:
    """One document is asked alone, with what is attached; a table takes its place."""
    served.add("mills", "wind.md", "# Wind\n\nThe wind mill grinds rye.")
    water = served.add("mills", "water.md", "# Water\n\nThe water mill grinds oats.")
    served.api("POST", "/data/sources", files={"file": ("grain.csv", b"grain,tons\nrye,5\n")})
    goto("/ask")
    page.evaluate(LINE)
    asked = page.get_by_role("button", name="Asking")
    asked.click()
    page.get_by_role("button", name="Documents in mills").click()
    page.get_by_role("checkbox", name="Water").check()
    axe(page)
    expect(asked).to_have_accessible_name("Asking: 1 document")
    page.keyboard.press("Escape")
    paste(page, "steam.md", "# Steam\n\nThe steam mill grinds wheat.\n")
    expect(page.locator(".composer-file-read")).to_have_count(1)
    page.get_by_role("textbox", name="Your question").fill("What is ground?")
    page.keyboard.press("Enter")
    until(page, "() => window.asked.length === 1")
    request = page.evaluate("() => window.asked[0]")
    assert request["collection"] == "mills"
    [shelf] = request["options"]["collections"]
    [steam] = served.api("GET", f"/collections/{shelf}/documents")["documents"]
    assert request["options"]["doc_ids"] == [water, steam["doc_id"]]
    page.get_by_role("button", name="Stop").click()
    asked.click()
    page.get_by_role("checkbox", name="grain").check()
    expect(asked).to_have_accessible_name("Asking: grain")
    expect(page.get_by_role("checkbox", name="Water")).not_to_be_checked()


@pytest.mark.parametrize("place", ["/sites", "/data/tides"])
def test_what_belongs_to_no_site_or_table_is_asked_in_a_conversation(
    served: Served, goto: Goto, page: Page, place: str
) -> None:
    """A file goes to a new conversation, with what is written; a draft stays where it was begun."""
    served.api("POST", "/data/sources", files={"file": ("tides.csv", b"port,metres\nHull,6\n")})
    goto(place)
    box = page.get_by_role("textbox", name="Your question")
    box.fill("Where does the crane nest?")
    goto("/library")
    goto(place)
    expect(box).to_have_value("Where does the crane nest?")
    page.reload()
    expect(box).to_have_value("Where does the crane nest?")
    paste(page, "crane.md", "# Crane\n\nThe crane nests in the reeds.\n")
    expect(page.get_by_role("list", name="Attached")).to_contain_text("crane.md")
    expect(page).to_have_url(re.compile("#/ask$"))
    expect(box).to_have_value("Where does the crane nest?")
    box.press("Enter")
    expect(page.get_by_role("article", name="Answer")).to_contain_text("in the reeds")

"""Knowledge in the page: what people said of answers, as it becomes knowledge, is reviewed,
disputed and undone.

The one rule: what the page says was done is looked up over the API afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import EVERY_LOOK, ME, PATIENCE, Served

Goto = Callable[..., Page]
expect.set_options(timeout=PATIENCE * 1000)
QUESTION = "When was the lighthouse built?"
LIGHT = "# Lighthouse\n\nThe lighthouse was built in {}. Its lamp is electric.\n"
HOSTILE = "It was <img src=x onerror=window.harm=1> **1862**"


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none"}


def ask(
    served: Served, collection: str, question: str = QUESTION, **options: Any
) -> dict[str, Any]:
    body = {"question": question, "collection": collection, "options": options}
    answer: dict[str, Any] = served.api("POST", "/ask", json=body)
    return answer


def say(
    served: Served, trace_id: str, right: bool, correction: str | None = None
) -> dict[str, Any]:
    """What became of a word, when its job is done."""
    given = served.api(
        "POST",
        "/feedback",
        json={"trace_id": trace_id, "is_correct": right, "user_correction": correction},
    )
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        vote: dict[str, Any] = served.api("GET", f"/feedback/{given['feedback_id']}")
        if vote["state"] != "waiting":
            return vote
        time.sleep(0.05)
    raise AssertionError("the job of a vote did not end")


def confirmed(served: Served, collection: str, year: int, **options: Any) -> str:
    """The id of an item that says this year."""
    answer = ask(served, collection, **options)
    assert str(year) in answer["answer"], answer
    vote = say(served, answer["trace_id"], right=True)
    assert vote["outcome"] == "active", vote
    return str(vote["item_id"])


def test_empty(goto: Goto, axe: Callable[..., None]) -> None:
    """Each part says what it is for and what to do first. It runs first: nothing is there yet."""
    page = goto("/knowledge")
    expect(page.get_by_role("heading", name="Nothing is confirmed yet")).to_be_visible()
    expect(page.get_by_role("link", name="Ask a question")).to_have_attribute("href", "#/ask")
    for part, words in {
        "Rules to review": "No corrections yet",
        "Conflicts": "No disagreements",
        "Answered wrong": "No wrong answers reported",
        "My feedback": "No feedback yet",
    }.items():
        page.get_by_role("link", name=part).click()
        expect(page.get_by_role("heading", name=words)).to_be_visible()
        expect(page.get_by_role("link", name=part)).to_have_attribute("aria-current", "page")
    axe(page)


def test_confirmed_and_undone(served: Served, goto: Goto, picture: Callable[..., None]) -> None:
    """An answer that was said to be right is an item, with all that is known of it, until it is
    undone with a reason.
    """
    served.add("lights", "lighthouse.md", LIGHT.format(1857))
    item_id = confirmed(served, "lights", 1857)
    page = goto("/knowledge")
    row = page.get_by_role("main").get_by_role("listitem").filter(has_text=QUESTION)
    expect(row).to_contain_text("in use")
    expect(row).to_contain_text("local")
    expect(row).not_to_contain_text("weight")
    page.get_by_label("Search").fill("nothing says this")
    expect(row).to_have_count(0)
    page.get_by_label("Search").fill("LIGHTHOUSE")
    page.get_by_label("State").select_option("active")
    page.get_by_label("Source or collection").select_option("lights")
    picture("knowledge-confirmed")
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", name=QUESTION)).to_be_visible()
    expect(page.get_by_role("blockquote").first).to_have_text("The lighthouse was built in 1857.")
    expect(page.get_by_role("button", name="Confirm too")).to_be_disabled()
    page.get_by_text("Its document", exact=True).click()
    expect(page.locator("pre", has_text="category: confirmed_qa")).to_contain_text(
        "The lighthouse was built in 1857."
    )
    picture("knowledge-item", full=True)
    page.get_by_role("button", name="Undo", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("a newer book says otherwise")
    dialog.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone. Ask again")).to_be_visible()
    expect(page.get_by_text("a newer book says otherwise").first).to_be_visible()
    expect(page.get_by_role("button", name="Undo", exact=True)).to_have_count(0)
    kept = served.api("GET", f"/knowledge/confirmed/{item_id}")
    assert (kept["state"], kept["reason"]) == ("undone", "a newer book says otherwise")


def test_an_undo_that_is_thought_over(served: Served, goto: Goto) -> None:
    served.add("quays", "quay.md", LIGHT.format(1901))
    item_id = confirmed(served, "quays", 1901)
    page = goto(f"/knowledge?item={item_id}")
    undo = page.get_by_role("button", name="Undo", exact=True)
    undo.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(undo).to_be_focused()
    assert served.api("GET", f"/knowledge/confirmed/{item_id}")["state"] == "active"


def test_a_correction_is_reviewed(served: Served, goto: Goto, picture: Callable[..., None]) -> None:
    """It stands beside what it corrects, as text whatever is in it; approved it is used."""
    served.add("capes", "cape.md", LIGHT.format(1858))
    answer = ask(served, "capes")
    rule_id = say(served, answer["trace_id"], right=False, correction=HOSTILE)["item_id"]
    page = goto("/knowledge/rules")
    card = page.get_by_role("article").filter(has_text=HOSTILE)
    expect(card.locator(".side.before")).to_contain_text("1858")
    expect(card.locator(".side.now")).to_contain_text(HOSTILE)
    assert page.locator("main img").count() == 0
    assert page.evaluate("window.harm") is None
    picture("knowledge-rules")
    card.get_by_role("button", name="Approve").click()
    expect(card).to_contain_text("in use")
    assert served.api("GET", f"/knowledge/rules/{rule_id}")["state"] == "active"
    card.get_by_role("button", name="Withdraw").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("it was the other one")
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(card).to_contain_text("undone")
    rule = served.api("GET", f"/knowledge/rules/{rule_id}")
    assert (rule["state"], rule["reason"]) == ("undone", "it was the other one")
    page = goto(f"/knowledge?item={rule_id}")
    expect(page.get_by_role("list").filter(has_text="it was the other one")).to_contain_text(
        "local"
    )
    page = goto("/knowledge/wrong")
    expect(page.get_by_role("article").filter(has_text="1858")).to_contain_text("1 correction")
    page = goto("/knowledge/mine")
    expect(page.get_by_role("article").filter(has_text=HOSTILE)).to_contain_text("You said: wrong")


def test_a_conflict_is_settled(
    served: Served, goto: Goto, axe: Callable[..., None], picture: Callable[..., None]
) -> None:
    """Two books, two years, both confirmed: side by side, until one is kept."""
    one = served.add("books", "old.md", LIGHT.format(1857))
    other = served.add(
        "books",
        "new.md",
        "# Lighthouse\n\nIts lamp is electric. The lighthouse was built in 1862.\n",
    )
    kept = confirmed(served, "books", 1857, doc_ids=[one], knowledge=False)
    gone = confirmed(served, "books", 1862, doc_ids=[other], knowledge=False)
    assert {
        side["item_id"]
        for side in served.api("GET", "/knowledge/conflicts")["conflicts"][0]["sides"]
    } == {kept, gone}
    page = goto(f"/knowledge?item={kept}")
    expect(page.get_by_role("link", name=gone)).to_be_visible()
    page.get_by_role("link", name="Compare").click()
    side = page.locator(".side").filter(has_text="1857")
    expect(page.locator(".side").filter(has_text="1862")).to_be_visible()
    expect(side.locator("mark", has_text="1857")).to_be_visible()
    axe(page)
    picture("knowledge-conflict")
    side.get_by_role("button", name="Keep this").click()
    page.get_by_role("dialog").get_by_role("button", name="Keep this").click()
    expect(page.get_by_role("heading", name="No disagreements")).to_be_visible()
    assert served.api("GET", f"/knowledge/confirmed/{gone}")["state"] == "undone"
    assert served.api("GET", f"/knowledge/confirmed/{kept}")["state"] == "active"


def test_health(served: Served, goto: Goto) -> None:
    """What does not hold any more is set aside and said; cleaning is shown first, and nothing goes
    by looking.
    """
    served.add("moles", "mole.md", LIGHT.format(1877))
    item_id = confirmed(served, "moles", 1877)
    served.add("moles", "mole.md", LIGHT.format(1878))
    file = served.home / "knowledge" / "confirmed_qa" / "tr_0123456789abcdef.md"
    file.write_text("of no item\n", "utf-8")
    page = goto("/knowledge/health")
    page.get_by_role("button", name="Check now").click()
    row = page.get_by_role("listitem").filter(has_text="does not say any more")
    expect(row).to_contain_text("set aside")
    assert served.api("GET", f"/knowledge/confirmed/{item_id}")["state"] == "quarantined"
    page.get_by_role("button", name="Show what would be removed").click()
    expect(page.get_by_text("This would be removed:")).to_be_visible()
    assert file.exists()
    page.get_by_role("button", name="Clean up now").click()
    page.get_by_role("dialog").get_by_role("button", name="Clean up now").click()
    expect(page.get_by_text("This was removed:")).to_be_visible()
    assert not file.exists()
    page = goto(f"/knowledge?item={item_id}")
    page.get_by_role("button", name="Use again").click()
    expect(page.get_by_role("button", name="Confirm too")).to_be_visible()
    assert served.api("GET", f"/knowledge/confirmed/{item_id}")["state"] == "active"


def test_a_reader_sees_why_not(served: Served, page: Page, goto: Goto) -> None:
    """What a role may not do is disabled, and says so; parts for reviewers ask for nothing."""
    served.add("piers", "pier.md", LIGHT.format(1888))
    item_id = confirmed(served, "piers", 1888)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    me = {"user_id": "ann", "role": "reader", "auth": "token", "csrf": "word"}
    page.route(ME, lambda route: route.fulfill(json=me))
    goto(f"/knowledge?item={item_id}")
    for name in ("Undo", "Confirm too"):
        button = page.get_by_role("button", name=name, exact=True)
        expect(button).to_be_disabled()
        expect(button).to_have_accessible_description(
            "Only reviewers can do this; you are a reader."
        )
    for part in ("Conflicts", "Answered wrong"):
        page.get_by_role("link", name=part).click()
        expect(page.get_by_role("heading", name="For reviewers")).to_be_visible()
    page.get_by_role("link", name="Health").click()
    for name in ("Check now", "Show what would be removed"):
        expect(page.get_by_role("button", name=name)).to_be_disabled()
    assert not [
        url for url in asked if "/api/knowledge/conflicts" in url or "/api/feedback/wrong" in url
    ]


@EVERY_LOOK
def test_on_a_phone_in_the_dark_in_chinese(
    served: Served,
    goto: Goto,
    axe: Callable[..., None],
    picture: Callable[..., None],
    language: str,
    width: int,
) -> None:
    """Nothing sticks out, and axe finds nothing, in every part."""
    served.add("towers", "tower.md", LIGHT.format(1899))
    answer = ask(served, "towers", knowledge=False)
    item_id = say(served, answer["trace_id"], right=True)["item_id"]
    page = goto("/knowledge")
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "知识" if language == "zh" else "Knowledge"
    )
    for path in (
        "/knowledge",
        f"/knowledge?item={item_id}",
        "/knowledge/rules",
        "/knowledge/health",
        "/knowledge/mine",
    ):
        goto(path)
        expect(page.locator("main .spinner")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        axe(page)
        picture(f"knowledge-{path.strip('/').split('?')[0].replace('/', '-')}")

"""What a first user stumbles on: greetings, menus at the lower edge, files that need a setting, the
wrong place to ask.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import FilePayload, Page, expect
from tests.page.conftest import Served

Goto = Callable[..., Page]
STAFF = b"city,amount\nBerlin,1200\nUlm,300\n"


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none"}


@pytest.fixture(scope="module", autouse=True)
def mill(served: Served) -> None:
    served.add("default", "mill.md", "# Mill\n\nThe mill grinds rye on Tuesdays.")


def ask(page: Page, question: str) -> None:
    page.get_by_role("textbox", name="Your question").fill(question)
    page.keyboard.press("Enter")


def test_a_greeting_is_answered_without_a_form_to_fill(goto: Goto) -> None:
    page = goto("/ask")
    ask(page, "hello")
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text("Ask me something about your documents")
    expect(answer.locator(".answer-head")).to_have_count(0)


def test_quotes_that_sum_up_carry_no_score(page: Page, goto: Goto) -> None:
    """How well they do was not measured; that is what the details say."""
    goto("/ask")
    ask(page, "Summarise the mill")
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text("The mill grinds rye on Tuesdays.")
    expect(answer).not_to_contain_text("confident")
    answer.get_by_text("Details").click()
    expect(answer).to_contain_text("How well they sum it up is not measured.")


def test_a_promise_to_remember_carries_no_score(page: Page, goto: Goto) -> None:
    goto("/ask")
    page.get_by_label("Answered by").select_option("dual_loop")
    ask(page, "Remember that my plan is Pro.")
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text("I will remember")
    expect(answer).to_contain_text("Details")
    expect(answer).not_to_contain_text("confident")


def test_a_sample_table_is_one_click(page: Page, goto: Goto) -> None:
    goto("/data")
    page.get_by_role("button", name="Try it with a sample table").click()
    expect(page.get_by_role("heading", name="costs")).to_be_visible()
    expect(page.get_by_placeholder("What is the total")).to_be_visible()


def test_a_menu_at_the_lower_edge_is_seen_whole(served: Served, page: Page, goto: Goto) -> None:
    for n in range(12):
        served.api("POST", "/ask", json={"question": f"When does mill {n} grind?"})
    goto("/ask")
    talks = page.get_by_role("region", name="Conversations")
    last = talks.get_by_role("button", name="Actions for").last
    last.scroll_into_view_if_needed()
    last.click()
    entry = page.get_by_role("menuitem", name="Delete")
    expect(entry).to_be_in_viewport(ratio=1)
    edge = page.locator(".sidebar .foot").first.bounding_box()
    place = entry.bounding_box()
    assert place is not None
    assert edge is None or place["y"] + place["height"] <= edge["y"] + 1


def test_the_tick_of_a_menu_is_a_tick(goto: Goto, page: Page) -> None:
    """Whatever styles other parts have brought by then."""
    goto("/library")
    page.get_by_role("button", name="Theme").click()
    tick = page.get_by_role("menuitemradio", checked=True).locator(".menu-tick")
    expect(tick).to_be_visible()
    box = tick.bounding_box()
    assert box is not None
    assert (round(box["width"]), round(box["height"])) == (16, 16)


def test_a_picture_leads_to_the_setting_that_reads_it(goto: Goto, page: Page) -> None:
    kept = io.BytesIO()
    Image.new("RGB", (40, 20), "white").save(kept, "PNG")
    goto("/library/default")
    poster = FilePayload(name="poster.png", mimeType="image/png", buffer=kept.getvalue())
    page.locator("input[type=file]").first.set_input_files([poster])
    told = page.locator("li.lib-file.failed", has_text="poster.png")
    expect(told).to_contain_text("Turn on “Read text in pictures” in Settings")
    expect(told).not_to_contain_text("CITEWELL_")
    told.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("checkbox", name="Read text in pictures")).to_be_visible()


def test_tables_without_a_chat_model_lead_to_settings(
    served: Served, page: Page, goto: Goto
) -> None:
    served.api("POST", "/data/sources", files={"file": ("staff.csv", STAFF)})
    goto("/data/staff")
    page.get_by_role("textbox", name="Your question").fill("What is the total amount?")
    page.keyboard.press("Enter")
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text("choose one in Settings")
    answer.get_by_role("link", name="Choose a chat model").click()
    expect(page.locator("html[data-view=settings]")).to_be_attached()


def test_tables_that_do_not_know_send_on_to_other_tables(
    served: Served, page: Page, goto: Goto
) -> None:
    for name in ("rents", "wages"):
        served.api("POST", "/data/sources", files={"file": (f"{name}.csv", STAFF)})

    def propose(route: Any) -> None:
        place = '"elsewhere": {"agent": "data", "source": "wages", "collection": ""}'
        named = re.sub(r'"elsewhere": ?null', place, route.fetch().text())
        route.fulfill(body=named, headers={"Content-Type": "text/event-stream"})

    goto("/data/rents")
    page.route("**/api/ask*", propose)
    page.get_by_role("textbox", name="Your question").fill("What is the total amount?")
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name="Ask the tables wages")
    expect(button).to_be_visible()
    page.unroute("**/api/ask*")
    with page.expect_request("**/api/ask*") as asked:
        button.click()
    sent: Any = asked.value.post_data_json
    assert (sent["question"], sent["options"]["source"]) == ("What is the total amount?", "wages")
    expect(page.get_by_role("article", name="Answer")).to_have_count(2)


def test_tables_that_do_not_know_send_on_to_documents(
    served: Served, page: Page, goto: Goto
) -> None:
    """Where the server proposes it; the question is asked there, and not typed again."""
    served.api("POST", "/data/sources", files={"file": ("orders.csv", STAFF)})

    def propose(route: Any) -> None:
        body = route.fetch().text()
        place = '"elsewhere": {"agent": "qa", "source": "", "collection": "default"}'
        named = re.sub(r'"elsewhere": ?null', place, body)
        route.fulfill(body=named, headers={"Content-Type": "text/event-stream"})

    goto("/data/orders")
    page.route("**/api/ask*", propose)
    page.get_by_role("textbox", name="Your question").fill("When does the mill grind rye?")
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name="Ask the documents")
    expect(button).to_be_visible()
    page.unroute("**/api/ask*")
    button.click()
    answer = page.get_by_role("article", name="Answer").last
    expect(answer).to_contain_text("grinds rye on Tuesdays")


def test_an_answer_from_a_row_leads_to_the_whole_table(
    served: Served, page: Page, goto: Goto, axe: Any, picture: Any
) -> None:
    """Where the server proposes it, under the answer."""
    served.api("POST", "/data/sources", files={"file": ("tides.csv", STAFF)})

    def propose(route: Any) -> None:
        place = '"elsewhere": {"agent": "data", "source": "tides", "collection": ""}'
        named = re.sub(r'"elsewhere": ?null', place, route.fetch().text())
        route.fulfill(body=named, headers={"Content-Type": "text/event-stream"})

    goto("/ask")
    page.route("**/api/ask*", propose)
    ask(page, "When does the mill grind rye?")
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_contain_text("grinds rye on Tuesdays")
    button = page.get_by_role("button", name="Ask the tables tides")
    expect(button).to_be_visible()
    picture("ask-row")
    axe(page)
    page.unroute("**/api/ask*")
    with page.expect_request("**/api/ask*") as asked:
        button.click()
    sent: Any = asked.value.post_data_json
    assert (sent["agent"], sent["options"]["source"]) == ("data", "tides")

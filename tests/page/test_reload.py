"""A page that is loaded anew while an answer is made: the question is still there, with what became
of it.

The one rule: only the line of the answer is held by the test; what became of the question is asked
of the real server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from tests.page.conftest import Served, until
from tests.page.told import LINE, answer

Goto = Callable[..., Page]
STEP = {"n": 1, "node": "InputValidationNode", "action": "default", "seconds": 0.01}


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_EMBEDDER": "builtin", "CITEWELL_LLM": "none"}


def asked(page: Page, text: str, agent: str) -> None:
    page.evaluate(LINE)
    page.get_by_label("Answered by").select_option(agent)
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
        has_text="The page was reloaded before the answer arrived."
    )
    expect(lost).to_contain_text("nothing was saved")
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
    expect(page.locator(".waiting-now")).to_contain_text("Saving the answer")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("it can continue where it left off")
    page.evaluate(LINE)
    page.get_by_role("button", name=re.compile("^What holds\\?")).click()
    until(page, "() => window.asked.length === 1")
    assert page.evaluate("() => window.asked[0].resume") == "tr_9"
    expect(page.locator(".question")).to_have_count(1)


def test_what_is_being_answered_is_heard_again(goto: Goto, page: Page) -> None:
    """The run went on in the server: the page hears all its events, after a reload and from another
    window; stopping it ends it there.
    """
    live = {"trace_id": "tr_5", "agent": "qa", "question": "Who?", "session_id": ""}
    told = {"runs": [], "live": [live | {"started_at": 1}]}
    for path in ("**/api/runs", "**/api/runs?*"):
        page.route(path, lambda route: route.fulfill(json=told))
    step = STEP | {"detail": {"trace_id": "tr_5"}}
    lines = f"event: step\ndata: {json.dumps(step)}\n\n"
    lines += f"event: answer\ndata: {json.dumps(answer(trace_id='tr_5'))}\n\n"
    page.route(
        "**/api/runs/tr_5/events*",
        lambda route: route.fulfill(body=lines, content_type="text/event-stream"),
    )
    goto("/ask")
    asked(page, "Who?", "qa")
    page.evaluate(
        "([event, data]) => window.line(event, data)",
        ["step", {**STEP, "detail": {"trace_id": "tr_5"}}],
    )
    expect(page.locator(".waiting-now")).to_contain_text("Understanding the question")
    page.reload()
    expect(page.get_by_role("article", name="Answer")).to_contain_text("27 days")
    page.evaluate("() => sessionStorage.clear()")
    page.reload()
    page.get_by_role("button", name=re.compile("^Who\\?")).click()
    expect(page.get_by_role("article", name="Answer")).to_contain_text("27 days")
    page.get_by_role("button", name="New conversation").click()
    asked(page, "Who then?", "qa")
    page.evaluate(
        "([event, data]) => window.line(event, data)",
        ["step", {**STEP, "detail": {"trace_id": "tr_6"}}],
    )
    expect(page.locator(".waiting-now")).to_contain_text("Understanding the question")
    with page.expect_request(re.compile("/api/runs/tr_6/cancel")):
        page.get_by_role("button", name="Stop").click()


def test_an_answer_that_comes_just_before_the_page_listens_again(goto: Goto, page: Page) -> None:
    """The run was under way when the page asked what runs, and had ended when it wanted to hear."""
    live = {"trace_id": "tr_7", "agent": "qa", "question": "Who?", "session_id": ""}
    underway = [live | {"started_at": 1}]

    def end(route: Route) -> None:
        underway.clear()
        error = {"code": "not_found", "message": "no question is being answered", "hint": ""}
        route.fulfill(status=404, json={"error": error})

    page.route(
        re.compile(r"/api/runs(\?|$)"),
        lambda route: route.fulfill(json={"runs": [], "live": [*underway]}),
    )
    page.route("**/api/runs/tr_7/events*", end)
    page.route(
        "**/api/traces/tr_7*",
        lambda route: route.fulfill(json={"answer": answer(trace_id="tr_7"), "steps": [STEP]}),
    )
    goto("/ask")
    asked(page, "Who?", "qa")
    page.evaluate(
        "([event, data]) => window.line(event, data)",
        ["step", {**STEP, "detail": {"trace_id": "tr_7"}}],
    )
    expect(page.locator(".waiting-now")).to_contain_text("Understanding the question")
    page.reload()
    expect(page.get_by_role("article", name="Answer")).to_contain_text("27 days")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_what_is_half_written_stays(goto: Goto, page: Page) -> None:
    goto("/ask")
    box = page.get_by_role("textbox", name="Your question")
    box.fill("Half a ques")
    goto("/library")
    goto("/ask")
    expect(box).to_have_value("Half a ques")
    page.reload()
    expect(box).to_have_value("Half a ques")
    page.evaluate(LINE)
    box.fill("A whole question?")
    page.keyboard.press("Enter")
    until(page, "() => window.asked.length === 1")
    page.evaluate("data => window.line('answer', data)", answer())
    page.evaluate("() => window.cut()")
    expect(page.get_by_role("article", name="Answer")).to_be_visible()
    page.reload()
    expect(box).to_have_value("")


def test_a_server_that_comes_back(served: Served, goto: Goto, page: Page) -> None:
    """While it is gone nothing is said to be missing; when it is back, every part opens and the
    question stands where it was.
    """
    served.add("default", "garden.md", "The garden is closed in winter.")
    goto("/ask")
    expect(page.get_by_role("button", name="Asking: default")).to_be_visible()
    page.get_by_role("textbox", name="Your question").fill("When is it closed?")
    page.get_by_role("textbox", name="Your question").press("Enter")
    expect(page.get_by_role("article", name="Answer")).to_be_visible()
    page.get_by_role("button", name="New conversation").click()
    page.get_by_role("textbox", name="Your question").fill("And the garden?")
    served.stop()
    page.get_by_role("link", name="Library").click()
    expect(page.get_by_text("The server isn’t responding.").first).to_be_visible()
    page.get_by_role("link", name="Ask", exact=True).click()
    expect(page.get_by_text("Ask your own documents")).to_have_count(0)
    page.get_by_role("link", name="Library").click()
    served.start()
    expect(page.get_by_role("heading", name="Library", level=1)).to_be_visible()
    page.get_by_role("link", name="Ask", exact=True).click()
    expect(page.get_by_role("textbox", name="Your question")).to_have_value("And the garden?")
    expect(page.get_by_role("button", name="Asking: default")).to_be_visible()
    expect(page.get_by_text("Ask your own documents")).to_have_count(0)

"""The place to ask, from an empty installation: add, ask, watch, read, cite, judge, come back.

The one rule: what cannot be timed (a draft, a run that is stopped) is told to the page event by
event, over a line that the test holds; all else is asked of the real server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import Served, until
from tests.page.told import LINE, answer

POLICY = (
    Path(__file__).resolve().parents[2] / "samples" / "library" / "information-security-policy.md"
)
QUESTION = "How many characters does a password have at least?"
PROOF = "Passwords have at least 14 characters"
Goto = Callable[..., Page]


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {
        "CITEWELL_LLM": "none",
        "CITEWELL_EMBEDDER": "builtin",
    }  # a refusal shows what is near by meaning


@pytest.fixture
def said(page: Page) -> Callable[[str, Any], None]:
    """Tells the page one event of the answer it waits for."""

    def say(event: str, data: Any) -> None:
        page.evaluate("([event, data]) => window.line(event, data)", [event, data])

    return say


def question(page: Page, text: str = QUESTION) -> None:
    page.get_by_role("textbox", name=re.compile("Your question|您的问题")).fill(text)
    page.keyboard.press("Enter")


def test_from_nothing_to_a_conversation(
    served: Served, goto: Goto, page: Page, axe: Any, picture: Any
) -> None:
    """The main task of the page, whole; what was asked is there after a reload, with its proof."""
    page.goto(served.url)  # as a person opens it: the bare address, with nothing behind a #
    expect(page.get_by_role("link", name="Add documents")).to_have_attribute("href", "#/library")
    picture("ask-empty")
    axe(page)
    served.add("default", POLICY.name, POLICY.read_bytes())
    page.reload()
    question(page)
    shown = page.get_by_role("article", name="Answer")
    expect(shown).to_contain_text(PROOF)
    expect(page).to_have_url(re.compile(r"#/ask/ses_\w+$"))
    shown.get_by_text("Details", exact=True).click()
    shown.get_by_text("Steps", exact=True).click()
    expect(
        shown.locator(".ask-step-words").filter(has_text="Searching the documents")
    ).to_contain_text("DocumentRetrievalNode")
    expect(shown.locator(".ask-steps-graph svg").first).to_be_visible()

    cite = shown.get_by_role("button", name=re.compile("^Source 1:"))
    cite.focus()
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text(PROOF)
    expect(cite).to_have_attribute("aria-describedby", tip.get_attribute("id") or "none")
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    cite.hover()
    expect(tip).to_be_visible()
    axe(page)
    cite.click()
    expect(page.locator("mark").filter(has_text="14 characters").first).to_be_visible()
    page.keyboard.press("Escape")

    shown.get_by_role("button", name="This is right").click()
    expect(shown.get_by_role("status")).to_contain_text("later answers follow it")
    page.reload()
    expect(shown).to_contain_text(PROOF)
    expect(shown.get_by_role("button", name="This is right")).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(shown.get_by_role("button", name=re.compile("^Source 1:"))).to_be_visible()
    picture("ask")
    axe(page)


def test_questions_that_were_checked_lead_in_and_on(
    goto: Goto, page: Page, said: Any, axe: Any, picture: Any
) -> None:
    """A click asks; what was asked is not offered again."""
    found = [
        {"question": f"Question {n}?", "doc_id": "doc_1", "title": "Handbook", "lang": "en"}
        for n in range(4)
    ]
    page.route(
        "**/api/collections/*/questions?*", lambda route: route.fulfill(json={"questions": found})
    )
    goto("/ask")
    first = page.get_by_role("list", name="Try one of these").get_by_role("button").first
    expect(first).to_contain_text("Handbook")
    picture("ask-examples")
    axe(page)
    page.evaluate(LINE)
    first.click()
    until(page, "() => window.asked.length === 1")
    assert page.evaluate("() => window.asked[0].question") == "Question 0?"
    said("answer", answer())
    page.evaluate("() => window.cut()")
    onward = page.get_by_role("region", name="You could also ask").get_by_role("button")
    expect(onward).to_have_text(["Question 1?", "Question 2?", "Question 3?"])
    axe(page)
    onward.first.click()
    until(page, "() => window.asked.length === 2")
    assert page.evaluate("() => window.asked[1].question") == "Question 1?"


def test_conversations_are_found_renamed_and_deleted(
    served: Served, goto: Goto, page: Page
) -> None:
    for n in range(5):
        served.api(
            "POST",
            "/ask",
            json={"question": f"When is a password of year {n} changed?", "agent": "dual_loop"},
        )
    goto("/ask")
    talks = page.get_by_role("region", name="Conversations")
    talks.get_by_role("searchbox").fill("year 3")
    expect(talks.get_by_role("link")).to_have_count(1)
    talks.get_by_role("link").click()
    expect(page.get_by_role("heading", level=2)).to_have_text(
        "When is a password of year 3 changed?"
    )
    talks.get_by_role("button", name=re.compile("^Actions for")).click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_label("Title", exact=True).fill("Year <b>three</b>")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    talks.get_by_role("searchbox").fill("three")
    expect(talks.get_by_role("link")).to_contain_text("Year <b>three</b>")
    talks.get_by_role("button", name=re.compile("^Actions for")).click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(talks.get_by_text("No matches.")).to_be_visible()
    expect(page).to_have_url(re.compile("#/ask$"))
    titles = [each["title"] for each in served.api("GET", "/sessions")["sessions"]]
    assert "Year <b>three</b>" not in titles
    assert "When is a password of year 2 changed?" in titles


def test_wrong_with_a_correction(served: Served, goto: Goto, page: Page) -> None:
    """The correction is kept as a rule that waits, and the page says so."""
    goto("/ask")
    question(page)
    shown = page.get_by_role("article", name="Answer")
    shown.get_by_role("button", name="This is wrong").click()
    page.get_by_label(re.compile("^What would be right")).fill("It has 16 characters at least.")
    page.get_by_role("button", name="Report as wrong").click()
    expect(shown.get_by_role("status")).to_contain_text("waiting for review")
    [rule] = served.api("GET", "/knowledge/rules")["rules"]
    assert rule["correction"] == "It has 16 characters at least."


def test_a_draft_is_a_draft_until_it_is_proved(goto: Goto, page: Page, said: Any) -> None:
    """Steps come one by one, the next one is lit; the draft says that it is unchecked, a new try
    begins it anew.
    """
    goto("/ask")
    page.evaluate(LINE)
    page.get_by_label("Answered by").select_option("dual_loop")
    question(page)
    page.get_by_text("Details", exact=True).click()
    lit = page.locator("[aria-current=step]")
    expect(lit).to_contain_text("Recalling what it knows about you")
    said(
        "step",
        {
            "n": 1,
            "node": "retrieve_memory",
            "action": "route_query",
            "seconds": 0.01,
            "detail": {"trace_id": "tr_1"},
        },
    )
    expect(lit).to_contain_text("Choosing where to look")
    said(
        "step",
        {
            "n": 2,
            "node": "route_query",
            "action": "search",
            "seconds": 0.2,
            "detail": {"reason": "the question asks"},
        },
    )
    expect(lit).to_contain_text("rewrite_query")
    expect(page.locator(".ask-steps-list")).to_contain_text("the question asks")
    said("token", {"text": "Perhaps **28"})
    said("token", {"text": "** days."})
    draft = page.locator(".draft")
    expect(draft).to_contain_text("not checked yet")
    expect(draft.locator("strong")).to_have_text("28")
    said(
        "step", {"n": 3, "node": "rewrite_query", "action": "search", "seconds": 0.2, "detail": {}}
    )
    said("token", {"text": "They get 27."})
    expect(draft).not_to_contain_text("28")
    said("answer", answer())
    page.evaluate("() => window.cut()")
    expect(page.get_by_role("article", name="Answer")).to_contain_text("Employees get 27 days.")
    expect(draft).to_have_count(0)


def test_stop_and_go_on(goto: Goto, page: Page, said: Any) -> None:
    """A run that was stopped goes on under its own name where the server has kept it; a line that
    ends without an answer says so, and what the server knows of it.
    """
    kept = [{"trace_id": "tr_7"}]
    page.route("**/api/runs?*", lambda route: route.fulfill(json={"runs": kept}))
    page.route("**/api/runs", lambda route: route.fulfill(json={"runs": kept}))
    goto("/ask")
    page.evaluate(LINE)
    page.get_by_label("Answered by").select_option("dual_loop")
    question(page)
    said(
        "step",
        {
            "n": 1,
            "node": "retrieve_memory",
            "action": "route_query",
            "seconds": 0.01,
            "detail": {"trace_id": "tr_7"},
        },
    )
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("It can continue where it left off.")).to_be_visible()
    page.get_by_role("button", name="Continue", exact=True).click()
    until(page, "() => window.asked.length === 2")
    assert page.evaluate("() => window.asked[1].resume") == "tr_7"
    kept.clear()
    page.evaluate("() => window.cut()")
    expect(page.get_by_role("alert")).to_contain_text("nothing was saved")
    expect(page.get_by_role("button", name="Continue", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Edit and ask again").click()
    expect(page.get_by_role("textbox", name="Your question")).to_have_value(QUESTION)


def test_what_keeps_nothing_is_asked_anew(goto: Goto, page: Page, said: Any) -> None:
    """One pass is not kept: a stopped question of `qa` is asked again, with what it was asked
    with.
    """
    goto("/ask")
    page.evaluate(LINE)
    page.get_by_label("Answered by").select_option("qa")
    question(page)
    said(
        "step",
        {
            "n": 1,
            "node": "InputValidationNode",
            "action": "default",
            "seconds": 0.01,
            "detail": {"trace_id": "tr_8"},
        },
    )
    expect(page.locator(".waiting-now")).to_contain_text("Understanding the question")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("You stopped this.", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Continue", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Ask again", exact=True).click()
    until(page, "() => window.asked.length === 2")
    first, second = page.evaluate("() => window.asked")
    assert first == second


def test_the_server_stops_in_the_middle(
    served: Served, goto: Goto, page: Page, said: Any, axe: Any, picture: Any
) -> None:
    """That is told; when the server is back, the answer that it had finished meanwhile stands
    there, and its conversation.
    """
    served.add("default", POLICY.name, POLICY.read_bytes())
    goto("/ask")
    page.evaluate(LINE)
    page.get_by_label("Answered by").select_option("qa")
    asked = "How often is a password of this very test changed?"
    question(page, asked)
    until(page, "() => window.asked.length === 1")
    finished = served.api("POST", "/ask", json={"question": asked})
    detail = {"trace_id": finished["trace_id"]}
    said(
        "step",
        {
            "n": 1,
            "node": "InputValidationNode",
            "action": "default",
            "seconds": 0.01,
            "detail": detail,
        },
    )
    served.stop()
    said(
        "error",
        {
            "error": {
                "code": "stopping",
                "message": "the server is stopping",
                "hint": "ask again when it is back",
            }
        },
    )
    page.evaluate("() => window.cut()")
    lost = page.get_by_role("alert").filter(
        has_text="The server stopped before the answer arrived."
    )
    expect(lost).to_contain_text("Checking whether it was answered")
    expect(page.get_by_role("button", name="Ask again", exact=True)).to_be_visible()
    picture("ask-lost")
    axe(page)
    served.start()
    expect(page.get_by_role("article", name="Answer")).to_be_visible()
    expect(lost).to_have_count(0)
    expect(page).to_have_url(re.compile(f"#/ask/{finished['session_id']}$"))


def test_pages_of_a_site_as_they_are_visited(goto: Goto, page: Page, said: Any) -> None:
    """Each page with why it was chosen, or what went wrong; the run can be told to answer from what
    it has.
    """
    goto("/ask")
    page.evaluate(LINE)
    page.get_by_label("Answered by").select_option("website")
    page.get_by_label("Start at").fill("https://example.com")
    question(page, "What is the return policy?")
    expect(page.get_by_role("button", name="Answer with what you have")).to_have_count(0)
    said("progress", {"kind": "begin", "trace_id": "tr_9", "site": "example.com"})
    visit = {
        "kind": "page",
        "url": "https://example.com/",
        "title": "Home",
        "how": "fetched",
        "problem": "",
        "iteration": 1,
    }
    said("progress", visit | {"why": "a start page", "pages": 1, "links": 7})
    broken = {
        "url": "https://example.com/x",
        "title": "",
        "problem": "404 <b>gone</b>",
        "why": "",
        "pages": 1,
        "links": 6,
    }
    said("progress", visit | broken)
    page.get_by_role("tab", name="List").click()
    listed = page.locator(".visits").first
    expect(listed).to_contain_text("a start page")
    expect(listed.locator(".visit", has_text="/x")).to_contain_text("404 <b>gone</b>")
    expect(page.get_by_text("1 page read, 6 links to go")).to_be_visible()
    page.route(
        "**/api/runs/tr_9/stop*", lambda route: route.fulfill(status=202, json={"trace_id": "tr_9"})
    )
    with page.expect_request(re.compile("/api/runs/tr_9/stop")) as asked:
        page.get_by_role("button", name="Answer with what you have").click()
    assert asked.value.method == "POST"
    expect(page.get_by_text("Wrapping up: answering from what it has read.")).to_be_visible()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_kind_of_no_answer_says_what_to_do(
    goto: Goto, page: Page, said: Any, axe: Any, picture: Any, language: str
) -> None:
    """Refused, a question back, unproved and an error differ in words, and none is taken for an
    answer.
    """
    goto("/ask")
    page.evaluate(LINE)
    doubtful = [
        {
            "text": "It is so.",
            "citations": [],
            "verdict": "unsupported",
            "problems": [{"texts": {"en": "no sentence shows it", "zh": "没有句子能说明这一点"}}],
        }
    ]
    kinds: list[dict[str, Any]] = [
        {
            "status": "refused",
            "stop_reason": "routes_exhausted",
            "answer": "Nothing found.",
            "sentences": [],
            "citations": [],
        },
        {"status": "clarify", "answer": "A or B?", "sentences": [], "citations": []},
        {
            "status": "fallback",
            "answer": "It is so.",
            "sentences": doubtful,
            "confidence": 0.2,
            "warnings": ["beware"],
        },
        {
            "status": "error",
            "answer": "",
            "error_info": {"message": "it broke", "hint": "mend it"},
            "sentences": [],
        },
    ]
    for n, kind in enumerate(kinds):
        question(page, f"Question {n}")
        until(page, "n => window.asked.length === n + 1", n)
        said("answer", answer(**kind))
        page.evaluate("() => window.cut()")
        expect(page.locator(f".answer-{kind['status']} .answer-head strong")).to_be_visible()
    heads = page.locator(".answer-head").all_inner_texts()
    assert len(set(heads)) == len(kinds)
    assert "mend it" in heads[3]
    page.locator(".answer-doubts summary").click()
    wanted = "no sentence shows it" if language == "en" else "没有句子能说明这一点"
    expect(page.locator(".doubt-why")).to_have_text(wanted)
    picture("ask-no-answers")
    axe(page)


def test_hostile_answers_and_titles_are_text(
    served: Served, goto: Goto, page: Page, said: Any
) -> None:
    """Nothing that a model, a document or a title says is run, loaded or gone to."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    hostile = (
        "<script>window.hit = 1</script><img src=x onerror='window.hit = 2'> <svg "
        "onload='window.hit = 3'></svg>\n\n"
        "[one](javascript:window.hit=4) [two](data:text/html,x) [three](#/settings) "
        "[four](https://example.com/ok)\n\n"
        "![pixel](https://example.com/pixel.png)\n\n```html\n<iframe "
        "src='javascript:window.hit=5'></iframe>\n```\n\n"
        "$\\href{javascript:window.hit=6}{x}$ <style>body { display: none }</style> [1] [77]\n\n"
        "<a href='https://example.com' style='position:fixed;inset:0'>all</a>"
    )
    served.api(
        "POST",
        "/ask",
        json={"question": "<img src=x onerror='window.hit = 7'> when?", "agent": "dual_loop"},
    )
    goto("/ask")
    expect(page.get_by_role("region", name="Conversations")).to_contain_text(
        "<img src=x onerror='window.hit = 7'>"
    )
    page.evaluate(LINE)
    question(page, "<b onclick='window.hit = 8'>Bold</b>")
    said("token", {"text": hostile})
    expect(page.locator(".draft")).to_contain_text("<script>")
    cite = answer()["citations"][0] | {
        "title": "<i>T</i>",
        "quote": "<u>q</u>",
        "uri": "javascript:window.hit=9",
    }
    data: dict[str, Any] = {
        "source": "s",
        "dialect": "",
        "sql": "<b>",
        "columns": ["<i>"],
        "rows": [["<script>window.hit = 10</script>"]],
    }
    data |= {"row_count": 1, "truncated": False, "chart": None, "tried": []}
    said(
        "answer",
        answer(answer=hostile, sentences=[], citations=[cite], data=data, warnings=["<b>w</b>"]),
    )
    page.evaluate("() => window.cut()")
    shown = page.get_by_role("article", name="Answer")
    expect(shown).to_contain_text("<script>window.hit = 1</script>")
    expect(shown).to_contain_text("[77]")
    shown.get_by_role("button", name=re.compile("^Source 1:")).focus()
    expect(page.get_by_role("tooltip")).to_contain_text("<u>q</u>")
    links = [link.get_attribute("href") for link in shown.locator(".md a").all()]
    assert links == [
        "https://example.com/ok",
        "https://example.com/pixel.png",
        "https://example.com",
    ]
    assert (
        page.locator(
            ".thread :is(script, iframe, img, style, object, [style*=fixed], [onerror], [onclick])"
        ).count()
        == 0
    )
    assert page.evaluate("() => window.hit") is None
    assert [url for url in asked if not url.startswith((served.url, "blob:"))] == []


def test_enter_belongs_to_the_input_method(goto: Goto, page: Page) -> None:
    """While Chinese is being composed Enter picks a word; Shift and Enter begin a line; Enter alone
    sends, once.
    """
    goto("/ask")
    page.evaluate(LINE)
    box = page.get_by_role("textbox", name="Your question")
    box.fill("nihao")
    composing = json.dumps(
        {"key": "Enter", "isComposing": True, "bubbles": True, "cancelable": True}
    )
    assert box.evaluate(f"box => box.dispatchEvent(new KeyboardEvent('keydown', {composing}))"), (
        "its default was prevented"
    )
    late = json.dumps(
        {"key": "Enter", "keyCode": 229, "bubbles": True, "cancelable": True}
    )  # as Safari tells it
    assert box.evaluate(f"box => box.dispatchEvent(new KeyboardEvent('keydown', {late}))")
    expect(box).to_have_value("nihao")
    box.fill("你好")
    before = box.evaluate("box => box.offsetHeight")
    for _ in range(3):
        page.keyboard.press("Shift+Enter")
    expect(box).to_have_value("你好\n\n\n")
    assert box.evaluate("box => box.offsetHeight") > before
    assert page.evaluate("() => window.asked.length") == 0
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(box).to_have_value("")
    assert page.evaluate("() => window.asked.map((each) => each.question)") == ["你好"]


def test_choices_are_kept_for_each_agent(goto: Goto, page: Page) -> None:
    """An agent is asked with its own options only, also after a reload; a website needs an
    address.
    """
    goto("/ask")
    page.get_by_label("Answered by").select_option("qa")
    page.get_by_role("button", name="Options", exact=True).click()
    page.get_by_role("dialog").get_by_label("Language").select_option("en")
    page.get_by_label("File types").fill("md, pdf")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Options (2 set)")).to_be_focused()
    page.get_by_label("Answered by").select_option("website")
    question(page, "Where?")
    expect(page.get_by_role("alert")).to_contain_text("Enter the address")
    page.get_by_label("Start at").fill("docs.example.com")
    page.keyboard.press("Tab")
    page.reload()
    expect(page.get_by_label("Start at")).to_have_value("https://docs.example.com")
    page.evaluate(LINE)
    question(page, "Where?")
    page.get_by_role("button", name="Stop").click()
    page.get_by_label("Answered by").select_option("qa")
    question(page)
    until(page, "() => window.asked.length === 2")
    [site, documents] = page.evaluate("() => window.asked")
    assert site == {
        "question": "Where?",
        "agent": "website",
        "options": {"start_urls": ["https://docs.example.com"]},
    }
    assert documents["options"] == {"langs": ["en"], "types": ["md", "pdf"]}


@pytest.mark.parametrize("width", [360])
def test_a_phone(goto: Goto, page: Page, said: Any, axe: Any, picture: Any) -> None:
    """Nothing is wider than the window, and everything can be reached."""
    goto("/ask")
    page.evaluate(LINE)
    question(page)
    table = (
        "| a | b | c |\n|---|---|---|\n"
        + "| some long words | more long words | still more |\n" * 3
    )
    said(
        "answer",
        answer(
            answer=f"Employees get 27 days. [1]\n\n{table}\n\n```\n{'x' * 200}\n```\n\n{'y' * 200}"
        ),
    )
    page.evaluate("() => window.cut()")
    expect(page.locator(".md-table")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    assert (
        page.evaluate(
            "() => { const box = document.querySelector('.thread'); return box.scrollWidth - "
            "box.clientWidth; }"
        )
        <= 0
    )
    picture("ask-phone")
    axe(page)
    page.get_by_role("button", name="Options", exact=True).click()
    axe(page)


def test_passages_come_before_the_answer_and_open(
    served: Served, goto: Goto, page: Page, said: Any, axe: Any
) -> None:
    """Cards of what the search found, each opening at its sentence; names of nodes only among the
    details.
    """
    doc_id = served.add("default", POLICY.name, POLICY.read_bytes())
    text = served.api("GET", f"/documents/{doc_id}/content")["text"]
    start = text.index(PROOF)
    goto("/ask")
    page.evaluate(LINE)
    question(page)
    place = {"doc_id": doc_id, "uri": POLICY.name, "title": "Policy", "page": None, "section": ""}
    found = [place | {"quote": PROOF, "start": start, "end": start + len(PROOF)}]
    step = {"n": 1, "node": "DocumentRetrievalNode", "action": "generate_answer", "seconds": 0.1}
    said("step", step | {"detail": {"evidence": found, "trace_id": "tr_3"}})
    expect(page.locator(".making")).not_to_contain_text("DocumentRetrievalNode")
    axe(page)
    page.locator(".passages").get_by_role("button", name=re.compile("Policy")).click()
    expect(page.locator("mark").filter(has_text="14 characters").first).to_be_visible()
    page.keyboard.press("Escape")
    said("answer", answer())
    page.evaluate("() => window.cut()")
    expect(page.get_by_role("article", name="Answer")).to_be_visible()
    expect(page.locator(".passages")).to_have_count(0)


def test_a_refusal_leads_on(served: Served, goto: Goto, page: Page, axe: Any, picture: Any) -> None:
    """The closest passages as cards that open, also after a reload, and what to do next."""
    served.add("default", POLICY.name, POLICY.read_bytes())
    goto("/ask")
    question(page, "Did giraffes chase zebras yesterday?")
    refused = page.locator(".answer-refused")
    cards = refused.get_by_role("list").get_by_role("button")
    expect(cards.first).to_contain_text("Information Security Policy")
    page.reload()
    expect(cards.first).to_be_visible()
    picture("ask-refused")
    axe(page)
    cards.first.click()
    expect(page.locator("mark").first).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Search more thoroughly").click()
    expect(page.get_by_role("article", name="Answer")).to_have_count(2)
    page.get_by_role("button", name="Rephrase the question").click()
    expect(page.get_by_role("textbox", name="Your question")).to_have_value(
        "Did giraffes chase zebras yesterday?"
    )


def test_the_answer_comes_into_sight(goto: Goto, page: Page, said: Any) -> None:
    """The last question stands at the top with its answer below, however long that is; who scrolls
    away is left there.
    """
    goto("/ask")
    page.evaluate(LINE)
    question(page, "One?")
    said("answer", answer(answer="A long line of words.\n\n" * 200, sentences=[]))
    page.evaluate("() => window.cut()")
    expect(page.get_by_role("article", name="Answer")).to_be_visible()
    expect(page.get_by_role("heading", name="One?")).to_be_in_viewport()
    until(page, "() => document.querySelector('.thread').scrollHeight > 3000")
    question(page, "Two?")
    until(page, "() => window.asked.length === 2")
    expect(page.get_by_role("heading", name="Two?")).to_be_in_viewport()
    said("token", {"text": "Words.\n\n" * 100})
    expect(page.locator(".draft")).to_contain_text("Words.")
    expect(page.get_by_role("heading", name="Two?")).to_be_in_viewport()
    page.evaluate("() => document.querySelector('.thread').scrollTo(0, 100)")
    expect(page.get_by_role("button", name="To the last question")).to_be_visible()
    said("token", {"text": "More.\n\n" * 100})
    expect(page.locator(".draft")).to_contain_text("More.")
    assert page.evaluate("() => document.querySelector('.thread').scrollTop") == 100
    page.get_by_role("button", name="To the last question").click()
    expect(page.get_by_role("heading", name="Two?")).to_be_in_viewport()


@pytest.mark.parametrize("width", [390])
def test_the_card_of_a_source_goes_with_it(goto: Goto, page: Page, said: Any) -> None:
    """On a phone: after Back nothing lies over the answer. What it follows is told with blanks."""
    goto("/ask")
    page.evaluate(LINE)
    question(page)
    followed: dict[str, Any] = {
        "item_id": "it_1",
        "kind": "confirmed",
        "how": "adapted",
        "question": "IT cost",
    }
    followed |= {"text": "", "confirmed_by": ["ann"], "confirmed_at": 0, "similarity": 1.0}
    said("answer", answer(followed=[followed]))
    page.evaluate("() => window.cut()")
    expect(page.locator(".answer-followed")).to_contain_text(": IT cost same query")
    page.get_by_role("button", name=re.compile("^Source 1:")).first.tap()
    expect(page.locator("dialog.panel")).to_be_visible()
    page.go_back()
    expect(page.locator("dialog.panel")).to_have_count(0)
    expect(page.get_by_role("tooltip")).to_have_count(0)

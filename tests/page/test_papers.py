"""Papers: from an empty installation to a report, a route and an answer; what a reload must not
lose; the route by hand.

The one rule: what the page says is held against what the API has. No chat model is needed for any
of it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from tests.page.conftest import EVERY_LOOK, PATIENCE, Served, until

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "papers"
ENGLISH, CHINESE = (
    SAMPLES / "reserve-forecasting-for-cargo-bike-fleets.pdf",
    SAMPLES / "基于货位层次的仓库备件检索方法.pdf",
)
LONG = 4 * PATIENCE * 1000  # ms for work on a loaded machine
SLOW: Any = {"timeout": LONG}
DROP = """([name, data]) => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], name));
    const target = document.querySelector(".paper-add");
    for (const kind of ["dragover", "drop"]) {
        target.dispatchEvent(new DragEvent(
            kind, {dataTransfer: transfer, bubbles: true, cancelable: true}));
    }
}"""
MARK = """(words) => {
    const spans = [...document.querySelectorAll("[data-page] .panel-words span")];
    const span = spans.find((each) => each.textContent.includes(words));
    const range = document.createRange();
    range.selectNodeContents(span);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return span.textContent;
}"""
LIT = "[...(CSS.highlights.get('paper-light') ?? [])].map(String).join('')"
NODE = "[...(CSS.highlights.get('paper-light') ?? [])][0]?.startContainer"
WIDE = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none"}


def begun(served: Served, user: str, paper: Path = ENGLISH) -> dict[str, Any]:
    """A session, and the job that makes its report."""
    made: dict[str, Any] = served.api(
        "POST", "/papers", files={"file": (paper.name, paper.read_bytes())}, data={"user_id": user}
    )
    return made


def reported(served: Served, user: str, paper: Path = ENGLISH) -> str:
    """The id of a session with its report."""
    made = begun(served, user, paper)
    served.client.get(
        f"/api/jobs/{made['job']['job_id']}/events", params={"user_id": user}, timeout=LONG / 1000
    )
    return str(made["session"]["session_id"])


def routed(served: Served, user: str, interest: str = "how the model is trained") -> str:
    session_id = reported(served, user)
    path = f"/papers/{session_id}/plan"
    served.api(
        "POST", path, params={"user_id": user}, json={"interest": interest}, timeout=LONG / 1000
    )
    return session_id


def kept(served: Served, user: str, session_id: str) -> dict[str, Any]:
    session: dict[str, Any] = served.api("GET", f"/papers/{session_id}", params={"user_id": user})
    return session


@pytest.fixture
def read(page: Page, goto: Callable[..., Page]) -> Callable[[str, str], Page]:
    """The papers page, or a session of it, as a user whose name is known already."""

    def opened(user: str, session_id: str = "") -> Page:
        page.add_init_script(f"localStorage.setItem('citewell.user_id', {json.dumps(user)})")
        return goto(f"/papers/{session_id}".rstrip("/"))

    return opened


def test_from_nothing_to_an_answer(served: Served, page: Page, goto: Any, axe: Any) -> None:
    goto("/papers")
    expect(page.get_by_role("button", name="Choose a file")).to_be_visible()  # no name is needed
    page.get_by_role("button", name="Use this name").click()
    expect(page.get_by_role("alert")).to_contain_text("1 to 200 characters")
    page.get_by_role("textbox", name="Your name").fill("ann")
    axe(page)
    page.get_by_role("button", name="Use this name").click()
    expect(page.get_by_role("heading", name="No paper yet")).to_be_visible()
    assert page.evaluate("localStorage.getItem('citewell.user_id')") == "ann"
    axe(page)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file").click()
    chooser.value.set_files(ENGLISH)
    expect(page.get_by_role("heading", name="What is new")).to_be_visible(**SLOW)
    [row] = served.api("GET", "/papers", params={"user_id": "ann"})["papers"]
    session_id = row["session_id"]
    assert page.url.endswith(f"#/papers/{session_id}")
    assert page.evaluate("sessionStorage.getItem('citewell.session_id')") == session_id
    report = kept(served, "ann", session_id)["report"]
    for part in report["parts"]:
        for sentence in part["sentences"]:
            expect(
                page.locator(".paper-report").get_by_text(sentence["text"]).first
            ).to_be_visible()
    expect(page.get_by_text("Report ready")).to_be_visible()
    axe(page)

    late = next(each for each in report["citations"] if each["page"] > 2)
    button = page.get_by_role("button", name=f"Quote {late['n']}: page {late['page']}").first
    assert late["quote"] in str(button.get_attribute("aria-label"))
    button.click()
    sheet = page.locator(f'[data-page="{late["page"]}"]')
    expect(sheet.locator(".panel-mark")).to_have_count(len(late["boxes"]))
    expect(sheet.locator(".panel-mark").first).to_be_in_viewport()

    page.get_by_role("button", name="Ablation", exact=True).click()
    expect(page.get_by_role("heading", name="Route for “Ablation”")).to_be_visible(**SLOW)
    plan = kept(served, "ann", session_id)["plan"]
    assert plan["interest"] == "Ablation"
    expect(page.locator(".paper-step")).to_have_count(len(plan["steps"]))
    for step in plan["steps"]:
        expect(page.locator(".paper-step", has_text=step["section"]).first).to_contain_text(
            step["why"]
        )
    axe(page)

    box = page.get_by_role("textbox", name="Question to the paper")
    box.fill("How many trips does FleetLog hold?")
    box.press("Enter")
    expect(page.locator(".paper-exchanges .answer")).to_contain_text("61,480", **SLOW)
    expect(box).to_have_value("")
    held = page.locator(".paper-question h2").first.evaluate(
        "each => each.offsetParent.matches('.paper-question')"
    )
    assert held, "what is not seen makes the window no longer"
    [answer] = kept(served, "ann", session_id)["answers"]
    page.locator(".paper-how summary").last.click()
    expect(page.locator(".paper-facts").get_by_text("proved by the paper")).to_be_visible()
    expect(page.get_by_role("link", name="Full trace")).to_have_attribute(
        "href", f"#/traces/{answer['trace_id']}"
    )
    page.locator(".paper-exchanges").get_by_role("button", name="1").first.click()
    page_of = answer["citations"][0]["page"]
    expect(page.locator(f'[data-page="{page_of}"] .panel-mark').first).to_be_in_viewport()
    axe(page)

    page.reload()
    expect(page.locator(".paper-exchanges .answer")).to_contain_text("61,480")
    expect(page.get_by_role("tab", name="Questions")).to_have_attribute("aria-selected", "true")
    goto("/papers")
    expect(page.locator(".paper-card", has_text="CargoCast")).to_contain_text("open in this tab")
    axe(page)


def test_a_file_that_is_no_paper_says_why_and_a_dropped_one_is_read(
    served: Served, read: Any
) -> None:
    page = read("dora")
    page.evaluate(DROP, ["broken.pdf", base64.b64encode(b"%PDF-nothing").decode()])
    expect(page.get_by_text("broken.pdf was not added")).to_be_visible()
    expect(page.locator(".problem")).to_contain_text("broken.pdf")
    assert served.api("GET", "/papers", params={"user_id": "dora"})["papers"] == []
    page.evaluate(DROP, [CHINESE.name, base64.b64encode(CHINESE.read_bytes()).decode()])
    expect(page.get_by_role("heading", name="Main results")).to_be_visible(**SLOW)
    expect(page.locator(".paper-head h1")).to_have_text("基于货位层次的仓库备件检索方法")


def test_a_report_under_way_is_shown_as_under_way_after_a_reload(
    served: Served, read: Any, page: Page
) -> None:
    made = begun(served, "uma")
    session_id, job = (
        made["session"]["session_id"],
        {**made["job"], "state": "running", "done": 3, "total": 29},
    )
    running = f"event: progress\ndata: {json.dumps(job)}\n\n"
    unmade = {**made["session"], "under_way": [{"trace_id": "tr_1", "question": ""}]}
    page.route(
        "**/api/jobs/*/events*",
        lambda route: route.fulfill(body=running, content_type="text/event-stream"),
    )
    page.route(f"**/api/papers/{session_id}?*", lambda route: route.fulfill(json=unmade))
    read("uma", session_id)
    expect(page.get_by_role("heading", name="Writing the report")).to_be_visible()
    expect(page.get_by_role("textbox", name="Question to the paper")).to_be_disabled()
    page.reload()
    expect(page.get_by_role("heading", name="Writing the report")).to_be_visible()
    expect(page.get_by_text("3 of 29 passages")).to_be_visible()
    page.unroute("**/api/jobs/*/events*")
    page.unroute(f"**/api/papers/{session_id}?*")
    expect(page.get_by_role("heading", name="What is new")).to_be_visible(**SLOW)


def test_a_report_that_failed_says_so_and_can_be_made_again(
    served: Served, read: Any, page: Page
) -> None:
    session_id = reported(served, "fay")
    session = {
        **kept(served, "fay", session_id),
        "report": None,
        "current_state": "GUIDE_PENDING_REPORT",
    }
    error = {
        "code": "unreadable",
        "message": "the model could not be read",
        "hint": "run citewell doctor",
    }
    job = {
        "job_id": "job_1",
        "kind": "paper",
        "payload": {"session_id": session_id},
        "state": "failed",
        "error": error,
    }
    failed = {**job, "done": 0, "total": 0, "created_at": 1.0}
    page.route(f"**/api/papers/{session_id}?*", lambda route: route.fulfill(json=session))
    page.route("**/api/jobs?*", lambda route: route.fulfill(json={"jobs": [failed]}))
    ended = f"event: failed\ndata: {json.dumps(failed)}\n\n"
    page.route(
        "**/api/jobs/*/events*",
        lambda route: route.fulfill(body=ended, content_type="text/event-stream"),
    )
    read("fay", session_id)
    expect(page.locator(".problem")).to_contain_text("the model could not be read")
    expect(page.locator(".problem")).to_contain_text("run citewell doctor")
    sent: list[Any] = []

    def made(route: Route) -> None:
        sent.append(route.request.post_data_json)
        page.unroute(f"**/api/papers/{session_id}?*")
        done = 'event: answer\ndata: {"data": {"event": "report"}}\n\n'
        route.fulfill(body=done, content_type="text/event-stream")

    page.route(f"**/api/papers/{session_id}/messages*", made)
    page.get_by_role("button", name="Write the report").click()
    expect(page.get_by_role("heading", name="What is new")).to_be_visible()
    assert sent[0]["text"] == ""


def test_what_a_reload_cuts_off_is_sent_again_under_its_name(
    served: Served, read: Any, page: Page
) -> None:
    session_id = routed(served, "rhea")
    read("rhea", session_id)
    sent: list[Any] = []

    def held(route: Route) -> None:
        sent.append(route.request.post_data_json)
        if len(sent) > 1:
            route.continue_()  # the first never reaches the server

    page.route(f"**/api/papers/{session_id}/messages*", held)
    box = page.get_by_role("textbox", name="Question to the paper")
    box.fill("How many trips does FleetLog hold?")
    box.press("Enter")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.reload()
    expect(page.locator(".paper-exchanges .answer")).to_contain_text("61,480", **SLOW)
    assert len({each["message_id"] for each in sent}) == 1
    assert len(sent) == 2
    page.reload()
    expect(page.locator(".paper-exchanges .answer")).to_have_count(1)
    assert len(sent) == 2, "what is answered is not sent again"
    assert [each["message_id"] for each in kept(served, "rhea", session_id)["answers"]] == [
        sent[0]["message_id"]
    ]


def test_stop_keeps_nothing_but_the_words(served: Served, read: Any, page: Page) -> None:
    session_id = routed(served, "stan")
    read("stan", session_id)
    page.route(f"**/api/papers/{session_id}/messages*", lambda _: None)  # it hangs
    box = page.get_by_role("textbox", name="Question to the paper")
    box.fill("Who rode the bikes?")
    box.press("Enter")
    page.get_by_role("button", name="Stop").click()
    expect(box).to_have_value("Who rode the bikes?")
    page.reload()
    expect(page.get_by_role("heading", name="Route for")).to_be_visible()
    assert kept(served, "stan", session_id)["answers"] == []


def test_marked_words_are_asked_about(served: Served, read: Any, page: Page) -> None:
    session_id = routed(served, "mark")
    read("mark", session_id)
    expect(
        page.locator('[data-page="1"] .panel-words span', has_text="number of trips").first
    ).to_be_attached(**SLOW)
    words = str(page.evaluate(MARK, "number of trips")).strip()
    tools = page.get_by_role("toolbar", name="Selected words of the paper")
    expect(tools).to_contain_text(words)
    tools.get_by_role("button", name="Ask about this").click()
    expect(page.locator(".paper-about")).to_contain_text(words)
    box = page.get_by_role("textbox", name="Question to the paper")
    box.fill("What number is it?")
    with page.expect_request(f"**/api/papers/{session_id}/messages*") as asked:
        box.press("Enter")
    sent: Any = asked.value.post_data_json
    assert sent["selection"] == {"text": words}
    expect(page.locator(".paper-exchanges .answer")).to_have_count(1, **SLOW)
    page.evaluate(MARK, "number of trips")
    tools.get_by_role("button", name="Explain").click()
    expect(page.locator(".paper-exchanges .answer")).to_have_count(2, **SLOW)
    assert [words in each["question"] for each in kept(served, "mark", session_id)["answers"]] == [
        True,
        True,
    ]


def test_the_route_is_ticked_and_changed_by_hand(served: Served, read: Any, page: Page) -> None:
    session_id = routed(served, "rob")
    read("rob", session_id)
    before = kept(served, "rob", session_id)["plan"]["steps"]
    page.get_by_role("checkbox", name=f"Read: {before[0]['section']}").check()
    expect(page.locator(".paper-head")).to_contain_text(f"1 of {len(before)} read")
    step = page.locator(".paper-step").nth(1)
    step.locator(".paper-quote").click()
    expect(step).to_have_attribute("aria-current", "step")
    until(page, f"() => ({LIT}).length > 20")
    lit, quote = (
        "".join(str(text).split()).replace("-", "")
        for text in (page.evaluate(LIT), before[1]["quote"])
    )
    assert quote.strip(".") in lit
    page.get_by_role("button", name="Change the route").click()
    page.get_by_role("button", name=f"Earlier: {before[1]['section']}").click()
    expect(page.locator(".paper-place").first).to_have_text(before[1]["section"])
    page.get_by_role("button", name=f"Leave out: {before[0]['section']}").click()
    expect(page.locator(".paper-step")).to_have_count(len(before) - 1)
    page.get_by_label("Add a section").select_option(label="5 Discussion › 5.1 Limitations")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".paper-step", has_text="5.1 Limitations")).to_be_visible()
    after = [each["section"] for each in kept(served, "rob", session_id)["plan"]["steps"]]
    assert after == [
        before[1]["section"],
        *[each["section"] for each in before[2:]],
        "5.1 Limitations",
    ]
    page.reload()
    expect(page.locator(".paper-step").first).to_have_attribute("aria-current", "step")
    page.get_by_role("button", name="Change the route").click()
    page.get_by_label("Another interest").fill("field trial")
    page.get_by_role("button", name="Make the route").click()
    expect(page.get_by_role("heading", name="Route for “field trial”")).to_be_visible(**SLOW)


def test_the_outline_leads_to_the_pages(served: Served, read: Any, page: Page) -> None:
    read("otto", reported(served, "otto"))
    page.get_by_role("tab", name="Outline").click()
    page.get_by_role("button", name="5.1 Limitations").click()
    until(page, f"() => ({LIT}) === '5.1 Limitations'")
    page.evaluate(f"window.before = {NODE}")
    page.get_by_role(
        "button", name="Larger"
    ).click()  # the page is drawn anew, and its words with it
    until(page, f"() => ({LIT}) === '5.1 Limitations' && {NODE} !== window.before")
    page.get_by_role("button", name="Smaller").click()
    expect(page.get_by_role("group", name="Page").get_by_role("textbox")).to_have_value("4")
    page.get_by_role("button", name="Figure 1").click()
    expect(page.locator('[data-page="2"]')).to_be_in_viewport()
    page.get_by_text("References 14", exact=False).first.click()
    expect(page.get_by_role("button", name="Parcels on two wheels")).to_be_visible()


def test_sessions_are_renamed_exported_deleted_and_ones_own(
    served: Served, read: Any, page: Page, tmp_path: Path
) -> None:
    session_id = reported(served, "lena")
    read("lena")
    actions = page.get_by_role("button", name="Actions for CargoCast")
    actions.click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Export").click()
    download.value.save_as(tmp_path / "paper.md")
    assert "CargoCast" in (tmp_path / "paper.md").read_text("utf-8")
    actions.click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("textbox", name="Title").fill("<b>Bikes</b>")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="<b>Bikes</b>")).to_be_visible()
    assert kept(served, "lena", session_id)["title"] == "<b>Bikes</b>"
    page.get_by_role("button", name="Change", exact=True).click()
    page.get_by_role("textbox", name="Your name").fill("nobody else")
    page.get_by_role("button", name="Use this name").click()
    expect(page.get_by_role("heading", name="No paper yet")).to_be_visible()
    page.get_by_role("button", name="Change", exact=True).click()
    page.get_by_role("textbox", name="Your name").fill("lena")
    page.get_by_role("button", name="Use this name").click()
    page.get_by_role("button", name="Actions for <b>Bikes</b>").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert kept(served, "lena", session_id)
    page.get_by_role("button", name="Actions for <b>Bikes</b>").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="No paper yet")).to_be_visible()
    assert served.api("GET", "/papers", params={"user_id": "lena"})["papers"] == []


def test_papers_are_compared(served: Served, read: Any, page: Page, axe: Any) -> None:
    """Rows are papers, columns questions; a number opens the passage that proves its cell."""
    for paper in (ENGLISH, CHINESE):
        reported(served, "cleo", paper)
    read("cleo")
    boxes = page.get_by_role("checkbox", name="Compare")
    expect(boxes).to_have_count(2)
    for box in boxes.all():
        box.check()
    page.get_by_role("link", name="Compare 2 papers").click()
    page.get_by_role("textbox", name="Questions").fill(
        "On which data is the forecaster tested?\nWho wrote the paper?\n"
    )
    page.get_by_role("button", name="Compare", exact=True).click()
    table = page.get_by_role("table")
    expect(table.locator(".spinner")).to_have_count(0, **SLOW)
    expect(table.get_by_role("row")).to_have_count(3)
    expect(table.get_by_role("columnheader")).to_have_count(3)
    axe(page)
    cited = table.locator(".paper-cite").first
    quote = str(cited.get_attribute("title"))
    cited.click()
    expect(page.locator("dialog.panel")).to_contain_text(quote[:20])


@EVERY_LOOK
def test_both_languages_themes_and_widths(
    served: Served, read: Any, page: Page, axe: Any, picture: Any, width: int
) -> None:
    user = f"pia{width}{page.evaluate('navigator.language')}"
    session_id = reported(served, user, CHINESE)
    read(user)
    expect(page.locator(".paper-card")).to_be_visible()
    axe(page)
    assert page.evaluate(WIDE)
    picture("papers")
    read(user, session_id)
    expect(page.locator(".paper-chip").first).to_be_visible()
    axe(page)
    assert page.evaluate(WIDE)
    picture("papers-report")
    page.locator(".paper-cite").first.click()
    expect(page.locator(".panel-mark").first).to_be_in_viewport()
    assert page.evaluate(WIDE)
    axe(page)
    picture("papers-cited")
    if width < 600:
        expect(page.locator(".paper-report")).to_be_hidden()
        page.locator(".paper-sides button").last.click()
    page.locator(".paper-chip").first.click()
    expect(page.locator(".paper-step").first).to_be_visible(**SLOW)
    axe(page)
    assert page.evaluate(WIDE)
    picture("papers-route")

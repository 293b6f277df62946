"""Traces in the page: found again, opened, read step by step, run again, and deleted.

The one rule: what the page shows of a trace is compared with what the API says of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from tests.page.conftest import EVERY_LOOK, PATIENCE, Served

from citewell.messages.catalogue import load_page_words

Goto = Callable[..., Page]
expect.set_options(timeout=PATIENCE * 1000)
QUESTION = "When was the lighthouse built?"
LIGHT = "# Lighthouse\n\nThe lighthouse was built in {}. Its lamp is electric.\n"
TIDES = "# Tides\n\nThe tide is high at noon. Ships wait for it in the harbour.\n"
HARM = "<img src=x onerror=window.harm=1><script>window.harm=2</script>${window.harm=3}"


@pytest.fixture(scope="module")
def replies() -> list[Any]:
    return ["The lighthouse was built in 1857."] * 12


def asked(served: Served, collection: str, agent: str = "qa") -> dict[str, Any]:
    """A trace of a question to a collection that tells of the lighthouse."""
    served.add(collection, "lighthouse.md", LIGHT.format(1857))
    served.add(collection, "tides.md", TIDES)
    body = {"question": QUESTION, "collection": collection, "agent": agent}
    answer = served.api("POST", "/ask", json=body)
    trace: dict[str, Any] = served.api("GET", f"/traces/{answer['trace_id']}")
    return trace


def instead(page: Page, trace: dict[str, Any]) -> None:
    """Have the page see this trace, whatever the server has."""

    def reply(route: Route) -> None:
        route.fulfill(json=trace)

    page.route(f"**/api/traces/{trace['trace_id']}*", reply)


def test_empty(goto: Goto, axe: Callable[..., None]) -> None:
    """It runs first: nothing has been asked yet."""
    page = goto("/traces")
    expect(page.get_by_role("heading", name="No traces yet")).to_be_visible()
    expect(page.get_by_role("link", name="Ask a question")).to_have_attribute("href", "#/ask")
    axe(page)


def test_steps_graph_and_prompts(served: Served, goto: Goto, picture: Callable[..., None]) -> None:
    """Every step of the trace is there in order, the graph shows the way that was taken, the
    prompts say what was sent.
    """
    trace = asked(served, "lights")
    page = goto("/traces")
    page.locator("main").get_by_role("link").filter(has_text=QUESTION).first.click()
    expect(page.get_by_role("heading", name=QUESTION)).to_be_visible()
    expect(page.locator("main")).to_contain_text("1857")
    picture("traces-answer")
    page.get_by_role("navigation", name="Parts of this trace").get_by_role(
        "link", name="Steps"
    ).click()
    nodes = [step["node"] for step in trace["steps"]]
    words = load_page_words("en")
    called = [words[f"ask.node_{node}"] for node in nodes]
    ways = [words[f"traces.way_{step['action']}"] for step in trace["steps"]]
    expect(page.locator(".trace-step-node")).to_have_text(called)
    expect(page.locator(".trace-step-action")).to_have_text([f"→ {way}" for way in ways])
    expect(page.locator(".graph-node.visited")).to_have_count(len(set(nodes)))
    marked = page.locator(".graph-node.visited").evaluate_all(
        "all => all.map(one => one.dataset.node)"
    )
    assert sorted(marked) == sorted(set(nodes))
    taken = page.locator(".graph-way text.taken").all_text_contents()
    steps = zip(nodes, ways, strict=True)
    assert sorted(taken) == sorted(way for _, way in set(steps))
    expect(page.locator(".graph-node.lit")).to_have_attribute("data-node", "END")
    expect(page.locator("figcaption ol li")).to_have_text(called)
    page.get_by_role("button", name="Open all").click()
    expect(page.locator(".trace-step-detail").first).to_contain_text(nodes[0])
    picture("traces-steps", full=True)
    page.get_by_role("link", name="Prompts").click()
    assert page.locator("pre").count() == 0
    page.locator("summary").first.press("Enter")
    sent = trace["prompts"][0]["messages"]
    expect(page.locator("pre")).to_have_count(len(sent) + 1)
    assert page.locator("pre").first.text_content() == sent[0]["content"]
    page.get_by_role("link", name="Snapshot").click()
    expect(page.get_by_text(trace["snapshot"]["intent_analysis"]["reasoning"])).to_be_visible()
    page.get_by_role("link", name="Usage").click()
    expect(page.get_by_role("row").filter(has_text=called[0])).to_be_visible()


def test_replay(served: Served, goto: Goto, picture: Callable[..., None]) -> None:
    """The same while nothing has changed; where a document has, the words that differ are marked on
    both sides.
    """
    trace = asked(served, "harbour")
    page = goto(f"/traces/{trace['trace_id']}?tab=replay")
    page.get_by_role("button", name="Replay as recorded").click()
    expect(page.get_by_text(f"No difference: {len(trace['steps'])} steps")).to_be_visible()
    served.add("harbour", "lighthouse.md", LIGHT.format(1862))
    page.get_by_role("button", name="Replay as recorded").click()
    expect(page.get_by_text(re.compile(r"\d+ differences?\."))).to_be_visible()
    expect(page.locator(".difference del", has_text="1857").first).to_be_visible()
    expect(page.locator(".difference ins", has_text="1862").first).to_be_visible()
    picture("traces-replay", full=True)


def test_found_kept_and_deleted(served: Served, goto: Goto, tmp_path: Path) -> None:
    """By its agent, its status and its words; as a file; and gone when it is deleted, here and on
    the server.
    """
    trace = asked(served, "quays", agent="dual_loop")
    page = goto("/traces")
    rows = page.locator(".item-row")
    page.get_by_label("Agent").select_option("dual_loop")
    expect(rows).to_have_count(1)
    page.get_by_label("Find in questions").fill("nobody asked this")
    expect(rows).to_have_count(0)
    page.get_by_label("Find in questions").fill(trace["trace_id"])
    expect(rows).to_have_count(1)
    rows.get_by_role("link").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download JSON").click()
    file = tmp_path / "trace.json"
    download.value.save_as(file)
    assert json.loads(file.read_text("utf-8")) == trace
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Traces", exact=True)).to_be_visible()
    assert served.client.get(f"/api/traces/{trace['trace_id']}").status_code == 404
    goto(f"/traces/{trace['trace_id']}")
    expect(page.get_by_role("alert")).to_contain_text("no trace")


def test_a_page_at_a_time(served: Served, page: Page, goto: Goto) -> None:
    """All traces come, two at a time here; what is looked for is found among those that have not
    come yet.
    """
    trace = asked(served, "piers")
    for n in range(4):
        served.api(
            "POST", "/ask", json={"question": f"{QUESTION} Number {n}?", "collection": "piers"}
        )
    page.route(
        "**/api/traces?*",
        lambda route: route.continue_(url=route.request.url.replace("limit=50", "limit=2")),
    )
    goto("/traces")
    rows = page.locator(".item-row")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Load more").click()
    expect(rows).to_have_count(4)
    links = page.locator(".item-row a").evaluate_all("all => all.map(one => one.hash)")
    kept = served.api("GET", "/traces", params={"limit": 4})["traces"]
    assert links == [f"#/traces/{each['trace_id']}" for each in kept]
    page.get_by_label("Find in questions").fill(trace["trace_id"].upper())
    expect(rows).to_have_count(1)
    expect(page.get_by_role("status").filter(has_text="1 trace found")).to_be_visible()
    page.get_by_label("Status").select_option("refused")
    expect(page.get_by_text("No matches.")).to_be_visible()


def test_a_large_trace(served: Served, page: Page, goto: Goto) -> None:
    """A hundred prompts of ten thousand characters: titles only until one is opened, and found by
    their words.
    """
    trace = asked(served, "lights")
    text = "evidence and more evidence " * 400
    prompts = [
        {**trace["prompts"][0], "messages": [{"role": "user", "content": f"{text} number {n}."}]}
        for n in range(100)
    ]
    large = {**trace, "trace_id": "tr_large", "prompts": prompts}
    assert len(json.dumps(large)) > 1_000_000
    instead(page, large)
    goto("/traces/tr_large?tab=prompts")
    expect(page.locator(".trace-prompt")).to_have_count(50)
    assert page.locator("main *").count() < 2000
    page.get_by_role("button", name="Show 50 more").click()
    expect(page.locator(".trace-prompt")).to_have_count(100)
    page.get_by_label("Find in prompts").fill("number 77.")
    expect(page.locator(".trace-prompt")).to_have_count(1)
    page.locator(".trace-prompt summary").click()
    expect(page.locator("pre").first).to_contain_text("number 77.")


def test_hostile_words_stay_text(served: Served, page: Page, goto: Goto) -> None:
    """In the question, the names of nodes, what they noted, prompts, replies and the snapshot."""
    trace = asked(served, "lights")
    steps = [
        {
            **trace["steps"][0],
            "node": HARM,
            "action": HARM,
            "detail": {HARM: [HARM, {HARM: HARM * 9}]},
        }
    ]
    prompts = [
        {"node": HARM, "job": "chat", "messages": [{"role": HARM, "content": HARM}], "reply": HARM}
    ]
    snapshot = {
        **trace["snapshot"],
        "user_query": HARM,
        "generated_logic": HARM,
        "final_answer": HARM,
    }
    bad = {
        **trace,
        "trace_id": "tr_bad",
        "question": HARM,
        "agent": HARM,
        "steps": steps,
        "prompts": prompts,
        "snapshot": snapshot,
    }
    instead(page, bad)
    for tab in ("steps", "prompts", "snapshot", "usage", "replay", "answer"):
        goto(f"/traces/tr_bad?tab={tab}")
        expect(page.get_by_role("heading", level=1)).to_have_text(HARM)
        for summary in page.locator("main summary").all():
            summary.click()
        assert page.locator("main :is(img, script)").count() == 0
        assert page.evaluate("window.harm") is None


@EVERY_LOOK
def test_on_a_phone_in_the_dark_in_chinese(
    served: Served,
    goto: Goto,
    axe: Callable[..., None],
    picture: Callable[..., None],
    width: int,
    language: str,
) -> None:
    """Nothing sticks out, and axe finds nothing, in every part."""
    trace = asked(served, "lights")
    page = goto("/traces")
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "轨迹" if language == "zh" else "Traces"
    )
    for path in (
        "",
        *(
            f"/{trace['trace_id']}?tab={tab}"
            for tab in ("steps", "prompts", "snapshot", "usage", "replay")
        ),
    ):
        goto(f"/traces{path}")
        expect(page.locator("main .spinner")).to_have_count(0)
        if "steps" in path:
            expect(page.locator(".graph-node").first).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        axe(page)
        picture(f"traces-{path.partition('tab=')[2] or 'list'}")

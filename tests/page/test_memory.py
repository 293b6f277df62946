"""Memory: what it says where nothing is remembered; finding, rewording, forgetting; contradictions
and their history.

The one rule: a memory is made as a person makes one, by telling the `dual_loop` agent; what the
page did is asked of the API.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import EVERY_LOOK, PATIENCE, Served

LONG = 4 * PATIENCE  # seconds for work on a loaded machine


def tell(served: Served, user: str, *facts: str) -> None:
    for fact in facts:
        body = {"question": fact, "agent": "dual_loop", "user_id": user}
        served.api("POST", "/ask", params={"user_id": user}, json=body, timeout=LONG)


def memories(served: Served, user: str, **how: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = served.api("GET", "/memories", params={"user_id": user, **how})[
        "memories"
    ]
    return found


@pytest.fixture
def look(page: Page, goto: Callable[..., Page]) -> Callable[[str], Page]:
    def opened(user: str) -> Page:
        page.add_init_script(f"localStorage.setItem('citewell.user_id', {json.dumps(user)})")
        return goto("/memory")

    return opened


def test_nothing_is_remembered_yet(look: Any, axe: Any) -> None:
    page = look("nemo")
    expect(page.get_by_role("heading", name="Nothing is remembered yet")).to_be_visible()
    expect(page.get_by_text("Turn memory off in Settings")).to_be_visible()
    axe(page)
    page.get_by_role("link", name="Ask something").click()
    page.locator('html[data-view="ask"]').wait_for(state="attached")


def test_memories_are_found_reworded_and_forgotten(served: Served, look: Any, axe: Any) -> None:
    tell(served, "mia", "Remember that my plan is Pro.", "Remember that our office is in Shenzhen.")
    assert len(memories(served, "mia")) == 2
    page = look("mia")
    cards = page.locator(".memory-card")
    expect(cards).to_have_count(2)
    expect(cards.first).to_contain_text("unless it comes up again")
    axe(page)
    page.get_by_role("searchbox", name="Search memories").fill("SHENZHEN")
    expect(cards).to_have_count(1)
    expect(cards).to_contain_text("Shenzhen")
    page.get_by_role("searchbox", name="Search memories").fill("nothing has this")
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("radio", name="Settled questions").check()
    expect(cards).to_have_count(0)
    page.get_by_role("button", name="Show all").click()
    plan = page.locator(".memory-card", has_text="plan")
    plan.get_by_role("button", name="Edit").click()
    box = page.get_by_role("textbox", name="What to remember")
    box.fill("my password is hunter2")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("secret")
    axe(page)
    box.fill("my plan is Basic")
    page.get_by_role("button", name="Save").click()
    expect(plan).to_contain_text("my plan is Basic")
    plan.get_by_role("button", name="More").click()
    expect(plan.locator(".memory-history")).to_contain_text("Pro")
    axe(page)
    basic = next(each for each in memories(served, "mia") if "Basic" in each["text"])
    plan.get_by_role("button", name="Forget").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert len(memories(served, "mia")) == 2
    plan.get_by_role("button", name="Forget").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(page.locator(".toast").last).to_contain_text("Forgotten: 2 memories")
    expect(cards).to_have_count(1)
    assert basic["memory_id"] not in {
        each["memory_id"] for each in memories(served, "mia", history=True)
    }


def test_what_contradicts_replaces_and_is_history(served: Served, look: Any) -> None:
    tell(served, "cai", "Remember that my plan is Pro.", "Remember that my plan is Basic.")
    page = look("cai")
    expect(page.locator(".memory-card")).to_have_count(1)
    page.get_by_role("checkbox", name="Show replaced memories").check()
    expect(page.locator(".memory-card")).to_have_count(2)
    expect(page.locator(".memory-old")).to_contain_text("Pro")
    page.get_by_role("checkbox", name="Show replaced memories").uncheck()
    expect(page.locator(".memory-card")).to_have_count(1)
    page.get_by_role("button", name="More").click()
    expect(page.locator(".memory-history li")).to_have_count(1)
    [plan] = memories(served, "cai")
    expect(page.locator(".memory-more").get_by_role("link", name="tr_")).to_have_attribute(
        "href", f"#/traces/{plan['trace_id']}"
    )


def test_all_of_ones_own_is_forgotten_and_nobody_elses(served: Served, look: Any) -> None:
    tell(served, "all", "Remember that my plan is Pro.")
    tell(served, "other", "Remember that my plan is Pro.")
    page = look("all")
    page.get_by_role("button", name="Forget everything").click()
    expect(page.get_by_role("dialog")).to_contain_text("“all”")
    page.get_by_role("dialog").get_by_role("button", name="Forget everything").click()
    expect(page.get_by_role("heading", name="Nothing is remembered yet")).to_be_visible()
    assert (memories(served, "all"), len(memories(served, "other"))) == ([], 1)


@EVERY_LOOK
def test_both_languages_themes_and_widths(
    served: Served, look: Any, axe: Any, picture: Any, width: int, language: str
) -> None:
    user = f"wei{width}{language}"
    tell(
        served, user, "记住我的套餐是专业版。", "记住我们的办公室在深圳。", "记住我的套餐是基础版。"
    )
    page = look(user)
    expect(page.locator(".memory-card").first).to_be_visible()
    page.locator(".memory-card", has_text="基础版").locator("button[aria-expanded]").click()
    expect(page.locator(".memory-history")).to_contain_text("专业版")
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    picture("memory")

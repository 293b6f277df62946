"""The options of a question: the page's one table held against the server's, and its fields, chips
and keys.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import annotated_types
import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import Served, until
from tests.page.told import LINE

from citewell.service.ask.options import READING, UNKNOWN, AskOptions

WEB = Path(__file__).resolve().parents[2] / "src" / "citewell" / "interfaces" / "web"
Goto = Callable[..., Page]
HANDFUL = 5


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none"}


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    if not shutil.which("node"):
        pytest.skip("no Node.js on this machine: the page's table is not read")
    script = "import {OPTIONS} from './ask/option_table.js'; console.log(JSON.stringify(OPTIONS))"
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], cwd=WEB, capture_output=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_table_is_the_servers(table: dict[str, Any]) -> None:
    """A few of the server's are there; none is offered to an agent that does not use it."""
    assert set(table) < set(AskOptions.model_fields) - set(READING)
    for agent in {agent for row in table.values() for agent in row["agents"]}:
        shown = [row for row in table.values() if agent in row["agents"] and not row.get("own")]
        assert len(shown) <= HANDFUL, agent
    for name, row in table.items():
        for agent in row["agents"]:
            assert name not in UNKNOWN.get(agent, ()), (name, agent)
    offered = {agent for row in table.values() for agent in row["agents"]}
    assert offered == set(UNKNOWN) - {"paper"} | {"auto"}


def test_limits_are_the_servers(table: dict[str, Any]) -> None:
    for name, row in table.items():
        if row["kind"] != "number":
            continue
        least = most = None
        for rule in AskOptions.model_fields[name].metadata:
            least = rule.ge if isinstance(rule, annotated_types.Ge) else least
            most = rule.le if isinstance(rule, annotated_types.Le) else most
        assert row.get("max") == most, name
        assert row["min"] == least, name
        assert AskOptions(**{name: row["min"]})


def chips(page: Page) -> Any:
    return page.get_by_role("list", name="Options in use").get_by_role("listitem")


def test_options_are_shown_kept_and_taken_back(
    goto: Goto, page: Page, axe: Any, picture: Any
) -> None:
    """Each agent has its own; what is set is said beside the question, after a reload too, and goes
    with a press; a figure that the server would refuse is not taken.
    """
    goto("/ask")
    page.get_by_label("Answered by").select_option("website")
    button = page.get_by_role("button", name="Options", exact=True)
    button.focus()
    page.keyboard.press("Enter")
    box = page.get_by_role("dialog", name="Options: Website")
    expect(box.locator("input, select").first).to_be_focused()
    box.get_by_label("Look for").fill("opening hours")
    box.get_by_label("Pages, at most").fill("9999")
    page.keyboard.press("Enter")
    expect(box.get_by_role("alert")).to_have_text("Enter a number from 1 to 5000")
    box.get_by_label("Pages, at most").fill("30")
    page.keyboard.press("Enter")
    expect(box.get_by_role("alert")).to_have_count(0)
    box.get_by_label("Hosts it may visit").fill("*.example.com")
    axe(page)
    picture("options")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Options (3 set)")).to_be_focused()
    page.reload()
    expect(chips(page)).to_have_text(
        ["Hosts it may visit: *.example.com", "Look for: opening hours", "Pages, at most: 30"]
    )
    page.get_by_label("Answered by").select_option("qa")
    expect(chips(page)).to_have_count(0)
    page.get_by_label("Answered by").select_option("website")
    page.evaluate(LINE)
    page.get_by_role("textbox", name="Your question").fill("When is https://example.com open?")
    page.keyboard.press("Enter")
    until(page, "() => window.asked.length === 1")
    assert page.evaluate("() => window.asked[0].options") == {
        "allowed_domains": ["*.example.com"],
        "instruction": "opening hours",
        "max_pages": 30,
    }
    axe(page)
    page.get_by_role("button", name="Remove “Hosts it may visit: *.example.com”").press("Enter")
    expect(page.get_by_role("button", name=re.compile("Remove “Look for"))).to_be_focused()
    page.get_by_role("button", name="Options (2 set)").click()
    box.get_by_role("button", name="Reset").click()
    expect(chips(page)).to_have_count(0)


@pytest.mark.parametrize("language", ["zh"])
@pytest.mark.parametrize("width", [360])
@pytest.mark.parametrize("theme", ["dark"])
def test_options_on_a_phone_in_chinese(goto: Goto, page: Page, axe: Any, picture: Any) -> None:
    goto("/ask")
    page.get_by_label("由谁回答").select_option("website")
    page.get_by_role("button", name="选项", exact=True).click()
    page.get_by_label("可访问的主机").fill("*.example.com, docs.example.org")
    page.get_by_label("最多页数").fill("3")
    axe(page)
    picture("options-phone")
    page.get_by_role("button", name="完成").click()
    expect(page.locator(".option-chip")).to_have_text(
        ["可访问的主机：*.example.com, docs.example.org", "最多页数：3"]
    )
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360
    axe(page)
    picture("options-chips-phone")


def test_the_browser_forgets(served: Served, goto: Goto, page: Page) -> None:
    """Settings say where all is kept, and clear what this browser keeps; what is the server's
    stays.
    """
    goto("/ask")
    page.get_by_label("Answered by").select_option("website")
    goto("/settings")
    expect(page.get_by_role("region", name="For other programs")).to_contain_text(str(served.home))
    assert "website" in page.evaluate("() => localStorage.getItem('citewell.ask')")
    page.evaluate("() => localStorage.setItem('other', '1')")
    page.get_by_role("button", name="Clear").click()
    with page.expect_navigation():
        page.get_by_role("dialog").get_by_role("button", name="Clear").click()
    expect(page.get_by_role("button", name="Clear")).to_be_visible()
    assert page.evaluate(
        "() => [localStorage.getItem('citewell.ask'), localStorage.getItem('other')]"
    ) == [None, "1"]

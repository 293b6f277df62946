"""Statements that people change on the page, saved questions, boards.

The one rule: what the page shows is held against what the API says.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from python_calamine import CalamineWorkbook
from tests.page.conftest import EVERY_LOOK, PATIENCE, Served

TABLE = b"""day,region,cost_eur,year
2024-03-05,<b>North</b>,1234.5,2024
2024-03-17,South,10.25,2024
2024-04-02,South,100,2025
"""
BY_MONTH = (
    "SELECT date_trunc('month', day) AS month, region, SUM(cost_eur) AS cost_eur FROM costs "
    "GROUP BY 1, 2 ORDER BY 1, 2"
)
QUESTION = "What does each region cost?"
BY_REGION = "SELECT region, SUM(cost_eur) FROM costs GROUP BY region ORDER BY region"
LONG = 4 * PATIENCE * 1000  # ms for work on a loaded machine


@pytest.fixture(scope="module")
def replies() -> list[Any]:
    return [{"reply": {"sql": BY_REGION}}] * 12


@pytest.fixture
def costs(served: Served) -> str:
    added = served.api("POST", "/data/sources", files={"file": ("costs.csv", TABLE)}, timeout=600)
    return str(added["name"])


def save(served: Served, source: str, name: str, sql: str, **values: Any) -> str:
    kept = {"name": name, "source": source, "sql": sql, **values}
    return str(served.api("POST", "/data/saved", json=kept)["saved_id"])


def test_a_statement_is_changed_run_and_saved(
    served: Served, costs: str, page: Page, goto: Any
) -> None:
    goto(f"/data/{costs}")
    page.get_by_role("textbox", name="Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    result = page.locator(".data-result")
    expect(result).to_be_visible(timeout=LONG)
    result.get_by_text("Query", exact=True).click()
    result.get_by_role("button", name="Edit and run").click()
    box = result.get_by_label("SQL, to be changed and run")
    expect(box).to_have_value(BY_REGION)
    box.fill("DELETE FROM costs")
    box.press("Control+Enter")
    expect(result.get_by_role("alert")).to_contain_text("begins with DELETE")
    box.fill("SELECT region,\n  prize FROM costs")
    result.get_by_role("button", name="Run").click()
    expect(result.get_by_role("alert")).to_contain_text("line 2, at 'prize'")
    box.fill(BY_MONTH)
    result.get_by_role("button", name="Run").click()
    expect(result.get_by_text("A person changed this query")).to_be_visible()
    expect(result.get_by_role("alert")).to_have_count(0)
    rows = result.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("March 2024")
    expect(rows.first).to_contain_text("<b>North</b>")
    expect(rows.first).to_contain_text("€1,234.50")
    result.get_by_role("button", name="Save").click()
    asked = page.get_by_role("dialog")
    expect(asked.get_by_label("Name")).to_have_value(QUESTION)
    asked.get_by_label("Name").fill("By month")
    asked.get_by_label("Pin to a board").select_option(label="A new board")
    asked.get_by_label("Name of the board").fill("Costs")
    asked.get_by_role("button", name="Save").click()
    expect(page.get_by_text("saved and pinned")).to_be_visible()
    [saved] = [
        each for each in served.api("GET", "/data/saved")["saved"] if each["name"] == "By month"
    ]
    assert (saved["sql"], saved["edited"], saved["question"]) == (BY_MONTH, True, QUESTION)
    [board] = [
        each for each in served.api("GET", "/data/boards")["boards"] if each["name"] == "Costs"
    ]
    assert [card["saved_id"] for card in board["cards"]] == [saved["saved_id"]]
    result.get_by_role("button", name="Back to the answer").click()
    expect(result.get_by_text("A person changed this query")).to_have_count(0)


def test_the_chart_that_a_person_wants_stays_with_the_answer(
    served: Served, costs: str, page: Page, goto: Any
) -> None:
    goto(f"/data/{costs}")
    page.get_by_role("textbox", name="Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    result = page.locator(".data-result")
    expect(result.locator("canvas")).to_be_visible(timeout=LONG)
    result.get_by_role("button", name="Chart options").click()
    with page.expect_response("**/chart*") as kept:
        result.get_by_label("Show as", exact=True).select_option("pie")
    assert kept.value.ok
    session = served.api("GET", "/sessions")["sessions"][0]["session_id"]
    [told] = served.api("GET", f"/sessions/{session}/answers")["answers"]
    assert told["answer"]["data"]["chosen"]["kind"] == "pie"
    with page.expect_response("**/chart*"):
        result.get_by_label("Show as", exact=True).select_option("table")
    expect(result.locator("canvas")).to_have_count(0)
    expect(result.locator("tbody tr")).to_have_count(2)


def test_a_sheet_of_all_rows(costs: str, page: Page, goto: Any, served: Served) -> None:
    sql = "SELECT * FROM costs ORDER BY day"
    saved = save(served, costs, "All", sql, chart={"kind": "table"})
    goto(f"/boards/saved/{saved}")
    expect(page.locator(".data-result tbody tr")).to_have_count(3)
    page.get_by_role("button", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Excel (XLSX)").click()
    assert download.value.suggested_filename == "costs.xlsx"
    sheet = CalamineWorkbook.from_path(str(Path(download.value.path()))).get_sheet_by_index(0)
    assert sheet.to_python()[1][1:] == ["<b>North</b>", 1234.5, 2024]


def test_a_board_keeps_its_order_and_each_card_its_own_trouble(
    served: Served, costs: str, page: Page, goto: Any
) -> None:
    """One figure, one error, one table; turned round; read anew; and its tables removed."""
    ids = [
        save(served, costs, "Whole", "SELECT SUM(cost_eur) FROM costs"),
        save(served, costs, "Broken", "SELECT prize FROM costs"),
        save(served, costs, "Rows", "SELECT region, year FROM costs"),
    ]
    board = served.api("POST", "/data/boards", json={"name": "Three"})["board_id"]
    served.api("PATCH", f"/data/boards/{board}", json={"cards": ids})
    goto(f"/boards/{board}")
    cards = page.locator(".boards-card")
    expect(cards).to_have_count(3)
    expect(cards.first.locator(".boards-figure")).to_contain_text("1,344.75")
    expect(cards.nth(1).get_by_role("alert")).to_contain_text("prize")
    expect(cards.nth(2).locator("tbody tr")).to_have_count(3)
    expect(cards.nth(2)).to_contain_text("2024")
    expect(cards.nth(2)).not_to_contain_text("2,024")
    expect(cards.first).to_contain_text("as of")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitemradio", name="Arrange").click()
    page.get_by_role("button", name="Move Rows back").click()
    expect(cards.nth(1)).to_contain_text("Rows")
    page.get_by_role("button", name="Take Broken off the board").click()
    expect(cards).to_have_count(2)
    kept = served.api("GET", f"/data/boards/{board}")["cards"]
    assert [card["name"] for card in kept] == ["Whole", "Rows"]
    page.get_by_label("Refresh", exact=True).select_option(label="every 5 minutes")
    page.reload()
    expect(page.get_by_label("Refresh", exact=True)).to_have_value("300")
    expect(cards.first.locator(".boards-figure")).to_contain_text("1,344.75")
    served.api("DELETE", f"/data/sources/{costs}")
    page.get_by_role("button", name="Refresh", exact=True).click()
    expect(cards.first.get_by_role("alert")).to_contain_text("no source")
    expect(cards.first.locator(".boards-figure")).to_contain_text("1,344.75")


@EVERY_LOOK
def test_it_can_be_used_by_everybody(
    served: Served, costs: str, page: Page, goto: Any, axe: Any, picture: Any
) -> None:
    chart = {"kind": "bar", "x": "month", "y": ["cost_eur"], "series": "region"}
    saved = save(served, costs, "By month", BY_MONTH, chart=chart)
    board = served.api("POST", "/data/boards", json={"name": "Looked at"})["board_id"]
    served.api("POST", f"/data/boards/{board}/cards", json={"saved_id": saved})
    for path, sign in (
        ("/boards", ".boards-saved"),
        (f"/boards/{board}", ".boards-card canvas"),
        (f"/boards/saved/{saved}", ".data-result canvas"),
    ):
        goto(path)
        page.locator(sign).first.wait_for()
        axe(page)
        wide = page.locator(".main").evaluate("each => each.scrollWidth - each.clientWidth")
        assert wide <= 0, "wider than the window"
        picture(path.replace("/", "-"))

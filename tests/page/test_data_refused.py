"""The data view where no answer comes: a statement that would change something, one that is
stopped, a model that fails.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import PATIENCE, Served

LONG = 4 * PATIENCE * 1000
ORDERS = b"city,amount\nBerlin,1200\nUlm,300\n"


@pytest.fixture(scope="module")
def replies() -> list[Any]:
    drop: dict[str, Any] = {"reply": {"sql": "DROP TABLE orders"}}
    return [{"reply": {"sql": "SELECT city FROM orders"}, "delay": 3_600}, *[drop] * 12]


def test_a_question_that_is_stopped_then_a_statement_that_may_not_run(
    served: Served, page: Page, goto: Any
) -> None:
    served.api("POST", "/data/sources", files={"file": ("orders.csv", ORDERS)})
    goto("/data/orders")
    page.get_by_role("textbox", name="Your question").fill("What is the amount of each city?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Writing SQL").first).to_be_visible(timeout=LONG)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("You stopped this.")).to_be_visible()

    page.get_by_role("button", name="Ask again", exact=True).click()
    answer = page.locator(".answer")
    expect(answer.locator(".answer-head")).to_be_visible(timeout=LONG)
    expect(page.locator(".turn")).to_have_count(1)
    page.get_by_text("earlier quer").click()
    expect(page.locator(".data-tried")).to_contain_text("DROP TABLE orders")
    assert served.api("GET", "/data/sources/orders")["tables"][0]["rows"] == 2

"""An empty home, and one click: the sample documents are there and can be asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import Served


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none"}


def test_samples_in_one_click(
    page: Page, goto: Callable[..., Page], served: Served, axe: Callable[..., None]
) -> None:
    """From the empty page to an answer, with nothing chosen and nothing loaded anew; questions that
    are offered are in the page's language.
    """
    goto("/ask")
    axe(page)
    page.get_by_role("button", name="Try it with sample documents").click()
    expect(page.get_by_role("heading", name="What do you want to know?")).to_be_visible()
    served.client.get(f"/api/jobs/{served.api('GET', '/jobs')['jobs'][0]['job_id']}/events")
    [samples] = served.api("GET", "/collections")["collections"]
    assert (samples["name"], samples["documents"]) == ("samples", 12)
    page.get_by_role("textbox", name="Your question").fill(
        "How many characters does a password have at least?"
    )
    page.keyboard.press("Enter")
    expect(page.get_by_role("article", name="Answer")).to_contain_text(
        "Passwords have at least 14 characters"
    )


@pytest.mark.parametrize("language", ["zh"])
def test_questions_are_of_the_page(
    page: Page, goto: Callable[..., Page], served: Served, language: str
) -> None:
    """Where the server knows questions in both languages, those of the page's are shown."""
    one = {"doc_id": "d", "title": "t"}
    both = [
        {"question": "Which colour is it?", "lang": "en", **one},
        {"question": "它是什么颜色？", "lang": "zh", **one},
    ]
    page.route(
        "**/api/collections/samples/questions*",
        lambda route: route.fulfill(json={"questions": both, "waiting": 0}),
    )
    goto("/ask")
    expect(page.locator(".example span")).to_have_text(["它是什么颜色？"])
    page.unroute("**/api/collections/samples/questions*")
    page.route(
        "**/api/collections/samples/questions*",
        lambda route: route.fulfill(json={"questions": both[:1], "waiting": 0}),
    )
    page.reload()
    expect(page.locator(".example span")).to_have_text(["Which colour is it?"])


def test_questions_come_of_several_documents(
    page: Page, goto: Callable[..., Page], served: Served
) -> None:
    """Those of the first document make room for those of others; what is read stays in place."""

    def build(doc: str, n: int) -> dict[str, str]:
        return {"question": f"What is {doc} {n}?", "lang": "en", "doc_id": doc, "title": doc}

    told = [
        {"questions": [build("oak", n) for n in range(4)], "waiting": 3},
        {"questions": [build(doc, 1) for doc in ("elm", "oak", "yew")], "waiting": 0},
    ]
    page.route(
        "**/api/collections/samples/questions*",
        lambda route: route.fulfill(json=told.pop(0) if len(told) > 1 else told[0]),
    )
    goto("/ask")
    expect(page.locator(".example small")).to_have_text(["oak"] * 4)
    expect(page.locator(".example span")).to_have_text(
        ["What is oak 0?", "What is elm 1?", "What is yew 1?"]
    )

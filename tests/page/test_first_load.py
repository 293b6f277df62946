"""How the page is loaded: its modules at once, nothing a second time, what draws formulas with the
first formula.

The one rule: what was loaded is counted by the browser, and at the server's own addresses.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

MODULES = (
    "performance.getEntriesByType('resource').filter(each => "
    "each.name.match(/\\.m?js$/)).map(each => each.name)"
)
ASKED = """performance.getEntriesByType("resource").filter(each => each.transferSize > 0)
    .map(each => new URL(each.name).pathname)"""
SHOW = """async text => {
    const { html, render } = await import("/assets/ui/html.js");
    const { Markdown } = await import("/assets/ui/markdown.js");
    const place = document.createElement("div");
    place.id = "tried";
    document.body.append(place);
    render(html`<${Markdown} text=${text} />`, place);
}"""


def test_the_page_names_what_it_loads(page: Page, goto: Callable[..., Page]) -> None:
    """Every module that the first view loads is told in its head, and is loaded once."""
    goto("/ask")
    page.wait_for_load_state("networkidle")
    loaded = page.evaluate(MODULES)
    told = page.locator('link[rel="modulepreload"]').evaluate_all(
        "all => all.map(each => each.href)"
    )
    assert [each for each in loaded if each not in told and not each.endswith("/early.js")] == []
    assert len(loaded) == len(set(loaded))
    assert not [each for each in loaded if "temml" in each or "/@" not in each]


def test_a_second_visit_asks_for_nothing_that_it_has(page: Page, goto: Callable[..., Page]) -> None:
    """Files of the version that the page names are in the browser's cache; only the page itself is
    asked for, and its data.
    """
    goto("/ask")
    page.wait_for_load_state("networkidle")
    page.reload()
    page.locator('html[data-view="ask"]').wait_for(state="attached")
    again = page.evaluate(ASKED)
    assert [
        each
        for each in again
        if not each.startswith("/api/") and not re.fullmatch(r"/assets/icons/\w+\.svg", each)
    ] == []


def test_formulas_come_with_the_first_one(page: Page, goto: Callable[..., Page]) -> None:
    goto("/ask")
    page.wait_for_load_state("networkidle")
    page.evaluate(SHOW, "The area is $\\pi r^2$.")
    tried = page.locator("#tried")
    expect(tried.locator("math")).to_have_count(1)
    expect(tried.locator("math mi").first).to_have_text("π")
    assert [each for each in page.evaluate(MODULES) if "temml" in each]


def test_without_what_draws_them_formulas_are_words(page: Page, goto: Callable[..., Page]) -> None:
    page.route(
        "**/temml.mjs",
        lambda route: route.fulfill(
            content_type="text/javascript", body="export const nothing = 1;"
        ),
    )
    goto("/ask")
    page.evaluate(SHOW, "The area is $\\pi r^2$.")
    expect(page.locator("#tried code")).to_have_text(r"\pi r^2")

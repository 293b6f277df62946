"""What the page says where something cannot be done: in its own words, and only with buttons that
can help.

The one rule: the page speaks to whoever sits before it; commands are for whoever runs the server.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import ME, Served

LARGEST = 200_000


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none", "CITEWELL_INGEST__MAX_BYTES": str(LARGEST)}


def test_a_file_that_is_too_large_is_not_sent(served: Served, page: Page, goto: Any) -> None:
    """It is told in kB beside its name, with no button that cannot help; what fits goes on."""
    goto("/library")
    sent: list[str] = []
    page.on(
        "request", lambda request: sent.append(request.url) if request.method == "POST" else None
    )
    large = {"name": "large.md", "mimeType": "text/markdown", "buffer": b"x" * (LARGEST + 1)}
    small = {
        "name": "small.md",
        "mimeType": "text/markdown",
        "buffer": b"# Small\n\nIt is small.\n",
    }
    page.locator("input[type=file]").first.set_input_files([large, small])  # type: ignore[arg-type]
    dialog = page.get_by_role("dialog")
    if dialog.count():
        dialog.get_by_role("button", name=re.compile("^Add")).click()
    told = page.get_by_role("alert").filter(has_text="large.md")
    expect(told).to_contain_text("large.md is 200 kB; the limit is 200 kB.")
    expect(told.get_by_role("button")).to_have_count(0)
    page.wait_for_event("requestfinished", lambda request: "/events" in request.url)
    assert len(sent) == 1


@pytest.mark.parametrize(
    ("path", "words", "leads"),
    [
        ("/library/nope", "Your library lists what is there.", "Library"),
        ("/ask/ses_nope", "Your conversations are listed", "Ask"),
        ("/data/nope", "Data lists your tables", "Data"),
        ("/sites/nope", "Sites lists the ones you have", "Sites"),
        ("/traces/tr_nope", "Traces lists what is there", "Traces"),
    ],
)
def test_what_is_not_there_says_where_to_go(
    page: Page, goto: Any, path: str, words: str, leads: str
) -> None:
    goto(path)
    told = page.get_by_role("alert").filter(has_text=words)
    expect(told).to_be_visible()
    expect(told).not_to_contain_text("citewell ")
    expect(told.get_by_role("button", name="Try again")).to_have_count(0)
    told.get_by_role("link", name=f"Go to {leads}").click()
    expect(page).to_have_url(re.compile(f"#/{leads.lower()}$"))


def test_readers_see_what_they_may_do(served: Served, page: Page, goto: Any) -> None:
    """Sites and the words of tables: to be read and asked, not to be changed."""
    me = served.api("GET", "/me") | {"role": "reader", "auth": "token", "csrf": "word"}
    page.route(ME, lambda route: route.fulfill(json=me))
    site = {
        "collection": "tower",
        "pages": 1,
        "problems": 0,
        "bytes": 10,
        "chunks": 1,
        "embedded": 1,
        "oldest": 1,
        "newest": 1,
    }
    kept = {"sites": [site | {"start_urls": [], "allowed_domains": []}]}
    page.route(re.compile(r"/api/sites(\?.*)?$"), lambda route: route.fulfill(json=kept))
    served.client.post(
        "/api/data/sources", files={"file": ("towns.csv", b"town,height\nNorden,41\n")}
    ).raise_for_status()
    goto("/sites")
    expect(page.get_by_role("link", name="tower")).to_be_visible()
    expect(page.get_by_text("Exploring a new one takes an editor.")).to_be_visible()
    for name in ("Refresh", "Delete", "Read the site"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    goto("/data/towns")
    page.get_by_role("tab", name=re.compile("^Description")).click()
    expect(page.get_by_text("Nothing is written yet.")).to_be_visible()
    expect(page.get_by_role("button", name="Save description")).to_have_count(0)


def test_the_example_is_of_the_columns_that_are_there(
    served: Served, page: Page, goto: Any
) -> None:
    served.client.post(
        "/api/data/sources", files={"file": ("hills.csv", b"region,height\nNorden,41\nSueden,12\n")}
    ).raise_for_status()
    goto("/data/hills")
    box = page.get_by_placeholder("For example: What is the total height of each region?")
    expect(box).to_be_visible()

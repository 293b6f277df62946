"""What a page has to stand: a browser that keeps nothing, a library and a history of a size that
people have, and what is far too long or too large for the composer. A slow line: test_wheel.py.

The one rule: all of it is asked of the real server; what is many is written into its database.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import Served
from tests.test_wheel import make_picture

Goto = Callable[..., Page]
FORBIDDEN = """for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name, {
        get() { throw new DOMException("no", "SecurityError"); } });"""
FULL = """Storage.prototype.setItem = () => {
    throw new DOMException("", "QuotaExceededError"); };"""
DOCUMENTS, TALKS = 10_000, 5_000
SIZE = "() => document.querySelectorAll('*').length"
PASTE = """(text) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    const event = { clipboardData: data, bubbles: true, cancelable: true };
    document.getElementById("ask-text").dispatchEvent(new ClipboardEvent("paste", event));
}"""
# some 200 pages
MANUAL = "".join(f"Line {n} of the manual is about valve {n % 97}.\n" for n in range(14_000))


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none", "CITEWELL_EMBEDDER": "builtin"}


@contextmanager
def writing(served: Served) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(served.home / "citewell.db", timeout=60)) as database, database:
        yield database


@pytest.mark.parametrize("kept", [FORBIDDEN, FULL], ids=["forbidden", "full"])
@pytest.mark.parametrize("language", ["zh"])
def test_a_browser_that_keeps_nothing(served: Served, goto: Goto, page: Page, kept: str) -> None:
    """Everything works until the page is closed, in the browser's language from the first moment;
    clearing what is not there is no error.
    """
    served.add("default", "lamp.md", "The lamp in the hall is switched off at ten.")
    page.add_init_script(kept)
    with page.expect_request(re.compile(r"/words/zh\.json$")):
        goto("/ask")
    assert not page.evaluate(
        "performance.getEntriesByType('resource').some(each => each.name.endsWith('/en.json'))"
    )
    page.get_by_role("textbox", name="您的问题").fill("When is the lamp switched off?")
    page.keyboard.press("Enter")
    expect(page.locator("article.answer")).to_contain_text("at ten")
    goto("/settings")
    page.get_by_role("button", name="全部清除").click()
    with page.expect_navigation():
        page.get_by_role("dialog").get_by_role("button", name="清除").last.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_ten_thousand_documents(served: Served, goto: Goto, page: Page) -> None:
    """The page holds a part of them; the server finds any."""
    served.add("many", "first.md", "# First\n\nThe first note.")
    with writing(served) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(documents)")]
        other = {"doc_id": "'doc_' || n", "uri": "'upload:' || n", "title": "'Note ' || n"}
        database.execute(
            "INSERT INTO documents WITH RECURSIVE numbers(n) AS "
            f"(SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < {DOCUMENTS}) SELECT "
            + ", ".join(other.get(name, name) for name in columns)
            + " FROM documents, numbers WHERE collection = 'many'"
        )
    goto("/library/many")
    expect(page.locator(".lib-table tbody tr").first).to_be_visible()
    expect(page.get_by_role("tab", name="Documents")).to_contain_text("10,000")
    assert page.evaluate(SIZE) < 6_000
    page.get_by_role("searchbox", name="Filter by title").fill("Note 7777")
    expect(page.locator(".lib-table tbody tr")).to_have_count(1)


def test_five_thousand_conversations(served: Served, goto: Goto, page: Page) -> None:
    said = {"agent": "qa", "chat_history": [{"role": "user", "content": "On herons"}]}
    with writing(served) as database:
        database.executemany(
            "INSERT INTO sessions (session_id, user_id, title, current_state, session_data, "
            "last_updated) VALUES (?, 'local', ?, 'OPEN', ?, ?)",
            [(f"ses_{n}", f"Talk {n}", json.dumps(said), n) for n in range(TALKS)],
        )
    goto("/ask")
    talks = page.get_by_role("region", name="Conversations")
    expect(talks.get_by_role("button", name=re.compile(r"^4,?9\d\d more"))).to_be_visible()
    assert talks.get_by_role("link").count() == 60
    assert page.evaluate(SIZE) < 1_500
    talks.get_by_role("searchbox").fill("talk 1234 herons")
    expect(talks.get_by_role("link")).to_have_count(1)
    talks.get_by_role("link").click()
    expect(page.get_by_role("heading", name="On herons")).to_be_visible()


def test_a_text_of_two_hundred_pages_is_pasted(goto: Goto, page: Page) -> None:
    """It becomes a file that is asked, not a question."""
    goto("/ask")
    page.evaluate(PASTE, f"{MANUAL}\nThe porter's bicycle is painted turquoise.\n")
    box = page.get_by_role("textbox", name="Your question")
    expect(box).to_have_value("")
    box.fill("What colour is the porter's bicycle painted?")
    box.press("Enter")
    expect(page.get_by_role("article", name="Answer")).to_contain_text("turquoise")


def test_a_picture_of_forty_megabytes(goto: Goto, page: Page, tmp_path: Path) -> None:
    picture = tmp_path / "poster.png"
    picture.write_bytes(make_picture(6_400, level=0))
    goto("/ask")
    page.get_by_label("Attach files or pictures").last.set_input_files(picture)
    expect(page.locator(".composer-file-failed")).to_contain_text("Read text in pictures")
    box = page.get_by_role("textbox", name="Your question")
    box.fill("Is the poster here?")
    expect(page.get_by_role("button", name="Send")).to_be_enabled()

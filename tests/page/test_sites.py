"""Web sites in the page: explored from an empty installation with a question, kept, read,
refreshed, exported, deleted.

The one rule: the site is a server of this machine, and what the page shows is compared with what
that server was asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from tests.conftest import Reply, SiteServer
from tests.page.conftest import EVERY_LOOK, Served
from tests.page.sources import watch
from tests.website.conftest import SHOP, shop_page

QUESTION = "Within how many days may domestic orders be returned?"
VISITED = re.compile(r"\d+ pages? visited|访问了 \d+ 个页面")
FINISH = "Answer with what you have"
FACT = "Domestic orders may be returned within 14 days of delivery."


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8"}


@pytest.fixture(scope="module")
def replies() -> list[Any]:
    return [FACT] * 40


@pytest.fixture
def shop(site_server: SiteServer) -> SiteServer:
    for path, page in SHOP["pages"].items():
        site_server.pages[path] = Reply(
            body=shop_page(path, page["title"], page["body"], page.get("links", {}))
        )
    return site_server


def explore(page: Page, *urls: str, question: str = QUESTION) -> None:
    page.get_by_label("Start at").fill(" ".join(urls))
    page.get_by_role("textbox", name="Your question").fill(question)
    page.keyboard.press("Enter")


def answered(page: Page) -> None:
    """Also opens the pages visited, where the answer has them folded away."""
    page.locator("article.answer").wait_for()
    fold = page.locator("details", has_text=VISITED)
    if fold.get_attribute("open") is None:
        fold.locator("summary").first.click()


def test_explore_from_nothing(
    shop: SiteServer,
    goto: Callable[..., Page],
    picture: Callable[..., None],
    axe: Callable[..., None],
) -> None:
    """A question to a new site: the map grows, the answer is proved, its source opens at the
    sentence, the site is kept.
    """
    page = goto("/sites")
    page.get_by_text("None yet.").wait_for()
    axe(page)
    picture("sites-empty")
    explore(page, shop.url)
    page.locator(".site-node").first.wait_for()
    answered(page)
    paths = [path for path in shop.paths() if path != "/sitemap.xml"]
    expect(page.locator(".site-path")).to_have_count(len(paths))
    assert sorted(page.locator(".site-path").all_text_contents()) == sorted(paths)
    # each hangs under the page whose link was followed
    expect(page.locator(".site-way")).to_have_count(len(paths) - 1)
    axe(page)
    picture("sites-answer", full=True)
    page.get_by_role("tab", name="List").click()
    listed = page.locator(".visits").first
    expect(listed).to_contain_text("a start page")
    expect(listed.locator(".visits .visit-why").first).to_contain_text("it names")
    axe(page)
    page.locator("button.cite").first.click()
    panel = page.locator("dialog.panel")
    expect(panel.locator("mark")).to_have_text(FACT)
    expect(panel.get_by_role("link", name="Original page")).to_have_attribute(
        "href", shop.url + "/help/returns"
    )
    axe(page)
    picture("sites-source")
    page.keyboard.press("Escape")
    card = page.locator(".kept-sites .card", has_text=shop.url.removeprefix("http://"))
    expect(card).to_contain_text(f"{len(paths)} pages")
    asked = len(shop.paths())
    page.get_by_role("textbox", name="Your question").fill(
        "And when they are domestic, within how many days?"
    )
    page.keyboard.press("Enter")
    expect(page.locator("article.answer")).to_have_count(2)
    assert len(shop.paths()) < asked + 5


def test_stop_answers_from_what_was_read(shop: SiteServer, goto: Callable[..., Page]) -> None:
    slow = [path for path in shop.pages if path != "/"]
    shop.slow.update(dict.fromkeys(slow, 2.0))
    page = goto("/sites")
    explore(page, shop.url)
    page.locator(".site-node").first.wait_for()
    page.get_by_role("button", name=FINISH).click()
    stopping = page.get_by_text("Wrapping up: answering from what it has read.")
    expect(stopping.or_(page.locator("article.answer")).first).to_be_visible()
    answered(page)
    assert len(shop.paths()) <= 8  # the first page and the round that was under way
    expect(page.get_by_role("button", name=FINISH)).to_have_count(0)
    here = page.get_by_role("region", name="Websites")
    expect(here.get_by_role("link", name="Open as a conversation")).to_be_visible()
    here.get_by_role("button", name="New conversation").click()
    expect(page.locator("article.answer")).to_have_count(0)


def test_keeping(
    served: Served,
    shop: SiteServer,
    goto: Callable[..., Page],
    axe: Callable[..., None],
    picture: Callable[..., None],
) -> None:
    """Pages with sizes and times, a page's snapshot, refresh, export, delete with a question before
    it.
    """
    shop.pages[
        "/help"
    ].body += b'<a href="/gone">within how many days domestic orders may be returned, in short</a>'
    page = goto("/sites")
    explore(page, shop.url)
    answered(page)
    host = shop.url.removeprefix("http://")
    page.locator(".kept-sites").get_by_role("link", name=host, exact=True).click()
    rows = page.locator(".site-pages tbody tr")
    gone = rows.filter(has_text="/gone")
    expect(gone).to_contain_text("The page no longer exists")
    axe(page)
    picture("sites-pages", full=True)
    rows.get_by_role("button", name="Returns and refunds").click()
    panel = page.locator("dialog.panel")
    expect(panel.locator(".panel-snapshot")).to_contain_text(FACT)
    page.keyboard.press("Escape")
    shop.page(
        "/help/returns",
        "<p>Domestic orders may be returned within 20 days of delivery.</p>",
        title="Returns, anew",
    )
    page.get_by_role("button", name="Refresh").click()
    expect(page.locator(".toast")).to_contain_text("1 changed")
    expect(rows.filter(has_text="/help/returns")).to_contain_text("Returns, anew")
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    lines = [json.loads(line) for line in download.value.path().read_text("utf-8").splitlines()]
    assert shop.url + "/help/returns" in {line["url"] for line in lines}
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Cancel").click()
    assert host in json.dumps(served.api("GET", "/sites"))
    page.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    page.get_by_role("heading", name="Saved sites").wait_for()
    assert host not in json.dumps(served.api("GET", "/sites"))


def test_what_cannot_be_read_says_what_to_do(
    shop: SiteServer, goto: Callable[..., Page], axe: Callable[..., None]
) -> None:
    page = goto("/sites")
    explore(page)
    expect(page.get_by_role("alert")).to_contain_text("Enter the address to start from")
    expect(page.get_by_label("Start at")).to_be_focused()
    explore(page, "http://")
    expect(page.locator(".making")).to_contain_text("Enter start pages that begin with https://")
    axe(page)
    shop.pages["/robots.txt"] = Reply(body=b"User-agent: *\nDisallow: /help", kind="text/plain")
    explore(page, shop.url + "/help", "http://10.11.12.13/", "http://127.0.0.1:9/")
    answered(page)
    page.get_by_role("tab", name="List").click()
    listed = page.locator(".visits").first
    expect(listed.locator(".visit", has_text="/help")).to_contain_text(
        "doesn’t allow programs to read this page"
    )
    expect(listed.locator(".visit", has_text="10.11.12.13")).to_contain_text("allow_private_hosts")
    expect(listed.locator(".visit.failed")).to_have_count(3)
    axe(page)


def test_titles_and_addresses_of_strangers_are_text(
    shop: SiteServer, goto: Callable[..., Page], served: Served, shared_data: Path
) -> None:
    lines = (shared_data / "robustness" / "naughty_strings.jsonl").read_text("utf-8").split("\n")
    worst = [
        text for text in (str(json.loads(line)["text"]) for line in lines if line) if "<" in text
    ][:24]
    links = "".join(
        f'<p><a href="/bad/{n}?q={quote(text)}">{escape(QUESTION + text)}</a></p>'
        for n, text in enumerate(worst)
    )
    shop.page("/", f"<p>Start.</p>{links}", title=escape(worst[0] + "Start"))
    for n, text in enumerate(worst):
        shop.pages[f"/bad/{n}?q={quote(text)}"] = Reply(
            body=f"<title>{escape(text)}x</title><p>{escape(text)} y</p>".encode()
        )
    page = goto("/sites")
    wrong = watch(page, served.url)
    explore(page, shop.url)
    answered(page)
    expect(page.locator(".site-title").filter(has_text=worst[0][:12]).first).to_be_visible()
    page.get_by_role("tab", name="List").click()
    expect(page.locator(".visit").first).to_contain_text(worst[0])
    page.locator(".kept-sites").get_by_role(
        "link", name=shop.url.removeprefix("http://"), exact=True
    ).click()
    page.locator(".site-pages tbody tr").first.wait_for()
    assert page.locator(".site-pages tbody tr").count() > 3
    assert wrong == []


@EVERY_LOOK
def test_phone_and_chinese(
    shop: SiteServer,
    goto: Callable[..., Page],
    axe: Callable[..., None],
    picture: Callable[..., None],
    language: str,
    width: int,
) -> None:
    page = goto("/sites")
    explore_zh = language == "zh"
    page.locator("#ask-sites").fill(shop.url)
    page.locator(".composer-text").fill("国内订单在几天内可以退货？" if explore_zh else QUESTION)
    page.locator(".composer-send").click()
    answered(page)
    axe(page)
    picture("sites-map", full=True)
    page.get_by_role("tab").nth(1).click()
    page.locator(".visit-why").first.wait_for()
    picture("sites-list", full=True)
    if explore_zh:
        expect(page.locator(".visit-why").first).to_have_text("起始页面")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("main").evaluate("main => main.scrollWidth <= main.clientWidth")

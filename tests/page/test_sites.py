"""Web sites in the page: explored from an empty installation with a question, kept, read, refreshed, exported, deleted.

The one rule: the site is a server of this machine, and what the page shows is compared with what that server was asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Reply, SiteServer
from tests.page.conftest import Served
from tests.website.conftest import SHOP, shop_page

QUESTION = "Within how many days may orders be returned?"
FACT = "Orders may be returned within 45 days"


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_EMBEDDER": "scripted", "CITEWELL_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8"}


@pytest.fixture
def shop(site_server: SiteServer) -> SiteServer:
    for path, page in SHOP["pages"].items():
        site_server.pages[path] = Reply(body=shop_page(path, page["title"], page["body"], page.get("links", {})))
    return site_server


def explore(page: Page, url: str, question: str = QUESTION) -> None:
    page.get_by_label("Start pages").fill(url)
    page.get_by_label("Your question").fill(question)
    page.get_by_role("button", name="Read the site").click()


def test_try(shop: SiteServer, goto: Any, picture: Any) -> None:
    page = goto("/sites")
    picture("sites-empty")
    explore(page, shop.url)
    page.wait_for_timeout(15000)
    picture("sites-1", full=True)
    page.get_by_role("tab", name="List").click()
    page.wait_for_timeout(500)
    picture("sites-2", full=True)
    print(shop.paths())

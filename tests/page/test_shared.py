"""A conversation shared where people sign in: made for one of them, read by them after their own
sign-in.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect
from tests.interfaces.auth import bearer
from tests.page.conftest import PATIENCE, Served
from tests.page.windows import Windows
from tests.servers.forked import run_forked


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_AUTH": "token", "CITEWELL_LLM": "none"}


@pytest.fixture(scope="module")
def token(served: Served) -> str:
    """Of Ada, an admin, who has asked of a document that is hers alone."""
    command = [sys.executable, "-m", "citewell", "user", "add", "ada", "--json"]
    done = run_forked(command, served.environment, check=True)
    found = str(json.loads(done.stdout)["token"])
    served.client.headers.update(bearer(found))
    served.api("POST", "/collections", json={"name": "hers", "private": True})
    served.add("hers", "lamp.md", "# Lamp\n\nThe lamp is 41 metres tall.\n", user_id="ada")
    asked = {"question": "How tall is the lamp?", "agent": "qa", "collection": "hers"}
    assert served.api("POST", "/ask", json=asked)["status"] == "answered"
    return found


@pytest.mark.parametrize("language", ["zh"])
def test_a_link_for_one_person(
    served: Served, windows: Windows, page: Page, token: str, axe: Any, picture: Any
) -> None:
    """Bob signs in where the link has led him, reads the quote, and is told that the document is
    not for him; a name that nobody has is refused.
    """
    bob = served.api("POST", "/users", json={"user_id": "bob", "role": "reader"})["token"]
    page.goto("/#/ask")
    sign_in(page, token)
    page.get_by_role("button", name="“How tall is the lamp?”的操作").click()
    page.get_by_role("menuitem", name="分享…").click()
    dialog = page.get_by_role("dialog", name="分享此对话")
    dialog.get_by_label("谁可以阅读").fill("bib")
    dialog.get_by_role("button", name="创建并复制链接").click()
    expect(dialog.get_by_role("alert")).to_contain_text("这里没有用户 'bib'")
    dialog.get_by_label("谁可以阅读").fill("bob")
    dialog.get_by_role("button", name="创建并复制链接").click()
    address = dialog.get_by_role("textbox", name="链接", exact=True).input_value()
    axe(page)
    picture("share-named")
    other = windows.open(390, "dark", "zh")
    other.set_default_timeout(PATIENCE * 1000)
    other.goto(address)
    sign_in(other, bob)
    main = other.get_by_role("main")
    expect(main.get_by_role("article")).to_contain_text("41 metres tall")
    main.locator(".source-open").first.click()
    expect(other.get_by_text("您可以阅读引文，但无权打开此来源。")).to_be_visible()
    axe(other)
    other.close()
    path = re.sub("^.*/shared/", "/api/shared/", address)
    nobody = httpx.get(served.url + path, timeout=PATIENCE, trust_env=False)
    assert nobody.status_code == 401


def sign_in(page: Page, token: str) -> None:
    page.locator("form input").first.fill(token)
    page.keyboard.press("Enter")

"""Signing in with a real token, on a server that asks for one (`auth = "token"`)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.servers.forked import run_forked


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_AUTH": "token"}


@pytest.fixture(scope="module")
def token(served: Any) -> str:
    """Of Ada, the first user."""
    return added(served, "ada")


def added(served: Any, name: str) -> str:
    """The token of a new user."""
    return str(json.loads(cli(served, "user", "add", name, "--json"))["token"])


def cli(served: Any, *words: str) -> bytes:
    """What a command prints beside the running server."""
    command = [sys.executable, "-m", "citewell", *words]
    return bytes(run_forked(command, served.environment, check=True).stdout)


def test_in_and_out_again(page: Page, token: str) -> None:
    """A wrong token is told; the right one opens the page, stays after a reload, and goes with the
    sign-out.
    """
    page.goto("/#/settings")
    field, button = page.get_by_label("Token"), page.get_by_role("button", name="Sign in")
    field.fill("cw_wrong")
    button.click()
    expect(page.get_by_text("valid here")).to_be_visible()
    field.fill(token)
    button.click()
    expect(page.get_by_role("region", name="You")).to_contain_text("ada")
    page.reload()
    expect(page.get_by_role("region", name="You")).to_contain_text("ada")
    assert page.evaluate("document.cookie") == "", "scripts cannot read the session"
    assert token not in page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    page.get_by_role("button", name="Sign out").click()
    expect(button).to_be_visible()
    page.reload()
    expect(button).to_be_visible()


def test_the_next_person_in_a_tab_sees_nothing_of_the_one_before(
    served: Any, page: Page, token: str, tmp_path: Path
) -> None:
    """Such as what was asked of the tables, which only the page itself knew."""
    bob = added(served, "bob")
    (tmp_path / "ships.csv").write_text("ship,tons\nAda,5\n", "utf-8")
    cli(served, "data", "add", str(tmp_path / "ships.csv"))
    page.goto("/#/data/ships")
    sign_in(page, token)
    page.get_by_role("textbox", name="Your question").fill(
        "How many tons has the ship of my secret?"
    )
    page.keyboard.press("Enter")
    question = page.get_by_text("the ship of my secret")
    expect(question.first).to_be_visible()
    page.get_by_role("navigation").get_by_role("link", name="Settings").click()
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, bob)
    expect(page.get_by_role("region", name="You")).to_contain_text("bob")
    page.evaluate("() => { location.hash = '#/data/ships' }")
    expect(page.get_by_role("textbox", name="Your question")).to_be_visible()
    expect(page.locator(".turn")).to_have_count(0)


def test_a_sign_in_that_ends_under_the_page_is_told(served: Any, page: Page) -> None:
    token = added(served, "carol")
    page.goto("/#/settings")
    sign_in(page, token)
    expect(page.get_by_role("region", name="You")).to_contain_text("carol")
    expect(page.get_by_text("You have been signed out")).to_have_count(0)
    cli(served, "user", "revoke", "carol")
    page.evaluate("() => { location.hash = '#/library' }")  # works in whatever view is there by now
    expect(page.get_by_text("You have been signed out")).to_be_visible()
    sign_in(page, json.loads(cli(served, "user", "token", "carol", "--json"))["token"])
    expect(page.locator('html[data-view="library"]')).to_be_attached()


def sign_in(page: Page, token: str) -> None:
    page.get_by_role("textbox", name="Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("navigation").first).to_be_visible()

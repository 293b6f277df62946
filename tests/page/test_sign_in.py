"""Signing in with a real token, on a server that asks for one (`auth = "token"`)."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from playwright.sync_api import Page, expect


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_AUTH": "token"}


@pytest.fixture(scope="module")
def token(served: Any) -> str:
    """Of Ada, the first user."""
    command = [sys.executable, "-m", "citewell", "user", "add", "ada", "--json"]
    done = subprocess.run(command, env=served.environment, capture_output=True, check=True)
    return str(json.loads(done.stdout)["token"])


def test_in_and_out_again(page: Page, token: str) -> None:
    """A wrong token is told; the right one opens the page, stays after a reload, and goes with the sign-out."""
    page.goto("/#/settings")
    field, button = page.get_by_label("Token"), page.get_by_role("button", name="Sign in")
    field.fill("cw_wrong")
    button.click()
    expect(page.get_by_text("not known here")).to_be_visible()
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

"""What is different where users sign in: looking after them, links that outlast the sign-in, tables of one's own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect
from tests.interfaces.auth import bearer
from tests.page.conftest import PATIENCE, Served


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_AUTH": "token", "CITEWELL_LLM": "none"}


@pytest.fixture(scope="module")
def token(served: Served) -> str:
    """Of Ada, the first user, an admin."""
    command = [sys.executable, "-m", "citewell", "user", "add", "ada", "--json"]
    done = subprocess.run(command, env=served.environment, capture_output=True, check=True)
    found = str(json.loads(done.stdout)["token"])
    served.client.headers.update(bearer(found))
    return found


def sign_in(page: Page, token: str, path: str = "/#/settings") -> None:
    page.goto(path)
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()


def test_a_user_comes_and_goes(served: Served, page: Page, token: str, axe: Any, picture: Any) -> None:
    """Added, with a token that is shown once and works; given a role; revoked; removed."""
    sign_in(page, token)
    users = page.get_by_role("region", name="Users", exact=True)
    expect(users.get_by_role("listitem").first).to_contain_text("ada")
    users.get_by_role("button", name="Add a user").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("ada")
    dialog.get_by_role("button", name="Make").click()
    expect(dialog.get_by_role("alert")).to_contain_text("exists already")
    dialog.get_by_label("Name").fill("eve")
    axe(page)
    dialog.get_by_role("button", name="Make").click()
    made = page.locator(".token-once").inner_text()
    picture("users-token")
    page.get_by_role("button", name="I have copied it").click()
    expect(page.locator(".token-once")).to_have_count(0)
    assert made not in page.content()
    me = httpx.get(f"{served.url}/api/me", headers=bearer(made), timeout=PATIENCE, trust_env=False)
    assert (me.json()["user_id"], me.json()["role"], me.json()["home"]) == ("eve", "reader", "")
    users.get_by_label("Role of eve").select_option("editor")
    expect(page.get_by_text("eve: Editor from now on.")).to_be_visible()
    assert {each["user_id"]: each["role"] for each in served.api("GET", "/users")["users"]} == {"ada": "admin", "eve": "editor"}
    row = users.locator(".user").filter(has_text="eve")
    row.locator("summary").click()
    axe(page)
    picture("users", full=True)
    row.get_by_role("button", name=re.compile("^Revoke the token")).click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("0 tokens")
    gone = httpx.get(f"{served.url}/api/me", headers=bearer(made), timeout=PATIENCE, trust_env=False)
    assert gone.status_code == 401
    row.get_by_role("button", name="What to do with eve").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)
    users.get_by_label("Role of ada").select_option("reader")
    page.get_by_role("dialog").get_by_role("button", name="Change").click()
    expect(page.get_by_text("ada is the only admin")).to_be_visible()
    expect(users.get_by_label("Role of ada")).to_have_value("admin")
    assert "users: ada added eve as reader" in served.log()
    assert made not in served.log()


def test_others_do_not_see_it(served: Served, page: Page, token: str) -> None:
    other = served.api("POST", "/users", json={"user_id": "rob", "role": "reviewer"})["token"]
    sign_in(page, other)
    expect(page.get_by_role("region", name="You")).to_contain_text("rob")
    expect(page.get_by_role("region", name="For other programs")).to_contain_text("With a token")
    expect(page.get_by_role("region", name="Users", exact=True)).to_have_count(0)
    assert str(served.home) not in page.content()


def test_a_link_to_a_sentence_outlasts_the_sign_in(served: Served, page: Page, token: str, axe: Any) -> None:
    """Who is sent a link and has to sign in first comes back to it."""
    doc = served.add("default", "lamp.md", "# Lamp\n\nThe lamp is 41 metres tall.\n\nIt is red.\n", user_id="ada")
    text = served.api("GET", f"/documents/{doc}/content")["text"]
    start = text.index("The lamp is")
    sign_in(page, token, f"/#/source/{doc}?start={start}&end={start + 27}")
    expect(page.locator("mark").filter(has_text="The lamp is 41 metres tall.").first).to_be_visible()
    expect(page).to_have_url(re.compile(f"#/source/{doc}"))


def test_tables_for_oneself(served: Served, page: Page, token: str) -> None:
    """A file that is added as one's own is not there for others."""
    other = served.api("POST", "/users", json={"user_id": "bob", "role": "reader"})["token"]
    sign_in(page, token, "/#/data")
    page.get_by_label("Only for me").check()
    own = {"name": "mine.csv", "mimeType": "text/csv", "buffer": b"town,height\nNorden,41\n"}
    page.locator("input[type=file]").first.set_input_files(own)  # type: ignore[arg-type]
    expect(page).to_have_url(re.compile("#/data/mine$"))
    assert served.api("GET", "/data/sources/mine")["owner"] == "ada"
    hidden = httpx.get(f"{served.url}/api/data/sources/mine", headers=bearer(other), timeout=PATIENCE, trust_env=False)
    assert hidden.status_code == 404

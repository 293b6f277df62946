"""What is different where users sign in: looking after them, links that outlast the sign-in, tables
of one's own.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect
from tests.conftest import SiteServer
from tests.interfaces.auth import bearer
from tests.page.conftest import PATIENCE, Served
from tests.servers.forked import run_forked

ORIGIN = "https://www.example.com"


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    access = {"CITEWELL_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8", "CITEWELL_ACCESS__ORIGINS": ORIGIN}
    return {"CITEWELL_AUTH": "token", "CITEWELL_LLM": "none", **access}


@pytest.fixture(scope="module")
def token(served: Served) -> str:
    """Of Ada, the first user, an admin."""
    command = [sys.executable, "-m", "citewell", "user", "add", "ada", "--json"]
    done = run_forked(command, served.environment, check=True)
    found = str(json.loads(done.stdout)["token"])
    served.client.headers.update(bearer(found))
    return found


def sign_in(page: Page, token: str, path: str = "/#/settings") -> None:
    page.goto(path)
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()


def test_a_user_comes_and_goes(
    served: Served, page: Page, token: str, axe: Any, picture: Any
) -> None:
    """Added, with a token that is shown once and works; given a role; revoked; removed."""
    sign_in(page, token)
    users = page.get_by_role("region", name="Users", exact=True)
    expect(users.get_by_role("listitem").first).to_contain_text("ada")
    users.get_by_role("button", name="Add a user").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("ada")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("alert")).to_contain_text("exists already")
    dialog.get_by_label("Name").fill("eve")
    axe(page)
    dialog.get_by_role("button", name="Create").click()
    made = page.locator(".token-once").inner_text()
    picture("users-token")
    page.get_by_role("button", name="I have copied it").click()
    expect(page.locator(".token-once")).to_have_count(0)
    assert made not in page.content()
    me = httpx.get(f"{served.url}/api/me", headers=bearer(made), timeout=PATIENCE, trust_env=False)
    assert (me.json()["user_id"], me.json()["role"], me.json()["home"]) == ("eve", "reader", "")
    users.get_by_label("Role of eve").select_option("editor")
    expect(page.get_by_text("eve is now: Editor.")).to_be_visible()
    assert {each["user_id"]: each["role"] for each in served.api("GET", "/users")["users"]} == {
        "ada": "admin",
        "eve": "editor",
    }
    row = users.locator(".user").filter(has_text="eve")
    row.locator("summary").click()
    axe(page)
    picture("users", full=True)
    row.get_by_role("button", name=re.compile("^Revoke the token")).click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("0 tokens")
    gone = httpx.get(
        f"{served.url}/api/me", headers=bearer(made), timeout=PATIENCE, trust_env=False
    )
    assert gone.status_code == 401
    row.get_by_role("button", name="Actions for eve").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)
    users.get_by_label("Role of ada").select_option("reader")
    page.get_by_role("dialog").get_by_role("button", name="Change").click()
    expect(page.get_by_text("ada is the only admin")).to_be_visible()
    expect(users.get_by_label("Role of ada")).to_have_value("admin")
    assert "ada user.add eve" in served.log()
    assert made not in served.log()


def test_others_do_not_see_it(served: Served, page: Page, token: str) -> None:
    other = served.api("POST", "/users", json={"user_id": "rob", "role": "reviewer"})["token"]
    sign_in(page, other)
    expect(page.get_by_role("region", name="You")).to_contain_text("rob")
    expect(page.get_by_role("region", name="For other programs")).to_contain_text("With a token")
    expect(page.get_by_role("region", name="Users", exact=True)).to_have_count(0)
    assert str(served.home) not in page.content()


def test_a_link_to_a_sentence_outlasts_the_sign_in(
    served: Served, page: Page, token: str, axe: Any
) -> None:
    """Who is sent a link and has to sign in first comes back to it."""
    doc = served.add(
        "default", "lamp.md", "# Lamp\n\nThe lamp is 41 metres tall.\n\nIt is red.\n", user_id="ada"
    )
    text = served.api("GET", f"/documents/{doc}/content")["text"]
    start = text.index("The lamp is")
    sign_in(page, token, f"/#/source/{doc}?start={start}&end={start + 27}")
    expect(
        page.locator("mark").filter(has_text="The lamp is 41 metres tall.").first
    ).to_be_visible()
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
    hidden = httpx.get(
        f"{served.url}/api/data/sources/mine",
        headers=bearer(other),
        timeout=PATIENCE,
        trust_env=False,
    )
    assert hidden.status_code == 404


@pytest.fixture(scope="module")
def guest(served: Served, token: str) -> str:
    """A reader, and a collection for them to be asked about; what is Ada's alone is beside it."""
    assert token
    served.add(
        "help", "lamp.md", "# Lamp\n\nThe lamp is 41 metres tall.\n\nIt is red.\n", user_id="ada"
    )
    served.api("POST", "/collections", json={"name": "adas", "private": True})
    return str(
        served.api("POST", "/users", json={"user_id": "guest", "role": "reader"})["user"]["user_id"]
    )


def asks(served: Served, token: str, **more: str) -> httpx.Response:
    """As a page of another site does."""
    headers = bearer(token) | {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"}
    said = {"question": "How tall is the lamp?", "agent": "qa", **more}
    return httpx.post(
        f"{served.url}/api/ask", json=said, headers=headers, timeout=4 * PATIENCE, trust_env=False
    )


def test_a_token_for_a_page_asks_what_is_chosen(
    served: Served, page: Page, token: str, guest: str, axe: Any
) -> None:
    """The dialog offers what is shared, makes no token before one is chosen, and the token asks
    that and nothing else.
    """
    sign_in(page, token)
    users = page.get_by_role("region", name="Users", exact=True)
    users.get_by_role("button", name=f"Actions for {guest}").click()
    page.get_by_role("menuitem", name="New token").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("For the chat widget").check()
    places = dialog.get_by_label("What visitors may ask")
    expect(places.locator("option", has_text="Collection help")).to_have_count(1)
    expect(places.locator("option", has_text="adas")).to_have_count(0)
    expect(dialog.get_by_role("button", name="Create")).to_be_disabled()
    axe(page)
    places.select_option(label="Collection help")
    dialog.get_by_role("button", name="Create").click()
    made = page.locator(".token-once").inner_text()
    page.get_by_role("button", name="I have copied it").click()
    assert "41 metres" in asks(served, made).json()["answer"]
    assert asks(served, made, collection="default").status_code == 403
    assert served.client.get("/api/collections", headers=bearer(made)).status_code == 403
    [row] = [each for each in served.api("GET", "/users")["users"] if each["user_id"] == guest]
    assert [each["bound"] for each in row["known"] if each["scope"] == "widget"] == [
        "collection:help"
    ]
    shown = users.locator(".user").filter(has_text=guest)
    shown.locator("summary").click()
    expect(shown).to_contain_text("chat widget, collection help")
    users.get_by_role("button", name="Actions for ada").click()
    page.get_by_role("menuitem", name="New token").click()
    expect(dialog).to_contain_text("are made for readers")
    expect(dialog.get_by_label("For the chat widget")).to_have_count(0)
    dialog.get_by_role(
        "button", name="Create"
    ).click()  # one that is for no page, and so counts on none
    assert asks(served, page.locator(".token-once").inner_text()).status_code == 403


@pytest.mark.parametrize("language", ["zh"])
@pytest.mark.parametrize("width", [360])
def test_and_a_kept_site(
    served: Served, page: Page, token: str, guest: str, site_server: SiteServer, axe: Any
) -> None:
    """Chosen in Chinese on a phone; the Sites view shows the lines for the same."""
    site_server.page(
        "/", "The tower of Norden is 30 metres tall and has a bell. " * 5, title="Tower"
    )
    job = served.api("POST", "/collections/tower/documents", json={"url": f"{site_server.url}/"})
    served.client.get(f"/api/jobs/{job['job_id']}/events", timeout=4 * PATIENCE)
    page.goto("/#/settings")
    page.get_by_label("令牌").fill(token)
    page.get_by_role("button", name="登录").click()
    page.get_by_role("button", name=f"对 {guest} 的操作").click()
    page.get_by_role("menuitem", name="新令牌").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("用于公开网页上的聊天组件").check()
    dialog.get_by_label("访客可以问什么").select_option(value="site:tower")
    axe(page)
    dialog.get_by_role("button", name="创建").click()
    made = page.locator(".token-once").inner_text()
    page.get_by_role("button", name="已复制").click()
    assert (
        "30 metres"
        in asks(served, made, question="How tall is the tower of Norden?").json()["answer"]
    )
    assert asks(served, made, collection="help").status_code == 403
    page.goto("/#/sites/tower")
    page.get_by_role("button", name="放到您的网站上").click()
    lines = page.get_by_role("dialog").locator("pre")
    expect(lines.nth(1)).to_contain_text("citewell user token guest --widget --site tower")
    expect(lines.last).to_contain_text('data-site="tower" data-token="cw_…"')
    axe(page)

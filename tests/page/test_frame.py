"""The frame of the page: navigation, switches, settings, what is told when something is wrong, and
a keyboard for all of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from tests.page.conftest import EVERY_LOOK, ME

WEB = Path(__file__).resolve().parents[2] / "src" / "citewell" / "interfaces" / "web"


def json_reply(body: Any, status: int = 200) -> Callable[[Route], None]:
    return lambda route: route.fulfill(
        status=status, content_type="application/json", body=json.dumps(body)
    )


def refused(code: str, message: str, hint: str = "") -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "hint": hint}}


def test_front_leads_to_asking(page: Page) -> None:
    page.goto("/")
    page.locator('html[data-view="ask"]').wait_for(state="attached")
    expect(page).to_have_title("Ask · Citewell")


def test_settings_tell_what_answers(goto: Callable[..., Page]) -> None:
    window = goto("/settings")
    models = window.get_by_role("region", name="Models and health")
    expect(models.get_by_text("Ready", exact=True)).to_be_visible()
    expect(models.get_by_text("scripted", exact=True)).to_be_visible()
    expect(window.get_by_role("link", name="0 documents")).to_have_attribute("href", "#/library")
    description = window.get_by_role("link", name="Description of the API")
    assert (
        window.request.get(str(description.get_attribute("href"))).json()["info"]["title"]
        == "Citewell"
    )


def test_a_missing_model_is_told(page: Page, goto: Callable[..., Page]) -> None:
    """Also where the server answers 503: its reply is the readiness all the same."""
    told = {
        "status": "unavailable",
        "database": "the disk is full",
        "chat_model": "x.gguf: missing",
        "embedder": "builtin",
    }
    told |= {"waiting": 7, "llm": "builtin", "model": "Tiny", "reranker": "none"}  # type: ignore[dict-item]
    page.route("**/api/ready*", json_reply(told, 503))
    models = goto("/settings").get_by_role("region", name="Models and health")
    for words in (
        "Not available",
        "x.gguf: missing",
        "7 passages still being indexed",
        "the disk is full",
    ):
        expect(models.get_by_text(words)).to_be_visible()


def test_language_and_theme_are_kept(goto: Callable[..., Page]) -> None:
    window = goto("/settings")
    window.get_by_role("radio", name="中文").check(force=True)
    expect(window.get_by_role("heading", level=1)).to_have_text("设置")
    window.get_by_role("radio", name="深色").check(force=True)
    background = "getComputedStyle(document.body).backgroundColor"
    dark = window.evaluate(background)
    window.reload()
    expect(window.get_by_role("heading", level=1)).to_have_text("设置")
    assert window.evaluate(background) == dark
    assert window.evaluate(
        "[document.documentElement.lang, document.documentElement.dataset.theme]"
    ) == ["zh-Hans", "dark"]


def test_switches_in_the_sidebar_work_by_keyboard(goto: Callable[..., Page]) -> None:
    window = goto("/settings")
    button = window.get_by_role("button", name="Language")
    button.focus()
    window.keyboard.press("Enter")
    expect(window.get_by_role("menuitemradio", name="English")).to_be_focused()
    window.keyboard.press("Escape")
    expect(button).to_be_focused()
    window.keyboard.press("Enter")
    expect(window.get_by_role("menuitemradio", name="English")).to_be_focused()
    window.keyboard.press("ArrowDown")
    window.keyboard.press("Enter")
    expect(window.get_by_role("heading", level=1)).to_have_text("设置")
    expect(window.get_by_role("menu")).to_have_count(0)


def test_skip_link_leads_past_the_navigation(goto: Callable[..., Page]) -> None:
    window = goto("/settings")
    window.keyboard.press("Tab")
    expect(window.get_by_role("link", name="Skip to the content")).to_be_focused()
    window.keyboard.press("Enter")
    expect(window.locator("main")).to_be_focused()
    window.keyboard.press("Tab")
    expect(window.locator("main :focus")).to_have_count(1)


@pytest.mark.parametrize("width", [360])
def test_drawer_on_phones(
    goto: Callable[..., Page], axe: Callable[..., None], picture: Callable[..., None]
) -> None:
    window = goto("/settings")
    opener = window.get_by_role("button", name="Open the menu")
    opener.click()
    drawer = window.get_by_role("dialog", name="Sidebar")
    expect(drawer.get_by_role("link", name="Settings")).to_be_visible()
    axe(window)
    picture("drawer")
    window.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(opener).to_be_focused()
    opener.click()
    drawer.get_by_role("link", name="Traces").click()
    window.locator('html[data-view="traces"]').wait_for(state="attached")
    expect(drawer).to_have_count(0)


def test_a_name_of_ones_own_goes_along(page: Page, goto: Callable[..., Page]) -> None:
    window = goto("/settings")
    window.get_by_label("Name", exact=True).fill("zoë 李")
    with page.expect_request(re.compile(r"/api/me\?user_id=zo%C3%AB\+%E6%9D%8E")):
        window.get_by_role("button", name="Save").click()
    expect(window.get_by_text("You are now zoë 李.")).to_be_visible()
    expect(window.locator(".who")).to_have_text("zoë 李")
    window.reload()
    expect(window.locator(".who")).to_have_text("zoë 李")


def test_unknown_address_is_told(page: Page) -> None:
    page.goto("/#/nowhere/else")
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Ask a question").click()
    page.locator('html[data-view="ask"]').wait_for(state="attached")


def test_a_part_that_fails_breaks_no_other(page: Page, goto: Callable[..., Page]) -> None:
    body = 'export default function Broken() { throw new Error("out of order"); }'
    page.route(
        "**/views/traces.js", lambda route: route.fulfill(content_type="text/javascript", body=body)
    )
    page.add_init_script("console.error = () => undefined")  # the page tells the console, rightly
    window = goto("/traces")
    expect(window.get_by_role("heading", name="could not be opened")).to_be_visible()
    expect(window.get_by_text("out of order")).to_be_visible()
    window.get_by_role("navigation").get_by_role("link", name="Settings").click()
    expect(window.get_by_role("heading", level=1)).to_have_text("Settings")


def test_a_server_that_goes_is_told_and_looked_for(page: Page, goto: Callable[..., Page]) -> None:
    """And what could not be loaded meanwhile is loaded then, without a click."""
    window = goto("/settings")
    expect(window.locator(".kept strong", has_text="0")).to_have_count(
        4
    )  # nothing is on its way that could say otherwise
    page.route("**/api/**", lambda route: route.abort("connectionrefused"))
    window.get_by_role("button", name="Refresh").click()
    expect(window.get_by_text("The server isn’t responding.").first).to_be_visible()
    page.unroute("**/api/**")
    expect(window.get_by_text("The server is back.")).to_be_visible()
    expect(window.locator(".offline")).to_have_count(0)
    expect(
        window.get_by_role("region", name="Models and health").get_by_text("Ready", exact=True)
    ).to_be_visible()
    expect(window.get_by_text("The server isn’t responding.")).to_have_count(0)


@EVERY_LOOK
def test_sign_in(page: Page, axe: Callable[..., None], picture: Callable[..., None]) -> None:
    """Where the server asks who one is: nothing is shown before, and a wrong token is told."""
    me = {"user_id": "ada", "role": "editor", "auth": "token", "csrf": "word"}
    page.route(ME, json_reply(refused("unauthorized", "sign in first"), 401))
    page.route("**/api/sign-in*", json_reply(refused("unauthorized", "no such token"), 401))
    page.goto("/#/settings")
    button = page.locator("form button[type=submit]")
    button.click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.locator("input[type=password]").fill("wrong")
    button.click()
    expect(page.locator(".wrong")).to_have_text(re.compile("isn’t valid|不认识"))
    axe(page)
    picture("sign-in")
    page.unroute("**/api/sign-in*")
    page.route("**/api/sign-in*", json_reply(me))
    page.locator("input[type=password]").fill("cw_right")
    with page.expect_request("**/api/sign-in") as sent:
        button.click()
    assert sent.value.post_data_json == {"token": "cw_right"}
    expect(page.locator(".facts").first).to_contain_text("ada")


def test_a_signed_in_page_proves_itself_and_signs_out(
    page: Page, goto: Callable[..., Page]
) -> None:
    page.route(
        ME,
        json_reply({"user_id": "ada", "role": "admin", "auth": "token", "csrf": "word"}),
    )
    page.route("**/api/sign-out*", json_reply({}))
    window = goto("/settings")
    with page.expect_request("**/api/sign-out") as sent:
        window.get_by_role("button", name="Sign out").click()
    assert sent.value.headers["x-csrf-token"] == "word"
    expect(window.get_by_role("button", name="Sign in")).to_be_visible()


COMPONENTS = """async () => {
    const {html, render, useState} = await import("/assets/ui/html.js");
    const ui = await import("/assets/ui/index.js");
    const rows = [{name: "b", n: 10}, {name: "a", n: 9}, {name: "c", n: null}];
    const columns = [{key: "name", label: "Name"}, {key: "n", label: "Count", align: "end"}];
    function All() {
        const [tab, setTab] = useState("one");
        const [yes, setYes] = useState("");
        const tabs = [{id: "one", label: "One"}, {id: "two", label: "Two", count: 3}];
        const items = [{label: "Rename", action: () => setYes("renamed")},
                       {label: "Delete", danger: true}];
        const add = html`<${ui.Button} kind="primary">Add<//>`;
        const question = {title: "Delete it?", text: "It is gone then.", action: "Delete",
                          danger: true};
        return html`<main><h1>All</h1>
            <${ui.Tabs} label="Parts" value=${tab} onChange=${setTab} tabs=${tabs}>
                <p id="shown">${tab}</p><//>
            <${ui.Table} columns=${columns} rows=${rows} caption="Things" />
            <${ui.Select} label="Kind" value="x"
                options=${[["x", "X"], {value: "y", label: "Y"}]} onChange=${setYes} />
            <${ui.Field} label="Text" rows=${3} hint="Use \\`code\\` here" error="too long" />
            <${ui.Check} label="Sure" checked=${false} onChange=${(on) => setYes(String(on))} />
            <${ui.Progress} value=${0.4} label="Reading" detail="4 of 10" />
            <${ui.Progress} label="Waiting" />
            ${["good", "warn", "bad", "info", "plain"].map((kind) =>
                html`<${ui.Badge} kind=${kind}>${kind}<//>`)}
            <${ui.Problem} error=${new Error("it broke")} retry=${() => setYes("again")} />
            <${ui.Empty} icon="library" title="Nothing yet" text="Add something." action=${add} />
            <${ui.Button} onClick=${async () => setYes(String(await ui.ask(question)))}>Ask me<//>
            <${ui.Button} busy>Busy<//>
            <${ui.Menu} label="More" items=${items} />
            <output id="said">${yes}</output>
            <${ui.Asked} /><${ui.Toasts} /></main>`;
    }
    const root = document.getElementById("app");
    render(null, root);
    render(html`<${All} />`, root);
}"""


@EVERY_LOOK
def test_shared_components_are_accessible(
    goto: Callable[..., Page], axe: Callable[..., None], picture: Callable[..., None]
) -> None:
    window = goto("/settings")
    window.evaluate(COMPONENTS)
    window.evaluate(
        "import('/assets/ui/index.js').then(ui => ui.toast(new Error('It **broke**, see `log`')))"
    )
    window.get_by_text("It **broke**").wait_for()
    picture("components", full=True)
    axe(window)


def test_shared_components_work(goto: Callable[..., Page]) -> None:
    window = goto("/settings")
    window.evaluate(COMPONENTS)
    window.get_by_role("tab", name="One").focus()
    window.keyboard.press("ArrowRight")
    expect(window.locator("#shown")).to_have_text("two")
    expect(window.get_by_role("tab", name="Two")).to_be_focused()

    cells = window.locator("tbody tr td:first-child")
    for head, order in (
        ("Count", ["a", "b", "c"]),
        ("Count", ["b", "a", "c"]),
        ("Name", ["a", "b", "c"]),
    ):
        window.get_by_role("button", name=head).click()
        expect(cells).to_have_text(order)

    opener = window.get_by_role("button", name="Ask me")
    for answer, said in (("Delete", "true"), ("Cancel", "false")):
        opener.click()
        window.get_by_role("dialog", name="Delete it?").get_by_role("button", name=answer).click()
        expect(window.locator("#said")).to_have_text(said)
        expect(opener).to_be_focused()
    opener.click()
    expect(window.get_by_role("dialog").get_by_role("button", name="Close")).to_be_focused()
    window.keyboard.press("Escape")
    expect(window.get_by_role("dialog")).to_have_count(0)
    window.get_by_role("button", name="More").click()
    expect(window.get_by_role("menuitem", name="Rename")).to_be_focused()
    window.keyboard.press("d")
    expect(window.get_by_role("menuitem", name="Delete")).to_be_focused()
    window.keyboard.press("Home")
    window.keyboard.press("Enter")
    expect(window.locator("#said")).to_have_text("renamed")


def test_events_are_read_as_they_come(goto: Callable[..., Page], page: Page) -> None:
    """Comments, line ends of every kind, data on several lines, and a refusal."""
    stream = (
        ': ping\r\n\r\nevent: token\r\ndata: {"text":\r\ndata: "你"}\r\n\r\nevent: '
        'answer\ndata: {"n": 1}\n\n: end\n\n'
    )
    page.route(
        "**/api/ask*", lambda route: route.fulfill(content_type="text/event-stream", body=stream)
    )
    page.route("**/api/search*", json_reply(refused("invalid_input", "no words", "say more"), 422))
    window = goto("/settings")
    read = window.evaluate("""async () => {
        const {events} = await import("/assets/api.js");
        const found = [];
        for await (const each of events("/ask", {question: "?"})) found.push(each);
        try { for await (const each of events("/search", {})) found.push(each); }
        catch (error) {
            found.push([error.name, error.status, error.code, error.message, error.hint]);
        }
        return found;
    }""")
    assert read == [
        {"event": "token", "data": {"text": "你"}},
        {"event": "answer", "data": {"n": 1}},
        ["ApiError", 422, "invalid_input", "no words", "say more"],
    ]


def test_figures_are_written_in_the_language(goto: Callable[..., Page]) -> None:
    window = goto("/settings")
    told = window.evaluate("""async () => {
        const {figure, bytes, duration, percent, ago} = await import("/assets/ui/figures.js");
        const {lang} = await import("/assets/state.js");
        const now = Date.now() / 1000;
        const both = [];
        for (const each of ["en", "zh"]) {
            lang.value = each;
            both.push(ago(now - 7200), ago(now - 86400));
        }
        lang.value = "en";
        return [figure(12345.678), bytes(0), bytes(999), bytes(1500000), duration(0.05),
                duration(3.21), duration(125), percent(0.87), figure(null), ...both];
    }""")
    assert told[:9] == [
        "12,345.68",
        "0 B",
        "999 B",
        "1.5 MB",
        "50 ms",
        "3.2 s",
        "2 min 5 s",
        "87%",
        "–",
    ]
    assert told[9:] == ["2 hours ago", "yesterday", "2小时前", "昨天"]

"""What is to be seen on each picture: where the page is opened, and what is done until it is ready.

The one rule: a view is ready when what it waits for is there; nothing is timed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

from pictures_fill import ASKED
from pictures_steady import Steady, even

# The stream of `/api/ask` is said by `window.line`, so that a picture can be taken in the middle of
# it.
LINE = """() => {
    const real = window.fetch;
    const encoder = new TextEncoder();
    window.fetch = (url, init = {}) => {
        if (!String(url).startsWith("/api/ask")) return real(url, init);
        const body = new ReadableStream({ start(controller) {
            window.line = (event, data) =>
                controller.enqueue(
                    encoder.encode(`event: ${event}\\ndata: ${JSON.stringify(data)}\\n\\n`));
        } });
        return Promise.resolve(
            new Response(body, { headers: { "Content-Type": "text/event-stream" } }));
    };
}"""
# Whatever an earlier picture read of it; 404 the first time.
FORGET = """async (name) => {
    const { del } = await import("/assets/api.js");
    await del(`/sites/${encodeURIComponent(name)}`).catch(() => undefined);
}"""
SITE = {
    "en": ("http://help.wainfell.example", "Within how many days can a new bike be returned?"),
    "zh": ("http://help.wantuo.example", "新车签收后几天内可以退货？"),
}
SEARCHED = {
    "en": "How long may a bike be kept before it is returned?",
    "zh": "国内订单多少天内可以退货",
}
COMPARED = {"en": "On which data is it tested?", "zh": "用了哪些数据做测试？"}
TABLE = {
    "en": ("costs", "What does each function cost in total?"),
    "zh": ("费用", "每个部门的费用合计是多少？"),
}


@dataclass(frozen=True, slots=True)
class Shot:
    """A page that is to be brought into view. `steady` stands between it and the server."""

    page: Page
    lang: str
    width: int
    made: dict[str, str]
    steady: Steady

    def go(self, path: str, ready: str) -> Page:
        self.page.goto(f"/#{path}")
        self.page.locator(
            f'html[data-view="{path.strip("/").split("/")[0].split("?")[0]}"]'
        ).wait_for(state="attached")
        self.page.locator(ready).first.wait_for()
        return self.page

    def id(self, kind: str) -> str:
        return self.steady.shown(self.made[f"{kind}-{self.lang}"])


@dataclass(frozen=True, slots=True)
class View:
    """`serve`: which server shows it."""

    name: str
    says: str
    show: Callable[[Shot], Any]
    serve: str = "filled"


def answer(shot: Shot) -> None:
    shot.go(f"/ask/{shot.id('session')}", ".turn:last-of-type .answer")


def writing(shot: Shot) -> None:
    page = shot.go("/ask", ".composer textarea, .ask-foot textarea")
    page.evaluate(LINE)
    page.locator(".ask-foot select").first.select_option("dual_loop")
    page.locator(".ask-foot textarea").fill(ASKED[shot.lang][0])
    page.keyboard.press("Enter")
    page.locator(".making").wait_for()
    for event, data in even(json.loads(shot.id("told"))):
        page.evaluate("([event, data]) => window.line(event, data)", [event, data])
    page.locator(".draft").wait_for()


def source(shot: Shot) -> None:
    answer(shot)
    shot.page.locator("button.cite").first.click()
    shot.page.locator("dialog.panel [data-drawn] .panel-mark").first.wait_for()


def library(shot: Shot) -> None:
    shot.go("/library", ".lib-card")


def documents(shot: Shot) -> None:
    shot.go("/library/wainfell", ".lib-table tbody tr")


def search(shot: Shot) -> None:
    documents(shot)
    shot.page.get_by_role("tab").nth(2).click()
    shot.page.get_by_role("main").get_by_role("searchbox").fill(SEARCHED[shot.lang])
    shot.page.keyboard.press("Enter")
    shot.page.locator(".lib-hit").first.wait_for()


def sites(shot: Shot) -> None:
    page = shot.go("/sites", ".composer")
    site, question = SITE[shot.lang]
    page.evaluate(FORGET, site.removeprefix("http://"))
    page.locator("#ask-sites").fill(site)
    page.locator(".composer-text").fill(question)
    page.keyboard.press("Enter")
    page.locator("article.answer").wait_for()
    page.locator(".steps-fold > summary").last.click()
    page.locator(".site-node").first.wait_for()
    page.locator(".turn").scroll_into_view_if_needed()


def papers(shot: Shot) -> None:
    shot.go("/papers", ".paper-card")


def compared(shot: Shot) -> None:
    """Both sample papers, in the language of the picture."""
    ids = ",".join(shot.steady.shown(shot.made[f"paper-{lang}"]) for lang in ("en", "zh"))
    page = shot.go(f"/papers/compare?ids={ids}", ".paper-asked textarea")
    page.locator(".paper-asked textarea").fill(COMPARED[shot.lang])
    page.locator(".paper-asked button").click()
    page.locator(".paper-compared td .paper-cite").first.wait_for()
    page.locator(".paper-compared .spinner").first.wait_for(state="detached")


def reading(shot: Shot) -> None:
    shot.go(f"/papers/{shot.id('paper')}", ".paper-head h1")
    if shot.width < 600:
        shot.page.locator(".paper-sides button").last.click()
    shot.page.get_by_role("tab").nth(0).click()
    shot.page.locator(".paper-report").wait_for()
    if shot.width > 600:
        shot.page.locator("[data-page] .panel-words span").first.wait_for(state="attached")


def data(shot: Shot) -> None:
    shot.go("/data", ".data-card")


def table(shot: Shot) -> None:
    name, question = TABLE[shot.lang]
    page = shot.go(f"/data/{name}", ".composer-text")
    page.locator(".composer-text").fill(question)
    page.keyboard.press("Enter")
    page.locator(".data-result canvas[style]").wait_for()  # it is drawn


def board(shot: Shot) -> None:
    shot.go(f"/boards/{shot.id('board')}", ".boards-cards canvas[style], .boards-cards table")


def knowledge(shot: Shot) -> None:
    shot.go("/knowledge", "main li a")


def rules(shot: Shot) -> None:
    shot.go("/knowledge/rules", "main article")


def memory(shot: Shot) -> None:
    shot.go("/memory", ".memory-card")


def traces(shot: Shot) -> None:
    shot.go("/traces", ".item-row")


def steps(shot: Shot) -> None:
    shot.go(f"/traces/{shot.id('trace')}?tab=steps", ".graph-node.visited")


def settings(shot: Shot) -> None:
    shot.go("/settings", ".health")
    shot.page.locator(".kept strong").first.wait_for()


def drawer(shot: Shot) -> None:
    shot.go("/ask", ".ask-foot textarea")
    if shot.width < 600:
        shot.page.locator(".top-bar button").first.click()
        shot.page.locator("dialog.drawer .parts").wait_for()


def places(shot: Shot) -> None:
    shot.go("/ask", ".ask-foot textarea")
    shot.page.locator("[data-opens=ask-places]").click()
    shot.page.locator(".place .link").nth(1).click()
    shot.page.locator(".place-documents label").first.wait_for()


def welcome(shot: Shot) -> None:
    shot.go("/ask", ".ask-foot textarea")
    shot.page.locator("main a.button, main .button").first.wait_for()


def nothing(path: str) -> Callable[[Shot], Any]:
    return lambda shot: shot.go(path, "main h1")


def sign_in(shot: Shot) -> None:
    told = {"error": {"code": "unauthorized", "message": "sign in first", "hint": ""}}
    shot.page.route(
        re.compile(r"/api/me(\?|$)"), lambda route: route.fulfill(status=401, json=told)
    )
    shot.page.goto("/")
    shot.page.locator("form.sign-in").wait_for()


EMPTY = [
    View("first", "The first page of an empty installation", welcome),
    View("library-empty", "An empty library", nothing("/library")),
    View("sign-in", "Signing in, where the server asks for it", sign_in),
]
VIEWS = [
    View("drawer", "Ask, with nothing asked yet; on the phone the menu", drawer),
    View("places", "What is asked: collections, documents, sites and tables to tick", places),
    View("ask", "A conversation: answers, proved by their sources", answer),
    View("writing", "An answer as it is written, with steps and graph", writing),
    View("source", "The cited line on the page of its PDF", source),
    View("library", "Collections", library),
    View("documents", "The documents of a collection", documents),
    View("search", "Passages found, and why", search),
    View("sites", "A web site explored with a question", sites, "sites"),
    View("papers", "Papers that are read", papers),
    View("reading", "A paper beside its guide", reading),
    View("data", "Tables", data),
    View("board", "A board of saved questions", board),
    View("table", "A question to a table: chart, rows, SQL", table, "tables"),
    View("knowledge", "What people confirmed", knowledge),
    View("rules", "A correction to review", rules),
    View("memory", "What is remembered", memory),
    View("traces", "Traces", traces),
    View("steps", "One trace: its steps in the graph", steps),
    View("settings", "Settings", settings),
    View("compared", "Papers compared", compared),  # last: each cell leaves a trace
]

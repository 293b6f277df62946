"""The chat element in a page of another site: another port, style sheets that reach for everything,
a strict policy.

The one rule: what the browser's console says of the host's own policy fails a test as an error of
the script does: the element has to work under `script-src` and `connect-src` alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.page.conftest import Served, until
from tests.page.host_site import HostSite, host_site
from tests.page.told import LINE, answer

HELP = (
    "# Leave\n\nThe lighthouse of Norden is 41 metres tall.\n\nIt was built in 1857 by the town "
    "of Norden."
)
QUESTION = "How tall is the lighthouse of Norden?"
HOSTILE = (
    "<img src=x onerror=window.hit=1> <script>window.hit=1</script> **bold** `code` [1]\n\n"
    "- [a](javascript:window.hit=1) and [b](https://example.com/b)\n- https://example.com/c\n\n"
    "1. one\n2. two\n\n```\n<b>x</b>\n```\n\n## Head\n\n> quoted [9]"
)
TAG = '<script src="{url}/widget.js" data-collection="help" {more}></script>'
ASKED = """() => { window.asked = []; const real = window.fetch;
    window.fetch = (url, init) => {
        window.asked.push([String(url), init?.body ?? ""]); return real(url, init); }; }"""


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {
        "CITEWELL_LLM": "none",
        "CITEWELL_ACCESS__PUBLIC": "help",
        "CITEWELL_ACCESS__VISITS_A_MINUTE": "1000",
    }


@pytest.fixture(scope="module")
def host(served: Served) -> Iterator[HostSite]:
    """A site whose pages may ask, with a collection to ask."""
    with host_site(served.url) as site:
        served.add("help", "norden.md", HELP)
        served.stop()
        served.environment["CITEWELL_ACCESS__ORIGINS"] = site.url
        served.start()
        yield site


@pytest.fixture
def visit(page: Page, served: Served, host: HostSite) -> Callable[..., Locator]:
    """Open a page of the host with one tag in it; the element, its chat open unless it is said
    otherwise.
    """

    def opened(
        more: str = "", *, lang: str = "en", click: bool = True, nasty: bool = False
    ) -> Locator:
        host.nasty = nasty
        tag = TAG.format(url=served.url, more=more)
        host.put("/", head=tag, lang=lang)
        host.put("/other", body=tag, lang=lang, title="Another page")
        page.goto(host.url)
        element = page.locator("citewell-chat")
        if click:
            element.get_by_role("button").first.click()
            expect(element.get_by_role("dialog")).to_be_visible()
        return element

    return opened


def ask(element: Locator, question: str = QUESTION) -> None:
    element.get_by_role("textbox").first.fill(question)
    element.get_by_role("textbox").first.press("Enter")


def say(page: Page, event: str, data: Any) -> None:
    page.evaluate("([event, data]) => window.line(event, data)", [event, data])


def lines(page: Page) -> None:
    """The answer is told by the test, event by event."""
    page.evaluate(LINE.replace('startsWith("/api/ask")', 'endsWith("/api/ask")'))


def test_ask_and_get_an_answer_with_its_proof(
    page: Page, visit: Any, picture: Any, axe: Any, host: HostSite
) -> None:
    """The whole way, on a page whose styles reach for everything: nothing of them comes in, nothing
    of ours gets out.
    """
    element = visit(nasty=True, click=False)
    before = page.evaluate(
        "() => [getComputedStyle(document.querySelector('#own')).font, document.styleSheets.length]"
    )
    bubble = element.get_by_role("button", name="Open the chat")
    sign = bubble.locator("svg path")
    expect(sign).to_be_visible()
    assert sign.get_attribute("d")
    box = bubble.bounding_box()
    assert box is not None
    assert (round(box["width"]), round(box["height"])) == (56, 56)
    assert round(box["x"] + box["width"]) == 1280 - 20
    bubble.click()
    dialog = element.get_by_role("dialog", name="Ask us")
    expect(dialog.get_by_role("textbox", name="Your question")).to_be_focused()
    styles = page.evaluate(
        """() => { const root = document.querySelector("citewell-chat").shadowRoot;
        const { fontSize, textTransform, transform, letterSpacing } =
            getComputedStyle(root.querySelector("textarea"));
        return [fontSize, textTransform, transform, letterSpacing,
            getComputedStyle(root.querySelector("h2")).visibility]; }"""
    )
    assert styles == ["15px", "none", "none", "normal", "visible"]
    page.evaluate(ASKED)
    ask(element)
    expect(element.locator(".words")).to_contain_text("41 metres")
    [sent] = [
        json.loads(body) for url, body in page.evaluate("window.asked") if url.endswith("/api/ask")
    ]
    assert sent == {"question": QUESTION, "collection": "help"}
    cite = element.get_by_role("button", name=re.compile("^Source 1: ")).first
    expect(cite).to_have_attribute("aria-expanded", "false")
    cite.click()
    expect(cite).to_have_attribute("aria-expanded", "true")
    expect(element.locator(".card")).to_contain_text("The lighthouse of Norden is 41 metres tall.")
    expect(element.locator(".card a")).to_have_count(0)  # where the file lies is nobody's business
    expect(element.get_by_role("status").filter(has_text="41 metres")).to_have_count(1)
    picture("widget-nasty")
    axe(page, "citewell-chat")
    element.get_by_role("button", name="This is right").click()
    expect(element.get_by_role("button", name="This is right")).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(element.get_by_text("Thank you.")).to_be_visible()
    after = page.evaluate(
        "() => [getComputedStyle(document.querySelector('#own')).font, document.styleSheets.length]"
    )
    assert after == before


def test_several_turns_over_pages(page: Page, visit: Any, served: Served) -> None:
    """The conversation goes on where it was on the next page, in the same session; a new one
    forgets it.
    """
    element = visit()
    page.evaluate(ASKED)
    ask(element)
    expect(element.locator(".words")).to_contain_text("41 metres")
    page.get_by_role("link", name="Another page").click()
    expect(page.get_by_role("heading", name="Another page")).to_be_visible()
    expect(element.get_by_role("dialog")).to_be_visible()
    expect(element.locator(".words")).to_contain_text("41 metres")
    page.evaluate(ASKED)
    ask(element, "When was it built?")
    expect(element.locator(".turn")).to_have_count(2)
    expect(element.locator(".foot").nth(1)).to_be_visible()
    [session] = served.api("GET", "/sessions", params={"user_id": "widget"})["sessions"][:1]
    assert session["messages"] == 4
    served.api("DELETE", f"/sessions/{session['session_id']}", params={"user_id": "widget"})
    ask(element, "When was it built?")  # that session is gone: a new one is begun, without a word
    expect(element.locator(".foot").nth(2)).to_be_visible()
    expect(element.locator(".problem")).to_have_count(0)
    element.get_by_role("button", name="New conversation").click()
    expect(element.locator(".turn")).to_have_count(0)
    page.reload()
    expect(element.locator(".turn")).to_have_count(0)
    expect(element.get_by_role("dialog")).to_be_visible()


@pytest.mark.parametrize(
    ("theme", "language", "width"),
    [("light", "en", 1280), ("dark", "zh", 1280), ("dark", "zh", 360), ("light", "zh", 360)],
)
def test_looks(
    page: Page, visit: Any, picture: Any, axe: Any, width: int, theme: str, language: str
) -> None:
    """In both themes, both languages, and over the whole of a small screen; axe finds nothing in
    it.
    """
    element = visit(
        'data-accent="#ffd400"' if width == 1280 else "", lang="zh-CN" if language == "zh" else "en"
    )
    lines(page)
    ask(element, "灯塔有多高？" if language == "zh" else QUESTION)
    say(
        page,
        "step",
        {"n": 1, "node": "QuestionUnderstandingNode", "action": "", "seconds": 0.1, "detail": {}},
    )
    expect(
        element.get_by_text("正在检索…" if language == "zh" else "Searching…").first
    ).to_be_visible()
    say(page, "token", {"text": "灯塔高 41 米。" if language == "zh" else "It is 41 metres tall."})
    expect(element.locator(".draft")).to_contain_text("41")
    axe(page, "citewell-chat")
    picture("widget-draft")
    text = (
        "灯塔高 41 米。[1]\n\n也许是 1857 年建的。"
        if language == "zh"
        else "It is 41 metres tall. [1]\n\nPerhaps of 1857."
    )
    supported = {
        "text": text.split("\n", maxsplit=1)[0],
        "citations": [1],
        "verdict": "supported",
        "problems": [],
    }
    doubtful = {
        "text": text.rsplit("\n", maxsplit=1)[-1],
        "citations": [],
        "verdict": "unsupported",
        "problems": [],
    }
    say(
        page,
        "answer",
        answer(
            answer=text,
            sentences=[supported, doubtful],
            status="fallback",
            trace_id="tr_1",
            warnings=["a note"],
        ),
    )
    page.evaluate("window.cut()")
    expect(element.locator(".words")).to_contain_text("41")
    element.locator(".cite").first.click()
    element.locator("summary").first.click()
    axe(page, "citewell-chat")
    picture("widget-answer")
    panel = element.get_by_role("dialog").bounding_box()
    assert panel is not None
    assert width != 360 or (panel["x"], panel["y"], panel["width"], panel["height"]) == (
        0,
        0,
        360,
        800,
    )
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    head = element.locator("header").evaluate("(each) => getComputedStyle(each).color")
    assert head == (
        "rgb(0, 0, 0)" if width == 1280 else "rgb(255, 255, 255)"
    )  # on yellow, and on the dark green


def test_hostile_answers_are_text(page: Page, visit: Any) -> None:
    """Markup in an answer, a title, a quote or an address is shown, and nothing of it runs."""
    element = visit()
    lines(page)
    ask(element)
    cited = answer()["citations"][0] | {
        "title": "<b onclick=x>T</b>",
        "uri": "javascript:window.hit=1",
        "quote": HOSTILE,
    }
    web = cited | {"n": 2, "uri": "https://example.com/page"}
    say(page, "token", {"text": HOSTILE})
    expect(element.locator(".draft")).to_contain_text("onerror")
    say(
        page,
        "answer",
        answer(answer=f"{HOSTILE}\n\nAnd more. [2]", citations=[cited, web], warnings=[HOSTILE]),
    )
    page.evaluate("window.cut()")
    words = element.locator(".words")
    expect(words).to_contain_text("<img src=x onerror=window.hit=1> <script>window.hit=1</script>")
    expect(words.locator("img, script")).to_have_count(0)
    expect(words.locator("strong")).to_have_text("bold")
    expect(words.locator("ul > li")).to_have_count(2)
    expect(words.locator("ol > li")).to_have_count(2)
    expect(words.locator("pre")).to_have_text("<b>x</b>")
    expect(words).to_contain_text("quoted [9]")
    links = words.locator("a").evaluate_all("(all) => all.map((each) => [each.href, each.rel])")
    assert links == [
        [f"https://example.com/{each}", "noopener noreferrer nofollow"] for each in "bc"
    ]
    element.locator(".cite").first.click()
    expect(element.locator(".card")).to_contain_text("onerror")
    expect(element.locator(".card a")).to_have_count(0)
    element.locator(".cite").nth(1).click()
    expect(element.locator(".card a")).to_have_attribute("href", "https://example.com/page")
    assert page.evaluate("window.hit") is None


def test_what_goes_wrong_is_told(
    page: Page, visit: Any, served: Served, host: HostSite, picture: Any
) -> None:
    """Another collection, another origin, no server, too many questions, a line that breaks: each
    with what to do.
    """
    element = visit('data-title="Shop help"')
    lines(page)
    ask(element)
    say(page, "token", {"text": "It is"})
    page.evaluate("window.cut()")
    expect(element.get_by_text("The line broke before the answer was whole.").first).to_be_visible()
    page.evaluate(
        """() => { const said = JSON.stringify({ error: {
            code: "too_many_requests", message: "more than 20", hint: "wait" } });
        window.fetch = () => Promise.resolve(new Response(
            said, { status: 429, headers: { "Retry-After": "2" } })); }"""
    )
    element.get_by_role("button", name="Ask again").click()
    expect(element.get_by_text("Wait 2 s, then ask again.").first).to_be_visible()
    expect(element.get_by_role("button", name=re.compile("Ask again in"))).to_be_disabled()
    expect(element.get_by_role("button", name="Ask again", exact=True)).to_be_enabled()
    page.evaluate(
        "() => document.querySelector('citewell-chat').setAttribute('data-collection', 'secret')"
    )
    page.reload()
    page.evaluate(
        "() => document.querySelector('citewell-chat').setAttribute('data-collection', 'secret')"
    )
    ask(element)
    expect(element.get_by_text("This page may not ask that.").first).to_be_visible()
    picture("widget-refused")


def test_a_refused_origin_is_told(browser: Any, served: Served, host: HostSite) -> None:
    """The browser hides why; it is found out, and said who can change it. So is a server that is
    away.
    """
    tag = TAG.format(url=served.url, more="")
    with host_site(served.url) as other, browser.new_context() as context:
        other.nasty = False
        other.put("/", body=tag)
        page = context.new_page()
        page.goto(other.url)
        page.evaluate(f"window.citewell.ask({QUESTION!r})")
        element = page.locator("citewell-chat")
        expect(
            element.get_by_text(f"does not take questions from {other.url}").first
        ).to_be_visible()
        expect(element.get_by_text("access.origins").first).to_be_visible()
        other.policy = other.policy.replace("connect-src", "connect-src 'self'; x-src")
        page.reload()
        page.evaluate(f"window.citewell.ask({QUESTION!r})")
        expect(element.get_by_text("does not let the chat reach").first).to_be_visible()
        other.policy = other.policy.replace("connect-src 'self'; x-src", "connect-src")
        page.reload()
        served.stop()
        try:
            page.evaluate(f"window.citewell.ask({QUESTION!r})")
            expect(element.get_by_text("cannot be reached").first).to_be_visible()
        finally:
            served.start()


def test_keyboard(page: Page, visit: Any) -> None:
    """Focus goes in and comes back, Escape closes, Enter sends but not while Chinese is composed,
    stop stops; the page hears none of it.
    """
    visit(click=False)
    element = page.locator("citewell-chat")
    page.evaluate(
        "() => { window.heard = []; document.addEventListener('keydown', (event) => "
        "window.heard.push(event.key)); }"
    )
    page.locator("#own").focus()
    page.evaluate("window.citewell.open()")
    field = element.get_by_role("textbox", name="Your question")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(element.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#own")).to_be_focused()
    element.get_by_role("button", name="Open the chat").press("Enter")
    expect(field).to_be_focused()
    lines(page)
    field.fill("灯塔")
    field.evaluate(
        """(each) => { for (const more of [{ isComposing: true }, { keyCode: 229 }])
        each.dispatchEvent(new KeyboardEvent("keydown", {
            key: "Enter", bubbles: true, cancelable: true, ...more })); }"""
    )
    field.press("Shift+Enter")
    assert page.evaluate("window.asked.length") == 0
    expect(field).to_have_value("灯塔\n")
    field.press("Enter")
    expect(element.locator(".asked")).to_contain_text("灯塔")
    assert page.evaluate("window.asked.length") == 1
    element.get_by_role("button", name="Stop").click()
    expect(element.get_by_text("Stopped.").first).to_be_visible()
    element.get_by_role("button", name="Ask again").click()
    until(page, "() => window.asked.length === 2")
    page.keyboard.press("Escape")
    assert page.evaluate("window.heard") == ["Enter"]  # on the bubble, before it was open


@pytest.mark.parametrize("width", [360])
def test_the_focus_stays_in_a_full_sheet(page: Page, visit: Any) -> None:
    element = visit()
    expect(element.get_by_role("dialog")).to_have_attribute("aria-modal", "true")
    seen = set()
    for _ in range(8):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.localName") == "citewell-chat"
        seen.add(
            page.evaluate(
                "document.activeElement.shadowRoot.activeElement.getAttribute('aria-label')"
            )
        )
    assert {"Close", "Your question", "Send"} <= seen


def test_the_line_that_the_page_shows(
    page: Page, goto: Any, served: Served, host: HostSite, picture: Any, axe: Any
) -> None:
    """From a collection to another site: what "Put this on your site" shows is pasted there, and
    answers.
    """
    goto("/library/help")
    page.get_by_role("button", name="Put this on your site").click()
    shown = page.get_by_role("dialog", name="Put this on your site")
    expect(shown).to_contain_text('public = ["help"]')
    axe(page)
    picture("widget-snippet")
    host.nasty = False
    host.put("/", body=shown.locator("pre").last.inner_text())
    page.goto(host.url)
    page.locator("citewell-chat").get_by_role("button", name="Open the chat").click()
    ask(page.locator("citewell-chat"))
    expect(page.locator("citewell-chat .words")).to_contain_text("41 metres")


@pytest.mark.parametrize("how", ["async", "defer", 'type="module"', 'type="module" async'])
@pytest.mark.parametrize("where", ["head", "body"])
def test_ways_to_load_it(page: Page, served: Served, host: HostSite, how: str, where: str) -> None:
    """However the tag stands in the page: one chat; the same tag twice is one, another one stands
    above it.
    """
    tags = "".join(
        TAG.format(url=served.url, more=f"{how} {more}")
        for more in ("", "", 'data-agent="dual_loop"')
    )
    host.nasty = False
    host.put("/", **{where: tags})
    page.goto(host.url)
    expect(page.locator("citewell-chat")).to_have_count(2)
    boxes = [each.bounding_box() for each in page.get_by_role("button", name="Open the chat").all()]
    tops = sorted(box["y"] for box in boxes if box)
    assert len(tops) == 2
    assert tops[1] - tops[0] >= 60


def test_its_own_element_and_removal(page: Page, served: Served, host: HostSite) -> None:
    """The page may place it itself; take it away while it answers, or for good; and forbid what
    keeps the conversation.
    """
    host.nasty = False
    host.put(
        "/",
        head=TAG.format(url=served.url, more='data-auto="off"'),
        body="<citewell-chat data-inline></citewell-chat>",
    )
    page.add_init_script(
        "Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no') "
        "} })"
    )
    page.goto(host.url)
    element = page.locator("citewell-chat")
    element.evaluate(
        f"(each) => {{ each.dataset.server = '{served.url}/'; each.dataset.collection = 'help'; }}"
    )
    expect(element.get_by_role("region", name="Ask us")).to_be_visible()
    expect(element.get_by_role("button", name="Open the chat")).to_have_count(0)
    ask(element)
    expect(element.locator(".words")).to_contain_text("41 metres")
    lines(page)
    ask(element, "And now?")
    until(page, "() => window.asked.length === 1")
    page.evaluate(
        "() => { window.gone = document.querySelector('citewell-chat'); window.gone.remove(); }"
    )
    page.evaluate("() => document.body.append(window.gone)")
    expect(element.get_by_text("Stopped.").first).to_be_visible()
    page.evaluate(
        "() => { document.querySelector('citewell-chat').remove(); document.documentElement.lang "
        "= 'zh'; }"
    )


def test_looks_are_the_pages_to_choose(page: Page, visit: Any) -> None:
    """Attributes, changed while it stands, and custom properties on the element, which win."""
    element = visit(
        'data-position="left" data-theme="dark" data-lang="zh" data-title="帮助" '
        'data-greeting="您好" data-open="true"',
        click=False,
    )
    dialog = element.get_by_role("dialog", name="帮助")
    expect(dialog).to_contain_text("您好")
    box = dialog.bounding_box()
    assert box is not None
    assert box["x"] == 20
    ground = (
        "() => "
        "getComputedStyle(document.querySelector('citewell-chat').shadowRoot.querySelector('.panel"
        "')).backgroundColor"
    )
    assert page.evaluate(ground) == "rgb(26, 30, 29)"
    element.evaluate(
        "(each) => { each.dataset.theme = 'light'; each.dataset.lang = 'en'; each.dataset.title "
        "= 'Help'; }"
    )
    expect(element.get_by_role("dialog", name="Help")).to_be_visible()
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    element.evaluate("(each) => each.style.setProperty('--citewell-accent', 'rgb(255, 240, 200)')")
    element.evaluate("(each) => { each.dataset.accent = '#123456'; }")
    colours = element.locator("header").evaluate(
        "(each) => [getComputedStyle(each).backgroundColor, getComputedStyle(each).color]"
    )
    assert colours == ["rgb(255, 240, 200)", "rgb(0, 0, 0)"]

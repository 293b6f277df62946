"""Whether everybody reaches everything: every part, empty and filled, in both languages and themes,
at 1280, 360, 320 pixels, with the keyboard, with forced colours, on paper; and whether addresses,
titles and the browser's own buttons do what they say.

The one rule: each look goes through all parts with one window, as a person does; a failure names
the part.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import EVERY_LOOK, PATIENCE, Served, until

PARTS = ["ask", "library", "sites", "papers", "data", "knowledge", "memory", "traces", "settings"]
SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "library"
FILES = ("information-security-policy.md", "差旅报销制度.html")
# What stands out at the side of the window, but for what scrolls within itself.
OUT = """() => [...document.querySelectorAll("body *")].filter((each) => {
    const box = each.getBoundingClientRect();
    if (!box.width || box.right <= innerWidth + 1) return false;
    if (each.closest("svg, [inert], .skip, .unseen, dialog:not([open])")) return false;
    for (let up = each.parentElement; up && up !== document.body; up = up.parentElement) {
        if (getComputedStyle(up).overflowX !== "visible"
            && up.getBoundingClientRect().right <= innerWidth + 1) return false;
    }
    return true;
}).map((each) => each.outerHTML.slice(0, 120))"""
# Whether the focus can be seen: a ring around it, around what holds it, or around what it is drawn
# as; and in the window.
SEEN = """() => {
    const each = document.activeElement;
    if (!each || each === document.body) return "";
    const style = (one) => getComputedStyle(one);
    const ring = (one) => one && style(one).outlineStyle !== "none"
        && parseFloat(style(one).outlineWidth) >= 1;
    const box = each.getBoundingClientRect();
    const inside = box.bottom > 0 && box.top < innerHeight
        && box.right > 0 && box.left < innerWidth;
    const near = [each, each.nextElementSibling, each.parentElement, each.closest("form")];
    return inside && near.some(ring) ? "" : `${inside} ${each.outerHTML.slice(0, 160)}`;
}"""


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_EMBEDDER": "builtin", "CITEWELL_LLM": "none"}


@pytest.fixture(scope="module")
def filled(served: Served) -> list[str]:
    """Documents, tables, a conversation, a confirmed answer and a correction; returns addresses
    that show them.
    """
    for name in FILES:
        served.add("looks", name, (SAMPLES / name).read_bytes())
    served.api("POST", "/data/sources", files={"file": ("ships.csv", b"ship,tons\nAda,5\nBo,7\n")})
    answers = []
    for question, right in (
        ("How many characters does a password have at least?", True),
        ("出差补助是多少？", False),
    ):
        answer = served.api(
            "POST", "/ask", json={"question": question, "collection": "looks", "agent": "qa"}
        )
        vote = {
            "trace_id": answer["trace_id"],
            "is_correct": right,
            "user_correction": None if right else "150元",
        }
        job = served.api("POST", "/feedback", json=vote)["job_id"]
        served.client.get(f"/api/jobs/{job}/events", timeout=4 * PATIENCE)
        answers.append(answer)
    trace, session = answers[0]["trace_id"], answers[0]["session_id"]
    ways = [
        f"/traces/{trace}?tab={tab}"
        for tab in ("answer", "steps", "prompts", "snapshot", "usage", "replay")
    ]
    return [
        *ways,
        f"/ask/{session}",
        "/library/looks",
        "/data/ships",
        "/knowledge/rules",
        "/knowledge/wrong",
        "/knowledge/mine",
    ]


def stands(window: Page) -> None:
    """It waits for nothing any more."""
    expect(window.locator("main h1").first).to_be_attached()
    expect(window.locator("main .spinner")).to_have_count(0)


def nothing_stands_out(window: Page, path: str) -> None:
    assert window.evaluate(OUT) == [], path
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    assert window.locator(".main").evaluate("each => each.scrollWidth <= each.clientWidth"), path


@EVERY_LOOK
def test_every_part_of_an_empty_installation(
    goto: Callable[..., Page], axe: Callable[..., None], language: str
) -> None:
    """axe finds nothing, targets of 24 pixels among it; nothing stands out; the title is in the
    language. It runs first.
    """
    titles = set()
    for part in PARTS:
        window = goto(f"/{part}")
        stands(window)
        axe(window)
        nothing_stands_out(window, part)
        titles.add(window.title())
        assert window.evaluate("document.documentElement.lang") == (
            "zh-Hans" if language == "zh" else "en"
        )
    assert len(titles) == len(PARTS), titles
    assert all(title.endswith(" · Citewell") for title in titles)
    assert all(title.isascii() for title in {each.replace(" · ", "") for each in titles}) == (
        language == "en"
    )


@EVERY_LOOK
def test_every_part_that_is_filled(
    filled: list[str], goto: Callable[..., Page], axe: Callable[..., None]
) -> None:
    for path in ("/ask", "/library", "/data", "/knowledge", "/settings", *filled):
        window = goto(path)
        stands(window)
        axe(window)
        nothing_stands_out(window, path)


@pytest.mark.parametrize(("width", "language"), [(320, "en"), (320, "zh")])
def test_reflow_at_four_times_the_size(filled: list[str], goto: Callable[..., Page]) -> None:
    """WCAG 1.4.10: a window of 1280 at 400 % is one of 320."""
    for path in (*(f"/{part}" for part in PARTS), *filled):
        window = goto(path)
        stands(window)
        nothing_stands_out(window, path)


def test_the_focus_is_always_seen(filled: list[str], goto: Callable[..., Page]) -> None:
    """Every stop of the Tab key, once around each part."""
    for path in (*(f"/{part}" for part in PARTS), *filled):
        window = goto(path)
        stands(window)
        stops = set()
        for _ in range(50):
            window.keyboard.press("Tab")
            assert window.evaluate(SEEN) == "", path
            here = window.evaluate("document.activeElement.outerHTML.slice(0, 300)")
            if here in stops:
                break
            stops.add(here)
        assert len(stops) > 8, path


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_forced_colours_and_more_contrast(
    filled: list[str], page: Page, goto: Callable[..., Page], axe: Callable[..., None]
) -> None:
    """What is chosen is told by more than the colour of its ground; buttons keep an edge."""
    page.emulate_media(forced_colors="active")
    window = goto("/settings")
    edge = (
        "each => getComputedStyle(each).borderTopStyle !== 'none' && "
        "parseFloat(getComputedStyle(each).borderTopWidth) >= 1"
    )
    assert all(button.evaluate(edge) for button in window.locator(".button:visible").all())
    link = window.locator("nav .parts a[aria-current=page]")
    assert link.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"
    chosen, other = (
        window.locator(".choice-row input:checked + span").first,
        window.locator(".choice-row input + span"),
    )
    ground = "each => getComputedStyle(each).backgroundColor"
    assert {chosen.evaluate(ground)} < {each.evaluate(ground) for each in other.all()}
    page.emulate_media(forced_colors="none", contrast="more")
    for path in ("/ask", "/library/looks", filled[0]):
        stands(goto(path))
        axe(window)


def test_an_answer_on_paper(filled: list[str], page: Page, goto: Callable[..., Page]) -> None:
    """Question, answer and sources, whole; nothing to click."""
    goto(next(path for path in filled if path.startswith("/ask/")))
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_be_visible()
    page.emulate_media(media="print")
    for gone in (".sidebar", ".ask-foot", ".answer-actions", ".feedback-thumbs"):
        expect(page.locator(gone)).to_be_hidden()
    expect(page.get_by_role("heading", level=2)).to_be_visible()
    expect(answer.locator(".source-quote").first).to_be_visible()
    assert page.locator(".thread").evaluate("each => each.scrollHeight <= each.clientHeight"), (
        "cut off at the first sheet"
    )
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "light"


def test_back_forward_and_addresses(
    filled: list[str], page: Page, goto: Callable[..., Page]
) -> None:
    """The browser's own buttons lead through what was open, the title says it, and every address
    opens the same again.
    """
    goto("/library")
    page.get_by_role("link", name="looks").click()
    expect(page).to_have_title("looks · Library · Citewell")
    page.get_by_role("navigation").get_by_role("link", name="Data").click()
    page.get_by_role("link", name="ships").click()
    expect(page).to_have_title("ships · Data · Citewell")
    page.go_back()
    page.go_back()
    expect(page).to_have_title("looks · Library · Citewell")
    expect(page.get_by_role("heading", name="looks", level=1)).to_be_visible()
    page.go_forward()
    expect(page).to_have_title("Data · Citewell")
    for path in filled:
        goto(path)
        stands(page)
        before = page.locator("main h1").first.text_content()
        page.reload()
        expect(page.locator("main h1").first).to_have_text(before or "")


def test_two_tabs(filled: list[str], page: Page, goto: Callable[..., Page]) -> None:
    """A conversation of one tab is opened by its address in another, while the first stays where it
    is.
    """
    path = next(path for path in filled if path.startswith("/ask/"))
    goto("/memory")
    other = page.context.new_page()
    other.goto(f"/#{path}")
    expect(other.get_by_role("article", name="Answer")).to_contain_text("14 characters")
    expect(page).to_have_url(f"{page.url.partition('#')[0]}#/memory")
    other.close()


def test_menus_and_dialogs(
    filled: list[str], page: Page, goto: Callable[..., Page], axe: Callable[..., None]
) -> None:
    """Open, they are accessible; Escape closes them, and the focus is where it was."""
    assert filled
    goto("/library/looks")
    for name in ("Delete collection", "Put this on your site", "Add a web page"):
        opener = page.get_by_role("button", name=name)
        opener.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        axe(page)
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(opener).to_be_focused()
    for name in ("Language", "Theme"):
        page.get_by_role(
            "button", name=name, exact=True
        ).first.click()  # at the foot of the sidebar
        expect(page.get_by_role("menu")).to_be_visible()
        axe(page)
        page.keyboard.press("Escape")
    goto("/ask")
    page.get_by_role("button", name="Options", exact=True).click()
    axe(page)
    until(
        page, "() => document.querySelector('.popover').getBoundingClientRect().right <= innerWidth"
    )

"""A text held against a collection, and the kinds of sentences of an answer, in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import Served
from tests.page.told import LINE, answer

PUMP = (
    "# Pump A-100\n\nThe A-100 pump weighs 12 kg. It runs for eight hours on one charge.\n\nThe "
    "guarantee lasts two years.\n"
)
DRAFT = (
    "# Draft\n\nThe A-100 pump weighs 12 kg. It runs for **nine** hours on one charge.\n\n- It "
    "is painted red.\n"
)
PUMP_ZH = "# 水泵\n\n水泵重 12 公斤。一次充电可运行八小时。\n"
VERDICTS = {
    "verdicts": [
        {"n": 1, "verdict": "contradicted", "evidence": ["1.3"], "reason": "eight hours, not nine"},
        {"n": 2, "verdict": "not_stated", "evidence": [], "reason": "no colour is named"},
    ]
}
Goto = Callable[..., Page]
EQUATION = "30 * 34 = 1020"
QUOTED = "The guarantee of the pump lasts two years from delivery."
SPAN = [QUOTED.index("two years"), QUOTED.index("two years") + len("two years")]


@pytest.fixture(scope="module")
def replies() -> list[Any]:
    return [json.dumps(VERDICTS)] * 3


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_a_text_is_checked(served: Served, goto: Goto, page: Page, axe: Any, picture: Any) -> None:
    """Pasted, sent by the keyboard; each verdict has a word and a sign; its quote opens in the
    panel.
    """
    served.add("pumps", "pump.md", PUMP)
    goto("/library/pumps")
    page.get_by_role("tab", name="Check a text").click()
    picture("check-empty")
    page.get_by_label("A text to check against this collection").fill(DRAFT)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".checked")).to_have_count(3)
    expect(page.locator(".checked-mark")).to_have_text(["proved", "contradicted", "not covered"])
    expect(page.locator(".checked-mark svg")).to_have_count(3)
    expect(page.get_by_text("eight hours, not nine")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="3 sentences")).to_contain_text(
        "judged by scripted"
    )
    picture("check", full=True)
    axe(page)
    page.get_by_role("list", name="Contradiction").get_by_role("button").click()
    expect(page.locator("mark").filter(has_text="eight hours").first).to_be_visible()
    picture("check-source")
    page.keyboard.press("Escape")


@pytest.mark.parametrize(("width", "language"), [(390, "zh")])
def test_a_text_is_checked_in_chinese(
    served: Served, goto: Goto, page: Page, axe: Any, picture: Any
) -> None:
    served.add("泵", "泵.md", PUMP_ZH)
    goto("/library/泵")
    page.get_by_role("tab", name="核对文字").click()
    page.get_by_label("要与这个文档集核对的文字").fill(
        "水泵重 12 公斤。一次充电可运行九小时。它是红色的。"
    )
    page.get_by_role("button", name="核对").click()
    expect(page.locator(".checked-mark")).to_have_text(["有依据", "与文档矛盾", "文档未说明"])
    picture("check", full=True)
    axe(page)


def sentence(text: str, verdict: str = "supported", **more: Any) -> dict[str, Any]:
    return {
        "text": text,
        "citations": [1] if verdict == "supported" else [],
        "verdict": verdict,
        "problems": [],
        **more,
    }


def told_answer() -> dict[str, Any]:
    """A sentence of each kind, and two that are not proved, behind the text as the server writes
    it.
    """
    sentences = [
        sentence("No: the guarantee is not for life.", kind="correction"),
        sentence(QUOTED, span=SPAN),
        sentence("Thirty pumps cost 1020 euros.", kind="calculation", calculation=EQUATION),
        sentence("The documents do not tell the colour.", kind="not_told", citations=[]),
        sentence("It is painted red.", "unsupported", problems=["no colour is named"]),
        sentence("It runs for nine hours.", "unsupported", problems=["eight hours, not nine"]),
    ]
    proved = " ".join(s["text"] + "[1]" * bool(s["citations"]) for s in sentences[:4])
    tail = "\n".join(f"- {s['text']}" for s in sentences[4:])
    text = f"{proved}\n\nThe documents do not prove this:\n{tail}"
    return answer() | {"answer": text, "sentences": sentences, "status": "fallback", "warnings": []}


@pytest.mark.parametrize(("width", "language"), [(1280, "en"), (390, "zh")])
def test_kinds_of_sentences(goto: Goto, page: Page, axe: Any, picture: Any, language: str) -> None:
    """An equation, a correction, the answering words; what is not told has no tick; what is not
    proved stands apart.
    """
    goto("/ask")
    page.evaluate(LINE)
    page.get_by_role("textbox", name=re.compile("Your question|您的问题")).fill(
        "How long is the guarantee?"
    )
    page.keyboard.press("Enter")
    page.evaluate("data => window.line('answer', data)", told_answer())
    page.evaluate("() => window.cut()")
    shown = page.get_by_role("article", name=re.compile("Answer|回答"))
    expect(shown.locator("mark.answering")).to_have_text("two years")
    expect(shown.locator(".sentence-calculation")).to_contain_text(EQUATION.replace("*", "×"))
    expect(shown.locator(".sentence-correction")).to_be_visible()
    expect(shown.locator(".verdict-neutral")).to_have_text("The documents do not tell the colour.")
    apart = shown.get_by_role("region", name=re.compile("Not proved by the documents|文档未能证实"))
    expect(apart.get_by_role("listitem")).to_have_count(2)
    expect(apart).to_contain_text("no colour is named")
    expect(shown.locator(".md")).not_to_contain_text("do not prove")
    expect(shown.locator(".md")).not_to_contain_text("painted red")
    expect(shown.locator(".answer-proved")).to_contain_text(re.compile("3 of 5|3"))
    picture("answer-kinds", full=True)
    axe(page)


def test_what_is_not_told_has_no_tick(goto: Goto, page: Page) -> None:
    goto("/ask")
    page.evaluate(LINE)
    page.get_by_role("textbox", name="Your question").fill("Which colour has it?")
    page.keyboard.press("Enter")
    untold = sentence("The documents do not tell the colour.", kind="not_told", citations=[])
    told = answer() | {
        "answer": untold["text"],
        "sentences": [untold],
        "citations": [],
        "status": "refused",
    }
    page.evaluate("data => window.line('answer', data)", told)
    page.evaluate("() => window.cut()")
    expect(page.locator(".answer-small")).to_contain_text("nothing to quote")
    expect(page.get_by_text("Proved by the sources")).to_have_count(0)

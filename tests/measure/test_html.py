"""The page: whole, closed, and deaf to what data says."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

from tests.measure.conftest import item, replied, reported, searched

from citewell.measure.compare import compare_reports
from citewell.measure.html import render_comparison, render_report
from citewell.measure.report import Item

HOSTILE = "<script>alert('x')</script> \"' onload=alert(1) </style></details>{{ 7 * 7 }} & 问题"


class Outline(HTMLParser):
    """Tags with their attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag if tag in self.inside else ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.inside[self._open].append(data)

    def handle_endtag(self, tag: str) -> None:
        self._open = ""


def hostile() -> list[Item]:
    names = {
        "question": HOSTILE,
        "asked": HOSTILE + "!",
        "answers": [HOSTILE],
        "gold": [HOSTILE],
        "dataset": HOSTILE,
    }
    one = item(
        HOSTILE,
        **names,
        answer=replied(right=False, text=HOSTILE, warnings=[HOSTILE], trace_id=HOSTILE),
    )
    return [one, item("b", dataset=HOSTILE, pair=HOSTILE, error=HOSTILE)]


def test_nothing_of_the_data_becomes_markup() -> None:
    """One script and one style, ours; no handler attribute; the words are there to be read."""
    report = reported(hostile()).model_copy(update={"troubles": [HOSTILE]})
    both = render_comparison(
        report,
        reported(hostile()),
        compare_reports(report, reported([item(HOSTILE)])),
        (HOSTILE, "new"),
    )
    for text in (render_report(report), both):
        outline = Outline(text)
        assert [tag for tag, _ in outline.tags].count("script") == 1
        assert [tag for tag, _ in outline.tags].count("style") == 1
        assert not any(
            name.startswith("on") for _, attributes in outline.tags for name in attributes
        )
        assert "alert(" not in "".join(outline.inside["script"])
        assert "&lt;script&gt;alert" in text
        assert "49 &amp; 问题" not in text


def test_it_needs_nothing_else_and_lets_nothing_in(some: list[Item]) -> None:
    """No address outside the page; its policy names the hashes of its own script and style."""
    text = render_report(reported(some, calibrate=True))
    outline = Outline(text)
    assert not any({"src", "href"} & set(attributes) for _, attributes in outline.tags)
    assert "url(" not in text
    assert "http" not in re.sub(r"http-equiv", "", text)
    policy = next(a["content"] for tag, a in outline.tags if tag == "meta" and a.get("http-equiv"))
    for kind in ("script", "style"):
        digest = hashlib.sha256("".join(outline.inside[kind]).encode()).digest()
        assert f"'sha256-{base64.b64encode(digest).decode()}'" in str(policy)


def test_the_worst_comes_first_with_its_evidence(some: list[Item]) -> None:
    """Failed, wrong and made up stand before right; a wrong one shows what was found."""
    text = render_report(reported(some))
    order = [
        text.index(f'data-words="{words}"') for words in ("failed", "wrong", "not found", "right")
    ]
    assert order == sorted(order)
    assert "Evidence &lt;script&gt;" in text
    assert "rightly refused" in text


def test_no_field_hides_what_the_script_needs() -> None:
    """A control named like a property of its form would take that property's place."""
    items = [item("a"), item("b", dataset="other", pair="zh")]
    names = {
        attributes.get("name")
        for tag, attributes in Outline(render_report(reported(items))).tags
        if tag in {"input", "select"}
    }
    assert names == {"text", "words", "of", "pair", "order"}


def test_plots_and_fits_are_drawn() -> None:
    """Reliability, places, seconds; with weights fitted, their curve by languages."""
    items = [
        item(
            f"{n}", search=searched(1 if n % 3 else None, x=n / 60), answer=replied(right=n % 2 > 0)
        )
        for n in range(60)
    ]
    text = render_report(reported(items, calibrate=True))
    assert text.count("<svg") >= 5
    assert "Search confidence, fitted anew" in text
    assert "Answer confidence (reader), fitted anew" in text


def test_many_questions_stay_a_light_page() -> None:
    """Above 300 questions those that went well show one short passage."""
    text = render_report(reported([item(f"{n}") for n in range(400)]))
    assert len(text) < 400 * 1600


def test_comparison_shows_both_sides(some: list[Item]) -> None:
    """Differences with their marks, and the questions that changed."""
    old = reported(
        [item(f"{n}", search=searched(5), answer=replied(right=False)) for n in range(30)]
    )
    new = reported([item(f"{n}") for n in range(30)] + some)
    text = render_comparison(old, new, compare_reports(old, new), ("old.json", "new.json"))
    assert "retrieval.hit@1" in text
    assert ">better</b>" in text
    assert "30 questions changed" in text
    assert "7 only in the new" in text

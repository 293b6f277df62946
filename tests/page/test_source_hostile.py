"""Strangers' documents in the panel: nothing of them is run, and nothing is loaded from anywhere.

The one rule: each test lets a page do its worst, then asks the browser what happened: dialogs,
requests, a flag, its console.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import Served
from tests.page.sources import cite, settled, show, watch

ELSEWHERE = "https://elsewhere.example"
QUOTE = "The harbour opens at six."
WORST = f"""<!doctype html><html onload="top.ran=1"><head><title>Harbour</title>
<meta http-equiv="refresh" content="0;url={ELSEWHERE}/refresh"><base href="{ELSEWHERE}/">
<link rel="stylesheet" href="{ELSEWHERE}/a.css"><link rel="prefetch" href="{ELSEWHERE}/p">
<link rel="preload" as="image" href="{ELSEWHERE}/i">
<style>@import "{ELSEWHERE}/b.css"; body {{ background: url({ELSEWHERE}/bg.png) }}
.panel {{ display: none }}</style>
<script>top.ran=1; alert(1)</script><script src="{ELSEWHERE}/s.js"></script></head>
<body onload="top.ran=1" style="background:url({ELSEWHERE}/bg2.png)"
background="{ELSEWHERE}/bg3.png">
<img src="{ELSEWHERE}/1.png" srcset="{ELSEWHERE}/2.png 2x" onerror="top.ran=1" alt="The lighthouse">
<img src=x onerror=top.ran=1><picture><source srcset="{ELSEWHERE}/3.png">
<img src="{ELSEWHERE}/4.png"></picture>
<svg onload="top.ran=1"><script>top.ran=1</script><image href="{ELSEWHERE}/5.png"/>
<use href="{ELSEWHERE}/6.svg#a"/>
<foreignObject><img src=x onerror=top.ran=1></foreignObject>
<animate onbegin=top.ran=1 attributeName=x dur=1s></svg>
<math><mtext><table><mglyph><style><!--</style><img
title="--&gt;&lt;img src=1 onerror=top.ran=1&gt;"></table></math>
<iframe src="{ELSEWHERE}/frame"></iframe><iframe srcdoc="<script>top.ran=1</script>"></iframe>
<object data="{ELSEWHERE}/o"></object><embed src="{ELSEWHERE}/e">
<video src="{ELSEWHERE}/v" poster="{ELSEWHERE}/vp" autoplay></video>
<audio src="{ELSEWHERE}/au" autoplay></audio>
<form action="{ELSEWHERE}/f"><input autofocus onfocus="top.ran=1" name="token">
<button formaction="javascript:top.ran=1">Send</button></form>
<a href="javascript:top.ran=1" id="location">run</a>
<a href="data:text/html,<script>top.ran=1</script>">data</a>
<a href="#top" ping="{ELSEWHERE}/ping">here</a> <a href="/map">map</a>
<details ontoggle="top.ran=1" open><summary>More</summary>x</details>
<marquee onstart=top.ran=1>m</marquee>
<div is="x-panel" slot="x" class="panel"
style="position:fixed;inset:0;z-index:9999">over everything</div>
<noscript><img src="{ELSEWHERE}/ns.png"></noscript><template><script>top.ran=1</script></template>
<p>{QUOTE}</p><textarea></textarea><xmp><script>top.ran=1</script></xmp></body></html>"""
NEVER = (
    "script",
    "style",
    "img",
    "svg",
    "iframe",
    "form",
    "input",
    "button",
    "object",
    "video",
    "link",
    "base",
    "meta",
)


@pytest.fixture
def watched(page: Page, served: Served) -> Iterator[list[str]]:
    """What a page did that it must not: dialogs, requests elsewhere, new windows, scripts that ran.
    The console is looked at by the fixture `page`: what a policy had to block is told there.
    """
    wrong = watch(page, served.url)
    yield wrong
    settled(page)
    assert page.evaluate("window.ran") is None
    assert wrong == []


def naughty(shared_data: Path) -> list[str]:
    lines = (shared_data / "robustness" / "naughty_strings.jsonl").read_text("utf-8").split("\n")
    return [
        text for text in (str(json.loads(line)["text"]) for line in lines if line) if text.strip()
    ]


def test_web_page_is_inert(served: Served, goto: Callable[..., Page], watched: list[str]) -> None:
    doc_id = served.add("hostile", "worst.html", WORST)
    citation = cite(served, doc_id, "worst.html", QUOTE)
    page = goto("/sites")
    panel = show(page, citation | {"uri": "https://harbour.example/hours", "origin": "web"})
    expect(panel.locator("mark")).to_have_text(QUOTE)
    tree = panel.locator(".panel-snapshot").evaluate("host => host.shadowRoot.innerHTML")
    for tag in NEVER:
        assert f"<{tag}" not in tree
    assert "style=" not in tree
    assert ELSEWHERE not in tree
    assert "The lighthouse" in tree  # what a picture says for itself
    links = panel.locator(".panel-snapshot a[href]").evaluate_all(
        "all => all.map(a => [a.href, a.rel, a.target])"
    )
    assert [rel for _, rel, _ in links] == ["noopener noreferrer nofollow"] * len(links)
    assert all(urlsplit(href).scheme in {"http", "https"} for href, _, _ in links)
    assert panel.locator(".panel-head").is_visible()  # nothing lies over it
    assert page.evaluate("document.activeElement.tagName") == "H2"


def test_naughty_strings_in_a_page(
    shared_data: Path, served: Served, goto: Callable[..., Page], watched: list[str]
) -> None:
    """Each as markup, as an attribute's value and as a title; the rest of the page stays."""
    strings = naughty(shared_data)
    body = "".join(f'<p title="{text}">{text}</p>\n<h3>{text}</h3>' for text in strings)
    markup = (
        f"<html><head><title>{strings[0]}</title></head><body><p>{QUOTE}</p>{body}<p>The end of "
        "it.</p></body></html>"
    )
    doc_id = served.add("hostile", "naughty.html", markup)
    page = goto("/sites")
    panel = show(page, cite(served, doc_id, "naughty.html", QUOTE))
    expect(panel.locator("mark")).to_have_text(QUOTE)
    assert (
        len(panel.locator(".panel-snapshot").evaluate("host => host.shadowRoot.textContent")) > 500
    )


def test_naughty_strings_as_words(
    shared_data: Path, served: Served, goto: Callable[..., Page], watched: list[str]
) -> None:
    """In a text, a title, a section, a quote, an address, rows, a statement: shown letter by
    letter.
    """
    strings = [text for text in naughty(shared_data) if "<" in text]
    assert len(strings) > 50
    text = "\n\n".join([*strings, QUOTE])
    doc_id = served.add("hostile", "naughty.txt", text)
    page = goto("/sites")
    panel = show(page, cite(served, doc_id, "naughty.txt", QUOTE))
    expect(panel.locator("mark")).to_have_text(QUOTE)
    assert strings[0] in (panel.locator(".panel-text").text_content() or "")
    base: dict[str, Any] = {
        "page": 1,
        "start": 0,
        "end": 5,
        "boxes": [],
        "score": 1,
        "status": "weak",
        "fetched_at": None,
    }
    for n, worst in enumerate(strings[::8]):
        said = {
            **base,
            "n": n,
            "title": worst,
            "section": f"{worst} › {worst}",
            "quote": worst,
            "doc_id": worst,
            "uri": worst,
        }
        panel = show(page, {**said, "origin": "memory"}, [], {"data": None})
        expect(panel.locator(".panel-body mark")).to_have_text(worst)
        row = {
            **said,
            "origin": "table",
            "quote": f"name: {worst.replace(';', ',')}; b: 1".replace("\n", " "),
        }
        data = {"source": worst, "sql": worst, "columns": ["name", "b"], "rows": []}
        panel = show(page, row, [], {"data": data})
        expect(panel.locator("code")).to_have_text(worst)
        panel = show(page, {**said, "origin": "web"})  # and no such document
        expect(panel.get_by_text("This document no longer exists.")).to_be_visible()


def test_markup_that_never_ends_does_not_hang(
    served: Served, goto: Callable[..., Page], watched: list[str]
) -> None:
    page = goto("/sites")
    clean = """async markup => {
        const { safeFragment } = await import("/assets/source/snapshot.js");
        return safeFragment(markup, "https://a.example/").textContent.length;
    }"""
    for piece in (
        "<",
        "<!",
        '<a x="',
        "</",
        "<p ",
        "<b>",
        "<script>",
        "&lt;",
        "<!--",
        "<table><tr>",
    ):
        start = page.evaluate("performance.now()")
        page.evaluate(clean, piece * (100_000 // len(piece)))
        assert page.evaluate("performance.now()") - start < 20_000

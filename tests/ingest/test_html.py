"""HTML pages to documents."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.web import html

SETTINGS = IngestSettings()
PAGE = """<!doctype html><html><head><title>The  Title</title><style>p{}</style></head><body>
<nav>Home About</nav><header>Site name</header>
<main><h1>Guide <a href="#x">¶</a></h1>
<p>One&nbsp;&amp; <b>tw</b>o<br>three</p><script>alert(1)</script>
<p hidden>secret</p><div style="display: none">also</div>
<h2>Lists</h2><ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>
<ol start="3"><li>d</li><li>e</li></ol>
<h2>Tables</h2><table><caption>Cap</caption><tr><th>h1</th><th>h2</th></tr>
<tr><td rowspan="2">x</td><td>1</td></tr><tr><td><p>2</p><p>3</p></td></tr></table>
<pre>  code
    more</pre></main>
<aside>Ads</aside><footer>Legal</footer></body></html>"""


def test_page_reads_as_shown() -> None:
    """Content stays with its structure; scripts, hidden parts and navigation go; a cell over two
    rows is said in both.
    """
    document = html.parse(PAGE.encode(), "x.html", SETTINGS)
    assert document.title == "The Title"
    assert document.text == (
        "Guide\n\nOne & two\nthree\n\nLists\n\n- a\n  - b\n- c\n\n3. d\n4. e\n\n"
        "Tables\n\nCap\nh1 | h2\nh1: x | h2: 1\nh1: x | h2: 2 3\n\n  code\n    more"
    )
    assert [s.heading_path for s in document.sections] == [
        ("Guide",),
        ("Guide", "Lists"),
        ("Guide", "Tables"),
    ]


def test_chinese_source_lines_join_without_space() -> None:
    """A line break in the source between Chinese characters is no space; one between words is."""
    document = html.parse("<p>数据\n  库是\nDebian\nLinux 的</p>".encode(), "x.html", SETTINGS)
    assert document.text == "数据库是 Debian Linux 的"


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ('<meta charset="gb2312">', "gb18030"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=big5">', "big5"),
        ('<?xml version="1.0" encoding="UTF-8"?>', "utf-8"),
        ('<meta charset="utf-8">', "gb18030"),
        ("", "utf-16"),
        ("", "gbk"),
    ],
)
def test_encodings(declaration: str, encoding: str) -> None:
    """The declared encoding counts, unless it is wrong; without one the bytes decide."""
    text = "資料庫是什麼" if encoding == "big5" else "数据库是我们的"
    assert (
        html.parse(f"{declaration}<p>{text}</p>".encode(encoding), "x.html", SETTINGS).text == text
    )


def test_main_content_is_preferred_only_if_it_is_the_most() -> None:
    """An article that holds most of the text is the page; one that is a teaser is not."""
    assert (
        html.parse(b"<div>menu</div><article>long text here</article>", "x.html", SETTINGS).text
        == "long text here"
    )
    assert (
        "long text"
        in html.parse(b"<div>long text here</div><article>no</article>", "x.html", SETTINGS).text
    )


def test_a_page_that_is_all_form_is_not_silent() -> None:
    """Navigation, forms and the like stay where they are most of the page."""
    assert (
        html.parse(b"<form><p>All the text</p></form>", "x.html", SETTINGS).text == "All the text"
    )


def test_article_header_stays() -> None:
    """A header inside an article holds its headline."""
    document = html.parse(
        b"<article><header><h1>News</h1></header><p>It happened.</p></article>", "x.html", SETTINGS
    )
    assert document.text == "News\n\nIt happened."


@pytest.mark.parametrize("unit", ["<div>", "<b>", "<table><tr><td>", "<ul><li>", "<svg>", "<div "])
def test_deep_nesting(unit: str) -> None:
    """Fifty thousand nested tags take seconds at most and crash nothing."""
    started = time.process_time()
    try:
        assert "deep" in html.parse((unit * 50_000 + "deep").encode(), "x.html", SETTINGS).text
    except UnreadableFile:
        assert unit in {"<svg>", "<div "}
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Travel - Intranet</title>", "<h1>Travel</h1>", "Travel"),
        ("<title>Travel rules</title>", "<h1>Welcome</h1>", "Travel rules"),
        ("<title>Travel - Intranet</title>", "<h1>Travel</h1><h1>More</h1>", "Travel - Intranet"),
        ("<title> </title>", "<h1>Travel</h1>", "Travel"),
        ('<meta property="og:title" content=" Travel ">', "<p>x</p>", "Travel"),
    ],
)
def test_the_title_leaves_the_sites_name_out(head: str, body: str, title: str) -> None:
    """The only h1 where the title adds to it, else the title as it is."""
    page = (
        f"<html><head>{head}</head><body><main>{body}<p>Some words of text "
        "here.</p></main></body></html>"
    )
    assert html.parse(page.encode(), "page.html", SETTINGS).title == title


def test_anchors() -> None:
    """A section knows the id that a link to it names, wherever a page puts it; text in between ends
    an id's reach.
    """
    page = (
        '<h1 id="top">A</h1><p>x</p><div class="s" id="outer"><h2><a '
        'name="old"></a>B</h2><p>y</p></div>'
        '<section id="sec"><h2>C</h2></section><p id="para">z</p><h2>D</h2>'
    )
    sections = html.parse(page.encode(), "x.html", SETTINGS).sections
    assert [(s.heading_path[-1], s.anchor) for s in sections] == [
        ("A", "top"),
        ("B", "old"),
        ("C", "sec"),
        ("D", ""),
    ]


def test_links_to_the_heading_itself_go() -> None:
    """Permalink signs are left out where they are links within the page, and stay where they are
    words.
    """
    page = (
        '<h2 id="c">All about C#<a class="x" href="#c">#</a></h2><p>See \xa7 3 and #1.<a '
        'href="#f"> \u21a9</a></p>'
    )
    assert (
        html.parse(page.encode(), "x.html", SETTINGS).text == "All about C#\n\nSee \xa7 3 and #1."
    )


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ('<meta property="article:published_time" content="2024-03-05T08:00:00Z">', ""),
        ('<meta name="DC.date" content="2024-03-05T08:00:00+00:00">', ""),
        (
            (
                '<script type="application/ld+json">{"@graph": [{"datePublished": '
                '"2024-03-05T08:00:00Z"}]}</script>'
            ),
            "",
        ),
        ("", '<time datetime="2024-03-05T09:00:00+01:00">5 March</time>'),
    ],
)
def test_dates(head: str, body: str) -> None:
    """The day of publication is found where pages write it."""
    document = html.parse(f"<head>{head}</head><body>{body}<p>x</p>".encode(), "x.html", SETTINGS)
    assert document.dated == 1709625600.0


def test_a_page_without_a_date() -> None:
    """A list of dated entries, broken JSON-LD and words that are no date give none."""
    times = "".join(f'<time datetime="2024-01-0{day}">x</time>' for day in range(1, 6))
    page = (
        '<meta name="date" content="soon"><script '
        f'type="application/ld+json">{{"datePublished"</script>{times}<p>x</p>'
    )
    assert html.parse(page.encode(), "x.html", SETTINGS).dated is None


def test_banners_menus_and_footers_go() -> None:
    """What a site puts around its pages goes by its name and its links, without `nav` or `main` to
    tell.
    """
    page = """<div class="cookie-banner">We use cookies.</div>
    <div id="top-nav" class="menu"><a href="/">Home</a></div>
    <div class="post"><h1>Rates</h1><p class="meta">By <a href="/ann">Ann</a>, 5 March</p>
    <p>They rose by a quarter point.</p></div>
    <div class="related"><a href="1">Other story</a></div>
    <div id="footer">\xa9 Site <a href="/terms">Terms</a></div>"""
    assert (
        html.parse(page.encode(), "x.html", SETTINGS).text
        == "Rates\n\nBy Ann, 5 March\n\nThey rose by a quarter point."
    )


def test_a_footer_without_links_stays() -> None:
    """An invoice's footer is part of it."""
    page = '<p>Invoice 7, three items of many kinds</p><div class="footer">IBAN 123</div>'
    assert html.parse(page.encode(), "x.html", SETTINGS).text.endswith("IBAN 123")


def test_pictures_are_said() -> None:
    """A picture's description is read, unless it is a file's name or its caption says the same."""
    page = '<figure><img alt="A cat"><figcaption>A cat sleeps</figcaption></figure>'
    page += '<p><img alt="E = mc2"> <img alt="a1.png"> so</p>'
    assert html.parse(page.encode(), "x.html", SETTINGS).text == "A cat sleeps\n\nE = mc2 so"


def test_tables_across_and_sideways() -> None:
    """A header of two rows names every column under it; names in the first column label what is
    beside them.
    """
    wide = (
        "<table><thead><tr><th rowspan=2>City<th "
        "colspan=2>People</tr><tr><th>2010<th>2020</tr></thead>"
        "<tbody><tr><td>Ulm<td>1<td>2</table>"
    )
    text = html.parse(wide.encode(), "x.html", SETTINGS).text
    assert text.splitlines()[-1] == "City: Ulm | People 2010: 1 | People 2020: 2"
    side = "<table><tr><th>Name<td>Ulm</tr><tr><th>River<td>Danube</table>"
    assert html.parse(side.encode(), "x.html", SETTINGS).text == "Name: Ulm\nRiver: Danube"


def test_xhtml_closes_tags_by_itself() -> None:
    """An empty title written as one tag does not swallow the page."""
    page = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><a '
        'id="x"/><p>Hi</p></body></html>'
    )
    assert html.parse(page.encode(), "x.xhtml", SETTINGS).text == "Hi"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_site_of_others(shared_data: Path, language: str) -> None:
    """Every section that a question of the Debian FAQ asks for is found by its anchor, under its
    heading.
    """
    folder = shared_data / f"website_{language}"
    questions = [
        json.loads(line)
        for line in (folder / "debian_faq_questions.jsonl").read_text("utf-8").splitlines()
    ]
    pages: dict[str, dict[str, str]] = {}
    for question in questions:
        page, _, anchor = question["gold_url"].partition("#")
        if page not in pages:
            document = html.parse((folder / "site_debian_faq" / page).read_bytes(), page, SETTINGS)
            pages[page] = {
                section.anchor: section.heading_path[-1]
                for section in document.sections
                if section.anchor
            }
        assert question["question"].replace(" ", "") in pages[page][anchor].replace(" ", "")

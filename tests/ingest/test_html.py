"""HTML pages to documents."""

from __future__ import annotations

import time

import pytest

from citewell.errors import UnreadableFile
from citewell.ingest import html

PAGE = """<!doctype html><html><head><title>The  Title</title><style>p{}</style></head><body>
<nav>Home About</nav><header>Site name</header>
<main><h1>Guide <a href="#x">¶</a></h1>
<p>One&nbsp;&amp; <b>tw</b>o<br>three</p><script>alert(1)</script><p hidden>secret</p><div style="display: none">also</div>
<h2>Lists</h2><ul><li>a<ul><li>b</li></ul></li><li>c</li></ul><ol start="3"><li>d</li><li>e</li></ol>
<h2>Tables</h2><table><caption>Cap</caption><tr><th>h1</th><th>h2</th></tr>
<tr><td rowspan="2">x</td><td>1</td></tr><tr><td><p>2</p><p>3</p></td></tr></table>
<pre>  code
    more</pre></main>
<aside>Ads</aside><footer>Legal</footer></body></html>"""


def test_page_reads_as_shown() -> None:
    """Content stays with its structure; scripts, hidden parts and navigation go; a cell over two rows is said in both."""
    document = html.parse(PAGE.encode(), "x.html")
    assert document.title == "The Title"
    assert document.text == (
        "Guide\n\nOne & two\nthree\n\nLists\n\n- a\n  - b\n- c\n\n3. d\n4. e\n\n"
        "Tables\n\nCap\nh1 | h2\nx | 1\nx | 2 3\n\n  code\n    more"
    )
    assert [s.heading_path for s in document.sections] == [("Guide",), ("Guide", "Lists"), ("Guide", "Tables")]


def test_chinese_source_lines_join_without_space() -> None:
    """A line break in the source between Chinese characters is no space; one between words is."""
    document = html.parse("<p>数据\n  库是\nDebian\nLinux 的</p>".encode(), "x.html")
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
    assert html.parse(f"{declaration}<p>{text}</p>".encode(encoding), "x.html").text == text


def test_main_content_is_preferred_only_if_it_is_the_most() -> None:
    """An article that holds most of the text is the page; one that is a teaser is not."""
    assert html.parse(b"<div>menu</div><article>long text here</article>", "x.html").text == "long text here"
    assert "long text" in html.parse(b"<div>long text here</div><article>no</article>", "x.html").text


def test_a_page_that_is_all_form_is_not_silent() -> None:
    """Navigation, forms and the like stay where they are most of the page."""
    assert html.parse(b"<form><p>All the text</p></form>", "x.html").text == "All the text"


def test_article_header_stays() -> None:
    """A header inside an article holds its headline."""
    document = html.parse(b"<article><header><h1>News</h1></header><p>It happened.</p></article>", "x.html")
    assert document.text == "News\n\nIt happened."


@pytest.mark.parametrize("unit", ["<div>", "<b>", "<table><tr><td>", "<ul><li>", "<svg>", "<div "])
def test_deep_nesting(unit: str) -> None:
    """Fifty thousand nested tags take seconds at most and crash nothing."""
    started = time.perf_counter()
    try:
        assert "deep" in html.parse((unit * 50_000 + "deep").encode(), "x.html").text
    except UnreadableFile:
        assert unit in {"<svg>", "<div "}
    assert time.perf_counter() - started < 20


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
    page = f"<html><head>{head}</head><body><main>{body}<p>Some words of text here.</p></main></body></html>"
    assert html.parse(page.encode(), "page.html").title == title

"""The links of pages."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.bounded import run_bounded
from citewell.ingest.web.links import Link, PageLinks, extract_page_links

SETTINGS = IngestSettings()
HERE = "http://site.test/docs/page.html"


def read(html: str | bytes, url: str = HERE) -> PageLinks:
    return extract_page_links(
        html.encode() if isinstance(html, str) else html, "page.html", SETTINGS, url
    )


def urls(html: str | bytes, url: str = HERE) -> list[str]:
    return [link.url for link in read(html, url).links]


def only(html: str | bytes, url: str = HERE) -> Link:
    (link,) = read(html, url).links
    return link


@pytest.mark.parametrize(
    ("href", "meant"),
    [
        ("other.html", "http://site.test/docs/other.html"),
        ("/top", "http://site.test/top"),
        ("//cdn.test/x", "http://cdn.test/x"),
        ("?q=1&utm_source=mail", "http://site.test/docs/page.html?q=1"),
        (" \n other.html\t", "http://site.test/docs/other.html"),
        ("ot\nher.html", "http://site.test/docs/other.html"),
        ("my file.html", "http://site.test/docs/my%20file.html"),
        ("HTTPS://Site.Test:443/A", "https://site.test/A"),
        ("/退货", "http://site.test/%E9%80%80%E8%B4%A7"),
    ],
)
def test_addresses_are_read_as_browsers_do(href: str, meant: str) -> None:
    assert urls(f'<p><a href="{href}">words</a></p>') == [meant]


@pytest.mark.parametrize(
    "href",
    [
        *(
            "",
            "#",
            "#part",
            "page.html",
            "page.html#part",
            "javascript:go()",
            " JAVA\nSCRIPT:go()",
            "mailto:a@b.test",
        ),
        *(
            "tel:+1",
            "data:text/html,x",
            "ftp://site.test/x",
            "http://",
            "http://a b/",
            "http://user@site.test/",
            "http:\\\\x.test",
        ),
        *(
            "http://site.test:99999/",
            "a\x01b",
            "http://[::1",
            "blob:http://site.test/1",
            "a" * 3_000,
        ),
    ],
)
def test_what_leads_nowhere_is_no_link(href: str) -> None:
    """Nor is a place on the page itself, nor what our rules of addresses refuse."""
    assert urls(f'<p><a href="{href}">words</a> <a href="next.html">next</a></p>') == [
        "http://site.test/docs/next.html"
    ]


def test_a_base_counts() -> None:
    assert urls('<head><base href="/v2/"></head><a href="x">x</a>') == ["http://site.test/v2/x"]
    assert urls('<head><base href="javascript:1"></head><a href="x">x</a>') == [
        "http://site.test/docs/x"
    ]


def test_files_that_nobody_reads_are_left_out() -> None:
    """By their suffix; those that a parser reads stay, even when they are offered to be saved."""
    names = [
        "a.pdf",
        "b.DOCX",
        "c.png",
        "d.zip",
        "e.mp4",
        "f.css",
        "g.js",
        "h.md",
        "i.php?file=x.zip",
        "j.tar.gz",
        "k.v2",
    ]
    html = "".join(f'<p><a href="{name}">{name}</a></p>' for name in names)
    assert [url.rpartition("/")[2] for url in urls(html)] == [
        "a.pdf",
        "b.DOCX",
        "h.md",
        "i.php?file=x.zip",
        "k.v2",
    ]
    assert urls('<a href="a.pdf" download>a</a><a href="/export" download>b</a>') == [
        "http://site.test/docs/a.pdf"
    ]


def test_nofollow_is_respected() -> None:
    """Of one link, and of a page; what the page says of itself is told all the same."""
    assert urls('<a href="a" rel="noopener NoFollow">a</a><a href="b">b</a>') == [
        "http://site.test/docs/b"
    ]
    for word in ("nofollow", "noindex, NOFOLLOW", "none"):
        page = read(
            f'<meta name="Robots" content="{word}"><link rel="canonical" href="/x"><a '
            'href="b">b</a>'
        )
        assert page == PageLinks((), "http://site.test/x")
    assert urls('<meta name="robots" content="noindex"><a href="b">b</a>') == [
        "http://site.test/docs/b"
    ]


def test_words_around_and_heading() -> None:
    link = only("""<h1>Shop</h1><h2>Help</h2><p>Other.</p>
        <p>Within 30 days you may <b>return</b> it: see
        <a href="r">our  <i>policy</i></a> for the rest.</p><p>More.</p>""")
    assert (link.text, link.heading, link.place) == ("our policy", "Help", "content")
    assert link.around == "Within 30 days you may return it: see for the rest."


def test_words_of_a_link_without_any() -> None:
    """Those of its label, or of its picture."""
    html = """<p><a href="a" aria-label="Go on"><svg></svg></a> <a href="b" title="Up"></a>
        <a href="c"><img alt="The map"></a>
        <a href="d"></a></p><map><area href="e" alt="Paris"></map>"""
    assert [link.text for link in read(html).links] == ["Go on", "Up", "The map", "", "Paris"]


def test_long_words_are_cut() -> None:
    """Those around are the nearest ones."""
    link = only(f"<p>{'far ' * 200}near <a href='x'>{'word ' * 200}</a> right {'away ' * 200}</p>")
    assert len(link.text) <= 200
    assert len(link.around) <= 200
    assert "near right" in link.around
    before = only(f"<p>{'far ' * 200}near <a href='x'>y</a>.</p>").around
    assert before.endswith("near .")
    assert 190 < len(before) <= 200


def test_around_comes_of_the_nearest_block_that_says_something() -> None:
    """Of a card its text, of a row its cells; of a list of links nothing, for those are others'."""
    card = only(
        "<h2>Products</h2><div><h3>Pump</h3><p>Blows up tyres.</p><p><a href='p'>Read "
        "more</a></p></div>"
    )
    assert (card.around, card.heading) == ("Pump Blows up tyres.", "Pump")
    row = only(
        "<table><tr><td>Manual</td><td>2024</td><td><a href='m.pdf'>PDF</a></td></tr></table>"
    )
    assert row.around == "Manual 2024"
    assert {
        link.around
        for link in read("<ul>" + "<li><a href='x?{0}'>one</a></li>" * 5 + "</ul>").links
    } == {""}


def test_a_link_in_a_heading_has_the_text_under_it() -> None:
    """As in lists of news; the heading before is of another one."""
    html = """<h1>News</h1><div><h3><a href="a">First</a></h3><p>About one.</p></div>
        <div><h3><a href="b">Second</a></h3><p>About two.</p></div>"""
    assert [(link.text, link.around, link.heading) for link in read(html).links] == [
        ("First", "About one.", "News"),
        ("Second", "About two.", "News"),
    ]


def test_a_list_in_a_list_is_headed_by_the_entry_it_stands_in() -> None:
    html = """<h1>Contents</h1><ul><li><a href="a">Orders</a><ul>
        <li><a href="b">Returns</a></li></ul></li>
        <li><a href="c">Bikes</a></li></ul><dl><dt>Plugins</dt><dd><a href="d">List</a></dd></dl>
        <p><a href="e">End</a></p>"""
    found = [(link.text, link.heading) for link in read(html).links]
    assert found == [
        ("Orders", "Contents"),
        ("Returns", "Orders"),
        ("Bikes", "Contents"),
        ("List", "Plugins"),
        ("End", "Contents"),
    ]


def test_links_around_the_content_come_last() -> None:
    """What is navigation is what the reader of pages takes for it."""
    text = "<p>" + "The rest of the page. " * 20 + "</p>"
    html = f"""<nav><a href="menu">Menu</a></nav><main><h1>T</h1>{text}
        <p>See <a href="good">this</a>.</p></main>
        <div class="sidebar"><a href="side">Side</a></div>
        <footer><a href="legal">Legal</a></footer>"""
    assert [(link.text, link.place) for link in read(html).links] == [
        ("this", "content"),
        ("Menu", "around"),
        ("Side", "around"),
        ("Legal", "around"),
    ]
    assert only("<nav><a href='x'>All there is</a></nav>").place == "content"


def test_one_address_under_several_names() -> None:
    """Each place in it and each wording is one; the same twice is not."""
    html = (
        '<a href="x#a">One</a> <a href="x#b">Two</a> <a href="x#a">One</a> <a '
        'href="x#a">Uno</a> <a href="x#%E5%AE%89">三</a>'
    )
    found = read(html).links
    assert {link.url for link in found} == {"http://site.test/docs/x"}
    assert [(link.fragment, link.text) for link in found] == [
        ("a", "One"),
        ("b", "Two"),
        ("a", "Uno"),
        ("安", "三"),
    ]


def test_frames_and_forwarding() -> None:
    """A frame of the same site is a link, and so is the page to which this one sends its
    readers.
    """
    html = (
        '<iframe src="/inner" title="Prices">old browser</iframe><iframe '
        'src="http://ads.test/x"></iframe>'
    )
    assert [(link.url, link.text) for link in read(html).links] == [
        ("http://site.test/inner", "Prices")
    ]
    html = (
        '<frameset cols="1,2"><frame src="menu.html" name="menu"><frame src="body.html"></frameset>'
    )
    assert urls(html) == ["http://site.test/docs/menu.html", "http://site.test/docs/body.html"]
    assert urls("<meta http-equiv='Refresh' content='0; URL=\"new.html\"'>") == [
        "http://site.test/docs/new.html"
    ]
    assert urls("<meta http-equiv='refresh' content='5'>") == []


def test_canonical() -> None:
    """Only on the same site, and only where the page does not say two."""
    assert (
        read('<link rel="Canonical" href="../one?utm_source=x#y">').canonical
        == "http://site.test/one"
    )
    assert read('<link rel="canonical" href="https://site.test/one">').canonical == ""
    assert read('<link rel="canonical" href="/a"><link rel="canonical" href="/b">').canonical == ""
    assert read("<p>none</p>").canonical == ""


@pytest.mark.parametrize(
    ("html", "scripted"),
    [
        ('<div id="root"></div><script src="/main.js"></script>', True),
        ('<div id="app">Loading</div><script type="module">import("/m.js")</script>', True),
        (
            (
                '<div id="__next"></div><script id="__NEXT_DATA__" '
                'type="application/json">{"a": 1}</script>'
            ),
            True,
        ),
        ("<noscript>You need to enable JavaScript to run this app.</noscript>", True),
        ("<body><noscript>请启用 JavaScript 后访问本站。</noscript><div></div>", True),
        ("<script>document.body.innerHTML = load()</script>", True),
        ("<p>Short.</p>", False),
        ('<div id="root"></div>', False),
        ('<script type="application/ld+json">{"a": 1}</script><p>Short.</p>', False),
        ('<script src="/count.js"></script><p>' + "There is enough to read here. " * 10, False),
        (
            "<noscript>Please enable JavaScript.</noscript><p>"
            + "There is enough to read here. " * 10,
            False,
        ),
        ('<frameset><frame src="a"></frameset><script src="x.js"></script>', False),
    ],
)
def test_pages_that_scripts_write(html: str, scripted: bool) -> None:
    assert read(html).scripted is scripted


def test_a_page_in_gbk() -> None:
    """Words and headings in Chinese, and a line break between characters is no space."""
    html = """<meta charset="gb2312"><h2>售后服务</h2><ul><li>签收后七天内可以
    退货，详见<a href="/退货.html#期限">退货
    政策</a>。</li></ul>"""
    link = only(html.encode("gbk"))
    assert link == Link(
        "http://site.test/%E9%80%80%E8%B4%A7.html",
        "退货政策",
        "签收后七天内可以退货，详见 。",
        "售后服务",
        "期限",
        "content",
    )


def test_the_index_of_the_debian_faq(shared_data: Path) -> None:
    """Each question of the table of contents is a link with its chapter as heading, in both
    languages.
    """
    for lang, folder, feedback, chapter in (
        ("en", "website_en", "16.2. Feedback", "16. General information about the FAQ"),
        ("zh-cn", "website_zh", "16.2. 反馈", "16. 关于本 FAQ 的一般性信息"),
    ):
        data = (shared_data / folder / "site_debian_faq" / f"index.{lang}.html").read_bytes()
        page = extract_page_links(
            data, "index.html", SETTINGS, f"http://site.test/index.{lang}.html"
        )
        (link,) = [link for link in page.links if link.fragment == "feedback"]
        assert (link.url, link.text) == (f"http://site.test/faqinfo.{lang}.html", feedback)
        assert link.heading == chapter
        assert sum(link.place == "content" for link in page.links) > 150
        assert len({link.url for link in page.links}) == 16
        assert page.links[-1].place == "around"
        assert not page.scripted


DEEP = "<div class='menu'>" * 390
HOSTILE = {
    "200,000 links": "".join(
        f'<p><a href="/p/{n}?x=1">link {n}</a> words here</p>' for n in range(200_000)
    ),
    "200,000 pictures": "".join(f'<a href="/p/{n}.jpg">y</a>' for n in range(200_000)),
    "deep": "<div><ul><li>" * 100_000 + '<a href="x">y</a>',
    "deep menus": DEEP + '<a href="x">y</a>' * 20_000,
    "deep sections": "<section><h2>a</h2>" * 390 + '<a href="x">y</a>' * 20_000,
    "10 MB": "<p>words and more " * 60_000 + "and more " * 1_000_000 + '<a href="x">y</a>',
    "1 MB address": f'<a href="{"a" * 1_000_000}">x</a>',
    "1 MB label": f'<a href="x" title="{"a " * 500_000}"></a>',
    "broken": "<a href=\"x>y<b <a href='z'></div></p><a href=y><table><a href=w><tr></a>" * 5_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_pages(kind: str) -> None:
    """Some seconds at most, even on a busy machine; at most 2,000 links."""
    begun = time.monotonic()
    found = read(HOSTILE[kind]).links
    assert time.monotonic() - begun < 30
    assert len(found) <= 2_000
    assert all(
        len(link.text) <= 200 and len(link.around) <= 200 and len(link.heading) <= 200
        for link in found
    )


def test_nonsense_never_raises() -> None:
    """Pages with bytes changed or left out, and bytes that are no page."""
    rng = random.Random(5)
    page = (
        HOSTILE["broken"][:2_000].encode()
        + b"<dl><dt>t<dd><h2><a href=#x>y</a><iframe src=/></h2><noscript><p>" * 20
    )
    for _ in range(200):
        data = bytearray(page)
        for _ in range(rng.randrange(1, 100)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        read(bytes(data[: rng.randrange(len(data))]))
        read(rng.randbytes(rng.randrange(1, 2_000)))


async def test_in_a_process_of_its_own() -> None:
    """As the agents call it; empty pages are the one thing that is refused."""
    found = await run_bounded(
        "citewell.ingest.web.links:extract_page_links",
        b"<a href=x>y</a>",
        "page.html",
        SETTINGS,
        HERE,
    )
    assert found == PageLinks((Link("http://site.test/docs/x", "y"),))
    with pytest.raises(UnreadableFile):
        await run_bounded(
            "citewell.ingest.web.links:extract_page_links", b"", "page.html", SETTINGS, HERE
        )

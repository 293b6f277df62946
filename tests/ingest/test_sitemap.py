"""Sitemaps, and the pages of a site that they name."""

from __future__ import annotations

import contextlib
import gzip
import random
import time
from datetime import UTC, datetime

import pytest

from citewell.config import IngestSettings
from citewell.errors import TransientError, UnreadableFile
from citewell.fetch.page_reply import Page
from citewell.ingest.web.sitemap import MOST_PAGES, Entry, Sitemap, list_site_pages, read_sitemap

SETTINGS = IngestSettings()
HERE = "https://site.test/sitemap.xml"
NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def read(data: str | bytes) -> Sitemap:
    return read_sitemap(
        data.encode() if isinstance(data, str) else data, "sitemap.xml", SETTINGS, HERE
    )


def urls(data: str | bytes) -> list[str]:
    return [entry.url for entry in read(data).pages]


def at(year: int, month: int, day: int, hour: int = 0) -> float:
    return datetime(year, month, day, hour, tzinfo=UTC).timestamp()


def urlset(*places: str) -> str:
    return (
        f"<urlset {NS}>"
        + "".join(f"<url><loc>{place}</loc></url>" for place in places)
        + "</urlset>"
    )


def index(*places: str) -> str:
    return (
        f"<sitemapindex {NS}>"
        + "".join(f"<sitemap><loc>{place}</loc></sitemap>" for place in places)
        + "</sitemapindex>"
    )


SITEMAP = f"""\ufeff
<?xml version="1.0" encoding="UTF-8"?><!-- made by a plugin -->
<urlset {NS} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
  xmlns:xhtml="http://www.w3.org/1999/xhtml"
  xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
<url><xhtml:link rel="alternate" hreflang="de" href="https://site.test/de"/><loc>
  https://site.test/a?x=1&amp;y=2 </loc>
  <lastmod>2024-05-01T10:00:00+08:00</lastmod><priority>0.5</priority></url>
<url><loc>https://SITE.test/退货</loc><lastmod>2024-05-02</lastmod>
  <image:image><image:loc>https://site.test/p.png</image:loc>
  <image:title>no</image:title></image:image></url>
<url><loc><![CDATA[/c]]></loc><news:news><news:publication_date>2023-01-02</news:publication_date>
  <news:title>新闻 &amp; more</news:title></news:news></url>
<url><loc>javascript:alert(1)</loc></url><url><loc></loc></url><url/>
<url><loc>https://site.test/photo.jpg</loc></url>
<url><loc>https://site.test/a?y=2&amp;utm_source=x#frag</loc><lastmod>yesterday</lastmod></url>
</urlset>"""


def test_a_sitemap() -> None:
    """Canonical addresses with dates; what is no address, or a picture, is left out."""
    assert read(SITEMAP) == Sitemap(
        (
            Entry("https://site.test/a?x=1&y=2", at(2024, 5, 1, 2)),
            Entry("https://site.test/%E9%80%80%E8%B4%A7", at(2024, 5, 2)),
            Entry("https://site.test/c", at(2023, 1, 2), "新闻 & more"),
            Entry("https://site.test/a?y=2"),
        )
    )


def test_an_index() -> None:
    """Names other sitemaps, each once, and never itself."""
    assert read(index("/one.xml", "https://site.test/two.xml.gz", "/one.xml", HERE)) == Sitemap(
        (), ("https://site.test/one.xml", "https://site.test/two.xml.gz")
    )


def test_packed() -> None:
    """Also twice, in two parts, or broken off."""
    data = urlset("/a", "/b").encode()
    packed = gzip.compress(data)
    for each in (
        packed,
        gzip.compress(packed),
        gzip.compress(data[:60]) + gzip.compress(data[60:]),
    ):
        assert urls(each) == ["https://site.test/a", "https://site.test/b"]
    many = gzip.compress(urlset(*(f"/{random.Random(n).random()}" for n in range(2_000))).encode())
    assert 500 < len(urls(many[: len(many) // 2])) < 2_000


def test_a_list() -> None:
    """One address a line, in any encoding."""
    text = (
        "https://site.test/a\r\nhttps://site.test/b.pdf\n\n# "
        "no\nhttps://site.test/a\nftp://x/\nhttps://site.test/退货\n"
    )
    for encoding in ("utf-8", "utf-8-sig", "gbk", "utf-16"):
        assert urls(text.encode(encoding)) == [
            "https://site.test/a",
            "https://site.test/b.pdf",
            "https://site.test/%E9%80%80%E8%B4%A7",
        ]


def test_feeds() -> None:
    """RSS, Atom and RSS 1.0, with titles and dates."""
    rss = """<?xml version="1.0" encoding="gb2312"?><rss version="2.0"><channel>
        <title>公司新闻</title>
        <link>https://site.test/</link><image><url>https://site.test/logo.png</url></image>
        <item><title>新品 发布</title><link>https://site.test/n/1</link><guid>x</guid>
        <pubDate>Wed, 01 May 2024 00:00:00 GMT</pubDate></item>
        <item><title>No link</title></item></channel></rss>"""
    assert read(rss.encode("gbk")).pages == (
        Entry("https://site.test/n/1", at(2024, 5, 1), "新品 发布"),
    )
    atom = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="/feed" rel="self"/>
        <entry><title>One</title>
        <link rel="edit" href="/edit"/><link href="/one"/><published>2024-01-01</published>
        <updated>2024-05-01</updated></entry></feed>"""
    assert read(atom).pages == (Entry("https://site.test/one", at(2024, 5, 1), "One"),)
    rdf = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        xmlns="http://purl.org/rss/1.0/">
        <item rdf:about="x"><title>Old</title><link>/old</link></item></rdf:RDF>"""
    assert urls(rdf) == ["https://site.test/old"]


def test_what_is_broken_is_read_as_far_as_it_goes() -> None:
    assert urls(urlset("/a", "/b")[:-20]) == ["https://site.test/a"]
    assert urls(f"<urlset {NS}></urlset>") == []
    assert urls(urlset("/a?x=1&y=2", "<![CDATA[/b?z&q]]>")) == [
        "https://site.test/a?x=1&y=2",
        "https://site.test/b?z&q",
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"<!doctype html><html><body><a href='/x'>not found</a></body></html>",
        b"<svg xmlns='http://www.w3.org/2000/svg'><a href='/x'/></svg>",
        b"Not found",
        b"<",
        b"<<<>>>",
        b"\x1f\x8bnonsense",
        b"\x00\x01\x02\xff\xfe\xfd" * 50,
    ],
)
def test_what_is_no_sitemap_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableFile):
        read(data)


def test_entities_are_not_read() -> None:
    """Neither files nor what grows; characters' own names are."""
    grown = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "x" * 10}">' for n in range(12))
    bomb = f'<!DOCTYPE u [<!ENTITY f SYSTEM "file:///etc/passwd">{grown}]>' + urlset(
        "/a", "/b&f;", "/c?&a11;", "/d?&amp;e=1"
    )
    assert all("root:" not in url and len(url) < 100 for url in urls(bomb))


def test_bombs() -> None:
    """What unpacks to more than a sitemap may have is refused; what nests or repeats without end,
    cut.
    """
    with pytest.raises(UnreadableFile, match="unpacks to more"):
        read(gzip.compress(b"\0" * 100_000_000))
    begun = time.monotonic()
    assert read(f"<urlset {NS}>" + "<a>" * 100_000) == Sitemap()
    assert read(f"<urlset {NS}>" + "<x/>" * 400_000) == Sitemap()
    assert len(read(urlset(*(f"/{n}" for n in range(60_000)))).pages) == MOST_PAGES
    assert len(read("\n".join(f"https://site.test/{n}" for n in range(60_000))).pages) == MOST_PAGES
    assert len(read(index(*(f"/{n}.xml" for n in range(50_000)))).more) == 1_000
    assert time.monotonic() - begun < 60


def test_nonsense_is_read_or_refused() -> None:
    rng = random.Random(3)
    for _ in range(300):
        data = bytearray(SITEMAP.encode())
        for _ in range(rng.randrange(1, 60)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        with contextlib.suppress(UnreadableFile):
            read(bytes(data[: rng.randrange(1, len(data))]))


class Site:
    """`files`: address -> what is there. `asked`: what was asked for, in this order."""

    def __init__(self, files: dict[str, str | bytes]) -> None:
        self.files = files
        self.asked: list[str] = []

    async def fetch(self, url: str) -> Page:
        self.asked.append(url.removeprefix("https://site.test/"))
        if url not in self.files:
            raise TransientError(f"{url}: status 503")
        data = self.files[url]
        return Page(
            url=url,
            final_url=url,
            status=200,
            media_type="application/gzip" if url.endswith(".gz") else "text/xml",
            charset="utf-8",
            data=data.encode() if isinstance(data, str) else data,
            etag="",
            last_modified="",
            fetched_at=0.0,
        )


def there(path: str) -> str:
    return f"https://site.test/{path}"


async def test_nested_sitemaps_are_read_breadth_first() -> None:
    """Those that name each other in a circle are each asked for once; one that fails is named, and
    the rest is read.
    """
    site = Site(
        {
            there("s.xml"): index("/a.xml", "/gone.xml", "/b.xml.gz", "/s.xml"),
            there("a.xml"): index("/s.xml", "/deep.xml", "/a.xml/", "https://other.test/x.xml"),
            there("b.xml.gz"): gzip.compress(urlset("/1", "/2").encode()),
            there("deep.xml"): urlset("/2/", "/3"),
            there("list.txt"): "https://site.test/0\n",
            there("page.xml"): "<html><p>no</p></html>",
        }
    )
    starts = [there("s.xml"), there("list.txt"), there("page.xml"), there("s.xml")]
    found = await list_site_pages(site.fetch, starts, SETTINGS, most=10)
    assert site.asked == [
        "s.xml",
        "list.txt",
        "page.xml",
        "a.xml",
        "gone.xml",
        "b.xml.gz",
        "deep.xml",
    ]
    assert [entry.url for entry in found.pages] == [there("0"), there("1"), there("2"), there("3")]
    assert len(found.problems) == 2
    assert there("page.xml") in found.problems[0]
    assert found.problems[1] == f"{there('gone.xml')}: status 503"


async def test_limits_of_files_and_pages() -> None:
    """An index that goes on for ever ends at `files`; enough pages end it sooner."""
    site = Site({there(f"{n}.xml"): index(f"/{n + 1}.xml") for n in range(100)})
    assert await list_site_pages(site.fetch, [there("0.xml")], most=10, files=5) == ([], [])
    assert len(site.asked) == 5
    site = Site({there(f"{n}.xml"): urlset(f"/{n}", f"/{n}a", f"/{n}b") for n in range(8)})
    found = await list_site_pages(site.fetch, list(site.files), most=5)
    assert [entry.url for entry in found.pages] == [
        there(each) for each in ("0", "0a", "0b", "1", "1a")
    ]
    assert len(site.asked) == 2
    assert await list_site_pages(site.fetch, ["no address"], most=5) != ([], [])

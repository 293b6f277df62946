"""What a site says its pages are: sitemaps and their indexes, plain lists of addresses, and feeds,
packed with gzip or not. A sitemap is somebody's word. It is read piece by piece, as far as the
limits go, and its addresses are only candidates: whether one may be fetched at all is decided where
it is fetched.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from citewell.config import IngestSettings
from citewell.errors import CitewellError, InvalidInput, UnreadableFile
from citewell.fetch.page_reply import Page
from citewell.fetch.urls import canonicalize_url, get_url_identity, join_url
from citewell.ingest.bounded import run_bounded
from citewell.ingest.markup.xml_tree import PARSER_OPTIONS, extract_text, get_tag
from citewell.ingest.web.html import to_text
from citewell.ingest.web.html_blocks import collapse_whitespace
from citewell.ingest.web.links import is_readable_url
from citewell.ingest.web.web_file import as_file
from citewell.messages import Text
from citewell.text.timestamps import find_first_timestamp

MOST_PAGES: Final = 20_000  # of one sitemap
_MOST_MORE: Final = 1_000  # sitemaps that one names
_LARGEST: Final = 60_000_000  # bytes unpacked; the protocol allows 50 MB
_MOST_TAGS: Final = 2_000_000  # begun and ended, all that 20,000 pages can need
_PIECE: Final = 1 << 16
_CUT: Final = 200  # characters of a title
_AT_ONCE: Final = 2  # files fetched at a time
_GZIP: Final = b"\x1f\x8b"
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
# addresses are often written in without escapes
_BARE = re.compile(r"(<!\[CDATA\[.*?\]\]>)|&(?!#?\w{1,40};)", re.DOTALL)
_ROOTS: Final = frozenset({"urlset", "sitemapindex", "rss", "feed", "rdf"})
_ENTRIES: Final = frozenset({"url", "sitemap", "item", "entry"})
_DATES: Final = (
    "lastmod",
    "updated",
    "modified",
    "pubDate",
    "published",
    "date",
    "publication_date",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """`url`: canonical. `dated`: last change (seconds since the epoch). `title`: news, feeds."""

    url: str
    dated: float | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """`more`: the canonical addresses of other sitemaps that it names."""

    pages: tuple[Entry, ...] = ()
    more: tuple[str, ...] = ()


class SitePages(NamedTuple):
    """`problems`: which sitemaps could not be read, and why."""

    pages: list[Entry]
    problems: list[str]


async def list_site_pages(
    fetch: Callable[[str], Awaitable[Page]],
    sitemaps: Sequence[str],
    settings: IngestSettings | None = None,
    *,
    most: int,
    files: int = 8,
) -> SitePages:
    """At most `most` pages that `sitemaps` and those named in them list, breadth first, of at most
    `files` files. `fetch` must let every media type through. A file that cannot be had is a
    problem, and the others are read. A sitemap speaks for its own host: those that it names
    elsewhere are not asked for.
    """
    waiting = _take_unseen([*sitemaps], set())
    seen = {get_url_identity(each) for each in waiting}
    found: dict[str, Entry] = {}
    problems: list[str] = []
    while waiting and files > 0 and len(found) < most:
        batch = waiting[: min(_AT_ONCE, files)]
        del waiting[: len(batch)]
        files -= len(batch)
        for url, got in zip(
            batch,
            await asyncio.gather(*(_fetch_sitemap(fetch, url, settings) for url in batch)),
            strict=True,
        ):
            if isinstance(got, CitewellError):
                problems.append(
                    got.message
                    if url in got.message
                    else Text("{url}: {message}", url=url, message=got.message)
                )
                continue
            for entry in got.pages:
                found.setdefault(get_url_identity(entry.url), entry)
            waiting += _take_unseen(got.more, seen)
    return SitePages([*found.values()][:most], problems)


def _take_unseen(urls: Sequence[str], seen: set[str]) -> list[str]:
    """Those that were not `seen`, which then they are."""
    kept: dict[str, str] = {}
    for url in urls:
        if get_url_identity(url) not in seen:
            kept.setdefault(get_url_identity(url), url)
    seen |= kept.keys()
    return [*kept.values()]


async def _fetch_sitemap(
    fetch: Callable[[str], Awaitable[Page]], url: str, settings: IngestSettings | None
) -> Sitemap | CitewellError:
    try:
        page = await fetch(canonicalize_url(url))
        data, _ = as_file(page)
        got = await run_bounded(
            "citewell.ingest.web.sitemap:read_sitemap",
            data,
            url,
            settings or IngestSettings(),
            page.final_url,
        )
    except CitewellError as error:
        return error
    assert isinstance(got, Sitemap)
    hosts = {urlsplit(url).hostname, urlsplit(page.final_url).hostname}
    return replace(got, more=tuple(each for each in got.more if urlsplit(each).hostname in hosts))


def read_sitemap(data: bytes, name: str, settings: IngestSettings, url: str) -> Sitemap:
    """The sitemap at the canonical `url`. Raises UnreadableFile; runs in a parser's process."""
    for _ in range(2):  # some are packed once as a file and once more on the way
        if data.startswith(_GZIP):
            data = _decompress_data(data, name, min(_LARGEST, settings.max_bytes))
    text, _ = to_text(data, name)
    text = text.replace("\0", "").lstrip("\ufeff \t\r\n")
    return _parse_xml(text, name, url) if text.startswith("<") else _parse_lines(text, name, url)


def _decompress_data(data: bytes, name: str, most: int) -> bytes:
    """What is left of a file that breaks off is given."""
    whole = bytearray()
    while data.startswith(_GZIP):
        unpacker = zlib.decompressobj(wbits=31)
        try:
            whole += unpacker.decompress(data, most + 1 - len(whole))
        except zlib.error as error:
            raise UnreadableFile(
                Text("{name} is broken: {error}", name=name, error=error)
            ) from None
        if len(whole) > most:
            raise UnreadableFile(
                Text("{name} unpacks to more than {most:,} bytes", name=name, most=most),
                hint=Text("a sitemap has 50 MB at most"),
            )
        data = unpacker.unused_data
    return bytes(whole)


def _parse_lines(text: str, name: str, url: str) -> Sitemap:
    found: dict[str, Entry] = {}
    for line in text.splitlines():
        place = _resolve_address(line.strip(), url) if line.lstrip()[:4].lower() == "http" else ""
        if place and is_readable_url(place):
            found.setdefault(place, Entry(place))
        if len(found) >= MOST_PAGES:
            break
    if not found and text:
        raise UnreadableFile(Text("{name} is no sitemap: it has no addresses in it", name=name))
    return Sitemap(tuple(found.values()))


def _parse_xml(text: str, name: str, url: str) -> Sitemap:
    pages: dict[str, Entry] = {}
    more: dict[str, None] = {}
    for element in _iterate_entries(text, name):
        place = _resolve_address(_get_entry_url(element), url)
        if not place or get_url_identity(place) == get_url_identity(url):
            continue
        if get_tag(element) == "sitemap":
            more[place] = None
        elif is_readable_url(place):
            pages.setdefault(place, _build_entry(element, place))
        if len(pages) >= MOST_PAGES or len(more) >= _MOST_MORE:
            break
    return Sitemap(tuple(pages.values()), tuple(more))


def _iterate_entries(text: str, name: str) -> Iterator[Any]:
    """Each entry once read; what lies behind is freed. A broken document ends where it breaks."""
    from lxml import etree

    text = _BARE.sub(lambda match: match[1] or "&amp;", _DECLARATION.sub("", text))
    source = memoryview(text.encode("utf-8", "replace"))
    parser = etree.XMLPullParser(("start", "end"), **PARSER_OPTIONS)
    tags = inside = 0
    for begin in range(0, len(source), _PIECE):
        try:
            parser.feed(bytes(source[begin : begin + _PIECE]))
        except etree.XMLSyntaxError:
            return
        for event, element in parser.read_events():
            tags += 1
            if tags == 1 and get_tag(element).lower() not in _ROOTS:
                raise UnreadableFile(
                    Text(
                        "{name} is no sitemap: it begins with <{tag}>",
                        name=name,
                        tag=get_tag(element)[:40],
                    )
                )
            entry = get_tag(element) in _ENTRIES
            inside += entry if event == "start" else -entry
            if event == "end" and not inside:
                if entry:
                    yield element
                _release_element(element)
        if tags > _MOST_TAGS:
            return
    if not tags:
        raise UnreadableFile(Text("{name} is broken: it is no XML", name=name))


def _release_element(element: Any) -> None:
    element.clear()
    above = element.getparent()
    while above is not None and element.getprevious() is not None:
        del above[0]


def _get_entry_url(element: Any) -> str:
    """`loc` of a sitemap; the link of a feed's entry: text in RSS, an attribute in Atom."""
    links = []
    for child in element:
        if get_tag(child) == "loc":
            return extract_text(child)
        if get_tag(child) == "link" and child.get("rel", "alternate") == "alternate":
            links.append(child.get("href") or extract_text(child))
    return next((link for link in links if link.strip()), "")


def _build_entry(element: Any, place: str) -> Entry:
    news = [part for child in element if get_tag(child) == "news" for part in child]
    said: dict[str, str] = {}
    for child in [*element, *news]:
        if get_tag(child) in _DATES or get_tag(child) == "title":
            said.setdefault(get_tag(child), collapse_whitespace(extract_text(child)[: 5 * _CUT]))
    return Entry(
        place,
        find_first_timestamp([said[key] for key in _DATES if key in said]),
        said.get("title", "")[:_CUT].rstrip(),
    )


def _resolve_address(text: str, url: str) -> str:
    """Canonical, and empty for what is no address."""
    try:
        return join_url(url, text.strip().replace(" ", "%20")) if text.strip() else ""
    except InvalidInput:
        return ""

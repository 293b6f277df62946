"""The links of a web page, each with the words around it, so that a question can tell which to
follow. A link is an address that may be fetched at all, in its canonical form; what only scripts
could follow is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import unquote, urljoin, urlsplit

from citewell.config import IngestSettings
from citewell.errors import InvalidInput, UnreadableFile
from citewell.fetch.urls import LONGEST, canonicalize_url, get_origin, get_url_identity
from citewell.ingest import PARSERS
from citewell.ingest.web.html import as_html, limit_depth, to_text
from citewell.ingest.web.html_blocks import collapse_whitespace
from citewell.ingest.web.html_main import find_main_content, strip_boilerplate
from citewell.ingest.web.link_walk import CUT, SMALL, Anchor, Reader, truncate_text

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

Place = Literal["content", "around"]


@dataclass(frozen=True, slots=True)
class Link:
    """`text`: its own words (of its picture, where it has none); `around`: those of the block it
    stands in; `heading`: the nearest one above it. `fragment`: what it names behind the #. `place`:
    in the content, or around it (menus, footers).
    """

    url: str
    text: str
    around: str = ""
    heading: str = ""
    fragment: str = ""
    place: Place = "content"


@dataclass(frozen=True, slots=True)
class PageLinks:
    """`canonical`: the address that the page says it has, on its own site; empty where it
    says none. `scripted`: there are next to no words in it, and scripts that would write some.
    """

    links: tuple[Link, ...] = ()
    canonical: str = ""
    scripted: bool = False


# nobody reads these: pictures, sound and films, fonts, archives and programs, what only makes a
# page look so
_UNREAD_SUFFIXES: Final = """
    .png .jpg .jpeg .jpe .gif .svg .svgz .webp .bmp .ico .tif .tiff .avif .heic .psd .ai .eps .ps
    .djvu .xcf .mp3 .mp4 .m4a .m4v .ogg .oga .ogv .opus .wav .flac .aac .avi .mov .mkv .webm .wmv
    .flv .swf .mpg .mpeg .mid .m3u8 .woff .woff2 .ttf .otf .eot .css .less .scss .js .mjs .map .wasm
    .zip .gz .tgz .bz2 .tbz2 .xz .txz .7z .rar .tar .zst .lz .lzma .z .jar .war .cab .deb .rpm .apk
    .ipa .whl .gem .crx .exe .msi .dmg .pkg .iso .img .bin .so .dll .class .pyc .jigdo .torrent .sig
    .asc .sha256 .md5 .doc .ppt .mobi .azw3
"""
_UNREAD: Final = frozenset(_UNREAD_SUFFIXES.split())
_MOST: Final = 2_000  # links of a page
# characters of a div or a section whose words still are about one link in it
_MODEST: Final = 1_000
_FEW: Final = 200  # characters of a page that has next to no words
_ENDS: Final = "".join(map(chr, range(33)))  # what browsers take off both ends of an address
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_REFRESH = re.compile(r"""\s*[\d.]*\s*[;,]\s*(?:url\s*=)?\s*["']?([^"'\s]+)""", re.IGNORECASE)
_ROOTS: Final = (
    "#app, #root, #__next, #__nuxt, #___gatsby, #q-app, #svelte, app-root, [ng-app], "
    "[ng-version], [data-reactroot]"
)
_WRITES = re.compile(
    r"innerHTML|document\.write|appendChild|insertAdjacent|createElement|__NEXT_DATA__|"
    r"location\s*[.=]"
)
_ASKS = re.compile(r"java\s*script|enable scripts|脚本|腳本", re.IGNORECASE)


def extract_page_links(data: bytes, name: str, settings: IngestSettings, url: str) -> PageLinks:  # noqa: ARG001 what `bounded` gives
    """The links of the HTML page at the canonical address `url`, those of its content first; none
    where it wants none followed. Never raises; runs in a parser's process.
    """
    from selectolax.lexbor import LexborHTMLParser

    try:
        text, _ = to_text(data, name)
    except UnreadableFile:  # no text at all
        return PageLinks()
    tree = LexborHTMLParser(limit_depth(as_html(text.replace("\0", ""))))
    there = _Addresses(url, _get_base_url(tree, url))
    reader = Reader(there.is_same_site)
    words = reader.read(tree.root) if tree.root is not None else ""
    scripted = _is_script_rendered(tree, words, len(words) - reader.fallback)
    own = there.canonical(tree)
    if _is_nofollow(tree):
        return PageLinks((), own, scripted)
    first = there.find_refresh_links(tree)
    strip_boilerplate(tree)
    main = find_main_content(tree)
    content = {node.mem_id for node in main.traverse()} if main is not None else set()
    # sorting keeps the order among equals
    anchors = sorted(reader.anchors, key=lambda each: each.node not in content)
    kept: dict[tuple[str, str, str], Link] = {
        (link.url, link.fragment, link.text): link for link in first
    }
    for each in anchors:
        if len(kept) >= _MOST:
            break
        if (place := there.of(each.href)) is None or not is_readable_url(
            place[0], download=each.download
        ):
            continue
        text = truncate_text(
            collapse_whitespace(words[each.start : min(each.end, each.start + 3 * CUT)])
        ) or truncate_text(each.label)
        if (*place, text) not in kept:
            where: Place = "content" if each.node in content else "around"
            kept[(*place, text)] = Link(
                place[0], text, _get_surrounding_text(each, words), each.heading, place[1], where
            )
    return PageLinks(tuple(kept.values()), own, scripted)


class _Addresses:
    """What the addresses in a page mean. Most stand in it more than once."""

    def __init__(self, url: str, base: str) -> None:
        self._base = base
        self._page = get_url_identity(url)
        self._site = get_origin(url)
        self._known: dict[str, tuple[str, str] | None] = {}

    def of(self, href: str) -> tuple[str, str] | None:
        """Canonical address and fragment; None for what leads nowhere, and for the page itself."""
        if href not in self._known:
            found = _resolve_href(self._base, href)
            self._known[href] = (
                found if found is not None and get_url_identity(found[0]) != self._page else None
            )
        return self._known[href]

    def is_same_site(self, href: str) -> bool:
        found = self.of(href)
        return found is not None and get_origin(found[0]) == self._site

    def canonical(self, tree: LexborHTMLParser) -> str:
        """What the page says its address is; empty where it says two, or names another site."""
        links = [node.attributes for node in tree.css("link[rel][href]")]
        hrefs = [
            each.get("href") or ""
            for each in links
            if "canonical" in (each.get("rel") or "").lower().split()
        ]
        found = {
            place[0] for href in hrefs if (place := _resolve_href(self._base, href)) is not None
        }
        return next(
            (each for each in found if len(found) == 1 and get_origin(each) == self._site), ""
        )

    def find_refresh_links(self, tree: LexborHTMLParser) -> list[Link]:
        """Where the page sends its readers on to by itself."""
        for node in tree.css("meta[http-equiv][content]"):
            said = node.attributes
            match = _REFRESH.match((said.get("content") or "")[:LONGEST])
            place = (
                self.of(match[1])
                if match and (said.get("http-equiv") or "").strip().lower() == "refresh"
                else None
            )
            if place is not None and is_readable_url(place[0]):
                return [Link(place[0], "", fragment=place[1])]
        return []


def _resolve_href(base: str, href: str) -> tuple[str, str] | None:
    """`href` as browsers read it, which ignore white space around it and line ends in it."""
    if len(href) > LONGEST:
        return None
    href = href.strip(_ENDS).translate({9: None, 10: None, 13: None}).replace(" ", "%20")
    scheme = _SCHEME.match(href)
    if not href or href[0] == "#" or (scheme and scheme[0].lower() not in {"http:", "https:"}):
        return None
    try:
        whole, _, fragment = urljoin(base, href).partition("#")
        address = canonicalize_url(whole)
    except (InvalidInput, ValueError):
        return None
    fragment = unquote(fragment).partition(":~:")[0][:CUT]
    return address, fragment if fragment.isprintable() else ""


def _get_base_url(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    found = _resolve_href(url, node.attributes.get("href") or "") if node is not None else None
    return found[0] if found is not None else url


def _is_nofollow(tree: LexborHTMLParser) -> bool:
    said = [node.attributes for node in tree.css("meta[name][content]")]
    words = [
        each.get("content") or ""
        for each in said
        if (each.get("name") or "").strip().lower() == "robots"
    ]
    return re.search(r"\b(?:nofollow|none)\b", " ".join(words), re.IGNORECASE) is not None


def is_readable_url(url: str, *, download: bool = False) -> bool:
    """Whether the suffix of an address tells of what can be read; what is offered to be saved has
    to have one that does.
    """
    file = urlsplit(url).path.rpartition("/")[2]
    suffix = "." + file.rpartition(".")[2].lower() if "." in file else ""
    return suffix not in _UNREAD and (not download or suffix in PARSERS)


def _get_surrounding_text(link: Anchor, words: str) -> str:
    """The words beside a link in the nearest block that has some and is not mostly other links."""
    block, own = link.block, link.end - link.start
    nearest = True
    while block is not None:
        length, linked = block.end - block.start - own, block.linked - own
        if not (nearest and block.tag in SMALL) and (length > _MODEST or 2 * linked > length):
            return ""
        before = collapse_whitespace(words[max(block.start, link.start - 3 * CUT) : link.start])
        after = collapse_whitespace(words[link.end : min(block.end, link.end + 3 * CUT)])
        if before or after:
            left = max(CUT // 2, CUT - 1 - len(after))
            before = before[-left:]
            return f"{before} {after[: CUT - 1 - len(before)]}".strip()
        block, nearest = block.above, False
    return ""


def _is_script_rendered(tree: LexborHTMLParser, words: str, length: int) -> bool:
    if length >= _FEW or tree.css_first("frame") is not None:
        return False
    if tree.css_first("noscript") is not None and _ASKS.search(words):
        return True
    scripts = tree.css("script")
    if any(node.attributes.get("src") or _WRITES.search(node.text(deep=True)) for node in scripts):
        return True
    return bool(scripts) and tree.css_first(_ROOTS) is not None

"""What a web page says of itself in its head: its title and its date. `extract_date` is read before
`html_main.strip`, which takes the scripts away that hold some of it; `extract_title` after it.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from citewell.text.timestamps import find_first_timestamp

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_PUBLISHED: Final = (  # names in meta tags, most telling first
    "article:published_time",
    "og:article:published_time",
    "datepublished",
    "citation_publication_date",
    "citation_date",
    "dc.date.issued",
    "dcterms.issued",
    "dc.date",
    "dc.date.created",
    "dcterms.created",
    "dcterms.date",
    "pubdate",
    "publishdate",
    "publish_date",
    "publish-date",
    "publication_date",
    "date",
    "article:modified_time",
    "dcterms.modified",
    "last-modified",
)
_LONGEST_JSON: Final = 200_000
_MOST_NODES: Final = 20_000
_MOST_TIMES: Final = 3  # a page with more of them lists other pages


def extract_title(tree: LexborHTMLParser, content: LexborNode | None) -> str:
    """The page's name: its only h1 where the title adds the site's name to it, else the title."""
    named = [_normalize_spaces(node.text()) for node in tree.css("head > title")[:1]]
    heads = [
        _normalize_spaces(node.text())
        for node in (content.css("h1")[:2] if content is not None else [])
    ]
    if len(heads) == 1 and heads[0] and (not any(named) or heads[0] in named[0]):
        return heads[0]
    if any(named):
        return named[0]
    node = tree.css_first('meta[property="og:title"]')
    return _normalize_spaces(node.attributes.get("content") or "") if node is not None else ""


def extract_date(tree: LexborHTMLParser) -> float | None:
    """When the page says it was published, or else changed, in seconds since the epoch."""
    found: dict[str, str] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        key = (
            attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or ""
        )
        found.setdefault(key.strip().lower(), attributes.get("content") or "")
    named = find_first_timestamp([found[key] for key in _PUBLISHED if key in found])
    return (
        named
        if named is not None
        else find_first_timestamp([*_find_json_ld_dates(tree), *_find_shown_dates(tree)])
    )


def _find_json_ld_dates(tree: LexborHTMLParser) -> list[str]:
    """`datePublished` in the page's JSON-LD."""
    for script in tree.css('script[type="application/ld+json"]'):
        text = script.text()
        if len(text) <= _LONGEST_JSON and "datePublished" in text:
            with suppress(ValueError, RecursionError):
                return _collect_values(json.loads(text), "datePublished")
    return []


def _collect_values(tree: Any, key: str) -> list[str]:
    found: list[str] = []
    level = [tree]
    for node in level:  # grows while it is gone through: breadth first
        if isinstance(node, dict):
            found += [
                value for name, value in node.items() if name == key and isinstance(value, str)
            ]
        if isinstance(node, dict | list) and len(level) < _MOST_NODES:
            level += node.values() if isinstance(node, dict) else node
    return found


def _find_shown_dates(tree: LexborHTMLParser) -> list[str]:
    """What the page shows as its date in a `time` tag."""
    times = tree.css(
        "time[pubdate], time[itemprop=datePublished], [itemprop=datePublished]"
    ) or tree.css("time[datetime]")
    if len(times) > _MOST_TIMES:
        return []
    return [
        node.attributes.get("datetime") or node.attributes.get("content") or node.text()
        for node in times
    ]


def _normalize_spaces(text: str) -> str:
    return " ".join(text.split())

"""News feeds (RSS, Atom): each entry a section with its date, its text read as the HTML that it
mostly is.

The one rule: the newest entry's date is the feed's.
"""

from __future__ import annotations

from typing import Any, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.markup.xml_tree import below, find, tag, words
from citewell.ingest.web.html import read_html
from citewell.ingest.web.html_blocks import flatten
from citewell.text.timestamps import moment

MEDIA_TYPE: Final = "application/rss+xml"
_DATES: Final = ("pubDate", "published", "updated", "date")
_TEXTS: Final = ("encoded", "content", "description", "summary")


def is_feed(root: Any) -> bool:
    return tag(root) in {"rss", "feed", "RDF"} and any(
        tag(each) in {"item", "entry"} for each in root.iter()
    )


def read_feed(root: Any, assembly: Assembly) -> tuple[str, float | None]:
    """Append the entries; the feed's title and date."""
    channel = find(root, "channel")
    top = channel if channel is not None else root
    assembly.heading(1, _said(top, ("title",)))
    read_html(_said(top, ("description", "subtitle")), assembly)
    days = []
    for entry in below(root, "item") + below(root, "entry"):
        assembly.heading(2, _said(entry, ("title",)))
        date = _said(entry, _DATES)
        assembly.block(date)
        days.append(moment(date))
        read_html(_said(entry, _TEXTS), assembly)
    known = [day for day in days if day is not None]
    return _said(top, ("title",)), max(known) if known else None


def _said(element: Any, names: tuple[str, ...]) -> str:
    """The first of these that is there and says something."""
    for name in names:
        child = find(element, name)
        if child is not None and (text := words(child).strip()):
            return text if name in _TEXTS else flatten(text)
    return ""

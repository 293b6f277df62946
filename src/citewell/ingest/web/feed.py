"""News feeds (RSS, Atom): each entry a section with its date, its text read as the HTML that it
mostly is. The newest entry's date is the feed's.
"""

from __future__ import annotations

from typing import Any, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.markup.xml_tree import extract_text, find_descendants, find_element, get_tag
from citewell.ingest.web.html import read_html
from citewell.ingest.web.html_blocks import collapse_whitespace
from citewell.text.timestamps import parse_timestamp

MEDIA_TYPE: Final = "application/rss+xml"
_DATES: Final = ("pubDate", "published", "updated", "date")
_TEXTS: Final = ("encoded", "content", "description", "summary")


def is_feed(root: Any) -> bool:
    return get_tag(root) in {"rss", "feed", "RDF"} and any(
        get_tag(each) in {"item", "entry"} for each in root.iter()
    )


def read_feed(root: Any, assembly: Assembly) -> tuple[str, float | None]:
    """Append the entries; the feed's title and date."""
    channel = find_element(root, "channel")
    top = channel if channel is not None else root
    assembly.heading(1, _get_first_text(top, ("title",)))
    read_html(_get_first_text(top, ("description", "subtitle")), assembly)
    days = []
    for entry in find_descendants(root, "item") + find_descendants(root, "entry"):
        assembly.heading(2, _get_first_text(entry, ("title",)))
        date = _get_first_text(entry, _DATES)
        assembly.block(date)
        days.append(parse_timestamp(date))
        read_html(_get_first_text(entry, _TEXTS), assembly)
    known = [day for day in days if day is not None]
    return _get_first_text(top, ("title",)), max(known) if known else None


def _get_first_text(element: Any, names: tuple[str, ...]) -> str:
    """The first of these that is there and says something."""
    for name in names:
        child = find_element(element, name)
        if child is not None and (text := extract_text(child).strip()):
            return text if name in _TEXTS else collapse_whitespace(text)
    return ""

"""What of an HTML page is content: scripts and hidden parts go, navigation goes, `main` or the one article is preferred.

The one rule: what stands around the content goes only as long as it is less than half of the text, so no page falls silent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_NEVER: Final = (
    "script, style, noscript, template, svg, iframe, object, embed, canvas, audio, video, map, select, textarea, button, "
    "input, datalist, dialog, [hidden], [aria-hidden=true], annotation, annotation-xml, rp"
)
_AROUND: Final = (
    "nav, aside, form, body > header, body > footer, header[role=banner], footer[role=contentinfo], [role=navigation], "
    "[role=search], .navheader, .navfooter, .navbar, .breadcrumb, .breadcrumbs, .sidebar, .toc, #toc"
)
_OUTER: Final = "header, footer"
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def strip(tree: LexborHTMLParser) -> None:
    """Take out what is never content, and what stands around it as long as that is less than half of the text."""
    for node in tree.css(_NEVER):
        node.decompose()
    for node in tree.css("[style]"):
        if _HIDDEN.search(node.attributes.get("style") or "") and node.tag not in {"html", "body"}:
            node.decompose()
    total = size(tree.body)
    for node in [*tree.css(_AROUND), *(n for n in tree.css(_OUTER) if not _in_article(n))]:
        if node.parent is not None and 2 * size(node) <= total:
            node.decompose()


def _in_article(node: LexborNode) -> bool:
    """A header inside an article holds its headline: that one stays."""
    above = node.parent
    while above is not None:
        if above.tag in {"article", "main", "section"}:
            return True
        above = above.parent
    return False


def size(node: LexborNode | None) -> int:
    """Characters of text below `node`."""
    return len(node.text(deep=True)) if node is not None else 0


def main_content(tree: LexborHTMLParser) -> LexborNode | None:
    """`main`, or the only article, where it holds most of the text; else the body."""
    total = size(tree.body)
    for selector in ("main", "[role=main]", "article"):
        found = tree.css(selector)
        if len(found) == 1 and 2 * size(found[0]) > total:
            return found[0]
    return tree.body or tree.root

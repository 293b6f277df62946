"""What of an HTML page is content: scripts and hidden parts go, navigation goes, `main` or the one
article is preferred. What stands around the content goes only as long as it is less than half of
the text, so no page falls silent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_NEVER: Final = (
    "script, style, noscript, template, svg, iframe, object, embed, canvas, audio, video, map, "
    "select, textarea, button, "
    "input, datalist, dialog, [hidden], [aria-hidden=true], annotation, annotation-xml, rp"
)
_AROUND: Final = (
    "nav, aside, form, body > header, body > footer, header[role=banner], "
    "footer[role=contentinfo], [role=navigation], [role=search], [role=banner], "
    "[role=contentinfo], .navheader, .navfooter, .navbar, .breadcrumb, .breadcrumbs, .sidebar, "
    ".toc, #toc, .navbox, .mw-editsection, .catlinks, .headerlink, .sr-only, .visually-hidden, "
    ".screen-reader-text, .skip-link, .skiplink, .skip-nav, .skip-to-content"
)
_OUTER: Final = "header, footer"
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
# words in the class or id of what stands around the content: the first kind outside an article,
# both where it is mostly links
_BANNER = re.compile(
    r"(?:^|[\s_-])(?:cookies?|consent|gdpr|skip-?(?:link|nav|to-?content)|breadcrumbs?|newsletter|"
    r"advert(?:s|isement)?|share-?(?:bar|buttons?|links?)|social-?(?:bar|share|links?|"
    r"icons?)|pagination|pager)(?:$|[\s_-])",
    re.IGNORECASE,
)
_LINKS = re.compile(
    r"(?:^|[\s_-])(?:nav|navigation|menu|menubar|sidebar|header|toolbar|related|recommended|"
    r"popular|trending|share|social|"
    r"tags?|tagcloud|widget|promo|subscribe|meta|links?|toc)(?:$|[\s_-])",
    re.IGNORECASE,
)
# goes where it has a link: an invoice's has none
_FOOTER = re.compile(r"(?:^|[\s_-])(?:footer|copyright)(?:$|[\s_-])", re.IGNORECASE)
_LINK_SHARE: Final = 0.6  # of a block's text: what has more of it in links leads elsewhere
_LONGEST_BANNER: Final = 1_000  # characters: a banner or a row of buttons is short
_NAMED = re.compile(f"{_BANNER.pattern}|{_LINKS.pattern}|{_FOOTER.pattern}", re.IGNORECASE)
_BOXES: Final = "div, section, ul, ol, p, table"


def strip_boilerplate(tree: LexborHTMLParser, *, around: bool = True) -> None:
    """Remove what is never content, and what is `around` it while less than half of the text."""
    for node in tree.css(_NEVER):
        node.decompose()
    for node in tree.css("[style]"):
        if (
            node.parent is not None
            and _HIDDEN.search(node.attributes.get("style") or "")
            and node.tag not in {"html", "body"}
        ):
            node.decompose()
    if not around:
        return
    total = count_chars(tree.body)
    for node in [*tree.css(_AROUND), *(n for n in tree.css(_OUTER) if not _is_in_article(n))]:
        if node.parent is not None and 2 * count_chars(node) <= total:
            node.decompose()
    _strip_boxes(tree, count_chars(tree.body))


def _strip_boxes(tree: LexborHTMLParser, total: int) -> None:
    """Remove boxes whose class or id says menu, banner and so on, while half the text is left."""
    left = total
    for node in tree.css(_BOXES):
        if node.parent is None:  # gone with one around it
            continue
        attributes = node.attributes
        name = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".strip()
        if not _NAMED.search(name) or node.css_first("h1, main, article") is not None:
            continue
        length = count_chars(node)
        if length and 2 * (left - length) >= total and _is_boilerplate(node, name, length):
            left -= length
            node.decompose()


def _is_boilerplate(node: LexborNode, name: str, length: int) -> bool:
    links = _count_link_chars(node)
    if links > _LINK_SHARE * length:
        return True
    banner = _BANNER.search(name) or (links and _FOOTER.search(name))
    return bool(banner) and length <= _LONGEST_BANNER and not _is_in_article(node)


def _count_link_chars(node: LexborNode) -> int:
    """Characters of the text below `node` that are links."""
    return sum(count_chars(link) for link in node.css("a[href]"))


def _is_in_article(node: LexborNode) -> bool:
    """A header inside an article holds its headline: that one stays."""
    above = node.parent
    while above is not None:
        if above.tag in {"article", "main", "section"}:
            return True
        above = above.parent
    return False


def count_chars(node: LexborNode | None) -> int:
    """Characters of text below `node`."""
    return len(node.text(deep=True)) if node is not None else 0


def find_main_content(tree: LexborHTMLParser) -> LexborNode | None:
    """`main`, or the only article, where it holds most of the text; else the body."""
    total = count_chars(tree.body)
    for selector in ("main", "[role=main]", "article"):
        found = tree.css(selector)
        if len(found) == 1 and 2 * count_chars(found[0]) > total:
            return found[0]
    return tree.body or tree.root

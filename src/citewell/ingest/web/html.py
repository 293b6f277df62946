"""HTML to readable text: headings become sections, lists and tables lines, navigation and scripts
go. The tree is walked with an explicit stack, never by recursion, so depth costs nothing.
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from citewell.config import IngestSettings
from citewell.ingest.assemble import Assembly
from citewell.ingest.web import html_meta
from citewell.ingest.web.html_blocks import Walker
from citewell.ingest.web.html_main import find_main_content, strip_boilerplate
from citewell.text.charset import decode_text
from citewell.types import Document

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,30})|<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{2,30})""",
    re.IGNORECASE,
)
# bytes in which a declaration counts; browsers look at 1024, real pages put it later
_PRESCAN: Final = 4096
# what browsers read these labels as
_READ_AS = {
    **dict.fromkeys(("gb2312", "gbk", "gb_2312-80", "x-gbk"), "gb18030"),
    **dict.fromkeys(("iso-8859-1", "latin1", "us-ascii", "ascii"), "cp1252"),
    **dict.fromkeys(("utf-16", "utf-16le", "utf-16be"), "utf-8"),
    "big5": "big5hkscs",
}
# tags whose end people write; those that close by themselves or have no content do not add up
_NESTING = re.compile(
    r"<(/?)(?!(?:p|li|dt|dd|td|th|tr|tbody|thead|option|br|hr|img|input|meta|link|wbr|source|col|"
    r"area|base|html|body|head)[\s/>])"
    r"[a-zA-Z][^\s/>]*(?:\s[^<>]{0,2000})?>"
)
_CLOSED_BY_ITSELF = re.compile(
    r"<((title|script|style|a|p|div|span|td|th|textarea|iframe|h[1-6])(?:\s[^<>]*)?)/>",
    re.IGNORECASE,
)
_XHTML: Final = "http://www.w3.org/1999/xhtml"
_DEEPEST: Final = 400
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:  # noqa: ARG001 the form of every parser
    """An HTML page."""
    from selectolax.lexbor import LexborHTMLParser

    text, warnings = to_text(data, name)
    tree = LexborHTMLParser(limit_depth(as_html(text.replace("\0", ""))))
    dated = html_meta.extract_date(tree)
    assembly = Assembly()
    strip_boilerplate(tree)
    root = find_main_content(tree)
    title = html_meta.extract_title(tree, root)
    if root is not None:
        Walker(assembly).walk(root)
    return assembly.document(
        name, "text/html", title=title or assembly.first_heading, warnings=warnings, dated=dated
    )


def read_html(text: str, assembly: Assembly) -> None:
    """Append a piece of HTML inside something else (Markdown, a mail): all of it is content."""
    tree = _parse_content(text)
    if tree.body is not None:
        Walker(assembly).walk(tree.body)


def read_chapter(text: str, assembly: Assembly, title: str) -> None:
    """The same for a chapter of a book; `title` is its name where it has no heading of its own."""
    tree = _parse_content(text)
    for node in tree.css("nav"):
        node.decompose()
    if tree.body is None:
        return
    if (
        title
        and tree.css_first("h1, h2, h3, h4, h5, h6") is None
        and tree.body.text(deep=True).strip()
    ):
        assembly.begin(1, title)
    Walker(assembly).walk(tree.body)


def _parse_content(text: str) -> LexborHTMLParser:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(limit_depth(as_html(text.replace("\0", ""))))
    strip_boilerplate(tree, around=False)
    return tree


def as_html(text: str) -> str:
    """XHTML may close any tag by itself, as in <title/>, which HTML reads as left open."""
    return _CLOSED_BY_ITSELF.sub(r"<\1></\2>", text) if _XHTML in text[:_PRESCAN] else text


def to_text(data: bytes, name: str) -> tuple[str, list[str]]:
    """Mark first, then the encoding that the page declares, then as for plain text."""
    declared = None if data.startswith(_MARKS) else _DECLARED.search(data, 0, _PRESCAN)
    if declared:
        label = (declared.group(1) or declared.group(2)).decode("ascii").lower()
        label = _READ_AS.get(label, label)
        # where the page is wrong about itself its bytes decide
        with suppress(UnicodeDecodeError, LookupError):
            return data.decode(label), []
    return decode_text(data, name)


def limit_depth(text: str) -> str:
    """`text` without the tags that nest deeper than anyone writes by hand: the parser's time grows
    with the square of depth.
    """
    depth = deepest = 0
    for match in _NESTING.finditer(text):
        depth = max(0, depth + (-1 if match.group(1) else 1))
        deepest = max(deepest, depth)
    if deepest <= _DEEPEST:
        return text
    depth = 0

    def keep(match: re.Match[str]) -> str:
        nonlocal depth
        closing = bool(match.group(1))
        level = depth if closing else depth + 1
        depth = max(0, depth - 1) if closing else level
        return match.group() if level <= _DEEPEST else " "

    return _NESTING.sub(keep, text)

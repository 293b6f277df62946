"""HTML to readable text: headings become sections, lists and tables lines, navigation and scripts go.

The one rule: the tree is walked with an explicit stack, never by recursion, so depth costs nothing.
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.charset import decode
from citewell.ingest.html_blocks import Walker
from citewell.ingest.html_main import main_content, strip
from citewell.types import Document

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,30})|<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{2,30})""",
    re.IGNORECASE,
)
_PRESCAN: Final = 4096  # bytes in which a declaration counts; browsers look at 1024, real pages put it later
# what browsers read these labels as
_READ_AS = {
    **dict.fromkeys(("gb2312", "gbk", "gb_2312-80", "x-gbk"), "gb18030"),
    **dict.fromkeys(("iso-8859-1", "latin1", "us-ascii", "ascii"), "cp1252"),
    **dict.fromkeys(("utf-16", "utf-16le", "utf-16be"), "utf-8"),
    "big5": "big5hkscs",
}
# tags whose end people write; those that close by themselves or have no content do not add up
_NESTING = re.compile(
    r"<(/?)(?!(?:p|li|dt|dd|td|th|tr|tbody|thead|option|br|hr|img|input|meta|link|wbr|source|col|area|base|html|body|head)[\s/>])"
    r"[a-zA-Z][^\s/>]*(?:\s[^<>]{0,2000})?>"
)
_DEEPEST: Final = 400
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def parse(data: bytes, name: str) -> Document:
    """An HTML page."""
    from selectolax.lexbor import LexborHTMLParser

    text, warnings = to_text(data, name)
    tree = LexborHTMLParser(shallow(text.replace("\0", "")))
    title = _title(tree)
    assembly = Assembly()
    strip(tree)
    root = main_content(tree)
    if root is not None:
        Walker(assembly).walk(root)
    return assembly.document(name, "text/html", title=title or assembly.first_heading, warnings=warnings)


def to_text(data: bytes, name: str) -> tuple[str, list[str]]:
    """Mark first, then the encoding that the page declares, then as for plain text."""
    declared = None if data.startswith(_MARKS) else _DECLARED.search(data, 0, _PRESCAN)
    if declared:
        label = (declared.group(1) or declared.group(2)).decode("ascii").lower()
        label = _READ_AS.get(label, label)
        with suppress(UnicodeDecodeError, LookupError):  # where the page is wrong about itself its bytes decide
            return data.decode(label), []
    return decode(data, name)


def shallow(text: str) -> str:
    """`text` without the tags that nest deeper than anyone writes by hand: the parser's time grows with the square of depth."""
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


def _title(tree: LexborHTMLParser) -> str:
    """The page's name: its only h1 where the title merely adds the site's name to it, else its title."""
    named = [_words(node.text()) for node in tree.css("head > title")[:1]]
    heads = [_words(node.text()) for node in tree.css("h1")[:2]]
    if len(heads) == 1 and heads[0] and (not any(named) or heads[0] in named[0]):
        return heads[0]
    if any(named):
        return named[0]
    node = tree.css_first('meta[property="og:title"]')
    return _words(node.attributes.get("content") or "") if node is not None else ""


def _words(text: str) -> str:
    return " ".join(text.split())

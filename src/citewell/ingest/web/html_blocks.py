"""The walk from a tree of HTML to blocks: headings, paragraphs, list items, table rows. The tree is
walked with an explicit stack, never by recursion, so depth costs nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.web.html_tables import format_table_rows, get_int_attribute
from citewell.text.language import HAN

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_HEADINGS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
INLINE_TAGS: Final = """
    a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark math mi mn
    mo mrow msub msup mfrac nobr output q ruby rb rt s samp small span strike strong sub sup time tt
    u var wbr picture source meter progress
"""
INLINE: Final = frozenset(INLINE_TAGS.split())
_SPACE_ZH = re.compile(
    rf"(?<=[{HAN}，。；：、！？）】》”])[ \t\f]*\n\s*(?=[{HAN}，。；：、！？（【《“])"
)
_SPACE = re.compile(r"\s+")
# the text of a link to the heading it stands in, or back from a note
_PERMALINK = re.compile(r"\s*(?:[¶#§🔗]|↩\ufe0e?\d*)\s*")
_LISTS: Final = frozenset({"ul", "ol", "menu"})
_DEEPEST_INDENT: Final = 6
_PICTURE_FILE = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|bmp|avif)$|^(?:image|img|photo|picture|logo|icon|avatar|"
    r"图片|圖片)?$",
    re.IGNORECASE,
)
_FAR: Final = 3  # levels between a picture and its figure


class Walker:
    """Turns a tree into blocks. Inline text gathers in `_line` until a block-level tag ends it."""

    def __init__(self, assembly: Assembly) -> None:
        self.out = assembly
        self._line: list[str] = []
        self._heading = 0
        self._anchor = ""  # of the heading, or the last one since the last text
        self._prefix = ""  # of the list item that is about to begin
        self._tight = False  # whether the next block follows the one before without a blank line
        self._lists: list[int] = []  # for each list around us its next number, 0 for bullets

    def walk(self, root: LexborNode) -> None:
        """Every block below `root`, in document order."""
        stack: list[tuple[LexborNode, bool]] = [(root, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                self._leave_node(node)
            elif node.is_text_node:
                self._line.append(node.text_content or "")
            elif node.is_element_node and self._enter_node(node):
                stack.append((node, True))
                child = node.last_child
                while child is not None:
                    stack.append((child, False))
                    child = child.prev
        self._flush_line()

    def _enter_node(self, node: LexborNode) -> bool:
        """Begin a tag; False where its children have been dealt with."""
        tag = node.tag or ""
        if not self._heading:
            self._anchor = get_anchor(node, tag) or self._anchor
        if tag == "a" and _is_internal_link(node) and _PERMALINK.fullmatch(node.text(deep=True)):
            return False
        if tag == "br":
            self._line.append("\0")
        elif tag == "img":
            self._line.append(describe_picture(node))
        elif tag in {"ruby", "rt"} or tag in INLINE:
            return tag != "rt"
        elif tag == "pre":
            self._flush_line()
            self._anchor = ""
            self.out.block(node.text(deep=True))
        elif tag == "table" and (rows := format_table_rows(node, extract_text)):
            self._flush_line()
            self._anchor = ""
            self.out.rows(rows)
        else:
            self._begin_block(node, tag)
            return True
        return False

    def _begin_block(self, node: LexborNode, tag: str) -> None:
        self._flush_line()
        self._heading = _HEADINGS.get(tag, 0)
        if self._heading:
            self._anchor = get_anchor(node, tag) or _find_inner_anchor(node) or self._anchor
        if tag in _LISTS:
            self._lists.append(get_int_attribute(node, "start") if tag == "ol" else 0)
            self._tight = len(self._lists) > 1
        elif tag == "li":
            self._prefix = self._make_list_marker()

    def _make_list_marker(self) -> str:
        if not self._lists:
            return "- "
        indent = "  " * min(len(self._lists) - 1, _DEEPEST_INDENT)
        if not self._lists[-1]:
            return indent + "- "
        self._lists[-1] += 1
        return f"{indent}{self._lists[-1] - 1}. "

    def _leave_node(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in INLINE or tag == "ruby":
            return
        self._flush_line()
        if tag in _LISTS and self._lists:
            self._lists.pop()
            self._tight = bool(self._lists)
        elif tag == "li":
            self._prefix, self._tight = "", True
        elif tag in _HEADINGS:
            self._heading = 0
        elif tag in {"dt", "dl"}:
            self._tight = tag == "dt"

    def _flush_line(self) -> None:
        """End the line: append it as a heading, a list item or a paragraph."""
        if not self._line:
            return
        lines = [collapse_whitespace(part) for part in "".join(self._line).split("\0")]
        self._line.clear()
        text = "\n".join(line for line in lines if line)
        if not text:
            return
        if self._heading:
            self.out.heading(self._heading, text, self._anchor)
        else:
            self.out.block(self._prefix + text, gap="\n" if self._tight else "\n\n")
        self._prefix, self._tight, self._anchor = "", False, ""


def collapse_whitespace(text: str) -> str:
    """White space as a browser shows it; none where a line breaks between Chinese characters."""
    return _SPACE.sub(" ", _SPACE_ZH.sub("", text)).strip()


def extract_text(node: LexborNode) -> str:
    """All text below `node` on one line; block-level tags and `br` set words apart."""
    parts: list[str] = []
    for part in node.traverse(include_text=True):
        if part.is_text_node:
            parts.append(part.text_content or "")
        elif part.is_element_node and part.tag not in INLINE:
            parts.append(" ")
    return collapse_whitespace("".join(parts))


def _is_internal_link(link: LexborNode) -> bool:
    return (link.attributes.get("href") or "").startswith("#")


def get_anchor(node: LexborNode, tag: str) -> str:
    """What a link to `node` names behind its #."""
    attributes = node.attributes
    return attributes.get("id") or (attributes.get("name") or "" if tag == "a" else "")


def _find_inner_anchor(heading: LexborNode) -> str:
    inner = heading.css_first("[id], a[name]")
    return get_anchor(inner, inner.tag or "") if inner is not None else ""


def describe_picture(node: LexborNode) -> str:
    """What stands for a picture; nothing for a file's name or what its caption says anyway."""
    text = collapse_whitespace(node.attributes.get("alt") or "")
    if len(text) < 2 or _PICTURE_FILE.search(text):
        return ""
    above = node.parent
    for _ in range(_FAR):
        if above is None or above.tag == "figure":
            break
        above = above.parent
    caption = above.css_first("figcaption") if above is not None and above.tag == "figure" else None
    return "" if caption is not None and text in extract_text(caption) else f" {text} "

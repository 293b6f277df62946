"""The walk over a page's tree that finds its links: all text in one string, and where in it links
and blocks stand. The tree is walked with an explicit stack, never by recursion, so depth costs
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from citewell.fetch.urls import LONGEST
from citewell.ingest.web.html_blocks import INLINE, collapse_whitespace
from citewell.text.split_words import split_words

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_LOOKED_AT: Final = 20_000  # and those among which they are chosen
CUT: Final = 200  # characters of a link's words, of those around it, and of a heading
_FIRST: Final = 40  # pieces of text in which a list entry says what it is
_SILENT: Final = split_words(
    "head script style template textarea select datalist object canvas math"
)
HEADINGS: Final = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
SMALL: Final = frozenset({"p", "li", "td", "th", "dd", "dt", *HEADINGS})
LARGE: Final = frozenset({"div", "section", "article", "tr", "blockquote", "figure"})
_LISTS: Final = frozenset({"ul", "ol", "dl", "menu"})
_OWN_HEADINGS: Final = frozenset(
    {"main", "nav", "aside", "footer", "section", "article", "form", "td", "th", "li", "dd"}
)
FRAMES: Final = frozenset({"frame", "iframe"})
# no heading above speaks for what stands in these
_AROUND: Final = frozenset({"nav", "aside", "footer"})


@dataclass(slots=True)
class Block:
    """A stretch of the page's text. `linked`: the characters of links before it, and once it has
    ended, of those in it.
    """

    tag: str
    above: Block | None
    start: int
    first: int
    linked: int
    end: int = -1


@dataclass(slots=True)
class _Open:
    """A tag that has begun, and what was in force before it."""

    tag: str
    block: Block | None
    heads: tuple[tuple[int, str], ...]
    entry: str
    term: str


@dataclass(slots=True)
class Anchor:
    """A link in the page. `node`: says whether it is content; `label`: for one without words."""

    href: str
    node: int
    label: str
    download: bool
    start: int
    end: int
    block: Block | None
    heading: str


class Reader:
    """Writes all text of a tree into one string, and notes where in it its links and blocks are."""

    def __init__(self, frames: Callable[[str], bool]) -> None:
        self.anchors: list[Anchor] = []
        self.fallback = 0  # characters for browsers without scripts
        self._frames = frames
        self._parts: list[str] = []
        self._at = self._linked = self._depth = 0
        self._block: Block | None = None
        # a heading's, which goes on over the text under it; and its depth
        self._after: tuple[Block, int] | None = None
        self._heads: tuple[tuple[int, str], ...] = ()
        self._entry = self._term = ""

    def read(self, root: LexborNode) -> str:
        stack: list[tuple[LexborNode, _Open | Anchor | None]] = [(root, None)]
        while stack:
            node, begun = stack.pop()
            if isinstance(begun, Anchor):
                self._end_link(node, begun)
            elif begun is not None:
                self._leave_node(begun)
            elif node.is_text_node:
                self._append_text(node.text_content or "")
            elif node.is_element_node and (tag := node.tag or "") not in _SILENT:
                if tag == "area" or tag in FRAMES:
                    self._begin_link(node, tag)
                    continue
                entered = self._enter_node(node, tag)
                if entered is not None:
                    stack.append((node, entered))
                child = node.last_child
                while child is not None:
                    stack.append((child, None))
                    child = child.prev
        return "".join(self._parts)

    def _append_text(self, text: str) -> None:
        words = collapse_whitespace(text) if "\n" in text else " ".join(text.split())
        text = (
            (" " if text[:1].isspace() else "")
            + words
            + (" " if words and text[-1:].isspace() else "")
        )
        if text != " " or not self._parts or self._parts[-1] != " ":
            self._parts.append(text)
            self._at += len(text)

    def _enter_node(self, node: LexborNode, tag: str) -> _Open | Anchor | None:
        """What has to be ended later; None where nothing has."""
        if tag == "a":
            return self._begin_link(node, tag)
        if tag in INLINE:
            return None
        self._append_text(" ")
        begun = _Open(tag, None, self._heads, self._entry, self._term)
        self._depth += 1
        if tag in _AROUND:
            self._heads, self._entry = (), ""
        if tag in HEADINGS:
            self._end_heading()
            self._heads = tuple(each for each in self._heads if each[0] < HEADINGS[tag])
            self._entry = ""
        elif tag in _LISTS:
            if self._block is not None and self._block.tag == "li":
                self._entry = self._get_block_start(self._block) or self._entry
            self._term = ""
        elif tag == "dd":
            self._entry = self._term or self._entry
        if tag in SMALL or tag in LARGE or tag == "noscript":
            begun.block = self._block = Block(
                tag, self._block, self._at, len(self._parts), self._linked
            )
        return begun

    def _leave_node(self, begun: _Open) -> None:
        self._append_text(" ")
        self._depth -= 1
        if self._after is not None and self._depth < self._after[1]:
            self._end_heading()
        tag = begun.tag
        if tag in _OWN_HEADINGS:
            self._heads = begun.heads
        if tag in _LISTS:
            self._term = begun.term
        if tag in _LISTS or tag in _OWN_HEADINGS:
            self._entry = begun.entry
        if begun.block is not None:
            self._block = begun.block.above
            self._end_block(tag, begun.block)

    def _end_block(self, tag: str, block: Block) -> None:
        if tag in HEADINGS:
            if words := self._get_block_start(block):
                self._heads = (*self._heads, (HEADINGS[tag], words))
            self._after = (block, self._depth)
            return
        if tag == "dt":
            self._term = self._get_block_start(block)
        elif tag == "noscript":
            self.fallback += self._at - block.start
        block.end, block.linked = self._at, self._linked - block.linked

    def _end_heading(self) -> None:
        """The end of what stands under the last heading."""
        if self._after is not None:
            block, self._after = self._after[0], None
            block.end, block.linked = self._at, self._linked - block.linked

    def _get_block_start(self, block: Block) -> str:
        return truncate_text(
            collapse_whitespace("".join(self._parts[block.first : block.first + _FIRST]))
        )

    def _begin_link(self, node: LexborNode, tag: str) -> Anchor | None:
        if len(self.anchors) >= _LOOKED_AT:
            return None
        attributes = node.attributes
        href = attributes.get("src" if tag in FRAMES else "href")
        if (
            not href
            or len(href) > LONGEST
            or "nofollow" in (attributes.get("rel") or "").lower().split()
        ):
            return None
        if tag in FRAMES and not self._frames(href):
            return None
        judged: LexborNode | None = node
        # never text themselves
        while judged is not None and judged.tag in {"area", "map", *FRAMES}:
            judged = judged.parent
        heading = self._entry or (self._heads[-1][1] if self._heads else "")
        place = judged.mem_id if judged is not None else 0
        label = "" if tag == "a" else _find_label(attributes, "aria-label", "title", "alt", "name")
        link = Anchor(
            href, place, label, "download" in attributes, self._at, self._at, self._block, heading
        )
        self.anchors.append(link)
        return link

    def _end_link(self, node: LexborNode, link: Anchor) -> None:
        link.end = self._at
        self._linked += link.end - link.start
        if link.end - link.start < 2:  # a space at most
            link.label = _find_label(node.attributes, "aria-label", "title")
            picture = node.css_first("img[alt], [aria-label], [title]") if not link.label else None
            if picture is not None:
                link.label = _find_label(picture.attributes, "alt", "aria-label", "title")


def _find_label(attributes: dict[str, str | None], *names: str) -> str:
    return next(
        (words for name in names if (words := collapse_whitespace(attributes.get(name) or ""))), ""
    )


def truncate_text(text: str) -> str:
    return text[:CUT].rstrip()

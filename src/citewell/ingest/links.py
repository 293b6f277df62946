"""The links of a web page, each with the words around it, so that a question can tell which to follow.

The one rule: a link is an address that may be fetched at all, in its canonical form; what only scripts would do with it is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Place = Literal["content", "around"]


@dataclass(frozen=True, slots=True)
class Link:
    """`text`: its own words (of its picture, where it has none); `around`: those of the block it stands in; `heading`: the
    nearest one above it. `fragment`: what it names behind the #. `place`: in the content, or around it (menus, footers).
    """

    url: str
    text: str
    around: str = ""
    heading: str = ""
    fragment: str = ""
    place: Place = "content"


@dataclass(frozen=True, slots=True)
class PageLinks:
    """`canonical`: the address that the page says it has, on its own site; empty where it says none. `scripted`: there are
    next to no words in it, and scripts that would write some.
    """

    links: tuple[Link, ...] = ()
    canonical: str = ""
    scripted: bool = False

"""Where to look first for an answer. The one rule: patterns decide, not a model, and every choice has a reason in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from citewell.skills.intent import WIDE

Search = Literal["hierarchical_search", "direct_chunk_search", "web_search"]
RouteName = Literal["hierarchical_search", "direct_chunk_search", "web_search", "direct"]
SEARCHES: tuple[Search, ...] = get_args(Search)  # in the order in which the inner loop tries them

_WEB = re.compile(
    r"\b(?:search|browse|check|look|find)\b[^.?!]{0,40}\b(?:(?:the|on) (?:web|internet)\b"
    r"(?! \w*(?:server|site|page|browser|app|port))|online\b)"
    r"|\bweb search for\b|\bgoogle\s+(?:it|for|this|that)\b|上网|网上|联网|互联网上|搜索网络",
    re.IGNORECASE,
)
_NEWS = re.compile(
    r"\b(?:news|weather|stock price|exchange rate|right now|as of today)\b|新闻|天气|股价|汇率|此刻|截至今天", re.IGNORECASE
)
_STRUCTURE = re.compile(r"\b(?:section|chapter|part|appendix)s?\b|章节|第.{1,4}[章节]|附录|哪一[章节部]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Route:
    name: RouteName
    reason: str


def wants_web(question: str) -> bool:
    """Whether the user asks for the web in so many words."""
    return bool(_WEB.search(question))


def search_route(question: str, intent: str, *, preferred: str, settled_by: Sequence[str], web: bool) -> Route:
    """The first search for a question. `preferred`: what the settings or the request name; `settled_by`: routes that settled
    questions like this one before; `web`: whether it can be searched.
    """
    if web and wants_web(question):
        return Route("web_search", "the question asks for the web")
    if web and _NEWS.search(question):
        return Route("web_search", "the question is about what is new")
    for route in SEARCHES:
        if route in settled_by[:1] and (web or route != "web_search"):
            return Route(route, "a question like this one was settled this way before")
    if intent in WIDE or _STRUCTURE.search(question):
        return Route("hierarchical_search", f"a question of kind {intent} is answered by whole sections")
    known: Search = next((route for route in SEARCHES if route == preferred), "direct_chunk_search")
    return Route(known, "the way to search that the settings name")


def next_search(tried: Sequence[str], *, web: bool) -> Search | None:
    """The first search that has not been tried; None where all have."""
    left = [route for route in SEARCHES if route not in tried and (web or route != "web_search")]
    return left[0] if left else None

"""Where to look first for an answer, by patterns, with a reason in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from citewell.messages import Text
from citewell.skills.dialogue.intent import WIDE
from citewell.text.tokens import tokenize_query

Search = Literal["hierarchical_search", "direct_chunk_search", "web_search"]
RouteName = Literal["hierarchical_search", "direct_chunk_search", "web_search", "direct"]
SEARCHES: tuple[Search, ...] = get_args(Search)  # in the order in which the inner loop tries them

# a request, at the start of a clause: "the web server" and "the online form" are no reason to go
# there
_WEB = re.compile(
    r"(?:^|[.!?,;]\s*|\b(?:please|and|then|to|(?:can|could|would) you)\s+)"
    r"(?:(?:search|browse|check|look(?: (?:it|this|that))?(?: up)?|find"
    r"(?: out)?)\b[^.?!]{0,60}?\b(?:on |in |across )?"
    r"(?:the (?:web|internet)|online)(?= for\b|\s*[.,;?!]|\s*$)|(?:search|browse) "
    r"(?:the )?(?:web|internet|online)\b|"
    r"google (?:it|for|this|that)\b|do a web search\b)"
    r"|上网(?:查|搜|找)|(?:在|到|去)?(?:网上|互联网上?)(?:查|搜|找)|(?:搜索?|"
    r"查)一?下?(?:网络|互联网)|联网(?:查|搜)",
    re.IGNORECASE,
)
_NEWS = re.compile(
    r"\b(?:latest|breaking|today['’]s) (?:news|headlines|weather)\b|\b(?:news|weather) (?:of "
    r"|for )?(?:today|tomorrow)\b"
    r"|今[天日]的?(?:新闻|天气|头条)|最新(?:新闻|消息)",
    re.IGNORECASE,
)
_STRUCTURE = re.compile(
    r"\b(?:section|chapter|appendix)s? "
    r"(?:\d|[A-Z]\b|is|does|do|are)|第.{1,4}[章节]|附录|哪一[章节]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Route:
    name: RouteName
    reason: str


def is_web_request(question: str) -> bool:
    """Whether the user asks for the web in so many words."""
    return bool(_WEB.search(question))


_REQUEST = re.compile(
    r"^\W*(?:(?:please|(?:can|could|would) you(?: please)?)\s+)?"
    r"(?:do a web search|(?:search|browse|google|look(?: up)?|find|check)"
    r"(?: (?:on|in|across))?(?: the)?"
    r"(?: (?:web|internet|online))?)\s+(?:for|about)\s+"
    r"|(?:[,，]|(?<!\s))\s*(?:and )?(?:please )?(?:search|look (?:it|this|that) up|google "
    r"(?:it|that)|find (?:it|out))\s*"
    r"(?:on the (?:web|internet)|online)\W*$"
    r"|^\W*请?(?:帮我)?(?:上网|联网|(?:在|到|去)?(?:网上|互联网上?))(?:查|搜|找)(?:索|找|"
    r"询)?(?:一下|一查|一搜|看看)?[，,：:\s]*",
    re.IGNORECASE,
)


def strip_web_request(question: str) -> str:
    """The question itself, where the user also says that the web is to be searched for it."""
    return (
        (_REQUEST.sub("", question).strip() or question) if is_web_request(question) else question
    )


def choose_search_route(
    question: str,
    intent: str,
    *,
    preferred: str,
    settled_by: Sequence[str],
    web: bool,
    forced: bool = False,
) -> Route:
    """The first search for a question. `preferred`: what the settings name or, where `forced`, the
    request, and then nothing else counts; `settled_by`: routes that settled questions like this one
    before (the web is no habit: documents may have been added since); `web`: whether it can be
    searched.
    """
    known: Search = next((route for route in SEARCHES if route == preferred), "direct_chunk_search")
    if forced:
        return Route(known, Text("the way to search that the request names"))
    if web and is_web_request(question):
        return Route("web_search", Text("the question asks for the web"))
    if web and _NEWS.search(question):
        return Route("web_search", Text("the question is about what is new"))
    for route in SEARCHES:
        if route in settled_by[:1] and route != "web_search":
            return Route(route, Text("a question like this one was settled this way before"))
    if intent in WIDE:
        return Route(
            "hierarchical_search",
            Text("a question of kind {intent} is answered by whole sections", intent=intent),
        )
    if _STRUCTURE.search(question):
        return Route("hierarchical_search", Text("the question names a section"))
    return Route(known, Text("the way to search that the settings name"))


def get_next_search(tried: Sequence[str], *, web: bool) -> Search | None:
    """The first search that has not been tried; None where all have."""
    left = [route for route in SEARCHES if route not in tried and (web or route != "web_search")]
    return left[0] if left else None


def is_same_query(one: str, other: str) -> bool:
    """Whether two queries look for the same words."""
    return set(tokenize_query(one)) == set(tokenize_query(other))

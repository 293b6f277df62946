"""An answer as Markdown with links: what programs without citations of their own show."""

from __future__ import annotations

from typing import Any

import pytest

from citewell.interfaces.links import build_citation_url, link_citations, unlink_citations
from citewell.service.ask.locate import hash_words
from citewell.types import Answer, Citation

BASE = "http://127.0.0.1:8420/"
SPAN = "start=0&end=1&words=8e35c2cd3bf6"  # of the quote "q"


def citation(n: int = 1, **changes: Any) -> Citation:
    values: dict[str, Any] = {
        "n": n,
        "doc_id": "doc_1",
        "title": "T",
        "uri": "upload:t.pdf",
        "quote": "q",
        "start": 0,
        "end": 1,
    }
    return Citation(**(values | changes))


def answer(text: str, *citations: Citation) -> Answer:
    return Answer(
        answer=text, citations=list(citations), status="answered", confidence=0.5, agent="qa"
    )


@pytest.mark.parametrize(
    ("changes", "base", "address"),
    [
        ({"page": 3}, BASE, f"{BASE}#/source/doc_1?page=3&{SPAN}"),
        ({"quote": ""}, BASE, f"{BASE}#/source/doc_1?start=0&end=1"),
        ({"quote": "", "end": 0}, BASE, f"{BASE}#/source/doc_1"),
        ({"uri": "https://x.example/a (b)#c"}, BASE, "https://x.example/a%20%28b%29#c"),
        (
            {"origin": "table", "doc_id": "sales 1", "uri": "table:sales 1"},
            BASE,
            f"{BASE}#/data/sales%201",
        ),
        ({"origin": "memory", "doc_id": "mem_1", "uri": "memory:mem_1"}, BASE, f"{BASE}#/memory"),
        (
            {"origin": "confirmed", "doc_id": "rule_1", "uri": "rule:rule_1"},
            BASE,
            f"{BASE}#/knowledge",
        ),
        ({"uri": "/home/a b.pdf", "page": 2}, "", "file:///home/a%20b.pdf#page=2"),
        ({"uri": "upload:t.pdf"}, "", ""),
    ],
)
def test_where_a_citation_is_opened(changes: dict[str, Any], base: str, address: str) -> None:
    assert build_citation_url(citation(**changes), base) == address


def test_numbers_become_links_where_they_cite() -> None:
    """Not in code, not where no citation has the number, not where a link stands already."""
    text = "Built 1857.[1][2] See `a[1]` and [9] and [1](http://x).\n```\nb[1]\n```\nEnd.[2]"
    found = link_citations(answer(text, citation(1), citation(2, page=4)), BASE)
    one, two = f"[[1]]({BASE}#/source/doc_1?{SPAN})", f"[[2]]({BASE}#/source/doc_1?page=4&{SPAN})"
    body = f"Built 1857.{one}{two} See `a[1]` and [9] and [1](http://x).\n```\nb[1]\n```\nEnd.{two}"
    assert found.text[: found.body] == body
    assert [found.text[mark.start : mark.end] for mark in found.marks] == [one, two, two]
    assert "".join(found.pieces) == found.text
    assert found.pieces[0] == f"Built 1857.{one}{two}"
    assert found.pieces[-1].startswith("\n\n**Sources**")


def test_the_list_is_in_the_language_of_the_answer() -> None:
    """With page, section and quote, and nothing that Markdown or a terminal would obey."""
    nasty = citation(
        1, title="A](http://evil) <b>*\x1b", page=2, section="S_1", quote="a\n`b` " + "c" * 400
    )
    english = link_citations(answer("Yes, it was built then.[1]", nasty), BASE).text
    line = english.partition("**Sources**\n\n")[2]
    url = f"{BASE}#/source/doc_1?page=2&start=0&end=1&words={hash_words(nasty.quote)}"
    assert line.startswith(
        f'1. [A\\](http://evil) \\<b\\>\\*]({url}), page 2, S\\_1: "a \\`b\\` ccc'
    )
    assert line.endswith('…"')
    assert "\x1b" not in english
    chinese = link_citations(answer("灯塔建于1857年。[1]", citation(1, page=3)), BASE).text
    assert "\n\n**来源**\n\n1. [T](" in chinese
    assert chinese.endswith("，第 3 页：“q”")


def test_a_picture_of_a_document_loads_nothing() -> None:
    """A sentence that holds Markdown for a picture shows it as text."""
    assert (
        link_citations(answer("See ![x](http://evil/?q=1)!"), BASE).text
        == "See \\![x](http://evil/?q=1)!"
    )


@pytest.mark.parametrize(
    "text", ["Built 1857.[1] Red.[2][1]", "灯塔。[1]\n\n红色。[2]", "Nothing cited."]
)
def test_what_was_linked_is_read_back(text: str) -> None:
    """So that a conversation that is sent back holds the answers as they were."""
    shown = link_citations(answer(text, citation(1), citation(2)), BASE).text
    assert shown != text
    assert unlink_citations(shown) == text
    assert unlink_citations(shown.replace("[[", "[").replace("]]", "]")) == text  # as it once was

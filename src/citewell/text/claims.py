"""What a text states: its sentences, without the marks of Markdown around them. Headings, code and
the heads of tables state nothing, so nothing is asked of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from citewell.text.sentences import split_sentences

_FENCES = ("```", "~~~")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_STOP = re.compile(r"[.。!?！？]\s*$")
_LEADER = re.compile(r"(?:[>*+•-][ \t]+|\d{1,3}[.)][ \t]+|\[[ xX]\][ \t]+)+")
_LINK = re.compile(r"!?\[([^\]\n]{0,300})\]\([^)\s]{0,2000}(?: \"[^\"\n]{0,300}\")?\)")
_NUMBERS = re.compile(r"\s?\[\d{1,3}\]")  # of citations
_MARKS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_WORD = re.compile(r"\w")


def find_statement_spans(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a plain or Markdown text that state something."""
    blank = "".join(_blank_non_statements(text.splitlines(keepends=True)))
    found = []
    for start, end in split_sentences(blank):
        leader = _LEADER.match(blank, start, end)
        begin = leader.end() if leader else start
        if _WORD.search(strip_statement_markup(blank[begin:end])):
            found.append((begin, end))
    return found


def strip_statement_markup(text: str) -> str:
    """A sentence without links, emphasis and citation numbers, on one line."""
    return " ".join(_MARKS.sub("", _NUMBERS.sub("", _LINK.sub(r"\1", text))).split())


def _blank_non_statements(lines: list[str]) -> Iterator[str]:
    """The lines, as many spaces in the place of what states nothing, so that offsets stay."""
    fence = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        mark = line.lstrip()[:3]
        inside, is_fence = bool(fence), mark in _FENCES
        if is_fence and (not fence or mark == fence):
            fence = "" if fence else mark
        under, over = _is_underline(line), _is_underline(following) and not _STOP.search(line)
        states = not (inside or is_fence or under or over or _HEADING.match(line))
        yield line if states else re.sub(r"[^\r\n]", " ", line)


def _is_underline(line: str) -> bool:
    """Of a heading, or of the head of a table."""
    signs = line.strip()
    rule = len(signs) >= 3 and set(signs) in ({"="}, {"-"})
    return rule or ("|" in signs and "-" in signs and set(signs) <= set("|:- \t"))

"""Which entries of the list of references a question names by number: `[12]`, `参考文献[3]`. Names
of authors are words of the text: the search finds who cites them.
"""

from __future__ import annotations

import re

from citewell.skills.paper.found_references import Found
from citewell.skills.paper.reading_context import OpenPaper

_NUMBERS = r"\d{1,3}(?:\s*(?:[,;、-]|and|和)\s*\d{1,3})*"
_BRACKET = re.compile(
    r"(?P<named>(?:references?|refs?\.?|citations?|参考文献|文献|"
    rf"引文)\s*)?\[\s*(?P<numbers>{_NUMBERS})\s*\]",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:references?|refs?\.?|citations?)\s+(?:no\.\s*|"
    rf"number\s+)?(?P<numbers>{_NUMBERS})(?![\d.]*\w)"
    rf"|(?:参考文献|文献)\s*第?\s*(?P<han>{_NUMBERS})(?!\s*[篇个])|"
    rf"第\s*(?P<nth>\d{{1,3}})\s*[篇条个]\s*(?:参考文献|文献|引文)",
    re.IGNORECASE,
)


def find_references(question: str, book: OpenPaper) -> Found:
    """Indexes of `paper.references`; of a list without numbers none, unless it is called one."""
    found = Found()
    keys = {entry.key: i for i, entry in enumerate(book.paper.references)}
    for match in [*_BRACKET.finditer(question), *_NAMED.finditer(question)]:
        groups = match.groupdict()
        named = match.re is _NAMED or bool(groups.get("named"))
        if found.covers(match.start()) or not (named or has_numbered_references(book)):
            continue  # `[1, 2]` beside a list of names and years: a form of answer, not an entry
        for number in _expand_number_list(
            groups["numbers"] or groups.get("han") or groups.get("nth") or ""
        ):
            if number in keys:
                found.add([keys[number]], match.span())
            else:
                found.add_missing("reference", number, match.span())
    return found


def has_numbered_references(book: OpenPaper) -> bool:
    """Whether the entries are known by numbers."""
    return any(entry.key.isdigit() for entry in book.paper.references)


def _expand_number_list(numbers: str) -> list[str]:
    """`3-5, 7` -> 3, 4, 5, 7."""
    listed: list[str] = []
    for part in re.split(r"\s*(?:[,;、]|and|和)\s*", numbers):
        ends = [int(end) for end in re.findall(r"\d+", part)]
        listed += [str(n) for n in range(ends[0], min(ends[-1], ends[0] + 50) + 1)] if ends else []
    return listed

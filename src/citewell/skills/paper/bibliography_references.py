"""Which entries of the list of references a question names: `[12]`, `Wei et al. (2022)`,
`参考文献[3]`, `张三等(2020)`.

The one rule: a number means an entry of a numbered list only; a name alone, without `et al.` or a
year, names nobody.
"""

from __future__ import annotations

import re

from citewell.ingest.paper.shape import Reference
from citewell.skills.paper.found_references import Found
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.reference_numbers import fold_accents

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
_LETTER = r"[^\W\d_]"
_NAME = rf"(?:(?:van|von|de|der|den|del|la|le|el|al)\s+)*{_LETTER}[\w'-]+"
_YEAR = r"(?P<year>(?:19|20)\d\d[a-z]?)"
_AUTHORS = re.compile(
    rf"\b(?P<first>{_NAME})(?:(?P<others>\s+et\s+al\b\.?)|(?:\s+and\s+|"
    rf"\s*&\s*)(?P<second>{_NAME}))?(?:'s)?"
    rf"(?:\s*,?\s*(?P<open>[(\[])?\s*{_YEAR}\s*[)\]]?)?"
)
_HAN = re.compile("[\u4e00-\u9fff]{2,4}")


def find_references(question: str, book: OpenPaper) -> Found:
    """Indexes of `paper.references`."""
    found = Found()
    _find_by_number(found, question, book)
    _find_by_author(found, question, book)
    _find_by_han_author(found, question, book)
    return found


def has_numbered_references(book: OpenPaper) -> bool:
    """Whether the entries are known by numbers."""
    return any(entry.key.isdigit() for entry in book.paper.references)


def _find_by_number(found: Found, question: str, book: OpenPaper) -> None:
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
                found.add_missing("reference", f"[{number}]", match.span())


def _expand_number_list(numbers: str) -> list[str]:
    """`3-5, 7` -> 3, 4, 5, 7."""
    listed: list[str] = []
    for part in re.split(r"\s*(?:[,;、]|and|和)\s*", numbers):
        ends = [int(end) for end in re.findall(r"\d+", part)]
        listed += [str(n) for n in range(ends[0], min(ends[-1], ends[0] + 50) + 1)] if ends else []
    return listed


def _find_by_author(found: Found, question: str, book: OpenPaper) -> None:
    for match in _AUTHORS.finditer(question):
        others, second, year = match["others"], match["second"], match["year"] or ""
        if not (others or year) or not match["first"].split()[-1][0].isupper():
            continue
        names = [fold_accents(match["first"])] + ([fold_accents(second)] if second else [])
        at = [
            i
            for i, entry in enumerate(book.paper.references)
            if _has_authors(entry, names, year, bool(others))
        ]
        label = match[0].strip().rstrip(",").removesuffix("'s")
        if at:
            found.add(at, match.span())
        elif book.paper.references and (others or (second and year and match["open"])):
            found.add_missing("reference", label, match.span())


def _has_authors(entry: Reference, names: list[str], year: str, others: bool) -> bool:
    """Whether an entry is of these authors; of the year where one is given, its letter only where
    both have one.
    """
    family = [fold_accents(name) for name in entry.authors]
    if not family or not _is_same_name(family[0], names[0]) or (others and len(family) == 1):
        return False
    if len(names) == 2 and (len(family) < 2 or not _is_same_name(family[1], names[1])):
        return False
    if not year:
        return True
    known = entry.year + (
        letter[1]
        if (letter := re.search(r"\d{4}([a-z])$", entry.key)) and entry.year.isdigit()
        else ""
    )
    return known == year if known[4:] and year[4:] else known[:4] == year[:4]


def _is_same_name(known: str, asked: str) -> bool:
    """`van den berg` is also asked for as `berg`, `pan` also as `liangming pan`."""
    return known == asked or known.split()[-1:] == asked.split()[-1:]


def _find_by_han_author(found: Found, question: str, book: OpenPaper) -> None:
    """A first author's Chinese name with `等` or a year behind it, or behind a second name."""
    for index, entry in enumerate(book.paper.references):
        if not entry.authors or not _HAN.fullmatch(entry.authors[0]):
            continue
        pattern = (
            rf"{entry.authors[0]}(?:[和与、][\u4e00-\u9fff]{{2,4}}?)?"
            rf"(?P<others>等人?)?(?:\s*[(,\[]?\s*{_YEAR}年?\s*[)\]]?)?"
        )
        for match in re.finditer(pattern, question):
            year = match["year"] or ""
            if (match["others"] or year) and (not year or entry.year[:4] == year[:4]):
                found.add([index], match.span())

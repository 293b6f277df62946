"""Mentions of references by author and year."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from citewell.ingest.paper.author_names import fold_name
from citewell.ingest.paper.shape import Mention, Reference
from citewell.text.language import HAN

_YEAR: Final = r"(?:1[89]|20)\d\d[a-z]?"
_PARTICLES: Final = r"(?:(?:[Vv]an|[Vv]on|[Dd]e|der|den|[Dd]el|[Dd]i|[Dd]a|do|la|le)\s+)*"
_NAME: Final = _PARTICLES + rf"[^\W\d_a-z{HAN}][\w'’´¨`ˆ˜-]*(?:\s?[´¨`ˆ˜]\s?[\w'’-]+)?"
_WHO: Final = (
    rf"(?:{_NAME}(?:\s*,\s*{_NAME})*,?\s*(?:(?:and|&)\s+{_NAME}|et\s+al\.?)?|"
    rf"[{HAN}]{{2,4}}(?:[和与、][{HAN}]{{2,4}})?等?)"
)
_YEARS_ALONE = re.compile(
    rf"[(（](?P<years>{_YEAR}(?:\s*[,;，；]\s*{_YEAR})*)(?:[,;:，][^()（）]{{0,40}})?[)）]"
)
_WHO_BEFORE = re.compile(
    rf"(?P<who>{_NAME}(?:\s+(?:and|&)\s+{_NAME}|,?\s+et\s+al\.?)?(?:['’]s)?|"
    rf"[{HAN}]{{2,4}}(?:[和与、][{HAN}]{{2,4}})?等?人?)\s*$"
)
_GROUP = re.compile(
    r"[(（](?P<in>[^()（）\[\]]{0,800}?(?:1[89]|20)\d\d[a-z]?[^()（）\[\]]{0,200})[)）]"
)
_CITED = re.compile(
    rf"(?P<who>{_WHO})\s*[,，]?\s*(?P<years>{_YEAR}(?:\s*[,，]\s*(?:{_YEAR}|[a-z](?![a-z])))*)"
)
_MONTH = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)$"
)
_BEFORE: Final = 80  # characters before a year in brackets in which the names stand


class AuthorYearIndex:
    """References by family name and year."""

    def __init__(self, references: Sequence[Reference]) -> None:
        self._by: dict[tuple[str, str], list[int]] = {}
        self._people = [tuple(map(fold_name, one.authors)) for one in references]
        for n, one in enumerate(references):
            if one.authors and one.year:
                for name in {self._people[n][0], fold_name(one.authors[0].split()[-1])}:
                    for year in {one.year, one.year[:4]}:
                        self._by.setdefault((name, year), []).append(n)

    def __bool__(self) -> bool:
        return bool(self._by)

    def find_mentions(self, text: str) -> Iterator[Mention]:
        for match in _YEARS_ALONE.finditer(text):
            before = max(0, match.start() - _BEFORE)
            ends = text[before : match.start()].rstrip()[-1:]
            who = (
                (ends.isalpha() or ends in ".'’")
                and ends
                and _WHO_BEFORE.search(text[before : match.start()])
            )
            if who:
                yield Mention(
                    "reference",
                    before + who.start(),
                    match.end(),
                    self.find_targets(who["who"], match["years"]),
                )
        for match in _GROUP.finditer(text):
            cited = [
                one
                for one in _CITED.finditer(match["in"])
                if not _MONTH.search(one["who"].rstrip(" ,"))
            ]
            if not cited:
                continue
            targets = [n for one in cited for n in self.find_targets(one["who"], one["years"])]
            alone = (
                len(cited) == 1
                and not targets
                and not re.search(r"et\s+al|等|\band\b|,", cited[0][0])
            )
            if not alone:  # (May 2022) is a date
                yield Mention(
                    "reference", match.start(), match.end(), tuple(dict.fromkeys(targets))
                )

    def find_targets(self, who: str, years: str) -> tuple[int, ...]:
        names = [
            fold_name(name)
            for name in re.split(
                r"\s*,\s*|\s+(?:and|&)\s+|[和与、]",
                re.sub(r",?\s*et\s+al\.?|等人?$|['’]s$", "", who),
            )
            if name
        ]
        found: list[int] = []
        for year in _split_years(years):
            hits = [n for name in names[:1] for n in self._find_hits(name, year)]
            both = [
                n
                for n in hits
                if len(names) < 2 or len(self._people[n]) < 2 or self._people[n][1] == names[1]
            ]
            found += (
                (both or hits)[:1]
                if len(year) > 4 or len(both or hits) == 1
                else self._filter_by_author_count(both or hits, who)
            )
        return tuple(dict.fromkeys(found))

    def _find_hits(self, name: str, year: str) -> list[int]:
        """A Chinese sentence runs on into the name: its end counts."""
        hits = self._by.get((name, year))
        if hits is None and re.match(f"[{HAN}]", name):
            hits = next(
                (
                    self._by[name[at:], year]
                    for at in range(1, len(name) - 1)
                    if (name[at:], year) in self._by
                ),
                None,
            )
        return hits or []

    def _filter_by_author_count(self, hits: Sequence[int], who: str) -> list[int]:
        """Of several of one name and year, those with as many authors as are named."""
        several = bool(re.search(r"et\s+al|等", who))
        fitting = [n for n in hits if (len(self._people[n]) > 2) == several]
        return list(fitting or hits)[:1]


def _split_years(words: str) -> Iterator[str]:
    """`2022a, b` as two."""
    last = ""
    for one in re.findall(r"\d{4}[a-z]?|(?<![\da-z])[a-z](?![a-z])", words):
        last = one if one[0].isdigit() else last[:4] + one
        yield last

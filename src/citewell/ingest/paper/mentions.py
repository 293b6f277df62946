"""Where the running text points to figures, tables, equations and references, with what is meant.

The one rule: a place that points to nothing that was found is kept, without targets; it is never
turned to something near.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal

from citewell.ingest.paper.author_names import fold_name
from citewell.ingest.paper.floats import NUMBER
from citewell.ingest.paper.shape import Equation, Float, Mention, Part, Reference
from citewell.text.language import HAN

Kind = Literal["float", "equation", "reference"]
_ONE: Final = rf"(?:{NUMBER}|S\d{{1,3}}|FIGREF\d+|TABREF\d+)"
_MANY: Final = (
    rf"{_ONE}(?:\([a-z]\))?(?:\s*(?:,|and|&|to|through|[-–—]|、|和|与|及|至)\s*(?:图|"
    rf"表)?\s*{_ONE}(?:\([a-z]\))?(?![\w]))*"
)
_FLOAT = re.compile(
    rf"(?<![\w{HAN}])(?:(?P<f>Figures?|FIGURES?|Figs?\.?|FIGS?\.?)|(?P<t>Tables?|TABLES?|"
    rf"Tabs?\.))\s*~?(?P<n>{_MANY})(?!\w)"
    rf"|(?:(?P<zf>[见如由从在据]?图)|(?P<zt>(?<![代发])续?表))\s*(?P<zn>{_MANY})(?![A-Za-z\d])"
)
_EQUATION_ONE: Final = r"[(（]?[A-Z]?\d{1,3}(?:[.\-]\d{1,3})?[a-z]?[)）]?|EQREF\d+"
_EQUATION = re.compile(
    r"(?:\b(?:Eqs?\.?|Equations?|equations?|eqs?\.)|"
    rf"公?式)\s*~?(?P<n>(?:{_EQUATION_ONE})(?:\s*(?:,|and|to|[-–]|和|与|及|"
    rf"至)\s*(?:{_EQUATION_ONE}))*)"
)
_BRACKETS = re.compile(r"[\[［](?P<n>\d{1,4}(?:\s*(?:[,，;；]|[-–—~～])\s*\d{1,4}){0,40})[\]］]")
_BIBREF = re.compile(r"BIBREF(\d+)")
_RAISED = re.compile(r"(?<=[\w,.;:)”\"'，。；）])(?P<n>[⁰¹²³⁴-⁹]{1,3}(?:[,，⁻–-][⁰¹²³⁴-⁹]{1,3})*)")
_RAISED_TO = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
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
_SPAN = re.compile(r"(\d+)\s*[-–—~～至]\s*(\d+)")
_ROMAN: Final = {"I": 1, "V": 5, "X": 10}
_MOST_PARTS: Final = 4  # captions of one number: a table goes on over pages
_BEFORE: Final = 80  # characters before a year in brackets in which the names stand
_MOST_SPAN: Final = 60


def find_mentions(
    text: str,
    parts: Sequence[Part],
    floats: Sequence[Float],
    equations: Sequence[Equation],
    references: Sequence[Reference],
) -> tuple[Mention, ...]:
    """All places that point to something, in order, none inside another."""
    found = [
        *_find_float_mentions(text, floats),
        *_find_equation_mentions(text, equations),
        *_find_reference_mentions(text, references),
    ]
    barred = _ExcludedSpans(parts, floats, equations)
    kept: list[Mention] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not barred(one) and (not kept or one.start >= kept[-1].end):
            kept.append(one)
    return tuple(kept)


class _ExcludedSpans:
    """Where nothing points: title and list of references; the label of a caption, the number of an
    equation.
    """

    def __init__(
        self, parts: Sequence[Part], floats: Sequence[Float], equations: Sequence[Equation]
    ) -> None:
        spans = sorted(
            [(part.start, part.end) for part in parts if part.role in {"front", "references"}]
            + [(one.start, one.start + len(one.label) + 1) for one in floats]
            + [(one.end - len(one.label) - 1, one.end) for one in equations if one.label]
        )
        self._starts = [start for start, _ in spans]
        self._ends: list[int] = []
        for _, end in spans:
            self._ends.append(max(end, self._ends[-1] if self._ends else 0))

    def __call__(self, one: Mention) -> bool:
        at = bisect_right(self._starts, one.start) - 1
        return at >= 0 and one.start < self._ends[at]


def _find_float_mentions(text: str, floats: Sequence[Float]) -> Iterator[Mention]:
    by_number: dict[tuple[str, str], list[int]] = {}
    for n, one in enumerate(floats):
        same = by_number.setdefault((one.kind, _normalize_number(one.number)), [])
        if len(same) < _MOST_PARTS:
            same.append(n)
    for match in _FLOAT.finditer(text):
        kind = "figure" if match["f"] or match["zf"] else "table"
        numbers = _split_numbers(match["n"] or match["zn"])
        targets = [n for number in numbers for n in _find_by_number(by_number, kind, number)]
        start = match.start() + (1 if match["zf"] and match["zf"][0] != "图" else 0)
        yield Mention("float", start, match.end(), tuple(dict.fromkeys(targets)))


def _normalize_number(number: str) -> str:
    """`IV` as `4`, `3–1` as `3-1`."""
    if number and set(number) <= set(_ROMAN):
        values = [_ROMAN[char] for char in number]
        return str(
            sum(-value if value < max(values[n:]) else value for n, value in enumerate(values))
        )
    return number.replace("–", "-").replace("—", "-")


def _find_by_number(
    by_number: dict[tuple[str, str], list[int]], kind: str, number: str
) -> list[int]:
    """`2`, `2a` for a part of 2, and `1-3` for all of them where no float is so called."""
    found = by_number.get((kind, _normalize_number(number))) or by_number.get((kind, number[:-1]))
    span = _SPAN.fullmatch(number) if found is None else None
    if span is None:
        return found or []
    low, high = int(span[1]), min(int(span[2]), int(span[1]) + _MOST_SPAN)
    return [n for one in range(low, high + 1) for n in by_number.get((kind, str(one)), [])]


def _split_numbers(words: str) -> list[str]:
    """`2 and 3`, `1 to 3`, `4、5` one by one."""
    whole = re.sub(r"\([a-z]\)|[图表]", "", words).strip()
    found = re.findall(_ONE, whole)
    for low, high in re.findall(
        r"(?<![\d.\-])(\d{1,3})\s*(?:to|through|–|—|至)\s*(\d{1,3})(?![\d.])", whole
    ):
        found += map(str, range(int(low) + 1, min(int(high), int(low) + _MOST_SPAN)))
    return found


def _find_equation_mentions(text: str, equations: Sequence[Equation]) -> Iterator[Mention]:
    by_label = {
        one.label.strip("()（）").removeprefix("Eq. "): n
        for n, one in enumerate(equations)
        if one.label
    }
    for match in _EQUATION.finditer(text):
        numbers = [number.strip("()（）") for number in re.findall(_EQUATION_ONE, match["n"])]
        for low, high in re.findall(r"(\d+)[)）]?\s*(?:to|[-–]|至)\s*[(（]?(\d+)", match["n"]):
            numbers += map(str, range(int(low), min(int(high), int(low) + _MOST_SPAN) + 1))
        targets = [by_label[number] for number in numbers if number in by_label]
        yield Mention("equation", match.start(), match.end(), tuple(sorted(set(targets))))


def _find_reference_mentions(text: str, references: Sequence[Reference]) -> Iterator[Mention]:
    numbered = {one.key: n for n, one in enumerate(references) if one.key.isdigit()}
    # such texts number from nought in the order of citing, and leave the list out
    for match in _BIBREF.finditer(text):
        yield Mention("reference", match.start(), match.end(), ())
    if numbered:
        brackets = list(_find_numeric_mentions(text, _BRACKETS, numbered, str.strip))
        yield from brackets
        if not brackets:
            yield from _find_numeric_mentions(
                text, _RAISED, numbered, lambda words: words.translate(_RAISED_TO)
            )
    named = _AuthorYearIndex(references)
    if named:
        yield from named.found(text)


def _find_numeric_mentions(
    text: str, pattern: re.Pattern[str], numbered: dict[str, int], plain: Callable[[str], str]
) -> Iterator[Mention]:
    for match in pattern.finditer(text):
        words = plain(match["n"])
        numbers = re.findall(r"\d+", words)
        for low, high in _SPAN.findall(words):
            numbers += map(str, range(int(low) + 1, min(int(high), int(low) + _MOST_SPAN)))
        targets = sorted({numbered[number] for number in numbers if number in numbered})
        if targets or pattern is _BRACKETS:
            yield Mention("reference", match.start(), match.end(), tuple(targets))


class _AuthorYearIndex:
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

    def found(self, text: str) -> Iterator[Mention]:
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
                    self.targets(who["who"], match["years"]),
                )
        for match in _GROUP.finditer(text):
            cited = [
                one
                for one in _CITED.finditer(match["in"])
                if not _MONTH.search(one["who"].rstrip(" ,"))
            ]
            if not cited:
                continue
            targets = [n for one in cited for n in self.targets(one["who"], one["years"])]
            alone = (
                len(cited) == 1
                and not targets
                and not re.search(r"et\s+al|等|\band\b|,", cited[0][0])
            )
            if not alone:  # (May 2022) is a date
                yield Mention(
                    "reference", match.start(), match.end(), tuple(dict.fromkeys(targets))
                )

    def targets(self, who: str, years: str) -> tuple[int, ...]:
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

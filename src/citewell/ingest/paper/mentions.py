"""Where the running text points to figures, tables, equations and references, with what is meant. A
place that points to nothing that was found is kept, without targets; it is never turned to
something near.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from citewell.ingest.paper.author_years import AuthorYearIndex
from citewell.ingest.paper.floats import NUMBER
from citewell.ingest.paper.shape import Equation, Float, Mention, Part, Reference
from citewell.text.language import HAN

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
_SPAN = re.compile(r"(\d+)\s*[-–—~～至]\s*(\d+)")
_ROMAN: Final = {"I": 1, "V": 5, "X": 10}
_MOST_PARTS: Final = 4  # captions of one number: a table goes on over pages
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
    """Where nothing points: title, list of references, a caption's label, an equation's number."""

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
        return str(parse_roman_number(number))
    return number.replace("–", "-").replace("—", "-")


def parse_roman_number(text: str) -> int:
    values = [_ROMAN[char] for char in text]
    return sum(-value if value < max(values[n:]) else value for n, value in enumerate(values))


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
    named = AuthorYearIndex(references)
    if named:
        yield from named.find_mentions(text)


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

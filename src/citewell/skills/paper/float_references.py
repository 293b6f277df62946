"""Which figures, tables and equations a question names, by number or by order ("the last table"). A
number that the paper does not have is missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from citewell.ingest.paper.shape import FloatKind
from citewell.skills.paper.found_references import Found, Kind
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.reference_numbers import (
    expand_number,
    normalize_number,
    parse_numbers_at,
)

_LABEL = re.compile(
    r"\b(?P<plural>tables|figures|figs\.?|tabs\.|charts|graphs|diagrams)\s?(?=[\d(IVXA-S])"
    r"|(?<!\ba )\b(?P<one>table|tab\.|tbl\.?|figure|fig\.?|chart|graph|diagram)\s?(?=[\d(IVXA-S])"
    r"|(?P<han>(?<!示意)图表|(?<![时间])表格|图片|(?<![地试企意蓝版截绘力妄])图|"
    r"(?<![发代列报量年外仪手钟电])表)\s?(?=[\d(IVXA-S一二三四五六七八九十])",
    re.IGNORECASE,
)
_EQUATION = re.compile(
    r"\b(?P<plural>equations|eqs\.?|eqns\.?|formulas|formulae)\s?(?=[\d(A-Z])"
    r"|\b(?P<one>equation|eq\.?|eqn\.?|formula)\s?(?=[\d(A-Z])"
    r"|(?P<han>公式|方程式?|等式|(?<![方形模格样正各程公等])式)\s?(?=[\d(A-Z一二三四五六七八九十])",
    re.IGNORECASE,
)
_NTH = ("first", "second", "third", "fourth", "fifth", "sixth")
_ORDINALS: Final = {word: n for n, word in enumerate(_NTH, 1)} | {"last": -1, "final": -1}
_THING = r"(?:table|figure|fig|chart|diagram|graph|equation|formula)s?\b(?!\s+(?:out|\d))"
_ORDER = re.compile(
    rf"\b(?:(?P<other>{'|'.join(_ORDINALS)})\s+and\s+(?:the\s+)?)?(?:(?P<word>"
    rf"{'|'.join(_ORDINALS)})|(?P<digits>\d{{1,2}})(?:st|nd|rd|th))\s+(?P<thing>{_THING})",
    re.IGNORECASE,
)
_ORDER_HAN = re.compile(
    r"(?:(?P<last>最后)[一1]?|倒数第(?P<back>[\d一二三四五六七八九十]{1,2})|"
    r"第(?P<number>[\d一二三四五六七八九十]{1,3})|(?P<first>首))"
    r"\s?[个张幅份]\s?(?P<thing>表格?|图片?|公式|方程)"
)


def find_floats(question: str, book: OpenPaper) -> Found:
    """Indexes of `paper.floats`."""
    found = Found()
    for match in _LABEL.finditer(question):
        numbers, end = parse_numbers_at(question, match.end(), plural=bool(match["plural"]))
        if numbers:
            _find_by_number(found, _get_float_kinds(match[0]), numbers, (match.start(), end), book)
    _find_by_order(found, question, book)
    return found


def find_equations(question: str, book: OpenPaper) -> Found:
    """Indexes of `paper.equations`."""
    found = Found()
    labels = [normalize_number(equation.label) for equation in book.paper.equations]
    for match in _EQUATION.finditer(question):
        numbers, end = parse_numbers_at(question, match.end(), plural=bool(match["plural"]))
        for number in (each for raw in numbers for each in expand_number(raw, labels)):
            at = [i for i, label in enumerate(labels) if label and label == number]
            if at:
                found.add(at, (match.start(), end))
            else:
                found.add_missing("equation", number, (match.start(), end))
    for which, thing, span in _find_ordinals(question):
        if thing == "equation" and not found.covers(span[0]):
            _add_nth(found, "equation", list(range(len(labels))), which, span)
    return found


def sort_floats(kind: FloatKind, book: OpenPaper) -> list[int]:
    """The floats of a kind as a reader counts them: by plain numbers, else as they stand."""
    mine = [i for i, each in enumerate(book.paper.floats) if each.kind == kind]
    numbers = {i: normalize_number(book.paper.floats[i].number) for i in mine}
    plain = all(number.isdigit() for number in numbers.values())
    return sorted(mine, key=lambda i: (int(numbers[i]) if plain else 0, book.paper.floats[i].start))


def _get_float_kinds(word: str) -> tuple[FloatKind, ...]:
    """The kinds that a noun may mean; the likelier first."""
    if word.strip() == "图表":
        return ("figure", "table")
    return ("table",) if re.match(r"ta?b|表", word.strip(), re.IGNORECASE) else ("figure",)


def _find_by_number(
    found: Found,
    kinds: Sequence[FloatKind],
    numbers: Sequence[str],
    span: tuple[int, int],
    book: OpenPaper,
) -> None:
    known = {normalize_number(each.number) for each in book.paper.floats if each.kind in kinds}
    for number in (each for raw in numbers for each in expand_number(raw, known)):
        at = next((hits for kind in kinds if (hits := _match_number(kind, number, book))), [])
        if at:
            found.add(at, span)
        else:
            found.add_missing(kinds[0], number, span)


def _match_number(kind: FloatKind, number: str, book: OpenPaper) -> list[int]:
    """That one; of `3a` else the figure 3 that holds it, of `3` else its panels."""
    floats = enumerate(book.paper.floats)
    own = {i: normalize_number(each.number) for i, each in floats if each.kind == kind}
    whole = re.sub(r"(?<=\d)[a-h]$", "", number)
    panels = [f"{number}{letter}" for letter in "abcdefgh"] if number == whole else []
    found = (
        [i for i, known in own.items() if known in wanted] for wanted in ([number], [whole], panels)
    )
    return next(filter(None, found), [])


def _find_ordinals(question: str) -> list[tuple[int, Kind, tuple[int, int]]]:
    """(which, counted from 1 or from -1 at the end; of what; where in the question)."""
    hits: list[tuple[int, Kind, tuple[int, int]]] = []
    for match in _ORDER.finditer(question):
        which = _ORDINALS[match["word"].lower()] if match["word"] else int(match["digits"])
        both = [_ORDINALS[match["other"].lower()], which] if match["other"] else [which]
        hits += [(each, _get_kind(match["thing"]), match.span()) for each in both]
    for match in _ORDER_HAN.finditer(question):
        back, number = match["back"], match["number"]
        nth = int(normalize_number(number or back)) if number or back else 1
        which = -nth if back or match["last"] else nth
        hits.append((which, _get_kind(match["thing"]), match.span()))
    return hits


def _get_kind(word: str) -> Kind:
    if re.match("equation|formula|公式|方程", word, re.IGNORECASE):
        return "equation"
    return _get_float_kinds(word)[0]


def _find_by_order(found: Found, question: str, book: OpenPaper) -> None:
    named = Found(read=list(found.read))
    for which, thing, span in _find_ordinals(question):
        if thing != "equation" and not named.covers(span[0]):
            there = sort_floats("table" if thing == "table" else "figure", book)
            _add_nth(found, thing, there, which, span)


def _add_nth(
    found: Found, kind: Kind, there: Sequence[int], which: int, span: tuple[int, int]
) -> None:
    at = which - 1 if which > 0 else len(there) + which
    if 0 <= at < len(there):
        found.add([there[at]], span)
    else:
        found.add_missing(kind, str(abs(which)) if there else "", span)

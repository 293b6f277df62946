"""Numbers of figures, tables, equations and sections as people write them: `2`, `II`, `二`, `3a`,
`3(a)`, `A1`, `2 to 4`. A question and a paper are compared by `normalize_number`, so that `Table
II` finds `表 2` and nothing finds by likeness.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import Final

from citewell.ingest.paper.mentions import parse_roman_number
from citewell.text.numbers import parse_han_number

_HAN = "一二三四五六七八九十"
_SIGNS = str.maketrans(
    "\u2018\u2019\u201c\u201d【】〔〕\u00a0\u2010\u2011\u2012\u2013\u2014\u2212",
    "''\"\"[][] ------",
)
NUMBER = (
    r"(?:(?:[A-Za-z][.-]?)?\d{1,3}(?:[.-]\d{1,3}(?![\d%]))*(?:\s?\([a-h]\)|"
    r"[a-h](?![A-Za-z\d]))?(?![\d%])"
    rf"|[IVX]{{1,5}}(?![A-Za-z\d])|[{_HAN}]{{1,3}}(?![致般些个种次样直起定切旦]))"
)
_NUMBER = re.compile(rf"\s*(?:no\.\s*)?[(\[]?\s*({NUMBER})(?:\s*[)\]])?", re.IGNORECASE)
_BETWEEN = re.compile(
    r"\s*(?:(?P<comma>[,、])\s*(?P<last>and|or|和|与|及)?|(?P<and>and|&|or|以及|和|与|及|或)|"
    r"(?P<to>to|through|-|~|至|到))\s*(?=[\dA-Z(一二三四五六七八九十])"
)
# what may not stand behind the last number of a singular noun: `Table 2 and 3 datasets`
_MORE = re.compile(
    r"\s+(?!(?:is|was|does|has|this|its|across|versus|vs|regards?)\b)"
    r"(?:other|more|further|new|different|of (?:the|its)|[a-z]{2,}s)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\s*(?:个|种|次|篇|项|名|位|倍|年|月|天|times\b|percent\b|(?:m|b|k)illion\b)", re.IGNORECASE
)
_WORDS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SPELT = re.compile(
    rf"\b(tables?|figures?|equations?|sections?|pages?|chapters?) ({'|'.join(_WORDS)})\b",
    re.IGNORECASE,
)
_LONGEST_RANGE = 20


def fold_text(text: str) -> str:
    """Full width to half, one kind of dash, quote and bracket, for questions' patterns."""
    return unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS)


def replace_number_words(text: str) -> str:
    """`figure two` as `figure 2`."""
    return _SPELT.sub(lambda found: f"{found[1]} {1 + _WORDS.index(found[2].lower())}", text)


def normalize_number(number: str) -> str:
    """`II` and `二` are `2`, `3(a)` is `3a`, `a.1` is `A1`, `3-1` is `3.1`; empty without one."""
    text = fold_text(number).strip(" ()[].:")
    text = re.sub(r"[\s()]", "", text).replace("-", ".")
    if re.fullmatch("[IVX]+", text):
        return str(parse_roman_number(text))
    if text and not set(text) - set(_HAN):
        return str(parse_han_number(text))
    if lettered := re.fullmatch(r"([A-Za-z])\.?(\d[\d.]*)([a-z]?)", text):
        return lettered[1].upper() + lettered[2] + lettered[3]
    return text.lower() if text[:1].isdigit() else text.upper()


def parse_numbers_at(text: str, at: int, *, plural: bool) -> tuple[list[str], int]:
    """The numbers from `at` and where they end; `2 to 4` gives `2-4`. None for a count."""
    first = _NUMBER.match(text, at)
    if not first or _COUNTED.match(text, first.end()):
        return [], at
    found, end = [first[1]], first.end()
    while between := _BETWEEN.match(text, end):
        following = _NUMBER.match(text, between.end())
        if not following or _COUNTED.match(text, following.end()):
            break
        loose = between["comma"] == "," and not between["last"]
        if not plural and between[0].isascii() and (loose or _MORE.match(text, following.end())):
            break
        if between["to"]:
            found[-1] += "-" + following[1]
        else:
            found.append(following[1])
        end = following.end()
    return found, end


def expand_number(number: str, known: Collection[str]) -> list[str]:
    """The canonical numbers of one: `3-1` is one where the paper has it, else a range."""
    ends = [normalize_number(part) for part in fold_text(number).split("-")]
    if normalize_number(number) not in known and len(ends) == 2 and all(map(str.isdigit, ends)):
        first, last = map(int, ends)
        if 0 < last - first <= _LONGEST_RANGE:
            return [str(n) for n in range(first, last + 1)]
    return [normalize_number(number)]

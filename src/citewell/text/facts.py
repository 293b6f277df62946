"""What can be checked without a model: numbers with units, dates, negations and names of a text, in
one comparable form. Deterministic. The same text always yields the same facts.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import rjieba

from citewell.text.dates import MONTH_NAME, extract_dates
from citewell.text.numbers import find_measures, remove_measures

_NEGATORS_EN = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|cannot|unable|nobody|nothing|except|excluding|"
    r"excludes?|excluded|refuses?|refused|prohibited|forbidden|denied|lacks?|\w+n['’]t)\b",
    re.IGNORECASE,
)
_NEGATORS_ZH = re.compile(
    r"不(?!仅|但|只|同|断|少|久|过|论|管|锈|得不|如|及(?!时|格))|没有?|未(?!来)|"
    r"无(?!论|线|人机|锡|刷|尘|菌|铅)|非(?!常|洲)|禁止|严禁|除外|拒绝|勿|莫|并非|免除"
)
_WHETHER = re.compile(r"(\w)[不没]\1|有没有")  # 是不是, 能不能: they ask and deny nothing
_NAME_EN = re.compile(r"\b(?:[A-Z][A-Za-z0-9]*(?:[-'’.&][A-Za-z0-9]+)*|[a-z]+[A-Z]\w*)\b", re.ASCII)
# A-100, v2; not 50kg: that is a number with its unit
_CODE = re.compile(r"\b[A-Za-z]+-?\d[A-Za-z0-9-]*\b", re.ASCII)
_MONTH = re.compile(MONTH_NAME, re.IGNORECASE)
# jieba's tags of people, places, organisations
_CHINESE_NAMES = frozenset({"nr", "nrt", "ns", "nt"})
_LEAD = re.compile(r"^\W*(?:yes|no|是的?|不是|对|可以|不可以)\b[\s,.!，。！]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Facts:
    """`measures`: (number, unit or empty). `dates`: see `dates.py`. `names`: case-folded."""

    measures: frozenset[tuple[str, str]]
    dates: frozenset[str]
    negations: int
    names: frozenset[str]

    @property
    def numbers(self) -> frozenset[str]:
        return frozenset(number for number, _ in self.measures)

    def units(self, number: str) -> set[str]:
        """The units a number stands with, an empty one where it stands without."""
        return {unit for n, unit in self.measures if n == number}


@lru_cache(maxsize=4096)
def extract_facts(text: str) -> Facts:
    """All that the deterministic check compares."""
    text = unicodedata.normalize("NFKC", text)
    dates, rest = extract_dates(text)
    return Facts(
        frozenset(find_measures(rest)),
        frozenset(dates),
        count_negations(text),
        frozenset(extract_names(text)),
    )


def extract_figures(text: str) -> frozenset[str]:
    """Numbers and dates of a text."""
    known = extract_facts(text)
    return known.numbers | known.dates


def count_negations(text: str) -> int:
    """How many words of a text deny something."""
    return len(_NEGATORS_EN.findall(text)) + len(_NEGATORS_ZH.findall(_WHETHER.sub(" ", text)))


def extract_names(text: str) -> set[str]:
    """Capitalised words inside sentences, codes as `A-100`, Chinese names, case-folded."""
    found = {m.group().casefold() for m in _CODE.finditer(text)}
    for match in _NAME_EN.finditer(text):
        before = match.start()
        while before and text[before - 1] in " \"'“‘(（":
            before -= 1
        begins = not before or text[before - 1] in ".!?:;。！？：；\n"
        word = match.group()
        if _MONTH.fullmatch(word) or (
            begins and not any(c.isupper() or c.isdigit() for c in word[1:])
        ):
            continue
        if len(word) > 1:
            found.add(re.sub(r"['’]s$", "", word).casefold())
    if not text.isascii():
        found |= {
            word
            for word, tag in rjieba.tag(text)
            if tag in _CHINESE_NAMES and len(word) > 1 and not word.isascii()
        }
    return found


def strip_figures_and_negations(text: str) -> str:
    """The text without numbers, dates, negations and a leading yes or no, to compare."""
    rest = remove_measures(extract_dates(unicodedata.normalize("NFKC", text))[1])
    for pattern in (_LEAD, _NEGATORS_EN, _NEGATORS_ZH):
        rest = pattern.sub(" ", rest)
    return rest

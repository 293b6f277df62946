"""Numbers in both languages in one form, each with its unit where one is known: 14 days, fourteen
days, 十四天 are `14` `day`. Exact decimals as text; percent and decades are other numbers than the
bare figure ("12%", "1980s").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen "
    "eighteen nineteen"
)
_UNITS = {word: value for value, word in enumerate(_SMALL.split())}
_TENS = {
    w: 10 * (i + 2)
    for i, w in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    )
}
_SCALES = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
    "trillion": 10**12,
}
_HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_LONGEST = 1_000  # figures of a number that are read; Python refuses more than 4,300
_HAN = "".join(_HAN_DIGITS) + "".join(_HAN_SCALES)

_DIGITS = re.compile(
    r"(?<![A-Za-z0-9_.])(?<![A-Za-z]-)(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:\s*(%|percent\b|per "
    r"cent\b|[万亿百千]|million\b|billion\b|thousand\b)|(['’]?s\b|\s*年代))?",
    re.IGNORECASE,
)
_WORDS = re.compile(
    rf"(?<!\d)(?<!\d\s)\b(?:(?:{'|'.join([*_UNITS, *_TENS, *_SCALES])})(?:[\s-]+(?:and\s+)?)?)+\b",
    re.IGNORECASE | re.ASCII,
)
_HAN_NUMBER = re.compile(rf"(百分之)?([{_HAN}]+)(?:分之[{_HAN}]+)?")
# words in which a Han digit is no number
_IDIOMS = re.compile(
    r"一些|一般|一样|一直|一定|一起|一旦|一切|一致|一律|一并|一经|一方|一种|一个|一次性|唯一|"
    r"统一|同一|之一|进一步|逐一|万一|第三方|十分|三方|四周|九州|百姓|千万别|一下|一边|一带|"
    r"一家|一名|一位|一部|一座|一条|一项|每一|任一|某一|另一|哪一|这一|那一|上一|下一"
)

# Units that a figure may stand with; the first pattern that matches right behind (or, for
# currencies, before) it names it.
_UNIT_NAMES: tuple[tuple[str, str], ...] = (
    ("working day", r"(?:working|business)[\s-]days?\b|个?工作日"),
    ("day", r"(?:calendar[\s-])?days?\b|天|日(?!元)"),
    ("week", r"weeks?\b|周|个?星期"),
    ("month", r"months?\b|个月"),
    ("year", r"years?\b|年(?!代)"),
    ("hour", r"hours?\b|h\b|个?小时"),
    ("minute", r"minutes?\b|min\b|分钟"),
    ("second", r"seconds?\b|秒"),
    ("euro", r"euros?\b|€|eur\b|欧元"),
    ("dollar", r"(?:us )?dollars?\b|\$|usd\b|美元"),
    ("pound", r"pounds?\b|£|gbp\b|英镑"),
    ("yuan", r"yuan\b|rmb\b|cny\b|元|人民币"),
    ("kilometre", r"km\b(?!/)|kilomet(?:er|re)s?\b|公里|千米"),
    ("speed", r"km/h\b|公里/小时|公里每小时"),
    ("centimetre", r"cm\b|centimet(?:er|re)s?\b|厘米"),
    ("millimetre", r"mm\b|millimet(?:er|re)s?\b|毫米"),
    ("metre", r"m\b|met(?:er|re)s?\b|米"),
    ("kilogram", r"kg\b|kilogram(?:me)?s?\b|公斤|千克"),
    ("gram", r"g\b|gram(?:me)?s?\b|克(?!拉)"),
    ("litre", r"l\b|lit(?:er|re)s?\b|升"),
    ("volt", r"v\b|volts?\b|伏"),
    ("watt", r"w\b|watts?\b|瓦"),
)
_BEHIND = tuple(
    (name, re.compile(rf"[\s-]*(?:{pattern})", re.IGNORECASE)) for name, pattern in _UNIT_NAMES
)
_BEFORE = {"€": "euro", "$": "dollar", "£": "pound", "¥": "yuan", "￥": "yuan"}


def find_measures(text: str) -> Iterator[tuple[str, str]]:
    """Every (number, unit) of a text; the unit is empty where none is known."""
    for start, end, number in _find_numbers(text):
        before = _BEFORE.get(text[start - 1 : start]) or (
            "euro" if text[max(0, start - 8) : start].rstrip().endswith("EUR") else ""
        )
        yield number, before or _match_unit(text, end)[0]


def remove_measures(text: str) -> str:
    """The text with its numbers and their units blanked."""
    for start, end, _ in sorted(_find_numbers(text)):
        stop = _match_unit(text, end)[1]
        text = text[:start] + " " * (stop - start) + text[stop:]
    return text


def _match_unit(text: str, at: int) -> tuple[str, int]:
    """The unit that stands at `at` and where it ends."""
    found = ((name, match.end()) for name, pattern in _BEHIND if (match := pattern.match(text, at)))
    return next(found, ("", at))


def _find_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _DIGITS.finditer(text):
        digits, unit, decade = match.groups()
        yield (
            match.start(),
            match.end(),
            digits + "s"
            if decade
            else _scale_number(digits.replace(",", ""), (unit or "").lower()),
        )
    for match in _WORDS.finditer(text):
        value = _parse_number_words(match.group().lower())
        if value is not None:
            yield (
                match.start(),
                match.start() + len(match.group().rstrip(" -")),
                _format_decimal(Decimal(value)),
            )
    blanked = _IDIOMS.sub(lambda idiom: " " * len(idiom.group()), text)
    for match in _HAN_NUMBER.finditer(blanked):
        percent, figure = match.group(1), match.group(2)
        # 三分之二 is compared as words; a lone scale behind digits was taken with them
        # a lone 一 without a unit is an article, as a lone `one` is (一块电池)
        article = figure == "一" and not percent and not _match_unit(text, match.end())[0]
        if match.end() == match.end(2) and not set(figure) <= set("百千万亿") and not article:
            yield (
                match.start(),
                match.end(),
                _format_decimal(Decimal(parse_han_number(figure))) + ("%" if percent else ""),
            )


def _scale_number(digits: str, unit: str) -> str:
    value = Decimal(digits)
    if unit in {"%", "percent", "per cent"}:
        return _format_decimal(value) + "%"
    return _format_decimal(value * (_HAN_SCALES.get(unit) or _SCALES.get(unit) or 1))


def _format_decimal(value: Decimal) -> str:
    text = format(value.normalize(), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _parse_number_words(words: str) -> int | None:
    """`two hundred and five` -> 205, `a hundred` -> 100. A lone `one` gives None."""
    parts = [p for p in re.split(r"[\s-]+", words.strip()) if p and p != "and"]
    if parts in (["one"], []):
        return None
    total = current = 0
    for part in parts:
        if part in _SCALES:
            current = max(current, 1) * _SCALES[part]
            if _SCALES[part] >= 1_000:
                total, current = total + current, 0
        else:
            current += _UNITS.get(part, _TENS.get(part, 0))
    return total + current


def parse_han_number(text: str) -> int:
    """二〇二四 -> 2024, 三百五十 -> 350, 十二 -> 12, 一万两千 -> 12000."""
    if not any(c in _HAN_SCALES for c in text):
        return int("".join(str(_HAN_DIGITS[c]) for c in text[:_LONGEST]))
    total = section = digit = 0
    for char in text:
        if char in _HAN_DIGITS:
            digit = _HAN_DIGITS[char]
        elif _HAN_SCALES[char] >= 10_000:
            total, section, digit = (total + section + digit) * _HAN_SCALES[char], 0, 0
        else:
            section, digit = section + (digit or 1) * _HAN_SCALES[char], 0
    return total + section + digit

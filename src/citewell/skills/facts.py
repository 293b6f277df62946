"""What can be checked without a model: numbers, dates, negations and names in a text, in one comparable form.

`14 days`, `fourteen days`, `十四天` all hold the number 14; `2024年5月1日`, `May 1, 2024`, `2024-05-01` are one date.
The one rule: deterministic. The same text always yields the same facts.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

_UNITS = {
    w: i
    for i, w in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
}
_UNITS |= {w: i + 13 for i, w in enumerate(["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"])}
_TENS = {w: 10 * (i + 2) for i, w in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"])}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 10**12}
_HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_MONTHS = {m: i + 1 for i, m in enumerate(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])}

_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATES = (
    re.compile(r"(?P<y>\d{4})\s*[-/.年]\s*(?P<m>\d{1,2})\s*[-/.月]\s*(?P<d>\d{1,2})\s*[日号]?"),
    re.compile(rf"(?P<mon>{_MONTH})\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:\s*,?\s+(?P<y>\d{{4}}))?\b", re.IGNORECASE),
    re.compile(
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<mon>{_MONTH})(?:\s*,?\s+(?P<y>\d{{4}}))?\b", re.IGNORECASE
    ),
    re.compile(r"(?:(?P<y>\d{4})\s*年\s*)?(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]"),
)
_DIGITS = re.compile(
    r"(?<![A-Za-z0-9_.])(?<![A-Za-z]-)(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:\s*(%|percent|per cent|[万亿百千]|million|billion|thousand)|(s\b|\s*年代))?",
    re.IGNORECASE,
)
_HAN_NUMBER = re.compile(r"(百分之)?([零〇一二两三四五六七八九十百千万亿]+)(?:分之([零〇一二两三四五六七八九十百千万亿]+))?")
_WORD_NUMBER = re.compile(
    r"(?<!\d)(?<!\d\s)\b(?:(?:{units}|{tens}|{scales})(?:[\s-]+(?:and\s+)?)?)+\b".format(
        units="|".join(_UNITS), tens="|".join(_TENS), scales="|".join(_SCALES)
    ),
    re.IGNORECASE | re.ASCII,
)
_HAN_DIGIT_RUN = re.compile(r"[零〇一二两三四五六七八九十百千万亿]+")
# words in which a Han digit is no number: 一些, 一般, 统一, 第三方, 万一, 十分 ...
_HAN_IDIOMS = re.compile(
    r"一些|一般|一样|一直|一定|一起|一旦|一切|一致|一律|一并|一经|一方|一种|一个|一次性|唯一|统一|同一|之一|"
    r"进一步|逐一|万一|第三方|十分|三方|四周|九州|百姓|千万别|一下|一边|一带|一家|一名|一位|一部|一座|一条|一项|每一|任一|某一|另一"
)

_NEGATORS_EN = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|cannot|unable|nobody|nothing|except|excluding|excludes?|excluded|"
    r"refuses?|refused|prohibited|forbidden|denied|lacks?|\w+n['’]t)\b",
    re.IGNORECASE,
)
_NEGATORS_ZH = re.compile(
    r"不(?!仅|但|只|同|断|少|久|过|论|管|锈|得不)|没有?|未(?!来)|无(?!论|线|人机|锡|刷|尘|菌|铅)|非(?!常|洲)|禁止|严禁|除外|拒绝|勿|莫|并非|免除"
)
_NAME_EN = re.compile(r"\b(?:[A-Z][A-Za-z0-9]*(?:[-'’.&][A-Za-z0-9]+)*|[a-z]+[A-Z]\w*)\b", re.ASCII)
_CODE = re.compile(r"\b[A-Za-z]+-?\d[A-Za-z0-9-]*\b", re.ASCII)  # A-100, v2; not 50kg: that is a number with its unit


@dataclass(frozen=True, slots=True)
class Facts:
    """`numbers`: exact decimals as text, percent and decades kept apart ("12%", "1980s"). `dates`: "2024-05-01" or "--05-01" without a year."""

    numbers: frozenset[str]
    dates: frozenset[str]
    negations: int
    names: frozenset[str]


def facts(text: str) -> Facts:
    """All that the deterministic check compares."""
    text = unicodedata.normalize("NFKC", text)
    dates, rest = _take_dates(text)
    return Facts(frozenset(_numbers(rest)), frozenset(dates), negations(text), frozenset(names(text)))


def negations(text: str) -> int:
    """How many words of a text deny something."""
    return len(_NEGATORS_EN.findall(text)) + len(_NEGATORS_ZH.findall(text))


def names(text: str) -> set[str]:
    """Capitalised words that do not merely begin a sentence, and codes such as `A-100`, case-folded."""
    found = {m.group().casefold() for m in _CODE.finditer(text)}
    for match in _NAME_EN.finditer(text):
        before = text[: match.start()].rstrip(" \"'“‘(（")
        begins = not before or before[-1] in ".!?:;。！？：；\n"
        word = match.group()
        if word[:3].lower() in _MONTHS or (begins and not any(c.isupper() or c.isdigit() for c in word[1:])):
            continue
        if len(word) > 1:
            found.add(re.sub(r"['’]s$", "", word).casefold())
    return found


_LEAD = re.compile(r"^\W*(?:yes|no|是的?|不是|对|可以|不可以)\b[\s,.!，。！]*", re.IGNORECASE)


def plain_words(text: str) -> str:
    """The text without its numbers, dates, negations and a leading yes or no: what is compared word by word."""
    _, rest = _take_dates(unicodedata.normalize("NFKC", text))
    for pattern in (_LEAD, _DIGITS, _WORD_NUMBER, _NEGATORS_EN, _NEGATORS_ZH):
        rest = pattern.sub(" ", rest)
    return _HAN_DIGIT_RUN.sub(" ", rest)


def _take_dates(text: str) -> tuple[set[str], str]:
    dates: set[str] = set()

    def take(match: re.Match[str]) -> str:
        parts = match.groupdict()
        month = _MONTHS[parts["mon"][:3].lower()] if parts.get("mon") else int(parts["m"])
        day, year = int(parts["d"]), parts.get("y")
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return match.group()
        dates.add(f"{year or '-'}-{month:02}-{day:02}")
        return " "

    for pattern in _DATES:
        text = pattern.sub(take, text)
    return dates, text


def _numbers(text: str) -> set[str]:
    found: set[str] = set()
    for digits, unit, decade in _DIGITS.findall(text):
        found.add(digits + "s" if decade else _scaled(digits.replace(",", ""), unit.lower()))
    for match in _WORD_NUMBER.finditer(text):
        value = _words_value(match.group().lower())
        if value is not None:
            found.add(_plain(Decimal(value)))
    for percent, upper, lower in _HAN_NUMBER.findall(_HAN_IDIOMS.sub(" ", text)):
        if lower and not percent:
            continue  # 三分之二: a fraction is compared as words
        if set(upper) <= set("百千万亿"):
            continue  # a scale behind digits was taken with them
        found.add(_plain(Decimal(_han_value(upper))) + ("%" if percent else ""))
    return found


def _scaled(digits: str, unit: str) -> str:
    try:
        value = Decimal(digits)
    except InvalidOperation:
        return digits
    if unit in {"%", "percent", "per cent"}:
        return _plain(value) + "%"
    return _plain(value * (_HAN_SCALES.get(unit) or _SCALES.get(unit) or 1))


def _plain(value: Decimal) -> str:
    text = format(value.normalize(), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _words_value(words: str) -> int | None:
    """`two hundred and five` -> 205, `a hundred` -> 100. A lone `one` is more often a pronoun than a number: None."""
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


def _han_value(text: str) -> int:
    """二〇二四 -> 2024, 三百五十 -> 350, 十二 -> 12, 一万两千 -> 12000."""
    if not any(c in _HAN_SCALES for c in text):
        return int("".join(str(_HAN_DIGITS[c]) for c in text))
    total = section = digit = 0
    for char in text:
        if char in _HAN_DIGITS:
            digit = _HAN_DIGITS[char]
        elif _HAN_SCALES[char] >= 10_000:
            total, section, digit = (total + section + digit) * _HAN_SCALES[char], 0, 0
        else:
            section, digit = section + (digit or 1) * _HAN_SCALES[char], 0
    return total + section + digit

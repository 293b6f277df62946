"""What is said of a whole table (lowest, only, all) and a single row of it cannot show: 4.5 is a rating, not the lowest.

The one rule: rows of tables only, and only a word that neither they nor their headings say.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from citewell.skills.row_reading import as_read
from citewell.skills.table_rows import cells, is_row

# What a claim says, and what in a quote says the same: English twice, then Chinese twice.
_SAID: tuple[tuple[str, str, str, str], ...] = (
    ("highest|most|largest|biggest|greatest", "highest|most|largest|biggest|greatest|max|maximum|top", "最[高大多强]", ""),
    ("lowest|least|fewest|smallest", "lowest|least|fewest|smallest|min|minimum|bottom|cheapest", "最[低少小弱]", "最便宜"),
    ("cheapest", "cheapest|lowest|least", "最便宜", "最低"),
    ("dearest|priciest|costliest", "dearest|priciest|costliest|highest|most|max|maximum", "最贵", "最高"),
    ("best", "best|top|highest", "最[好佳优]", "最高"),
    ("worst", "worst|lowest|bottom", "最[差坏]", "最低"),
    ("longest|tallest", "longest|tallest|highest|max|maximum", "最长", ""),
    ("shortest", "shortest|lowest|min|minimum", "最短", ""),
    ("oldest|earliest|first of (?:all|the)", "oldest|earliest|first", "最[早老旧]|首[个家]", "第一"),
    ("newest|latest|youngest|last of (?:all|the)", "newest|latest|youngest|last", "最[新晚]|最年轻|最后一[个家名]", "最后"),
    ("fastest|quickest", "fastest|quickest|max|maximum|top", "最快", ""),
    ("slowest", "slowest|min|minimum", "最慢", ""),
    ("heaviest|strongest|widest|deepest", "heaviest|strongest|widest|deepest|max|maximum", "最[重宽深]", ""),
    ("lightest|weakest|narrowest", "lightest|weakest|narrowest|min|minimum", "最[轻窄]", ""),
    ("nearest|closest", "nearest|closest", "最接近", "最近"),
    ("farthest|furthest", "farthest|furthest", "最远", ""),
    ("all|every|everyone|everybody", "all|every|everyone|everybody|each|any|whole|entire", "所有|全部|一切", "任何|[每各均都]"),
    (
        "only|sole",
        "only|sole|solely|single|unique|exclusive|exclusively",
        "唯一|只有(?![\\d一二两三四五六七八九十百])",
        "只有|仅|独家",
    ),
)
_PATTERNS = tuple(
    (re.compile(rf"\b(?:{english})\b|{han}"), re.compile(rf"\b(?:{same})\b|{han}" + (f"|{also}" if also else "")))
    for english, same, han, also in _SAID
)
# "At most 520" and 最多报销520元 are limits, no superlatives.
_FIGURE = r"[\d一二两三四五六七八九十百半]"
_LIMITS = re.compile(
    r"\bat (?:the )?(?:very )?(?:most|least|best|worst|latest|earliest)\b|\b(?:at|after|above) all\b|\ball day\b"
    r"|\bfirst of all,|\bonly [€$£¥]?\d"
    r"|\bevery (?:\d+|other|two|three|few|second|minute|hour|day|night|week|month|quarter|year)\b"
    rf"|最[多少](?=[^，。；、,;的是为]{{0,6}}{_FIGURE})|最[高低长短大小早晚快](?=可|能|不[超得低高多少早晚])",
    re.IGNORECASE,
)


def said_of_all(claim: str, quotes: Sequence[str], context: str) -> str:
    """The word of `claim` that speaks of all rows of a table, where a row is quoted for it and no quote nor heading says it;
    empty where there is none.
    """
    if not any(is_row(quote) and any(label for label, _ in cells(quote)) for quote in quotes):
        return ""
    said = _LIMITS.sub(" ", _plain(claim))
    there = _plain("\n".join([*map(as_read, quotes), context]))
    for claimed, proof in _PATTERNS:
        if (word := claimed.search(said)) and not proof.search(there):
            return word.group()
    return ""


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()

"""Dates in both languages in one form: `2024-05-01`, `2024-05` without a day, `--05-01` without a
year. A date may be less exact than its proof, never more.
"""

from __future__ import annotations

import re

MONTHS = {
    m: i + 1
    for i, m in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    )
}
MONTH_NAME = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_MONTH = rf"\b(?P<mon>{MONTH_NAME})\.?"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?\b"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<y>\d{4})\s*[-/.年]\s*(?P<m>\d{1,2})\s*[-/.月]\s*(?P<d>\d{1,2})\s*[日号]?",
        rf"{_MONTH}\s+{_DAY}(?:(?:\s*,)?\s+(?P<y>\d{{4}})\b)?",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:(?:\s*,)?\s+(?P<y>\d{{4}})\b)?",
        rf"{_MONTH}(?:\s*,)?\s+(?:of\s+)?(?P<y>\d{{4}})\b",
        r"(?:(?P<y>\d{4})\s*年\s*)?(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]",
        r"(?P<y>\d{4})\s*年\s*(?P<m>\d{1,2})\s*月",
    )
)


def extract_dates(text: str) -> tuple[set[str], str]:
    """The dates of a text, and the text without them."""
    dates: set[str] = set()

    def take(match: re.Match[str]) -> str:
        parts = match.groupdict()
        month = MONTHS[parts["mon"][:3].lower()] if parts.get("mon") else int(parts["m"])
        day = int(parts["d"]) if parts.get("d") else None
        if not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
            return match.group()
        dates.add(f"{parts.get('y') or '-'}-{month:02}" + (f"-{day:02}" if day else ""))
        return " "

    for pattern in _DATES:
        text = pattern.sub(take, text)
    return dates, text

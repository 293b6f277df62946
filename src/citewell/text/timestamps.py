"""Dates as files write them, to seconds since the epoch: ISO 8601, mail headers, 2024年5月1日,
2024/5/1, 5 May 2024. A date that is not sure is none. Without a zone it is read as UTC, without a
day as the first of the month.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_LONGEST: Final = 60
_YMD = re.compile(
    r"(?P<y>\d{4})\s*[-/.年]\s*(?P<m>\d{1,2})(?:\s*[-/.月]\s*(?P<d>\d{1,2})\s*日?)?(?:\s*月)?\b",
    re.ASCII,
)
_COMPACT = re.compile(r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)", re.ASCII)
_YEAR = re.compile(r"\d{4}", re.ASCII)
_WORDS: Final = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%B %Y", "%b %Y")


def parse_timestamp(text: str) -> float | None:
    """When `text` says it is, in seconds since the epoch; None where it is no date."""
    text = " ".join(text.split())
    if not 4 <= len(text) <= _LONGEST:
        return None
    for read in (_parse_iso_date, parsedate_to_datetime, _parse_numeric_date, _parse_named_date):
        with suppress(ValueError, TypeError, OverflowError, IndexError):
            when = read(text)
            return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    return None


def _parse_iso_date(text: str) -> datetime:
    return (
        datetime(int(text), 1, 1, tzinfo=UTC)
        if _YEAR.fullmatch(text)
        else datetime.fromisoformat(text)
    )


def _parse_numeric_date(text: str) -> datetime:
    match = _YMD.match(text) or _COMPACT.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return datetime(int(match["y"]), int(match["m"]), int(match["d"] or 1), tzinfo=UTC)


def _parse_named_date(text: str) -> datetime:
    for form in _WORDS:
        with suppress(ValueError):
            return datetime.strptime(text, form).replace(tzinfo=UTC)
    raise ValueError(text)


def find_first_timestamp(texts: list[str]) -> float | None:
    """The first of `texts` that is a date."""
    return next((when for text in texts if (when := parse_timestamp(text)) is not None), None)

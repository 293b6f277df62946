"""What a PDF says about itself: title, outline, date. What a program made up (a file name as title,
a date of the future) does not count.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import Any, Final

from citewell.ingest.assemble import clean_text
from citewell.ingest.pdf.headings import Mark
from citewell.ingest.pdf.lines import Line, compute_body_size

_JUNK_TITLE = re.compile(
    r"untitled|无标题|\S+\.(?:tex|dvi|indd|ps)|slide 1|title"
    r"|.+\.(?:docx?|pptx?|xlsx?|od[tps]|wps|pdf|rtf|x?html?|md|txt|png|jpe?g|tiff?|bmp)",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?)?"
)
_EARLIEST: Final = 1985  # before PDF, and what it was made from, could be
_DAY: Final = 86_400
_TITLE_LARGER: Final = 1.2  # times the size of the text
_TITLE_PART: Final = 0.6  # of the page: what is large farther down is a signature or a figure
_TITLE_LEADING: Final = 2.2  # times its size from one line of a title down to the next, at most
_TITLE_LINES: Final = 4
_MOST_MARKS: Final = 5_000
_DEEPEST_MARK: Final = 8


def get_date(pdf: Any) -> float | None:
    """When the file was last changed, else made (seconds since the epoch); None if not credible."""
    for key in ("ModDate", "CreationDate"):
        when = parse_pdf_date(pdf.get_metadata_value(key))
        if when is not None:
            return when
    return None


def parse_pdf_date(text: str) -> float | None:
    """A PDF's date (`D:20240501093000+08'00'`) in seconds since the epoch."""
    match = _DATE.match(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second = (
        int(part) if part else least
        for part, least in zip(match.groups()[:6], (0, 1, 1, 0, 0, 0), strict=True)
    )
    sign, hours, minutes = match.groups()[7:]
    away = timedelta(hours=int(hours), minutes=int(minutes or 0)) if sign else timedelta()
    try:
        zone = timezone(-away if sign == "-" else away) if sign else UTC
        when = datetime(year, month, day, hour, minute, second, tzinfo=zone).timestamp()
    except (ValueError, OverflowError):
        return None
    return when if year >= _EARLIEST and when < time.time() + _DAY else None


def read_outline(pdf: Any) -> list[Mark]:
    """The outline in order; entries that point nowhere are left out."""
    found: list[Mark] = []
    for bookmark in pdf.get_toc(max_depth=_DEEPEST_MARK):
        if len(found) >= _MOST_MARKS:
            break
        target = bookmark.get_dest()
        index = target.get_index() if target is not None else None
        title = " ".join(clean_text(bookmark.get_title()).split())
        if index is not None and title:
            mode, place = target.get_view()
            found.append(Mark(bookmark.level + 1, title, index + 1, _get_height(mode, place)))
    return sorted(found, key=lambda mark: mark.page)


def _get_height(mode: int, place: Sequence[float]) -> float | None:
    """The y of a destination: the second figure of XYZ, the first of FitH; others have none."""
    if mode == 1 and len(place) > 1:
        return place[1]
    return place[0] if mode == 3 and place else None


def choose_title(stated: str, lines: Sequence[Line]) -> str:
    """The metadata's title unless a program made it, else the largest type of the first page."""
    stated = stated.strip().removeprefix("Microsoft Word - ")
    if stated and not _JUNK_TITLE.fullmatch(stated):
        return stated
    first = [
        line for line in lines if line.page == lines[0].page and not line.row and not line.aside
    ]
    if not first:
        return ""
    upper = [line for line in first if line.box[1] < _TITLE_PART]
    largest = max((line.size for line in upper), default=0.0)
    titles = [line for line in first if line.size == largest]
    if largest >= _TITLE_LARGER * compute_body_size(lines) and len(titles) <= _TITLE_LINES:
        apart = (n for n, (one, two) in enumerate(pairwise(titles), 1) if _is_apart(one, two))
        return " ".join(line.text for line in titles[: next(apart, None)])
    return first[0].text if first[0].bold and len(first[0].text) < 100 and len(lines) > 1 else ""


def _is_apart(one: Line, two: Line) -> bool:
    """Whether the second is set further down than a title goes on: a heading of its type."""
    return one.y0 - two.y0 > _TITLE_LEADING * one.size

"""Which pages a question names, as the file counts them or as they are printed, and what stands at
the top or bottom of one. A printed number is mapped only where the paper itself says which pages it
fills, and that agrees with its length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from citewell.ingest.paper.shape import Float, FloatKind
from citewell.skills.paper.found_references import Found
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.reference_numbers import NUMBER, fold_text, normalize_number

_PAGE = re.compile(
    r"\b(?:pages?|pp?\.)\s*(?P<first>\d{1,5})"
    r"(?:\s*(?:-|to|and|,|&)\s*(?P<last>\d{1,5})(?!\s*[A-Za-z%]))?"
    rf"|第\s*(?P<han>\d{{1,5}}|{NUMBER})\s*(?:[-到至和、]\s*第?\s*(?P<han_last>\d{{1,5}})\s*)?页",
    re.IGNORECASE,
)
_FILLS = re.compile(
    r"\b(?:pages?|pp?\.)\s*:?\s*(\d{1,5})\s*-\s*(\d{1,5})\b|"
    r"(?<!\d)(\d{1,5})\s*-\s*(\d{1,5})\s*页|:\s?(\d{1,5})-(\d{1,5})\b",
    re.IGNORECASE,
)
_THERE = re.compile(
    r"(?P<kind>figure|table|chart|diagram|graph)s?\s+(?:[A-Za-z]+\s+){0,2}?(?:at|on|in|"
    r"of)\s+(?:the\s+)?"
    r"(?:(?P<where>top|upper|bottom|lower)\s*(?:half|part|end)?\s*(?:of|on|in)\s+(?:the\s+)?)?$",
    re.IGNORECASE,
)
_THERE_HAN = re.compile(
    r"^\s*(?:的|上|中|里)*(?P<where>顶部|上方|上部|上半部?分?|底部|下方|下部|下半部?分?)?(?:的|"
    r"那|个|张|幅)*(?P<kind>图|表)"
)
_FOLIO = re.compile(r"\d{1,5}")
BEFORE: Final = 80  # characters before or behind a page that may say what stands there
# of the page's height: a float that begins above the one is at the top, one that ends below the
# other at the bottom
TOP, BOTTOM = 0.4, 0.6


def find_pages(question: str, book: OpenPaper) -> Found:
    """Numbers of the file's pages, from 1."""
    found = Found()
    if not book.document.pages:
        return found
    for match in _PAGE.finditer(question):
        first = _get_first_number(match)
        last = int(match["last"] or match["han_last"] or first)
        joined = "and" in match[0] or any(sign in match[0] for sign in ",&和、")
        asked = [first, last] if joined else range(first, min(last, first + 50) + 1)
        for number in dict.fromkeys(asked):
            page = resolve_page(number, book)
            if page:
                found.add([page], match.span())
            else:
                found.add_missing("page", str(number), match.span())
    return found


def resolve_page(number: int, book: OpenPaper) -> int | None:
    """The page of the file that a number means: its own count first, then the printed one."""
    count = len(book.document.pages)
    if 1 <= number <= count:
        return number
    first = find_first_printed_page(book)
    return number - first + 1 if first is not None and first <= number < first + count else None


def find_first_printed_page(book: OpenPaper) -> int | None:
    """The first page's printed number: by `pages 6981-7004` fitting the count, or folios."""
    document, count = book.document, len(book.document.pages)
    entries = [part for part in book.paper.parts if part.role == "references"]
    ends_early = min((part.start for part in entries), default=len(document.text))
    opening = document.pages[min(1, count - 1)].end if count else 0
    for match in _FILLS.finditer(fold_text(document.text[: min(opening, ends_early)])):
        first, last = (int(number) for number in match.groups() if number)
        if last - first + 1 == count > 1:
            return first
    return _infer_from_folios(book)


def _infer_from_folios(book: OpenPaper) -> int | None:
    """Where most pages begin or end with a line that is a number only, and these run on."""
    shifts: Counter[int] = Counter()
    for page in book.document.pages:
        lines = book.document.text[page.start : page.end].strip().split("\n")
        ends = {lines[0].strip(), lines[-1].strip()}
        shifts.update({int(line) - page.number for line in ends if _FOLIO.fullmatch(line)})
    shift, seen = next(iter(shifts.most_common(1)), (0, 0))
    return shift + 1 if seen >= 3 and seen > len(book.document.pages) / 2 else None


def find_floats_on_pages(question: str, found: Found, book: OpenPaper) -> Found:
    """`the figure at the top of page 5`, `第5页的表`: that page's floats, or missing."""
    there = Found()
    for match in _PAGE.finditer(question):
        before = _THERE.search(question, max(0, match.start() - BEFORE), match.start())
        behind = _THERE_HAN.match(question[match.end() : match.end() + BEFORE])
        said = before or behind
        page = resolve_page(_get_first_number(match), book)
        if not said or page is None or page not in found.targets:
            continue
        kind: FloatKind = "table" if said["kind"].lower() in {"table", "表"} else "figure"
        floats = enumerate(book.paper.floats)
        at = [i for i, each in floats if each.kind == kind and each.page == page]
        if half := said["where"]:
            at = _find_in_half(at, half, book)
        span = (before.start() if before else match.start(), match.end())
        if at:
            there.add(at, span)
        else:
            end = match.end() + (behind.end() if behind else 0)
            there.add_missing(kind, question[span[0] : end].strip(), span)
    return there


def _find_in_half(indexes: Sequence[int], half: str, book: OpenPaper) -> list[int]:
    """Of a page's floats those that stand nearest to that end of it, side by side or alone; all
    where nothing says where they lie.
    """
    top = bool(re.match("top|upper|顶|上", half, re.IGNORECASE))
    lies = {i: _find_extent(book.paper.floats[i], book) for i in indexes}
    known = {i: extent for i, extent in lies.items() if extent is not None}
    if len(known) < len(lies):
        return list(indexes)
    reach = [i for i, (y0, y1) in known.items() if (y0 < TOP if top else y1 > BOTTOM)]
    if not reach:
        return []
    edge = min(known[i][1] for i in reach) if top else max(known[i][0] for i in reach)
    return [i for i in reach if (known[i][0] < edge if top else known[i][1] > edge)]


def _find_extent(each: Float, book: OpenPaper) -> tuple[float, float] | None:
    """Where it begins and ends on its page, in shares of the height; None where nothing tells."""
    boxes = [
        box
        for box in book.document.boxes
        if box.page == each.page and any(a < box.end and box.start < b for a, b in each.spans)
    ]
    return (min(b.y0 for b in boxes), max(b.y1 for b in boxes)) if boxes else None


def _get_first_number(match: re.Match[str]) -> int:
    digits = match["first"] or normalize_number(match["han"])
    return int(digits) if digits.isdigit() else 0

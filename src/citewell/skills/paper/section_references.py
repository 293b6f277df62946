"""Which sections a question names by number; what it says of them otherwise is for the search. A
number that the paper does not have is missing.
"""

from __future__ import annotations

import re

from citewell.ingest.paper.shape import Part
from citewell.skills.paper.found_references import Found
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.reference_numbers import fold_text, normalize_number, parse_numbers_at

_NUMBERED = re.compile(
    r"(?P<plural>\b(?:sections|secs\.|chapters|appendices|appendixes)|§§)\s*(?=[\dA-Z])"
    r"|(?:\b(?P<one>(?:sub)?section|sec\.|chapter|appendix)|(?P<sign>§))\s*(?=[\dA-Z])|"
    r"(?P<han>附录)\s*(?=[A-Z\d一二三四五])",
    re.IGNORECASE,
)
_NTH = re.compile(
    r"第\s*(?P<nth>\d{1,2}(?:\.\d{1,2})*|[一二三四五六七八九十]{1,3})"
    r"(?:\s*(?P<to>[-~到至])\s*第?(?P<last>\d{1,2}|[一二三四五六七八九十]{1,3}))?\s*"
    r"(?:章节?|小?节|部分)"
    r"|(?<![\d.])(?P<dotted>\d{1,2}(?:\.\d{1,2})+)\s*(?:小?节|部分)"
)
_LETTER = re.compile(r"([A-Z])(?![\w.])")
_HEADED = re.compile(
    r"(?:(?:section|chapter|appendix)\s+)?(?P<number>\d{1,2}(?:\.\d{1,2})*|[A-Z](?:\.\d{1,2})*|"
    r"[IVX]{1,5})(?P<dot>[.:)]?)(?=\s)|第\s*(?P<nth>\d{1,2}|[一二三四五六七八九十]{1,3})\s*[章节]|"
    r"(?P<han>[一二三四五六七八九十]{1,3})\s*[、.]|附录\s*(?P<appendix>[A-Z一二三四五\d])|"
    r"(?P<close>\d{1,2}(?:\.\d{1,2})*)(?=[\u4e00-\u9fff])",
    re.IGNORECASE,
)


def find_sections(question: str, book: OpenPaper) -> Found:
    """Indexes of `paper.parts`; a section is all of its subsections too."""
    found = Found()
    numbers = get_section_numbers(book.paper.parts)
    for match in _NUMBERED.finditer(question):
        appendix = bool(re.search("append|附录", match[0], re.IGNORECASE))
        asked, end = parse_numbers_at(question, match.end(), plural=bool(match["plural"]))
        letter = None if asked else _LETTER.match(question, match.end())
        if letter and (appendix or match["sign"] or letter[1] != "I"):
            asked, end = [letter[1]], letter.end()
        for number in asked:
            _find_by_number(found, number, (match.start(), end), numbers, book, appendix=appendix)
    for match in _NTH.finditer(question):
        first, last = match["nth"] or match["dotted"], match["last"]
        number = f"{normalize_number(first)}-{normalize_number(last)}" if last else first
        _find_by_number(found, number, match.span(), numbers, book)
    found.targets.sort()
    return found


def get_section_numbers(parts: tuple[Part, ...]) -> list[str]:
    """Each part's canonical number by its heading, or empty. `A.` under `II.` is `2.A`."""
    found: list[str] = []
    by_path: dict[tuple[str, ...], str] = {}
    for part in parts:
        number = _parse_heading_number(part)
        above = by_path.get(part.heading_path[:-1], "")
        if number.isalpha() and above and not part.appendix:
            number = f"{above}.{number}"
        by_path.setdefault(part.heading_path, number)
        found.append(number)
    return found


def list_subsections(index: int, book: OpenPaper) -> list[int]:
    """A part and those of its subsections."""
    parts, path = book.paper.parts, book.paper.parts[index].heading_path
    if not path:
        return [index]
    return [
        i for i, part in enumerate(parts) if i >= index and part.heading_path[: len(path)] == path
    ]


def _parse_heading_number(part: Part) -> str:
    match = _HEADED.match(fold_text(part.heading).strip())
    if not match:
        return ""
    number = next(group for name, group in match.groupdict().items() if group and name != "dot")
    if number.isalpha() and number.isascii():
        # `A Survey of ...`, `I Robot`: no number, save in an appendix
        lone = match["number"] and not match["dot"]
        if (
            lone and not part.appendix and not re.fullmatch("[IVX]{2,}", number)
        ) or number != number.upper():
            return ""
        if part.appendix:
            return number
    return normalize_number(number)


def _find_by_number(
    found: Found,
    number: str,
    span: tuple[int, int],
    numbers: list[str],
    book: OpenPaper,
    *,
    appendix: bool = False,
) -> None:
    """`3` takes 3.1 and 3.2 with it; `3-5` is each of them."""
    ends = [normalize_number(part) for part in number.split("-")]
    asked = [normalize_number(number)]
    if len(ends) == 2 and all(end.isdigit() for end in ends) and int(ends[0]) < int(ends[1]):
        asked = [str(n) for n in range(int(ends[0]), int(ends[1]) + 1)]
    for each in asked:
        wanted = {each, fold_text(number).upper()} if appendix else {each}
        at = [
            i
            for i, (known, part) in enumerate(zip(numbers, book.paper.parts, strict=True))
            if any(_is_number_within(known, one) for one in wanted)
            and (not appendix or part.appendix or "附录" in part.heading)
        ]
        if at:
            found.add([sub for i in at for sub in (i, *list_subsections(i, book))], span)
        else:
            label = f"Appendix {fold_text(number).upper()}" if appendix else each
            found.add_missing("section", label, span)


def _is_number_within(known: str, wanted: str) -> bool:
    alike = known == wanted or (wanted[0].isalpha() and known == wanted.replace(".", ""))
    return alike or known.startswith(f"{wanted}.")

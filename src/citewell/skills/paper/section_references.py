"""Which sections a question names: by number, by what they are for ("the limitations section"), by
their headings' words.

The one rule: a word that only might name a section does so where the question says that it is one:
`section`, `in the`, quotes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from citewell.ingest.paper.shape import Part, Role
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
    r"[IVX]{1,5})(?P<dot>[.:)]?)(?=\s)"
    r"|第\s*(?P<nth>\d{1,2}|[一二三四五六七八九十]{1,3})\s*[章节]|"
    r"(?P<han>[一二三四五六七八九十]{1,3})\s*[、.]"
    r"|附录\s*(?P<appendix>[A-Z一二三四五\d])|(?P<close>\d{1,2}(?:\.\d{1,2})*)(?=[\u4e00-\u9fff])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Name:
    """How a section of a kind is asked for and headed. `place`: `in the ...` alone names it."""

    english: str
    chinese: str
    role: Role | None
    place: bool = True


_NAMES: Final = (
    _Name(r"abstract", r"摘要", "abstract"),
    _Name(r"introduction|intro", r"引言|绪论|前言|导言", "introduction"),
    _Name(
        r"related works?|background|literature review|prior work",
        r"相关工作|相关研究|文献综述|研究现状|研究背景",
        "related_work",
    ),
    _Name(r"methods?|methodology|methodologies|approach", r"方法", "method", place=False),
    _Name(r"experiments?|experimental", r"实验", "results", place=False),
    _Name(r"results?|evaluation|findings", r"结果", "results", place=False),
    _Name(r"discussions?", r"讨论", "discussion"),
    _Name(r"limitations?", r"局限性?|不足", "discussion"),
    _Name(r"conclusions?|concluding remarks", r"结论|结语|总结", "discussion"),
    _Name(r"future work|outlook", r"未来工作|展望", "discussion"),
    _Name(r"ethics(?: statement)?|ethical considerations", r"伦理", None),
    _Name(r"acknowledge?ments?", r"致谢", None),
    _Name(r"references|bibliography", r"参考文献", "references", place=False),
)
_BEHIND = r"(?:'s)?\s+(?:section|chapter|part|paragraph)s?\b(?!\s*\d)"
_OF_PAPER = (
    r"(?!\s*(?:of|for|to|that|between)\b(?!\s+(?:the|this)\s+(?:paper|article|work|study|thesis)))"
)
_APPENDIX = re.compile(
    r"\b(?:in|from|of)\s+the\s+appendi(?:x|ces)\b(?!\s*[A-Z\d]\b)|附录(?:中|里|部分)", re.IGNORECASE
)
_WORDS_BEFORE: Final = 12  # words of a heading that are looked for: longer ones are not typed


def find_sections(question: str, book: OpenPaper) -> Found:
    """Indexes of `paper.parts`; a section is all of its subsections too."""
    found = Found()
    numbers = get_section_numbers(book.paper.parts)
    for match in _NUMBERED.finditer(question):
        appendix = bool(re.search("append|附录", match[0], re.IGNORECASE))
        asked, end = parse_numbers_at(question, match.end(), plural=bool(match["plural"]))
        if (
            not asked
            and (letter := _LETTER.match(question, match.end()))
            and (appendix or match["sign"] or letter[1] != "I")
        ):
            asked, end = [letter[1]], letter.end()
        for number in asked:
            _find_by_number(found, number, (match.start(), end), numbers, book, appendix=appendix)
    for match in _NTH.finditer(question):
        last = f"-{normalize_number(match['last'])}" if match["last"] else ""
        _find_by_number(
            found,
            (normalize_number(match["nth"]) if last else match["nth"] or match["dotted"]) + last,
            match.span(),
            numbers,
            book,
        )
    _find_by_heading(found, question, book)
    _find_by_name(found, question, book)
    found.targets.sort()
    return found


def get_section_numbers(parts: tuple[Part, ...]) -> list[str]:
    """Each part's number as its heading gives it, canonical; empty where it gives none. `A.` under
    `II.` is `2.A`.
    """
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


def strip_section_number(heading: str) -> str:
    """A heading without its number."""
    folded = fold_text(heading).strip()
    match = _HEADED.match(folded)
    return folded[match.end() :].strip(" .:、") if match else folded


def list_subsections(index: int, book: OpenPaper) -> list[int]:
    """A part and those of its subsections."""
    parts, path = book.paper.parts, book.paper.parts[index].heading_path
    if not path:
        return [index]
    return [
        i
        for i, part in enumerate(parts)
        if part.heading_path[: len(path)] == path and (i == index or i > index)
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
    several = len(ends) == 2 and all(end.isdigit() for end in ends) and int(ends[0]) < int(ends[1])
    asked = (
        [str(n) for n in range(int(ends[0]), int(ends[1]) + 1)]
        if several
        else [normalize_number(number)]
    )
    for each in asked:
        wanted = {each, fold_text(number).upper()} if appendix else {each}
        at = [
            i
            for i, known in enumerate(numbers)
            if any(
                known == w
                or known.startswith(f"{w}.")
                or (w[0].isalpha() and known == w.replace(".", ""))
                for w in wanted
            )
            and (
                not appendix
                or book.paper.parts[i].appendix
                or "附录" in book.paper.parts[i].heading
            )
        ]
        if at:
            found.add(
                dict.fromkeys(sub for i in at for sub in (i, *list_subsections(i, book))), span
            )
        else:
            found.add_missing(
                "section", f"Appendix {fold_text(number).upper()}" if appendix else each, span
            )


def _find_by_heading(found: Found, question: str, book: OpenPaper) -> None:
    """`the "Error analysis" section`, `under Program Execution`: a heading's own words, where a
    place is meant.
    """
    asked = question.casefold()
    for i, part in enumerate(book.paper.parts):
        words = strip_section_number(part.heading).casefold()
        at = asked.find(words) if len(words) > 1 and len(words.split()) <= _WORDS_BEFORE else -1
        if at < 0:
            continue
        before, behind = asked[:at], asked[at + len(words) :]
        if (before[-1:].isalnum() and before[-1:].isascii()) or (
            behind[:1].isalnum() and behind[:1].isascii()
        ):
            continue
        quoted = before[-1:] in {'"', "'", "《"} and behind[:1] in {'"', "'", "》"}
        called = re.search(
            r"(?:section|chapter)\s+(?:on|about|called|titled|named)\s+(?:the\s+)?[\"']?$", before
        )
        said = re.match(
            r"[\"'》]?\s*(?:section|chapter|subsection|paragraph|一?[章节]|小节|部分)", behind
        )
        inside = len(words.split()) > 1 and re.search(r"\b(?:in|under|within)\s+[\"']?$", before)
        if (quoted and (said or len(words) > 4)) or called or (said and len(words) > 1) or inside:
            found.add(
                list_subsections(i, book), (at, at + len(words) + (said.end() if said else 0))
            )


def _find_by_name(found: Found, question: str, book: OpenPaper) -> None:
    for name in _NAMES:
        there = (
            rf"|\b(?:in|from|within)\s+(?:the\s+|its\s+)(?:{name.english})\b{_OF_PAPER}"
            if name.place
            else ""
        )
        mid = r"(?:中|里|的部分|提到|说)" if name.place else r"(?:部分中?|那?一?[章节])"
        pattern = (
            rf"\b(?:{name.english}){_BEHIND}|\bsections?\s+(?:on|"
            rf"about)\s+(?:the\s+)?(?:{name.english})\b{there}"
            rf"|(?:{name.chinese})(?:部分|那?一?[章节](?!约)|{mid})"
        )
        match = re.search(pattern, question, re.IGNORECASE)
        if match and not found.covers(match.start()):
            at = _match_name(name, book)
            if at:
                found.add(at, match.span())
    if match := _APPENDIX.search(question):
        at = [i for i, part in enumerate(book.paper.parts) if part.appendix]
        if at and not found.covers(match.start()):
            found.add(at, match.span())


def _match_name(name: _Name, book: OpenPaper) -> list[int]:
    """By the headings' words, of the paper proper first; else by role."""
    headed = re.compile(rf"\b(?:{name.english})\b|{name.chinese}", re.IGNORECASE)
    parts = book.paper.parts
    at = [
        i
        for i, part in enumerate(parts)
        if not part.appendix and headed.search(strip_section_number(part.heading))
    ]
    at = at or [
        i
        for i, part in enumerate(parts)
        if name.role and part.role == name.role and not part.appendix
    ]
    return list(dict.fromkeys(sub for i in at for sub in list_subsections(i, book)))

"""The list of references as entries, each with its key, family names, year and title. An entry is
cut from the text as it stands; a field that its form does not show is left empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from citewell.ingest.paper.author_names import extract_family_names
from citewell.ingest.paper.section_headings import Line, iterate_lines
from citewell.ingest.paper.shape import Part, Reference
from citewell.text.language import HAN
from citewell.types import Document

_BRACKETED = re.compile(r"(?:(?<=\s)|^)[\[［](\d{1,4})[\]］]\s*")
_DOTTED = re.compile(r"(\d{1,4})[.．)]\s+(?=\S)")
_YEAR = re.compile(r"(?<![\d.:/])((?:1[89]|20)\d\d)([a-z]?)(?![\d/])")
_BY_YEAR = re.compile(
    r"(?P<authors>.{2,1500}?)[.,]?\s*[(（]?(?P<year>(?:1[89]|20)\d\d[a-z]?|in "
    r"press|forthcoming|n\.d\.)[)）]?[.,:：]",
    re.DOTALL,
)
_OPENS = re.compile(rf"[^\W\d_][\w.'’´¨`ˆ˜-]*(?:[ ,][^,]|[,.，])|[{HAN}]{{2,}}[,，.．]")
_GOES_ON = re.compile(
    r"(?:In|Proceedings|arXiv|CoRR|Pages?|URL|Association|Transactions|Journal|Conference|Volume|"
    r"Vol|abs/|https?)\b|[a-z\d(]"
)
_GIVEN = re.compile(
    r"(?:[^\W\d_][\w'’-]+, [^\W\d_][\w.'’ -]{0,40}? and )+[^\W\d_][\w'’-]+, (?=[A-Z])|[^\W\d_]+, "
    r"[A-Z]\w+ and others"
)
_GIVEN_FAMILY = re.compile(r"(?:^|\band )([^\W\d_][\w'’-]+), ")
_KIND = re.compile(r"\[[A-Z]{1,2}(?:/[A-Z]{2})?\]")
_STOP = re.compile(
    rf"(?<!\b[A-Z])(?<!\bal)(?<!\bet)(?<!\bDr)(?<!\bvs)[.．](?=\s|$|[{HAN}])|[?!？！](?=\s|$)"
)
# `Smith JA, Wu B. `
_BARE_INITIALS = re.compile(r"[^\W\d_][\w'’-]+(?: [^\W\d_][\w'’-]+)? [A-Z]{1,3}[,.]")
# where a kind is marked (`[J]`), initials have no full stops
_GB_STOP = re.compile(r"[.．](?!\s?[A-Z][.．,，\s])\s*")
_AFTER_YEAR: Final = 15  # characters of a title at least: before these an entry is not whole
_LONGEST_TITLE: Final = 400
_YEAR_ALONE = re.compile(r"\.\s+(?:1[89]|20)\d\d[a-z]?\.\s+(?=[\w“\"'‘´])")
_NAME_WORD = re.compile(
    r"[^\W\d_a-z][\w’'´¨`ˆ˜-]*,?|[A-Z]\.,?|and|&|van|von|de|der|den|del|di|da|la|le|[´¨`ˆ˜]"
)
_LAST_WORD = re.compile(r"(?<!\S)(\S+)\s*\Z")
_LONGEST_WORD: Final = 40
_FEWEST_NAMES: Final = 6  # characters
# characters in which the year of an entry stands, behind however many authors
_AHEAD: Final = 1_500


def extract_references(document: Document, parts: Sequence[Part]) -> tuple[Reference, ...]:
    """The entries of every list of references, in order."""
    found: list[Reference] = []
    for part in parts:
        if part.role != "references":
            continue
        text = document.text
        start = (
            text.find("\n", part.start)
            if part.heading_path and text.startswith(part.heading, part.start)
            else part.start
        )
        start = part.start if start < 0 else start
        for key, low, high in _split_entries(text, start, part.end):
            found.append(_parse_reference(document, key, low, high))
    return tuple(found)


def _split_entries(text: str, start: int, end: int) -> list[tuple[str, int, int]]:
    """(number or nothing, start, end) of each entry."""
    every = list(iterate_lines(text, start, end))
    marks = _find_bracket_numbers(text, start, end) or _find_dotted_numbers(every)
    if marks:
        bounds = [low for _, low in marks] + [end]
        return [
            (str(n), low, low + len(text[low : bounds[at + 1]].rstrip()))
            for at, (n, low) in enumerate(marks)
        ]
    whole = [(group[0].start, group[-1].end) for group in _group_by_year(every)]
    return [
        ("", low, high)
        for first, last in whole
        for low, high in _split_merged_entry(text, first, last)
    ]


def _find_bracket_numbers(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where `[1]`, `[2]` and so on begin; a number that does not go on counts only as text."""
    found: list[tuple[int, int]] = []
    for match in _BRACKETED.finditer(text, start, end):
        number = int(match[1])
        if not found or found[-1][0] < number <= found[-1][0] + 3:
            found.append((number, match.start()))
    return found if len(found) > 1 or (found and found[0][0] == 1) else []


def _find_dotted_numbers(every: Sequence[Line]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for line in every:
        match = _DOTTED.match(line.text)
        number = int(match[1]) if match else 0
        if match and (
            (not found and number == 1) or (found and found[-1][0] < number <= found[-1][0] + 3)
        ):
            found.append((number, line.start))
    return found if len(found) > 1 else []


def _group_by_year(every: Sequence[Line]) -> Iterator[list[Line]]:
    """Entries that begin with authors: a line that begins like one opens the next once the one
    before has year and title.
    """
    group: list[Line] = []
    words = ""
    for n, line in enumerate(every):
        if group and _is_complete_entry(words) and _is_entry_start(every, n):
            yield group
            group, words = [], ""
        if not group and not _is_entry_start(every, n):
            continue  # a running line, a footnote
        group.append(line)
        words = f"{words} {line.text}" if words else line.text
    if group and _YEAR.search(words):
        yield group


def _split_merged_entry(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """An entry that holds another, which the end of a column ran into it: the words before its year
    back to its first name.
    """
    years = list(_YEAR_ALONE.finditer(text, start, end))
    for year in years[1:]:
        first = year.start()
        while (
            found := _LAST_WORD.search(text, max(start, first - _LONGEST_WORD), first)
        ) and year.start() - first < _AHEAD:
            if not _NAME_WORD.fullmatch(found[1]):
                break
            first = found.start(1)
        if year.start() - first > _FEWEST_NAMES and first > start:
            yield start, len(text[:first].rstrip()) if first - start < _AHEAD else first
            start = first
    yield start, end


def _is_complete_entry(words: str) -> bool:
    year = _YEAR.search(words)
    return bool(year) and len(words) - (year.end() if year else 0) > _AFTER_YEAR


def _is_entry_start(every: Sequence[Line], n: int) -> bool:
    line = every[n].text
    if not _OPENS.match(line) or _GOES_ON.match(line):
        return False
    ahead = " ".join(other.text for other in every[n : n + 3])[:_AHEAD]
    match = _BY_YEAR.match(ahead)
    return bool(match) and not re.search(r"\d", match["authors"] if match else "")


def _parse_reference(document: Document, number: str, start: int, end: int) -> Reference:
    words = " ".join(document.text[start:end].split())
    body = (
        _BRACKETED.sub("", words, count=1)
        if words[:1] in "[［"
        else _DOTTED.sub("", words, count=1)
        if number
        else words
    )
    dated = None if number else _BY_YEAR.match(body)
    if dated:
        names, year, rest = dated["authors"], dated["year"], body[dated.end() :]
        title = _extract_title(rest.strip())
    else:
        names, year, title = _parse_numbered_entry(body)
    listed = _GIVEN.match(body) if number else None
    authors = tuple(_GIVEN_FAMILY.findall(listed[0])) if listed else extract_family_names(names)
    title = "" if listed else title
    return Reference(
        key=number or _make_key(authors, year),
        start=start,
        end=end,
        page=document.find_page_at(start) or 0,
        authors=authors,
        year=year if year[:1].isdigit() else "",
        title=title,
    )


def _parse_numbered_entry(body: str) -> tuple[str, str, str]:
    """Authors, year and title of a numbered entry: `A. B. and C. D. Title. Where, 2020.`, `张三.
    题名[J]. 刊名, 2020.`
    """
    years = _YEAR.findall(body)
    year = "".join(years[-1]) if years else ""
    early = re.match(
        r"(?P<names>[^()（）]{2,400})[(（](?P<year>(?:1[89]|20)\d\d[a-z]?)[)）][.,:：]?\s*", body
    )
    if early:
        return early["names"].strip(" .,"), early["year"], _extract_title(body[early.end() :])
    stop = (_GB_STOP if _KIND.search(body) or _BARE_INITIALS.match(body) else _STOP).search(body)
    if stop is None or stop.end() >= len(body):
        return ("", year, "") if "," not in body else (body.split(",", 1)[0], year, "")
    return body[: stop.start()], year, _extract_title(body[stop.end() :].strip())


def _extract_title(words: str) -> str:
    """The title: up to its full stop, or the mark of its kind (`[J]`)."""
    words = words.strip().lstrip(".,:“\"'‘ ")
    kind, stop = _KIND.search(words), _STOP.search(words)
    cuts = [match.start() for match in (kind, stop) if match]
    title = words[: min(cuts)] if cuts else words
    if stop and title and words[len(title) : len(title) + 1] in "?!？！":
        title += words[len(title)]
    return title.strip(" ,.”\"'’")[:_LONGEST_TITLE]


def _make_key(authors: Sequence[str], year: str) -> str:
    if not authors:
        return year
    who = (
        authors[0]
        if len(authors) == 1
        else f"{authors[0]} and {authors[1]}"
        if len(authors) == 2
        else f"{authors[0]} et al."
    )
    return f"{who}, {year}" if year else who

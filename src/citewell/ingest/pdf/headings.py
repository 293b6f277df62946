"""Which lines of a PDF are headings: those its outline names, or else those set larger or bolder
than the text. Better none than wrong ones, so lines that look like headings too often count as
text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Final

from citewell.ingest.pdf.lines import Line, compute_body_size
from citewell.text.line_breaks import get_chapter_level

_SIGNS = re.compile(r"[\W_]+")
_LETTERS = re.compile(r"[^\W\d_]")
_NUMBERED = re.compile(
    r"(?:(\d{1,2}(?:\.\d{1,2}){0,4})\.?|[A-Z](?:\.\d{1,2}){0,3}\.?)\s+\S|附录|附錄"
)
_CHAPTER_LINE = re.compile(r"(?:chapter|part|appendix)\s+\w{1,5}|第.{1,6}[章部编篇]", re.IGNORECASE)
_ENTRY = re.compile(r"(.+?)\s*…\s*(?:\d{1,4}|[ivxlc]{1,7})", re.IGNORECASE)
_NUMBER_IN_FRONT = re.compile(r"^[\d.]+\s*")
_LARGER: Final = 1.12  # times the size of the text: smaller differences are noise of fonts
_LONGEST: Final = 150
_TOO_MANY: Final = 0.3  # share of all characters that headings may make up
_MOST_LINES: Final = 4  # lines that one heading may run over
_RUNNING: Final = 0.2  # share of a type's characters
_ONE_BELOW: Final = 2.2  # times its size that a line of the same paragraph lies lower, at most
_LONGEST_PREFIX: Final = 12  # characters of numbering that an outline may leave out
_PREFIX = re.compile(
    r"(?:chapter|section|part|appendix)?(?:\d{0,8}|[a-z]\d{0,4}|[ivxlc]{1,6})|"
    r"第.{1,6}[章节節部篇编]|[一二三四五六七八九十]{1,3}"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """An outline's entry: `page` is 1-based, `y` where it points to on it (None: the top)."""

    level: int
    title: str
    page: int
    y: float | None


@dataclass(frozen=True, slots=True)
class Heading:
    """`lines` lines from here are a heading; 0: it is not in the text, its section begins here."""

    level: int
    title: str
    lines: int


def find_headings(lines: Sequence[Line], marks: Sequence[Mark]) -> dict[int, Heading]:
    """Headings by the index of their first line."""
    outlined = find_outline_headings(lines, marks)
    return outlined if len(outlined) >= 2 else find_type_headings(lines)


def drop_table_of_contents(lines: list[Line], headings: dict[int, Heading]) -> list[Line]:
    """`lines` without those of a table of contents: a heading's words, dots, a page number."""
    titles = {_normalize_title(heading.title or lines[n].text) for n, heading in headings.items()}
    titles |= {_normalize_title(_NUMBER_IN_FRONT.sub("", title)) for title in titles}
    return [
        line
        for line in lines
        if not (entry := _ENTRY.fullmatch(line.text))
        or _normalize_entry_title(entry.group(1)) not in titles
    ]


def _normalize_entry_title(text: str) -> str:
    return _normalize_title(_NUMBER_IN_FRONT.sub("", text))


def find_outline_headings(lines: Sequence[Line], marks: Sequence[Mark]) -> dict[int, Heading]:
    """The lines that the outline's entries name, or where they point to."""
    by_page: dict[int, list[int]] = {}
    for n, line in enumerate(lines):
        if line.row:
            continue
        by_page.setdefault(line.page, []).append(n)
    found: dict[int, Heading] = {}
    after = -1
    for mark in marks:
        places = [n for n in by_page.get(mark.page, []) if n > after]
        at = _find_title_lines(lines, places, mark) or _find_target_line(lines, places, mark)
        if at is not None and at[0] not in found:
            found[at[0]] = Heading(mark.level, mark.title, at[1])
            after = at[0] + max(0, at[1] - 1)
    return found


def _find_title_lines(
    lines: Sequence[Line], places: list[int], mark: Mark
) -> tuple[int, int] | None:
    """The lines that say an entry's title, nearest to where it points; numbers may be more."""
    wanted = _normalize_title(mark.title)
    matches = []
    for at, n in enumerate(places):
        said = ""
        for count, m in enumerate(places[at : at + _MOST_LINES], start=1):
            said += _normalize_title(lines[m].text)
            if said.endswith(wanted) and _PREFIX.fullmatch(said[: len(said) - len(wanted)]):
                matches.append((n, count))
                break
            if len(said) > len(wanted) + _LONGEST_PREFIX:
                break
    if not wanted or not matches:
        return None
    n, count = min(
        matches, key=lambda match: abs(lines[match[0]].y1 - mark.y) if mark.y is not None else 0
    )
    if n - 1 in places and _CHAPTER_LINE.fullmatch(lines[n - 1].text):
        return n - 1, count + 1
    return n, count


def _find_target_line(
    lines: Sequence[Line], places: list[int], mark: Mark
) -> tuple[int, int] | None:
    """The first line at or below the place that an entry points to."""
    if mark.y is None:
        return (places[0], 0) if places else None
    return next(((n, 0) for n in places if lines[n].y0 < mark.y), None)


def _normalize_title(text: str) -> str:
    return _SIGNS.sub("", text).lower()


def find_type_headings(lines: Sequence[Line]) -> dict[int, Heading]:
    """Lines larger than the text, and bold ones that are numbered or stand alone."""
    body, running = compute_body_size(lines), _find_running_styles(lines)
    starts = [n for n, line in enumerate(lines) if _is_candidate(lines, n, body, running)]
    runs = _group_heading_lines(lines, starts, body)
    if sum(len(lines[n].text) for n in starts) > _TOO_MANY * sum(len(line.text) for line in lines):
        return {}
    first = runs[0] if runs else (0, 0)
    styles = Counter(_get_style(lines[n]) for n, _ in runs)
    if (
        runs
        and lines[first[0]].page == 1
        and styles[_get_style(lines[first[0]])] == 1
        and len(runs) > 1
    ):
        runs = runs[1:]  # the document's title
    levels = _assign_levels(lines, [n for n, _ in runs])
    return {n: Heading(levels[n], "", count) for n, count in runs}


def _find_running_styles(lines: Sequence[Line]) -> set[tuple[float, bool]]:
    """Types of which a good part stands in more lines on end than a heading has: text, though it be
    larger than that of a long appendix. Formulas between its lines keep much of it apart.
    """
    total, running = Counter[tuple[float, bool]](), Counter[tuple[float, bool]]()
    first = 0
    for n, line in enumerate(lines):
        before = lines[n - 1] if n else line
        style, size = _get_style(line), len(line.text)
        near = 0 < before.y0 - line.y0 < _ONE_BELOW * line.size and before.page == line.page
        if not near or _get_style(before) != style:
            first = n
        total[style] += size
        if n - first == _MOST_LINES:
            running[style] += sum(len(each.text) for each in lines[first : n + 1])
        elif n - first > _MOST_LINES:
            running[style] += size
    return {style for style in running if running[style] > _RUNNING * total[style]}


def _is_candidate(
    lines: Sequence[Line], n: int, body: float, running: Container[tuple[float, bool]]
) -> bool:
    line = lines[n]
    text = line.text
    if (
        len(text) > _LONGEST
        or line.fixed
        or line.row
        or line.aside
        or text[-1] in ",;，；、"
        or len(_LETTERS.findall(text)) < 2
    ):
        return False
    if get_chapter_level(text) and text[-1] not in "0123456789":
        return True
    if line.size >= _LARGER * body and _get_style(line) not in running:
        return len(_LETTERS.findall(text)) >= 0.4 * len(text.replace(" ", ""))
    if not line.bold or line.size < 0.95 * body or text[-1] in ".。:：!！":
        return False
    return bool(_NUMBERED.match(text)) or _is_set_apart(lines, n)


def _is_set_apart(lines: Sequence[Line], n: int) -> bool:
    """A short line with more room above and below than the text's lines, or other type."""
    line = lines[n]
    after = lines[n + 1] if n + 1 < len(lines) else None
    above = lines[n - 1] if n else None
    free_above = (
        above is None
        or above.page != line.page
        or above.y0 - line.y0 > 1.6 * line.size
        or above.y0 < line.y0
    )
    free_below = after is not None and after.page == line.page and not after.starts_bold
    return free_above and free_below and len(line.text) < 80


def _get_style(line: Line) -> tuple[float, bool]:
    return round(line.size * 2) / 2, line.bold


def _group_heading_lines(
    lines: Sequence[Line], starts: list[int], body: float
) -> list[tuple[int, int]]:
    """Each heading as (first line, how many): close lines of the same type go on with it."""
    runs: list[tuple[int, int]] = []
    for n in starts:
        if runs and n < sum(runs[-1]):
            continue
        count = 1
        while (
            count < _MOST_LINES
            and n + count < len(lines)
            and _is_continuation(lines[n + count - 1], lines[n + count], body)
        ):
            count += 1
        runs.append((n, count))
    return runs


def _is_continuation(before: Line, line: Line, body: float) -> bool:
    near = 0 < before.y0 - line.y0 < 1.7 * line.size and before.page == line.page
    marked = line.bold or line.size >= _LARGER * body
    return (
        near
        and marked
        and not line.row
        and _get_style(before) == _get_style(line)
        and not _NUMBERED.match(line.text)
    )


def _assign_levels(lines: Sequence[Line], starts: list[int]) -> dict[int, int]:
    """A numbered heading's level is its number's depth; another's that of numbered ones in its
    type, or its type's rank.
    """
    depths = {n: _get_number_depth(lines[n].text) for n in starts}
    by_style: dict[tuple[float, bool], Counter[int]] = {}
    for n, depth in depths.items():
        if depth:
            by_style.setdefault(_get_style(lines[n]), Counter())[depth] += 1
    ranked = sorted({_get_style(lines[n]) for n in starts}, reverse=True)
    levels = {}
    for n in starts:
        style = _get_style(lines[n])
        usual = (
            by_style[style].most_common(1)[0][0] if style in by_style else ranked.index(style) + 1
        )
        levels[n] = min(6, depths[n] or usual)
    return levels


def _get_number_depth(text: str) -> int:
    """Of `3.2 Methods` 2; 0 where there is no number."""
    match = _NUMBERED.match(text)
    if not match:
        return get_chapter_level(text)
    return (
        match.group(1).count(".") + 1
        if match.group(1)
        else match.group().split()[0].rstrip(".").count(".") + 1
    )

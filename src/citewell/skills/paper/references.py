"""What a question points to in a paper: figures, tables, equations, sections, pages, references,
and what of it is not there. By the words of the question and the shape of the paper alone; what
could mean several things points to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from citewell.skills.paper.bibliography_references import find_references, has_numbered_references
from citewell.skills.paper.float_references import find_equations, find_floats, sort_floats
from citewell.skills.paper.found_references import Found, Kind, Missing
from citewell.skills.paper.page_references import (
    find_first_printed_page,
    find_floats_on_pages,
    find_pages,
)
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.reference_numbers import (
    fold_text,
    normalize_number,
    replace_number_words,
)
from citewell.skills.paper.section_references import find_sections, get_section_numbers

LONGEST: Final = 4_000  # characters of a question that are read: as many as a selection has


@dataclass(frozen=True, slots=True)
class PaperTargets:
    """Indexes into the tuples of `Paper`, in the order of the question (`parts` in that of the
    paper); `pages` are the file's own, from 1. `rest`: the question without the words that point,
    for what is asked of it.
    """

    floats: tuple[int, ...] = ()
    equations: tuple[int, ...] = ()
    parts: tuple[int, ...] = ()
    pages: tuple[int, ...] = ()
    references: tuple[int, ...] = ()
    missing: tuple[Missing, ...] = ()
    rest: str = ""

    def __bool__(self) -> bool:
        """Whether anything that is there is pointed to."""
        return any((self.floats, self.equations, self.parts, self.pages, self.references))


def find_paper_targets(question: str, book: OpenPaper) -> PaperTargets:
    """What `question` names in the paper; of a very long one, its beginning."""
    folded = replace_number_words(fold_text(question[:LONGEST]))
    floats, pages = find_floats(folded, book), find_pages(folded, book)
    there = find_floats_on_pages(folded, pages, book)
    floats.add(there.targets, (0, 0))
    references, equations = find_references(folded, book), find_equations(folded, book)
    sections = find_sections(folded, book)
    each = (floats, there, equations, sections, pages, references)
    if there.missing and not there.targets:  # the page is not asked about, but what is not on it
        pages.targets.clear()
    return PaperTargets(
        tuple(floats.targets),
        tuple(equations.targets),
        tuple(sections.targets),
        tuple(pages.targets),
        tuple(references.targets),
        tuple(missing for found in each for missing in found.missing),
        _strip_pointers(folded, each),
    )


def _strip_pointers(question: str, finders: Sequence[Found]) -> str:
    letters = list(question)
    for start, end in {span for found in finders for span in found.read}:
        letters[start:end] = " " * (end - start)
    return " ".join("".join(letters).split())


_NAMES: Final[dict[str, dict[Kind, tuple[str, str]]]] = {
    "en": {
        "figure": ("Figure", "figures"),
        "table": ("Table", "tables"),
        "equation": ("Equation", "numbered equations"),
        "section": ("Section", "sections"),
        "page": ("page", "pages"),
        "reference": ("reference", "references"),
    },
    "zh": {
        "figure": ("图", "图"),
        "table": ("表", "表"),
        "equation": ("式", "带编号的公式"),
        "section": ("章节", "章节"),
        "page": ("页", "页"),
        "reference": ("参考文献", "参考文献"),
    },
}


def describe_missing(points: PaperTargets, book: OpenPaper, lang: str) -> str:
    """`The paper has no Table 9; it has Tables 1 to 3.`, a sentence each; or empty."""
    return ("" if lang == "zh" else " ").join(
        _describe_one_missing(missing, book, lang) for missing in points.missing
    )


def _describe_one_missing(missing: Missing, book: OpenPaper, lang: str) -> str:
    one = _name_missing(missing, lang)
    there = _describe_existing(missing.kind, book, lang)
    if lang == "zh":
        return f"论文中没有{one}；{there}。"
    return f"The paper has no {one}; {there}."


def _name_missing(missing: Missing, lang: str) -> str:
    name, many = _NAMES["zh" if lang == "zh" else "en"][missing.kind]
    label = missing.label
    if not label:
        return many
    if appendix := re.fullmatch(r"Appendix (\S+)", label):
        return f"附录 {appendix[1]}" if lang == "zh" else label
    # words of the question, or an author's name
    if not re.match(r"\[?[A-Z]?[\d.]+[a-h]?\]?$|[A-Z]$", label):
        return f"“{label}”" if lang == "zh" or missing.kind != "reference" else label
    if lang == "zh":
        words = {"page": f"第{label}页", "section": f"第{label}节", "equation": f"式（{label}）"}
        return words.get(missing.kind, f"{name}{'' if label.startswith('[') else ' '}{label}")
    return f"{name} ({label})" if missing.kind == "equation" else f"{name} {label}"


def _describe_existing(kind: Kind, book: OpenPaper, lang: str) -> str:
    """What of the kind there is: `it has Tables 1 to 3`."""
    chinese = lang == "zh"
    paper = book.paper
    if kind == "page":
        return _describe_pages(book, lang)
    if kind == "reference":
        if not paper.references:
            return "没有找到参考文献表" if chinese else "I found no list of references in it"
        n, how = len(paper.references), has_numbered_references(book)
        if chinese:
            return f"它的参考文献表有 {n} 条" + ("" if how else "，没有编号")
        return f"its list has {n} references" + ("" if how else ", which are not numbered")
    if kind == "section":
        known = [number for number in dict.fromkeys(get_section_numbers(paper.parts)) if number]
        top = [number for number in known if "." not in number and not re.match(r"[A-Z]\d", number)]
    elif kind == "equation":
        top = list(
            dict.fromkeys(normalize_number(each.label) for each in paper.equations if each.label)
        )
    else:
        top = list(
            dict.fromkeys(fold_text(paper.floats[i].number) for i in sort_floats(kind, book))
        )
    return _describe_numbers(kind, top, lang)


def _describe_pages(book: OpenPaper, lang: str) -> str:
    count, first = len(book.document.pages), find_first_printed_page(book)
    if lang == "zh":
        return f"它有 {count} 页" + (
            f"（印刷页码 {first} 至 {first + count - 1}）" if first not in (None, 1) else ""
        )
    printed = (
        f", printed as {first} to {first + count - 1}"
        if first not in (None, 1) and first is not None
        else ""
    )
    return f"it has {count} pages{printed}"


def _describe_numbers(kind: Kind, numbers: Sequence[str], lang: str) -> str:
    name, many = _NAMES["zh" if lang == "zh" else "en"][kind]
    if not numbers:
        return f"其中没有找到{many}" if lang == "zh" else f"I found no {many} in it"
    spans = _group_runs(numbers, " 至 " if lang == "zh" else " to ")
    if lang == "zh":
        return f"它有{name} {'、'.join(spans)}"
    only = " only" if len(numbers) == 1 else ""
    joined = ", ".join(spans[:-1]) + (" and " if len(spans) > 1 else "") + spans[-1]
    return f"it has {name}{'' if only else 's'} {joined}{only}"


def _group_runs(numbers: Sequence[str], to: str) -> list[str]:
    """`1, 2, 3, 5, A` -> `1 to 3`, `5`, `A`."""
    runs: list[list[str]] = []
    for number in numbers:
        if (
            runs
            and number.isdigit()
            and runs[-1][-1].isdigit()
            and int(number) == int(runs[-1][-1]) + 1
        ):
            runs[-1].append(number)
        else:
            runs.append([number])
    return [span for run in runs for span in ([f"{run[0]}{to}{run[-1]}"] if len(run) > 2 else run)]

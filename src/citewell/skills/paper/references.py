"""What a question points to in a paper: figures, tables, equations, sections, pages, references,
and what of it is not there. By the words of the question and the shape of the paper alone; what
could mean several things points to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from citewell.messages import Text, translate
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


_NAMES: Final[Mapping[Kind, Text]] = {
    "figure": Text("Figure {label}"),
    "table": Text("Table {label}"),
    "equation": Text("Equation ({label})"),
    "section": Text("Section {label}"),
    "page": Text("page {label}"),
    "reference": Text("reference [{label}]"),
}
_APPENDIX = Text("Appendix {label}")
_WORDS = Text("“{words}”")
_RUN = Text("{first} to {last}")
_ABSENT = Text("The paper has no {one}; it has {there}.")
_NONE = Text("I found no {one} in the paper.")
_PRINTED = Text("{there}, printed as {pages}")
_UNNUMBERED = Text("{n} references without numbers")


def describe_missing(points: PaperTargets, book: OpenPaper, lang: str) -> str:
    """`The paper has no Table 9; it has Table 1 to Table 3.`, a sentence each; or empty."""
    said = []
    for missing in points.missing:
        one, there = _name_missing(missing), _describe_existing(missing.kind, book)
        text = _ABSENT.fill(one=one, there=Text(", ").join(there)) if there else _NONE.fill(one=one)
        said.append(translate(text, lang))
    return ("" if lang == "zh" else " ").join(said)


def _name_missing(missing: Missing) -> Text:
    if appendix := re.fullmatch(r"Appendix (\S+)", missing.label):
        return _APPENDIX.fill(label=appendix[1])
    if missing.label and not re.match(r"[A-Z]?[\d.]+[a-h]?$|[A-Z]$", missing.label):
        return _WORDS.fill(words=missing.label)  # words of the question
    return _NAMES[missing.kind].fill(label=missing.label or "1")


def _describe_existing(kind: Kind, book: OpenPaper) -> list[Text]:
    """What of the kind there is, what runs on as one."""
    paper, name = book.paper, _NAMES[kind]
    if kind == "page":
        count, first = len(book.document.pages), find_first_printed_page(book) or 1
        found = _group_runs(name, [str(n + 1) for n in range(count)])
        pages = _RUN.fill(first=str(first), last=str(first + count - 1))
        return [_PRINTED.fill(there=found[0], pages=pages)] if found and first != 1 else found
    if kind == "reference" and paper.references and not has_numbered_references(book):
        return [_UNNUMBERED.fill(n=str(len(paper.references)))]
    if kind == "section":
        numbers = [number for number in get_section_numbers(paper.parts) if number]
        numbers = [n for n in numbers if "." not in n and not re.match(r"[A-Z]\d", n)]
    elif kind == "reference":
        numbers = [entry.key for entry in paper.references]
    elif kind == "equation":
        numbers = [normalize_number(each.label) for each in paper.equations if each.label]
    else:
        numbers = [fold_text(paper.floats[i].number) for i in sort_floats(kind, book)]
    return _group_runs(name, list(dict.fromkeys(numbers)))


def _group_runs(name: Text, numbers: Sequence[str]) -> list[Text]:
    """`1, 2, 3, 5, A` -> `Table 1 to Table 3`, `Table 5`, `Table A`."""
    runs: list[list[str]] = []
    for number in numbers:
        if runs and f"{runs[-1][-1]}{number}".isdigit() and int(number) == int(runs[-1][-1]) + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    ends = [(name.fill(label=run[0]), name.fill(label=run[-1]), len(run)) for run in runs]
    return [_RUN.fill(first=a, last=b) if n > 1 else a for a, b, n in ends]

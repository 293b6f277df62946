"""A comparison as Markdown or CSV, and its papers as BibTeX. As in the export of a session, nothing
of a paper or a model is read as Markdown; in CSV nothing is read as a formula, in BibTeX nothing as
a command.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, count
from typing import Final

from citewell.agents.paper.paper_state import PaperInfo
from citewell.service.papers.compare_papers import Comparison
from citewell.service.papers.export_session import escape_markdown
from citewell.service.papers.export_wording import format_place, get_words
from citewell.skills.answer.decision import EVEN
from citewell.text.sentences import detect_language
from citewell.types import Answer, Citation

_FORMULA = re.compile(r"^[=+\-@\t\r]")
_TEX = re.compile(r"[{}\\#$%&_~^]")
_KEY = re.compile(r"[^\W_]+")
_TEX_WORDS: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def render_markdown(comparison: Comparison) -> str:
    """A table with a footnote for each quote behind it."""
    words = get_words(detect_language(" ".join(comparison.questions)))
    head = [words["paper"], *map(escape_markdown, comparison.questions)]
    lines = [_render_row(head), _render_row(["---"] * len(head))]
    notes: list[str] = []
    for n, row in enumerate(comparison.papers, start=1):
        cells = [f"**{escape_markdown(row.title)}**"]
        for k, cell in enumerate(row.cells, start=1):
            name = f"{n}-{k}"
            marks = "".join(f"[^{name}-{c.n}]" for c in cell.citations)
            cells.append(escape_markdown(describe_cell(cell, words)) + marks)
            notes += [
                f"[^{name}-{c.n}]: {escape_markdown(_describe_quote(c, words))}"
                for c in cell.citations
            ]
        lines.append(_render_row(cells))
    return "\n".join([*lines, "", *notes]).rstrip() + "\n"


def render_csv(comparison: Comparison) -> str:
    """For each question two columns: the answer, and the quotes with their pages."""
    words = get_words(detect_language(" ".join(comparison.questions)))
    file = io.StringIO()
    table = csv.writer(file)
    heads = [[question, f"{question} ({words['quotes']})"] for question in comparison.questions]
    head = [words["paper"], *chain.from_iterable(heads)]
    table.writerow(map(_disarm_formula, head))
    for row in comparison.papers:
        cells = [row.title]
        for cell in row.cells:
            quotes = "\n".join(_describe_quote(c, words) for c in cell.citations)
            cells += [describe_cell(cell, words), quotes]
        table.writerow(map(_disarm_formula, cells))
    return file.getvalue()


def render_bibtex(comparison: Comparison) -> str:
    """An entry for each paper: what its first page says, and nothing that it does not."""
    taken: set[str] = set()
    return "\n".join(_render_entry(row.paper, taken) for row in comparison.papers)


RENDERERS: Final[dict[str, tuple[Callable[[Comparison], str], str]]] = {
    "md": (render_markdown, "text/markdown"),
    "csv": (render_csv, "text/csv"),
    "bib": (render_bibtex, "application/x-bibtex"),
}


def describe_cell(cell: Answer, words: dict[str, str]) -> str:
    """The proved sentences of a cell; what is none, and what is likelier no answer, is said so."""
    if cell.status == "error":
        return str((cell.error_info or {}).get("message", ""))
    proved = [s.text for s in cell.sentences if s.citations and s.verdict == "supported"]
    if not proved:
        return words["refused"]
    unsure = words["unsure"] if cell.confidence < EVEN else ""
    return unsure + " ".join(" ".join(text.split()) for text in proved)


def _render_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _describe_quote(citation: Citation, words: dict[str, str]) -> str:
    place = format_place(citation.section, citation.page, words) or words["quotes"]
    return f"{place}: “{' '.join(citation.quote.split())}”"


def _disarm_formula(value: str) -> str:
    return f"'{value}" if _FORMULA.match(value) else value


def _render_entry(paper: PaperInfo, taken: set[str]) -> str:
    fields = "".join(
        f"  {name} = {{{_escape_tex(value)}}},\n" for name, value in _list_fields(paper)
    )
    return f"@misc{{{_build_key(paper, taken)},\n{fields}}}\n"


def _list_fields(paper: PaperInfo) -> Iterator[tuple[str, str]]:
    yield "title", paper.title or paper.name
    if paper.authors:
        yield "author", " and ".join(paper.authors)
    yield "note", paper.name


def _build_key(paper: PaperInfo, taken: set[str]) -> str:
    """The first author's last name and the title's first long word; counted where taken."""
    author = _KEY.findall(paper.authors[0])[-1:] if paper.authors else []
    title = [word for word in _KEY.findall(paper.title) if len(word) > 3][:1]
    name = "".join(word.casefold() for word in [*author, *title]) or "paper"
    counted = (name + (str(n) if n > 1 else "") for n in count(1))
    key = next(each for each in counted if each not in taken)
    taken.add(key)
    return key


def _escape_tex(text: str) -> str:
    return _TEX.sub(lambda mark: _TEX_WORDS.get(mark[0], "\\" + mark[0]), " ".join(text.split()))

"""What a paper's structure answers exactly: its title and authors, what it holds and where it
appeared. Which of these a question asks for is the nearest of labelled questions; an answer is the
paper's own words or a count of them, and every other question gets none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, Literal

from citewell.ingest.paper.shape import FloatKind
from citewell.messages import Text, translate
from citewell.models.base import Embedder
from citewell.skills.answer.cite import Proof, number_citations
from citewell.skills.evidence.numbered import Unit
from citewell.skills.paper.float_references import sort_floats
from citewell.skills.paper.nearest_example import find_nearest
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.span_pick import Span
from citewell.text.sentences import detect_language
from citewell.types import Sentence

Fact = Literal[
    "title", "authors", "pages", "figures", "tables", "sections", "references", "keywords", "venue"
]
# cosine of the nearest example, and by how much it has to be nearer than one of another fact or of
# none: of 290 questions about what papers say none gets so far, of 27 about structure 25
CLOSE: Final = 0.9
SURELY: Final = 0.01
MOST_LISTED: Final = 40
LONGEST_LINE: Final = 500  # characters of a line that says where a paper appeared
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
EXAMPLES: Final[Mapping[Fact | Literal["none"], str]] = {
    "title": (
        "What is the title of this paper? | What is the paper called? | 这篇论文的标题是什么？"
        " | 论文叫什么名字？"
    ),
    "authors": (
        "Who are the authors of this paper? | Who wrote this paper? | Who is the first author?"
        " | How many authors are there? | 这篇论文的作者是谁？ | 论文有哪些作者？"
        " | 论文有几位作者？"
    ),
    "pages": (
        "How many pages does the paper have? | How long is the paper? | 论文有多少页？"
        " | 全文共几页？"
    ),
    "figures": (
        "How many figures are there in this paper? | List all figures | 论文有几张图？ | 列出所有图"
    ),
    "tables": (
        "How many tables are there in this paper? | List all tables | 论文有几个表格？"
        " | 列出所有表格"
    ),
    "sections": (
        "How many sections are there? | Give me the table of contents"
        " | How is the paper organised? | 论文分几个章节？ | 论文的结构是怎样的？"
    ),
    "references": (
        "How many references does the paper have? | How many papers does it cite?"
        " | List the references | 参考文献有多少条？ | 列出参考文献"
    ),
    "keywords": "What are the keywords? | 关键词有哪些？",
    "venue": (
        "When was this paper published? | Where was the paper published?"
        " | In which journal or conference did the paper appear? | 论文发表在哪里？"
        " | 论文是什么时候发表的？"
    ),
    "none": (
        "How many layers does the model have? | What does the table show?"
        " | What are the contributions of the authors? | How many tables report accuracy?"
        " | How many figures and tables are there together?"
        " | Does the paper cite work on this topic? | When was the dataset published?"
        " | Who annotated the data? | How many people took part? | Where was the model trained?"
        " | How is the model structured? | Which table shows the ablation?"
        " | What do the authors conclude? | On which page is it discussed?"
        " | How many pages were crawled? | Who wrote the instructions?"
        " | What are the key ideas of the method? | Does it cite more than ten papers?"
        " | What does the figure show? | 模型有多少层？ | 作者的贡献是什么？ | 表中有几行？"
        " | 图中有几个模块？ | 数据集有多少条？ | 论文的方法是什么？ | 作者认为原因是什么？"
        " | 抓取了多少页数据？ | 有几种方法？ | 有没有引用相关研究？ | 参考文献的方法是什么？"
    ),
}
_TITLE = Text("The title of the paper is “{title}”.")
_AUTHORS = Text("Authors of the paper: {names}.")
_PAGES = Text("The paper has {n} pages.")
_FIGURES = Text("Figures of the paper: {n}. {items}.")
_TABLES = Text("Tables of the paper: {n}. {items}.")
_SECTIONS = Text("Sections of the paper: {n}. {items}.")
_NONE = Text("I found none in the paper.")
_REFERENCES = Text("The paper's list of references has {n} entries.")
_VENUE = Text("The opening pages say: {line}")
_KEYWORDS = Text("The keywords are: {words}.")
_ON_PAGE = Text("{label} (page {page})")
Told = tuple[Text, list[Span]]  # what is said, and the words of the paper that prove it


async def answer_from_structure(question: str, book: OpenPaper, embedder: Embedder) -> Proof | None:
    """In the question's language; None for every question that asks for anything else, or where
    the paper's own words for it were not found.
    """
    lang = detect_language(question)
    fact = await find_nearest(question, EXAMPLES, embedder, close=CLOSE, surely=SURELY)
    told = _TELL[fact](book, lang) if fact is not None and fact != "none" else None
    if told is None:
        return None
    units = [Unit(f"{n}.1", book.passage(n, [s]), *s) for n, s in enumerate(told[1], start=1)]
    said = translate(told[0], lang)
    return number_citations([(Sentence(text=said, verdict="supported"), units, 1.0)])


def _describe_title(book: OpenPaper, lang: str) -> Told | None:  # noqa: ARG001 - all are called alike
    title, span = book.paper.title, book.paper.title_span
    return (_TITLE.fill(title=title), [span] if span else []) if title else None


def _describe_authors(book: OpenPaper, lang: str) -> Told | None:
    span, names = book.paper.authors_span, book.paper.authors
    return (_AUTHORS.fill(names=_join(names, lang)), [span] if span else []) if names else None


def _describe_pages(book: OpenPaper, lang: str) -> Told | None:  # noqa: ARG001
    count = len(book.document.pages)
    return (_PAGES.fill(n=str(count)), []) if count else None


def _describe_floats(text: Text, kind: FloatKind, book: OpenPaper, lang: str) -> Told | None:
    found = [book.paper.floats[i] for i in sort_floats(kind, book)]
    return _list(text, [(each.label, each.page, (each.start, each.end)) for each in found], lang)


def _describe_sections(book: OpenPaper, lang: str) -> Told | None:
    """Of the first level, the paper proper."""
    parts = {part.heading_path: part for part in reversed(book.paper.parts) if not part.appendix}
    paths = [path for path in reversed(parts) if path and parts[path].heading != book.paper.title]
    level = min(map(len, paths), default=0)
    items = []
    for path in paths:
        part = parts[path]
        at = book.document.text.find(part.heading, part.start, part.end)
        if len(path) == level and at >= 0:
            items.append((part.heading, part.first_page, (at, at + len(part.heading))))
    return _list(_SECTIONS, items, lang)


def _describe_references(book: OpenPaper, lang: str) -> Told | None:  # noqa: ARG001
    entries = book.paper.references
    ends = [(each.start, each.end) for each in (*entries[:1], *entries[1:][-1:])]
    return (_REFERENCES.fill(n=str(len(entries))), ends) if entries else (_NONE, [])


def _describe_keywords(book: OpenPaper, lang: str) -> Told | None:
    words, text = book.paper.keywords, book.document.text
    if not words:
        return None
    at = text.find(words[0])
    end = text.find(words[-1], at) + len(words[-1])
    return _KEYWORDS.fill(words=_join(words, lang)), [(at, end)]


def _describe_venue(book: OpenPaper, lang: str) -> Told | None:  # noqa: ARG001
    """The first block of the front matter that names a year; none found, none said."""
    end = next((part.start for part in book.paper.parts if part.role != "front"), 0)
    for match in re.finditer(r"\S(?:.(?!\n\n))*.?", book.document.text[:end], re.DOTALL):
        if len(match[0]) <= LONGEST_LINE and _YEAR.search(match[0]):
            return _VENUE.fill(line=" ".join(match[0].split())), [match.span()]
    return None


def _list(text: Text, items: Sequence[tuple[str, int, Span]], lang: str) -> Told:
    """Each with its page, cited by its own words."""
    shown = [
        translate(_ON_PAGE.fill(label=label, page=str(page)), lang) if page else label
        for label, page, _ in items[:MOST_LISTED]
    ]
    counted = text.fill(n=str(len(items)), items=_join(shown, lang)) if items else _NONE
    return counted, [span for *_, span in items[:MOST_LISTED]]


def _join(items: Sequence[str], lang: str) -> str:
    return ("、" if lang == "zh" else ", ").join(items)


_TELL: Final[Mapping[Fact, Callable[[OpenPaper, str], Told | None]]] = {
    "title": _describe_title,
    "authors": _describe_authors,
    "pages": _describe_pages,
    "figures": partial(_describe_floats, _FIGURES, "figure"),
    "tables": partial(_describe_floats, _TABLES, "table"),
    "sections": _describe_sections,
    "references": _describe_references,
    "keywords": _describe_keywords,
    "venue": _describe_venue,
}

"""What a paper is made of, as its readers see it: parts by their role, figures and tables,
equations, references. It is read off the stored text, so every span points into the document that
citations point into.
"""

from __future__ import annotations

from typing import Any

from citewell.agents.paper.paper_state import PaperInfo
from citewell.ingest.paper.shape import FloatKind, Role
from citewell.runtime.app import App
from citewell.service.papers.add_paper import LOCAL
from citewell.service.papers.message_intake import open_paper
from citewell.service.papers.reading_sessions import read_paper_session
from citewell.skills.paper.reading_context import OpenPaper
from citewell.types import Shown


class PartInfo(Shown):
    """Pages are 0 where there are none."""

    role: Role
    heading: str
    heading_path: list[str]
    start: int
    end: int
    first_page: int
    last_page: int
    appendix: bool


class FloatInfo(Shown):
    kind: FloatKind
    label: str
    number: str
    caption: str
    start: int
    end: int
    page: int


class EquationInfo(Shown):
    label: str
    text: str
    start: int
    end: int
    page: int


class ReferenceInfo(Shown):
    key: str
    text: str
    authors: list[str]
    year: str
    title: str
    start: int
    end: int
    page: int


class Structure(Shown):
    """`abstract` is empty where the paper has none."""

    paper: PaperInfo
    title: str
    authors: list[str]
    lang: str
    keywords: list[str]
    abstract: str
    parts: list[PartInfo]
    floats: list[FloatInfo]
    equations: list[EquationInfo]
    references: list[ReferenceInfo]


async def read_structure(app: App, session_id: str, user_id: str = LOCAL) -> Structure:
    """Raises NotFound, also for a paper that was removed."""
    session = await read_paper_session(app, session_id, user_id)
    return build_structure(session.paper, await open_paper(app, session.paper))


def build_structure(info: PaperInfo, book: OpenPaper) -> Structure:
    paper = book.paper

    def cut(span: Any) -> str:
        return book.document.text[span.start : span.end]

    return Structure.of(
        paper,
        paper=info,
        abstract=book.document.text[slice(*paper.abstract)] if paper.abstract else "",
        parts=[PartInfo.of(each) for each in paper.parts],
        floats=[FloatInfo.of(each, caption=cut(each)) for each in paper.floats],
        equations=[EquationInfo.of(each, text=cut(each)) for each in paper.equations],
        references=[ReferenceInfo.of(each, text=cut(each)) for each in paper.references],
    )

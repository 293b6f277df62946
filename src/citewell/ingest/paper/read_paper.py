"""A document as a paper: its parts by role, title, authors, abstract, figures, tables, equations,
references and mentions. Pure and one pass after the other; whatever the document is, a `Paper`
comes out, with nothing guessed in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from citewell.ingest.paper.equations import find_equations
from citewell.ingest.paper.floats import find_floats
from citewell.ingest.paper.front_matter import extract_front_matter, find_abstract
from citewell.ingest.paper.mentions import find_mentions
from citewell.ingest.paper.reference_list import extract_references
from citewell.ingest.paper.section_headings import Piece, find_sections
from citewell.ingest.paper.section_roles import (
    Strength,
    assign_roles_by_place,
    classify_heading,
    get_subsection_role,
    is_setup_heading,
)
from citewell.ingest.paper.shape import Paper, Part, Role
from citewell.types import Document, Section

_BEHIND = re.compile(r"(?:Appendix|APPENDIX|Supplement|附\s*录)")
_COUNTED = re.compile(r"\d|第\s*[一二三四五六七八九十\d]+\s*章|[一二三四五六七八九十]+、")
_FRONT: Final = 12_000
_SHORT: Final = 1_500  # characters: more than a heading of a structured abstract has below it


def read_paper(document: Document) -> Paper:
    """The structure of `document`. No model; some 10 ms for a paper of 25 pages."""
    found = find_sections(document)
    roles = _assign_roles(found)
    parts = tuple(_build_parts(document, found, roles))
    front = extract_front_matter(document, parts)
    captions = find_floats(document, parts)
    shown = find_equations(document, parts, captions)
    listed = extract_references(document, parts)
    return Paper(
        title=front.title,
        authors=front.authors,
        lang=document.lang,
        parts=parts,
        abstract=find_abstract(document.text, parts),
        title_span=front.title_span,
        authors_span=front.authors_span,
        keywords=front.keywords,
        floats=captions,
        equations=shown,
        references=listed,
        mentions=find_mentions(document.text, parts, captions, shown, listed),
    )


def apply_paper_sections(document: Document) -> Document:
    """The document with its sections and title as a paper, so that passages end with its parts."""
    paper = read_paper(document)
    anchors = {section.start: section.anchor for section in document.sections}
    sections = tuple(
        Section(part.heading_path, part.start, part.end, anchors.get(part.start, ""))
        for part in paper.parts
    )
    return replace(document, title=paper.title or document.title, sections=sections)


def _assign_roles(found: Sequence[Piece]) -> list[Role]:
    """A role for each piece: of its first heading by words or place, then down its path."""
    tops = [n for n, piece in enumerate(found) if n == 0 or piece.path[:1] != found[n - 1].path[:1]]
    words: list[tuple[Role | None, Strength]] = [
        classify_heading(found[n].path[0]) if found[n].path else (None, 0) for n in tops
    ]
    # in medicine `Background` is the introduction
    if not any(role == "introduction" for role, _ in words):
        called = [bool(found[n].path) and _is_background(found[n].path[0]) for n in tops]
        words = [
            ("introduction", 3) if so else word for so, word in zip(called, words, strict=True)
        ]
    first = dict(zip(tops, assign_roles_by_place(words), strict=True))
    roles: list[Role] = []
    top: Role = "other"
    for n, piece in enumerate(found):
        top = first.get(n, top)
        roles.append(_refine_role(top, piece.path))
    _correct_front_matter(found, roles)
    _correct_back_matter(found, roles)
    return roles


def _is_background(heading: str) -> bool:
    return heading.strip().lower().lstrip("0123456789. ") == "background"


def _refine_role(top: Role, path: tuple[str, ...]) -> Role:
    role, sets_up = top, False
    for heading in path[1:]:
        role = get_subsection_role(role, heading, sets_up=sets_up)
        sets_up = sets_up or is_setup_heading(heading)
    return role


def _correct_front_matter(found: Sequence[Piece], roles: list[Role]) -> None:
    """What stands before abstract and introduction is front matter, and short sections between
    these are of the abstract.
    """
    begins = next((n for n, role in enumerate(roles) if role in {"abstract", "introduction"}), None)
    if (
        begins is not None
        and found[begins].start < _FRONT
        and not {"results", "references"} & set(roles[:begins])
    ):
        roles[:begins] = ["front"] * begins
    elif (
        found
        and not found[0].path
        and len(found) > 1
        and found[0].end < _FRONT
        and any(r != "other" for r in roles)
    ):
        roles[0] = "front"
    elif len(found) == 1 and not found[0].path:
        roles[0] = "other"
    if begins is None or roles[begins] != "abstract":
        return
    body = next(
        (
            n
            for n in range(begins, len(roles))
            if roles[n] == "introduction" and _is_numbered_or_long(found[n])
        ),
        None,
    )
    if body and all(found[n].end - found[n].start < _SHORT for n in range(begins + 1, body)):
        roles[begins + 1 : body] = ["abstract"] * (body - begins - 1)


def _is_numbered_or_long(piece: Piece) -> bool:
    return bool(_COUNTED.match(piece.path[-1])) or piece.end - piece.start >= _SHORT


def _correct_back_matter(found: Sequence[Piece], roles: list[Role]) -> None:
    """Behind the references, a plain heading is of what the appendix holds: mostly methods."""
    listed = [n for n, role in enumerate(roles) if role == "references"]
    if not listed:
        return
    for n in range(listed[-1] + 1, len(found)):
        path = found[n].path
        if roles[n] == "references" and classify_heading(path[0])[0] != "references":
            roles[n] = "method"
        if not path:
            continue
        said = [classify_heading(heading) for heading in path]
        roles[n] = next((role for role, strength in said if role and strength), None) or "method"
        if re.fullmatch(r"(?:Appendix|附\s*录)\s*\w?", path[-1]) and roles[n - 1] == "other":
            roles[n] = "other"  # a place in a form that stands behind the paper


def _build_parts(document: Document, found: Sequence[Piece], roles: Sequence[Role]) -> list[Part]:
    """The pieces with their pages; those behind the references, or so called, are appendices."""
    parts: list[Part] = []
    listed = False
    for piece, role in zip(found, roles, strict=True):
        named_so = bool(piece.path) and bool(_BEHIND.match(piece.path[0]))
        later = listed and bool(piece.path) and not _COUNTED.match(piece.path[0])
        appendix = role not in {"other", "references", "front"} and (named_so or later)
        listed = listed or role == "references"
        last = max(
            piece.start, piece.start + len(document.text[piece.start : piece.end].rstrip()) - 1
        )
        parts.append(
            Part(
                role=role,
                heading_path=piece.path,
                start=piece.start,
                end=piece.end,
                first_page=document.find_page_at(piece.start) or 0,
                last_page=document.find_page_at(last) or 0,
                appendix=appendix,
            )
        )
    return parts

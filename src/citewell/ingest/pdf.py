"""PDF to text through pdfium: pages, paragraphs, headings; running headers and page numbers left out.

The one rule: a file that cannot be read in full says so, by UnreadableFile or by a warning. Text comes in pdfium's order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from citewell.errors import UnreadableFile
from citewell.ingest import pdf_furniture, pdf_headings, pdf_paragraphs
from citewell.ingest.assemble import Assembly, clean
from citewell.ingest.pdf_headings import Heading, Mark
from citewell.ingest.pdf_lines import Line, body_size, read_page
from citewell.types import Document

MEDIA_TYPE: Final = "application/pdf"
_REASONS: Final = {
    3: ("is broken: it is not a PDF, or its structure is damaged", "open it in a PDF reader and save it again"),
    4: ("is protected by a password", "save it without a password and add it again"),
    5: ("is protected by a scheme that cannot be opened", "save it without protection and add it again"),
}
_JUNK_TITLE = re.compile(r"untitled|无标题|\S+\.(?:docx?|pptx?|xlsx?|tex|dvi|indd|pdf|ps|rtf)|slide 1|title", re.IGNORECASE)
_PRIVATE = re.compile(r"[\ue000-\uf8ff\ufffd]")
_TITLE_LARGER: Final = 1.2  # times the size of the text
_TITLE_LINES: Final = 4
_MOST_MARKS: Final = 5_000
_DEEPEST_MARK: Final = 8


def parse(data: bytes, name: str) -> Document:
    """A PDF with a text layer."""
    pdf = _open(data, name)
    try:
        pages, empty, broken = _read(pdf)
        marks = _marks(pdf)
        stated = clean(pdf.get_metadata_value("Title"))
    finally:
        pdf.close()
    if not any(pages):
        _refuse(name, len(pages), empty, broken)
    lines = [line for page in pdf_furniture.drop(pages) for line in page] or [line for page in pages for line in page]
    lines = pdf_headings.without_contents(lines, pdf_headings.find(lines, marks))
    headings = pdf_headings.find(lines, marks)
    title = _title(stated, lines)
    return _assemble(lines, headings, len(pages)).document(
        name, MEDIA_TYPE, title=title, warnings=_warnings(pages, empty, broken)
    )


def page_count(data: bytes, name: str) -> int:
    """How many pages a PDF has, without reading them."""
    pdf = _open(data, name)
    try:
        return len(pdf)
    finally:
        pdf.close()


def _open(data: bytes, name: str) -> Any:
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        reason, hint = _REASONS.get(error.err_code or 3, _REASONS[3])
        raise UnreadableFile(f"{name} {reason}", hint=hint) from None
    if not len(pdf):
        pdf.close()
        raise UnreadableFile(f"{name} is broken: it has no pages")
    return pdf


def _read(pdf: Any) -> tuple[list[list[Line]], list[int], list[int]]:
    """The lines of each page, the pages that show something but hold no text, and those that cannot be opened."""
    import pypdfium2

    pages: list[list[Line]] = []
    empty, broken = [], []
    for number in range(1, len(pdf) + 1):
        lines: list[Line] = []
        try:
            page = pdf[number - 1]
            textpage = page.get_textpage()
            lines = read_page(textpage, number)
            if not lines and pypdfium2.raw.FPDFPage_CountObjects(page) > 0:
                empty.append(number)
            textpage.close()
            page.close()
        except pypdfium2.PdfiumError:
            broken.append(number)
        pages.append(lines)
    return pages, empty, broken


def _refuse(name: str, count: int, empty: list[int], broken: list[int]) -> None:
    if len(broken) == count:
        raise UnreadableFile(f"{name} is broken: none of its {count} pages can be opened")
    if empty:
        raise UnreadableFile(f"{name} has no text layer: it is scanned; OCR is not part of this release")
    raise UnreadableFile(f"{name} holds no text: its pages are blank, or show only forms and notes")


def _warnings(pages: Sequence[list[Line]], empty: list[int], broken: list[int]) -> list[str]:
    found = []
    if empty:
        found.append(f"no text layer on {_list(empty)}: scanned or drawn; OCR is not part of this release")
    if broken:
        found.append(f"cannot be opened: {_list(broken)}")
    unmapped = [n for n, lines in enumerate(pages, start=1) if _unreadable(lines)]
    if unmapped:
        found.append(f"fonts without a character table on {_list(unmapped)}: their text may be wrong")
    return found


def _unreadable(lines: Sequence[Line]) -> bool:
    """Whether a third of the lines, or a tenth of the characters, has no meaning outside its font."""
    text = "".join(line.text for line in lines)
    return sum(line.unmapped for line in lines) * 3 > len(lines) or len(_PRIVATE.findall(text)) * 10 > len(text)


def _list(numbers: list[int]) -> str:
    """`page 3`, `pages 1, 4-6`."""
    ranges: list[list[int]] = []
    for n in numbers:
        if ranges and ranges[-1][1] == n - 1:
            ranges[-1][1] = n
        else:
            ranges.append([n, n])
    shown = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges[:10]) + (", ..." if len(ranges) > 10 else "")
    return f"page {shown}" if len(numbers) == 1 else f"pages {shown}"


def _marks(pdf: Any) -> list[Mark]:
    """The outline in order; entries that point nowhere are left out."""
    marks: list[Mark] = []
    for bookmark in pdf.get_toc(max_depth=_DEEPEST_MARK):
        if len(marks) >= _MOST_MARKS:
            break
        target = bookmark.get_dest()
        index = target.get_index() if target is not None else None
        title = " ".join(clean(bookmark.get_title()).split())
        if index is not None and title:
            mode, place = target.get_view()
            marks.append(Mark(bookmark.level + 1, title, index + 1, _height(mode, place)))
    return sorted(marks, key=lambda mark: mark.page)


def _height(mode: int, place: Sequence[float]) -> float | None:
    """The y of a destination: the second figure of XYZ, the first of FitH; others show whole pages."""
    if mode == 1 and len(place) > 1:
        return place[1]
    return place[0] if mode == 3 and place else None


def _title(stated: str, lines: Sequence[Line]) -> str:
    """The metadata's title unless a program made it up, else the largest type of the first page that has any."""
    stated = stated.strip().removeprefix("Microsoft Word - ")
    if stated and not _JUNK_TITLE.fullmatch(stated):
        return stated
    first = [line for line in lines if line.page == lines[0].page]
    largest = max(line.size for line in first)
    titles = [line for line in first if line.size == largest]
    if largest >= _TITLE_LARGER * body_size(lines) and len(titles) <= _TITLE_LINES:
        return " ".join(line.text for line in titles)
    return first[0].text if first[0].bold and len(first[0].text) < 100 and len(lines) > 1 else ""


def _assemble(lines: list[Line], headings: dict[int, Heading], pages: int) -> Assembly:
    out = Assembly()
    inside = {m for n, heading in headings.items() for m in range(n + 1, n + heading.lines)}
    stops = set(headings) | {n + heading.lines for n, heading in headings.items()}
    shown = 0
    for paragraph in pdf_paragraphs.join(lines, stops, inside):
        while shown < paragraph.pieces[0][0]:
            shown += 1
            out.page(shown)
        heading = headings.get(paragraph.first)
        if heading and heading.lines:
            out.heading(heading.level, paragraph.text)
        else:
            if heading:
                out.begin(heading.level, heading.title)
            out.block(paragraph.pieces[0][1], then=paragraph.pieces[1:])
        shown = paragraph.pieces[-1][0]
    while shown < pages:
        shown += 1
        out.page(shown)
    return out

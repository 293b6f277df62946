"""PDF to text through pdfium: columns, tables, paragraphs, headings, and where each line stands;
running headers left out. A file that cannot be read in full says so, by UnreadableFile or by a
warning.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.assemble import Assembly, clean_text
from citewell.ingest.bounded import get_time_limit
from citewell.ingest.pdf import flow, furniture, paragraphs, properties
from citewell.ingest.pdf import headings as pdf_headings
from citewell.ingest.pdf.headings import Heading
from citewell.ingest.pdf.lines import Line
from citewell.ingest.pdf.page import read_page
from citewell.ingest.pdf.scans import read_scan
from citewell.ingest.picture import ocr
from citewell.messages import Text
from citewell.types import Document

MEDIA_TYPE: Final = "application/pdf"
_REASONS: Final = {
    3: (
        Text("is broken: it is not a PDF, or its structure is damaged"),
        Text("open it in a PDF reader and save it again"),
    ),
    4: (Text("is protected by a password"), Text("save it without a password and add it again")),
    5: (
        Text("is protected by a scheme that cannot be opened"),
        Text("save it without protection and add it again"),
    ),
}
_PRIVATE = re.compile(r"[\ue000-\uf8ff\ufffd]")
_OCR_OFF: Final = 'OCR is off: set ingest.ocr = "auto" (needs the extra citewell[ocr])'
_OCR_MISSING: Final = "OCR is not installed: pip install 'citewell[ocr]'"
_OCR_LATE: Final = "OCR ran out of time: raise ingest.parse_seconds, or split the file"
# of the time that a file may take: what OCR has not read by then is reported
_OCR_SHARE: Final = 0.7
# pdfium keeps what it has read of a file until that is closed: it is opened anew after so many
_PAGES_AT_ONCE: Final = 100


@dataclass(slots=True)
class _Read:
    """What the pages hold. `empty`: those that show something but have no text; `scanned`: those
    that OCR read. `no_ocr`: why it does not read any more pages, or empty; `until`: when it has to
    stop.
    """

    no_ocr: str
    until: float
    floors: list[float] = field(default_factory=list)  # the y at which each page begins to be seen
    pages: list[list[Line]] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    scanned: list[int] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """A PDF. Pages without a text layer are read by OCR where settings say so."""
    pdf = open_pdf(data, name)
    try:
        marks, stated, dated = (
            properties.read_outline(pdf),
            clean_text(pdf.get_metadata_value("Title")),
            properties.get_date(pdf),
        )
        count = len(pdf)
    finally:
        pdf.close()
    read = _read_pages(data, name, count, settings)
    if not any(read.pages):
        _check_readable(name, read)
    marks = [
        replace(mark, y=mark.y and mark.y - read.floors[mark.page - 1])
        for mark in marks
        if mark.page <= count
    ]
    lines = [line for page in furniture.drop_headers_and_footers(read.pages) for line in page] or [
        line for page in read.pages for line in page
    ]
    lines = pdf_headings.drop_table_of_contents(lines, pdf_headings.find_headings(lines, marks))
    headings = pdf_headings.find_headings(lines, marks)
    title = properties.choose_title(stated, lines)
    warnings = _build_warnings(read)
    return _assemble_document(lines, headings, count).document(
        name, MEDIA_TYPE, title=title, warnings=warnings, dated=dated
    )


def count_pages(data: bytes, name: str) -> int:
    """How many pages a PDF has, without reading them."""
    pdf = open_pdf(data, name)
    try:
        return len(pdf)
    finally:
        pdf.close()


def open_pdf(data: bytes, name: str) -> Any:
    """The opened file, which the caller closes. Raises UnreadableFile with the reason."""
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        reason, hint = _REASONS.get(error.err_code or 3, _REASONS[3])
        raise UnreadableFile(Text("{name} {reason}", name=name, reason=reason), hint=hint) from None
    if not len(pdf):
        pdf.close()
        raise UnreadableFile(Text("{name} is broken: it has no pages", name=name))
    return pdf


def _read_pages(data: bytes, name: str, count: int, settings: IngestSettings) -> _Read:
    read = _Read(
        _get_no_ocr_reason(settings),
        time.monotonic() + _OCR_SHARE * get_time_limit(len(data), settings),
    )
    for start in range(0, count, _PAGES_AT_ONCE):
        pdf = open_pdf(data, name)
        try:
            for number in range(start + 1, min(start + _PAGES_AT_ONCE, count) + 1):
                read.pages.append(_read_one_page(pdf, number, read))
        finally:
            pdf.close()
    return read


def _get_no_ocr_reason(settings: IngestSettings) -> str:
    """Why there is no OCR, or nothing."""
    if settings.ocr == "off":
        return _OCR_OFF

    return "" if ocr.is_available() else _OCR_MISSING


def _read_one_page(pdf: Any, number: int, read: _Read) -> list[Line]:
    import pypdfium2

    lines: list[Line] = []
    read.floors.append(0.0)
    try:
        page = pdf[number - 1]
        read.floors[-1] = page.get_bbox()[1]
        lines = read_page(page, number)
        if not lines and pypdfium2.raw.FPDFPage_CountObjects(page) > 0:
            if not read.no_ocr and time.monotonic() > read.until:
                read.no_ocr = _OCR_LATE
            lines = [] if read.no_ocr else read_scan(page, number)
            (read.scanned if lines else read.empty).append(number)
        page.close()
    except pypdfium2.PdfiumError:
        read.broken.append(number)
    return lines


def _check_readable(name: str, read: _Read) -> None:
    if len(read.broken) == len(read.pages):
        raise UnreadableFile(
            Text(
                "{name} is broken: none of its {pages} pages can be opened",
                name=name,
                pages=len(read.pages),
            )
        )
    if read.empty and not read.no_ocr:
        raise UnreadableFile(
            Text("{name} has no text layer, and OCR finds no text on its pages", name=name)
        )
    if read.empty:
        raise UnreadableFile(
            Text("{name} has no text layer: it is scanned or drawn", name=name), hint=read.no_ocr
        )
    raise UnreadableFile(
        Text("{name} holds no text: its pages are blank, or show only forms and notes", name=name)
    )


def _build_warnings(read: _Read) -> list[str]:
    found = []
    if read.empty:
        found.append(
            f"no text layer on {_format_pages(read.empty)}: scanned or "
            f"drawn; {read.no_ocr or 'OCR finds no text there'}"
        )
    if read.scanned:
        found.append(
            f"no text layer on {_format_pages(read.scanned)}: read by OCR, which can misread"
        )
    if read.broken:
        found.append(f"cannot be opened: {_format_pages(read.broken)}")
    unmapped = [n for n, lines in enumerate(read.pages, start=1) if _is_unreadable(lines)]
    if unmapped:
        found.append(
            f"fonts without a character table on {_format_pages(unmapped)}: their text may be wrong"
        )
    return found


def _is_unreadable(lines: Sequence[Line]) -> bool:
    """Whether a third of the lines or a tenth of the characters means nothing without its font."""
    text = "".join(line.text for line in lines)
    return sum(line.unmapped for line in lines) * 3 > len(lines) or len(
        _PRIVATE.findall(text)
    ) * 10 > len(text)


def _format_pages(numbers: list[int]) -> str:
    """`page 3`, `pages 1, 4-6`."""
    ranges: list[list[int]] = []
    for n in numbers:
        if ranges and ranges[-1][1] == n - 1:
            ranges[-1][1] = n
        else:
            ranges.append([n, n])
    shown = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges[:10]) + (
        ", ..." if len(ranges) > 10 else ""
    )
    return f"page {shown}" if len(numbers) == 1 else f"pages {shown}"


def _assemble_document(lines: list[Line], headings: dict[int, Heading], pages: int) -> Assembly:
    out = Assembly()
    inside = {m for n, heading in headings.items() for m in range(n + 1, n + heading.lines)}
    stops = set(headings) | {n + heading.lines for n, heading in headings.items()}
    shown = 0
    before: Line | None = None
    for paragraph in flow.join_split_paragraphs(
        paragraphs.join_lines(lines, stops, inside), lines, headings
    ):
        first = lines[paragraph.first]
        while shown < paragraph.pieces[0][0]:
            shown += 1
            out.page(shown)
        heading = headings.get(paragraph.first)
        if heading and heading.lines:
            out.heading(heading.level, paragraph.text, boxes=paragraph.boxes())
        else:
            if heading:
                out.begin(heading.level, heading.title)
            same_table = (
                before is not None
                and first.row
                and (before.row, before.page) == (first.row, first.page)
            )
            gap = "\n" if same_table else "\n\n"
            out.block(
                paragraph.pieces[0][1], gap=gap, then=paragraph.pieces[1:], boxes=paragraph.boxes()
            )
        shown, before = paragraph.pieces[-1][0], first
    while shown < pages:
        shown += 1
        out.page(shown)
    return out

"""DOCX to text through python-docx: headings, lists with their numbers, tables, notes, in document order.

The one rule: sizes are checked before anything is unpacked or parsed. Left out are the table of contents and what stands at
the top and foot of pages.
"""

from __future__ import annotations

import io
import zipfile
from typing import Any, Final

from citewell.errors import UnreadableFile
from citewell.ingest.assemble import Assembly
from citewell.ingest.office_body import Body
from citewell.ingest.office_numbering import Numbering, W
from citewell.ingest.office_styles import Styles
from citewell.types import Document

MEDIA_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MAX_UNPACKED: Final = 1_000_000_000  # bytes of all parts, pictures included
MAX_XML: Final = 150_000_000  # bytes of XML parts: some twenty times a long novel, about 2 GB of memory when parsed
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_JUNK_TITLES: Final = ("microsoft word - ", "untitled", "document1", "无标题", "word document")


def parse(data: bytes, name: str) -> Document:
    """A Word document."""
    check(data, name)
    import docx

    word = docx.Document(io.BytesIO(data))
    parts = {rel.reltype.rsplit("/", 1)[-1]: rel.target_part for rel in word.part.rels.values() if not rel.is_external}
    styles, numbering = Styles(word.styles.element), Numbering(_root(parts.get("numbering")))
    notes = {kind: _notes(parts.get(kind)) for kind in ("footnotes", "endnotes")}
    assembly = Assembly()
    body = Body(assembly, styles, numbering, notes, has_headings=_has_headings(word.element.body, styles))
    body.read(word.element.body)
    stated = (word.core_properties.title or "").strip()
    if stated.lower().startswith(_JUNK_TITLES):
        stated = ""
    return assembly.document(name, MEDIA_TYPE, title=body.title or stated or assembly.first_heading)


def check(data: bytes, name: str) -> None:
    """Raises UnreadableFile, with the reason, for what is no DOCX or too large to unpack."""
    if data.startswith(_OLE):
        hint = "save it as .docx without a password and add it again"
        raise UnreadableFile(f"{name} is protected by a password, or is an old .doc file", hint=hint)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise UnreadableFile(f"{name} is broken: {error}") from None
    if not any(entry.filename == "word/document.xml" for entry in entries) and not any(
        entry.filename.startswith("word/document") for entry in entries
    ):
        raise UnreadableFile(f"{name} is not a Word document")
    if any(entry.flag_bits & 1 for entry in entries):
        raise UnreadableFile(f"{name} is protected by a password")
    xml = sum(entry.file_size for entry in entries if entry.filename.lower().endswith((".xml", ".rels")))
    total = sum(entry.file_size for entry in entries)
    if xml > MAX_XML or total > MAX_UNPACKED:
        raise UnreadableFile(f"{name} unpacks to {total:,} bytes, {xml:,} of them XML: too large to read")


def _root(part: Any | None) -> Any | None:
    """A part's XML: python-docx has parsed some parts, others are bytes."""
    if part is None:
        return None
    if hasattr(part, "element"):
        return part.element
    from docx.oxml import parse_xml

    return parse_xml(part.blob)


def _notes(part: Any | None) -> dict[str, Any]:
    root = _root(part)
    elements = [] if root is None else root
    return {element.get(f"{W}id"): element for element in elements if element.get(f"{W}type") in {None, "normal"}}


def _has_headings(body: Any, styles: Styles) -> bool:
    """Whether any paragraph is a heading by its style; where none is, lines such as `第一章` are taken for headings."""
    from citewell.ingest.office_styles import outline_level

    for properties in body.iter(f"{W}pPr"):
        style = properties.find(f"{W}pStyle")
        if outline_level(properties) or (style is not None and styles.get(style.get(f"{W}val") or "").level):
            return True
    return False

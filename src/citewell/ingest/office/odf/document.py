"""OpenDocument files: texts (.odt), presentations (.odp) and spreadsheets (.ods), from their own
XML. Cells and numbers are read as the program that wrote the file shows them, for the file says so
itself.
"""

from __future__ import annotations

from typing import Any, Final

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.assemble import Assembly
from citewell.ingest.office.odf.body import Body
from citewell.ingest.office.odf.cells import add_sheets
from citewell.ingest.office.odf.slides import add_slides
from citewell.ingest.office.odf.styles import OFFICE, Styles
from citewell.ingest.office.package import Package, get_local_name, parse_timestamp
from citewell.messages import Text
from citewell.types import Document

MEDIA_TYPES: Final = {
    "text": "application/vnd.oasis.opendocument.text",
    "presentation": "application/vnd.oasis.opendocument.presentation",
    "spreadsheet": "application/vnd.oasis.opendocument.spreadsheet",
}


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """An OpenDocument text, presentation or spreadsheet."""
    package = Package(data, name, settings, "content.xml", "an OpenDocument file")
    if b"encryption-data" in package.read("META-INF/manifest.xml"):
        raise UnreadableFile(
            Text("{name} is protected by a password", name=name),
            hint=Text("save it without one and add it again"),
        )
    said = package.read("mimetype")[:100].decode("ascii", errors="replace").strip()
    kind = said.removesuffix("-template").rpartition(".")[2]
    out, warnings = Assembly(), []
    title, dated = _read_properties(package)
    if kind == "spreadsheet":
        warnings = add_sheets(out, package, settings.max_cells)
    else:
        title = _add_text_or_slides(out, package, kind, warnings) or title
    shown = title if kind == "spreadsheet" else title or out.first_heading
    media_type = MEDIA_TYPES.get(kind, MEDIA_TYPES["text"])
    return out.document(
        name, media_type, title=shown, warnings=[*warnings, *package.warnings], dated=dated
    )


def _add_text_or_slides(out: Assembly, package: Package, kind: str, warnings: list[str]) -> str:
    """Append a text or the slides of a presentation. The title that a style gives, if any."""
    content = package.parse_part("content.xml")
    styles = Styles(content, package.parse_optional_part("styles.xml"))
    bodies = (
        []
        if content is None
        else [child for part in content.iterfind(f"{OFFICE}body") for child in part]
    )
    body = Body(out, styles, package)
    for element in bodies:
        if kind == "presentation":
            hidden = add_slides(element, body, styles)
            warnings += (
                [Text("hidden slides are read too: {map}", map=", ".join(map(str, hidden)))]
                if hidden
                else []
            )
        else:
            body.read(element)
    return body.title


def _read_properties(package: Package) -> tuple[str, float | None]:
    """The title among the file's properties, and when it was last changed, else made."""
    root: Any | None = package.parse_optional_part("meta.xml")
    texts = (
        {}
        if root is None
        else {get_local_name(element): (element.text or "").strip() for element in root.iter()}
    )
    return texts.get("title", ""), parse_timestamp(texts.get("date", "")) or parse_timestamp(
        texts.get("creation-date", "")
    )

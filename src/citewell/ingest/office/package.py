"""Office files as what they are: zip archives of XML parts that refer to one another. What a file
unpacks to is known before anything is unpacked (a part that is larger than it says is broken), and
a part is read only when it is asked for.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.archive.zip_archive import BROKEN, COUNTABLE, RATIO_FROM, open_zip
from citewell.ingest.office.ole import MAGIC, make_container_error
from citewell.messages import Text

MARK: Final = b"http://purl.oclc.org/ooxml/"
_NAMES: Final = re.compile(rb"""(=\s*["'])http://purl\.oclc\.org/ooxml/(\w+)/""")
_USUAL: Final = rb"\1http://schemas.openxmlformats.org/\2/2006/"


def is_strict(archive: zipfile.ZipFile) -> bool:
    """As its first relations say. Raises one of zip_archive.BROKEN."""
    return "_rels/.rels" in archive.namelist() and MARK in archive.read("_rels/.rels")


def to_transitional(archive: zipfile.ZipFile) -> bytes:
    """The same file in the usual form. Raises one of zip_archive.BROKEN."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for entry in archive.infolist():
            data = archive.read(entry)
            if entry.filename.lower().endswith((".xml", ".rels")):
                data = _NAMES.sub(_USUAL, data)
            target.writestr(
                zipfile.ZipInfo(entry.filename, entry.date_time), data, zipfile.ZIP_DEFLATED
            )
    return made.getvalue()


MAX_UNPACKED: Final = 1_000_000_000  # bytes of all parts, pictures included
# bytes of XML parts: some twenty times a long novel, about 2 GB of memory when parsed
MAX_XML: Final = 150_000_000
JUNK_TITLES: Final = (
    *(
        "microsoft word - ",
        "untitled",
        "document1",
        "无标题",
        "word document",
        "powerpoint presentation",
        "presentation1",
    ),
    *("powerpoint 演示文稿", "演示文稿", "slide 1", "幻灯片 1"),
)


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part says of another: `kind` is the relation type's last word, as `slide`, `image`."""

    kind: str
    target: str


class Package:
    """The parts of an office file. `known_by`: the beginning of a part's name without which it is
    no `words`.

    `data`: its bytes in the form that everything reads. Raises UnreadableFile, with the reason, for
    what is none, is protected, broken, or too large to unpack.
    """

    def __init__(
        self,
        data: bytes,
        name: str,
        settings: IngestSettings,
        known_by: str,
        words: str,
        *,
        max_xml: int = MAX_XML,
    ) -> None:
        if data.startswith(MAGIC):
            raise make_container_error(data, name)
        self._archive = open_zip(data, name)
        entries = self._archive.infolist()
        self.names: Final = {entry.filename for entry in entries}
        self.warnings: list[str] = []
        if not any(part.startswith(known_by) for part in self.names):
            raise UnreadableFile(Text("{name} is not {words}", name=name, words=words))
        if any(entry.flag_bits & 1 for entry in entries):
            raise UnreadableFile(
                Text("{name} is protected by a password", name=name),
                hint=Text("save it without one and add it again"),
            )
        if any(entry.compress_type not in COUNTABLE for entry in entries):
            raise UnreadableFile(
                Text("{name} is packed in a way that Office files never are", name=name),
                hint=Text("save it anew and add it again"),
            )
        xml = sum(
            entry.file_size
            for entry in entries
            if entry.filename.lower().endswith((".xml", ".rels"))
        )
        total = sum(entry.file_size for entry in entries)
        if xml > max_xml or total > MAX_UNPACKED:
            raise UnreadableFile(
                Text(
                    "{name} unpacks to {total:,} bytes, {xml:,} of them XML: too large to read",
                    name=name,
                    total=total,
                    xml=xml,
                )
            )
        if total > max(RATIO_FROM, settings.max_ratio * len(data)):
            hint = Text("raise ingest.max_ratio if it is meant")
            raise UnreadableFile(
                Text(
                    "{name} unpacks to {total:,.0f} times its size, as zip bombs do",
                    name=name,
                    total=total / len(data),
                ),
                hint=hint,
            )
        self.data: Final = self._convert_if_strict(data, name)

    def _convert_if_strict(self, data: bytes, name: str) -> bytes:
        """The file itself, or what says the same in the usual form where it is a strict one."""
        try:
            if not is_strict(self._archive):
                return data
            data = to_transitional(self._archive)
        except BROKEN as error:
            raise UnreadableFile(
                Text("{name} is broken: {error}", name=name, error=error)
            ) from None
        self._archive = open_zip(data, name)
        return data

    def read(self, part: str) -> bytes:
        """The bytes of a part, none where it is missing. Raises one of BROKEN where they are."""
        return self._archive.read(part) if part in self.names else b""

    def open(self, part: str) -> Any:
        """A part as a stream of bytes."""
        return self._archive.open(part)

    def parse_part(self, part: str) -> Any | None:
        """The root of a part, None where it is missing. Raises ValueError where it is broken."""
        data = self.read(part)
        return parse_xml(data) if data.strip() else None

    def parse_optional_part(self, part: str) -> Any | None:
        """The same for a part that can be missed: where it is broken, that is a warning."""
        try:
            return self.parse_part(part)
        except BROKEN as error:
            self.warnings.append(
                Text("{part} is broken and is left out: {error}", part=part, error=error)[:200]
            )
            return None

    def read_relations(self, part: str) -> dict[str, Relation]:
        """What `part` refers to, by relation id; links to the outside are left out."""
        folder, file = posixpath.split(part)
        root = self.parse_optional_part(posixpath.join(folder, "_rels", f"{file}.rels"))
        found = {}
        for element in [] if root is None else root:
            target = element.get("Target") or ""
            if element.get("TargetMode") != "External" and target and element.get("Id"):
                path = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
                found[element.get("Id")] = Relation(
                    (element.get("Type") or "").rsplit("/", 1)[-1], path
                )
        return found

    def read_date(self) -> float | None:
        """When the file says it was last changed, else made, in seconds since the epoch."""
        root = self.parse_optional_part("docProps/core.xml")
        texts = (
            {}
            if root is None
            else {get_local_name(element): element.text or "" for element in root}
        )
        return parse_timestamp(texts.get("modified", "")) or parse_timestamp(
            texts.get("created", "")
        )

    def get_stated_title(self) -> str:
        """The title among the file's properties, unless a program put it there."""
        root = self.parse_optional_part("docProps/core.xml")
        titles = (
            []
            if root is None
            else [element.text or "" for element in root if get_local_name(element) == "title"]
        )
        title = titles[0].strip() if titles else ""
        return "" if title.lower().startswith(JUNK_TITLES) else title


def parse_xml(data: bytes) -> Any:
    """The root of an XML document, without entities or network. Raises ValueError if broken."""
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise ValueError(str(error)) from error


def get_local_name(element: Any) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def parse_timestamp(text: str) -> float | None:
    """A date as XML writes it, in seconds since the epoch; None where it is none, or before 1980,
    as programs write no date.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if moment.year < 1981:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

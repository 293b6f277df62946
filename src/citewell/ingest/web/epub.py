"""EPUB books: the chapters in the order of the spine, each read as the HTML that it is. A table of
contents, a cover and what is out of the reading order are not read; a chapter without a heading has
the name that the table of contents gives it.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.assemble import Assembly
from citewell.ingest.office.package import Package, get_local_name
from citewell.ingest.web.html import read_chapter, to_text
from citewell.messages import Text
from citewell.text.timestamps import find_first_timestamp
from citewell.types import Document

MEDIA_TYPE: Final = "application/epub+zip"
_PAGES: Final = frozenset(
    {"application/xhtml+xml", "text/html", "application/html", "text/x-oeb1-document"}
)
_PROTECTED: Final = ("META-INF/rights.xml", "META-INF/license.lcpl", "META-INF/sinf.xml")
# these hide fonts, not text
_FONTS: Final = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_MOST_CHAPTERS: Final = 5_000


@dataclass(frozen=True, slots=True)
class _Item:
    """A file of the book, as its manifest lists it."""

    path: str
    media_type: str
    properties: str


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """An EPUB, version 2 or 3."""
    package = Package(data, name, settings, "META-INF/", "an EPUB book", max_xml=settings.max_bytes)
    _check_protection(package, name)
    where = _find_package_file(package, name)
    root = package.parse_part(where)
    if root is None:
        raise UnreadableFile(Text("{name} is broken: {where} is missing", name=name, where=where))
    items, spine = _read_manifest(root, posixpath.dirname(where)), _read_spine(root)
    if not any(key in items for key in spine):
        spine = [key for key, item in items.items() if item.media_type in _PAGES]
    titles = _read_contents(package, root, items)
    assembly, warnings = Assembly(), package.warnings
    size = 0
    # each file once
    chapters = {items[key].path: items[key] for key in spine[:_MOST_CHAPTERS] if key in items}
    for item in chapters.values():
        if item.media_type not in _PAGES or "nav" in item.properties.split():
            continue
        content = _read_chapter_bytes(package, item.path, name, settings.max_bytes - size, warnings)
        size += len(content)
        _add_chapter(content, item.path, titles, assembly, warnings)
    return assembly.document(
        name,
        MEDIA_TYPE,
        title=get_first_text(root, "title"),
        warnings=warnings,
        dated=find_first_timestamp(_get_texts(root, "date")),
    )


def _check_protection(package: Package, name: str) -> None:
    """Raise UnreadableFile where the text is encrypted."""
    encrypted = package.parse_optional_part("META-INF/encryption.xml")
    methods = (
        []
        if encrypted is None
        else [
            each.get("Algorithm", "")
            for each in encrypted.iter()
            if get_local_name(each) == "EncryptionMethod"
        ]
    )
    # a book of Adobe's, Apple's or LCP's names its keys in a file of its own; some shops leave even
    # that out
    if any(part in package.names for part in _PROTECTED) or any(
        method not in _FONTS for method in methods
    ):
        raise UnreadableFile(
            Text("{name} is protected by DRM", name=name), hint=Text("add a copy without DRM")
        )


def _find_package_file(package: Package, name: str) -> str:
    container = package.parse_part("META-INF/container.xml")
    for element in [] if container is None else container.iter():
        if get_local_name(element) == "rootfile" and (path := element.get("full-path")):
            return str(path)
    found = next((part for part in package.names if part.lower().endswith(".opf")), "")
    if not found:
        raise UnreadableFile(Text("{name} is broken: nothing in it lists its chapters", name=name))
    return found


def _read_manifest(root: Any, folder: str) -> dict[str, _Item]:
    """The book's files by their id."""
    found = {}
    for element in root.iter():
        if get_local_name(element) == "item" and element.get("id") and element.get("href"):
            path = posixpath.normpath(
                posixpath.join(folder, unquote(element.get("href").partition("#")[0]))
            )
            found[element.get("id")] = _Item(
                path, element.get("media-type", ""), element.get("properties", "")
            )
    return found


def _read_spine(root: Any) -> list[str]:
    """Ids of what is read, in order, each once; notes out of it (`linear="no"`) come last."""
    refs = [
        element
        for element in root.iter()
        if get_local_name(element) == "itemref" and element.get("idref")
    ]
    ordered = sorted(refs, key=lambda element: element.get("linear") == "no")
    return list(dict.fromkeys(element.get("idref") for element in ordered))


def _read_contents(package: Package, root: Any, items: dict[str, _Item]) -> dict[str, str]:
    """What the table of contents calls each file: EPUB 3's nav document, or EPUB 2's NCX."""
    nav = next((item for item in items.values() if "nav" in item.properties.split()), None)
    spine = next((element for element in root.iter() if get_local_name(element) == "spine"), None)
    ncx = items.get(spine.get("toc", "") if spine is not None else "")
    found: dict[str, str] = {}
    for item, entry, attribute in ((nav, "a", "href"), (ncx, "navPoint", "src")):
        if item is None:
            continue
        tree = package.parse_optional_part(item.path)
        for element in [] if tree is None else tree.iter():
            if get_local_name(element) != entry:
                continue
            source = (
                element
                if entry == "a"
                else next((each for each in element if get_local_name(each) == "content"), element)
            )
            label = (
                element
                if entry == "a"
                else next((each for each in element if get_local_name(each) == "navLabel"), element)
            )
            target = unquote(str(source.get(attribute, "")).partition("#")[0])
            path = posixpath.normpath(posixpath.join(posixpath.dirname(item.path), target))
            found.setdefault(path, " ".join("".join(label.itertext()).split()))
    return found


def _read_chapter_bytes(
    package: Package, path: str, name: str, room: int, warnings: list[str]
) -> bytes:
    """A chapter's bytes. Raises UnreadableFile where the chapters together are too large."""
    if path not in package.names:
        warnings.append(Text("{path} is missing", path=path))
        return b""
    try:
        with package.open(path) as source:
            content = bytes(source.read(room + 1))
    except Exception as error:  # noqa: BLE001 - whatever one chapter breaks at, the others are there to read
        warnings.append(
            Text("{path} is broken and is left out: {error}", path=path, error=error)[:200]
        )
        return b""
    if len(content) > room:
        raise UnreadableFile(
            Text("{name} holds more text than ingest.max_bytes allows", name=name),
            hint=Text("raise it, or split the file"),
        )
    return content


def _add_chapter(
    content: bytes, path: str, titles: dict[str, str], assembly: Assembly, warnings: list[str]
) -> None:
    if not content.strip():
        return
    text, more = to_text(content, path)
    warnings += [Text("{path}: {warning}", path=path, warning=warning) for warning in more]
    read_chapter(text, assembly, titles.get(path, ""))


def _get_texts(root: Any, tag: str) -> list[str]:
    return [element.text or "" for element in root.iter() if get_local_name(element) == tag]


def get_first_text(root: Any, tag: str) -> str:
    """The first non-empty text of an element of that name."""
    return next((text.strip() for text in _get_texts(root, tag) if text.strip()), "")

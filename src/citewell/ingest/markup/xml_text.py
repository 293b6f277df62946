"""XML files: papers in JATS, texts (DocBook, DITA, TEI), feeds, and data as `key: value` lines.
Which of them a file is, is told by its root and its tags, never by its name.
"""

from __future__ import annotations

from typing import Any, Final

from citewell.config import IngestSettings
from citewell.ingest.assemble import Assembly
from citewell.ingest.markup import jats
from citewell.ingest.markup.json_text import Writer
from citewell.ingest.markup.xml_blocks import PARAGRAPHS, TITLES, Walker, get_title
from citewell.ingest.markup.xml_tree import extract_text, get_tag, read_xml
from citewell.ingest.web import feed, html
from citewell.ingest.web.html_blocks import collapse_whitespace
from citewell.types import Document

MEDIA_TYPE: Final = "application/xml"
_NAMES: Final = 2_000  # elements by which a text is told from data
_TEXT_SHARE: Final = 0.1


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """An XML file."""
    root, warnings = read_xml(data, name)
    if get_tag(root).lower() == "html":
        return html.parse(data, name, settings)
    assembly = Assembly()
    if jats.is_jats(root):
        title, dated = jats.read_article(root, assembly)
        return assembly.document(name, jats.MEDIA_TYPE, title=title, warnings=warnings, dated=dated)
    if feed.is_feed(root):
        title, dated = feed.read_feed(root, assembly)
        return assembly.document(name, feed.MEDIA_TYPE, title=title, warnings=warnings, dated=dated)
    title = ""
    if _is_text(root):
        title = get_title(root)
        Walker(assembly).walk(root)
    else:
        writer = Writer(assembly)
        value = _to_json_value(root)
        writer.write_value(value if isinstance(value, dict) else {get_tag(root): value})
    return assembly.document(
        name, MEDIA_TYPE, title=title or assembly.first_heading, warnings=warnings
    )


def _is_text(root: Any) -> bool:
    """Whether paragraphs or running text with tags in it make up a good part of the file."""
    names = [each for _, each in zip(range(_NAMES), root.iter(), strict=False)]
    found = sum(
        get_tag(each) in PARAGRAPHS - {"description", "summary", "label", "note"}
        or _has_mixed_content(each)
        for each in names
    )
    return found >= _TEXT_SHARE * len(names) and any(
        get_tag(each) in TITLES | {"p", "para", "ab"} for each in names
    )


def _has_mixed_content(element: Any) -> bool:
    """Whether text and elements stand side by side in it."""
    return len(element) > 0 and bool(
        (element.text or "").strip() or any((child.tail or "").strip() for child in element)
    )


def _to_json_value(element: Any) -> Any:
    """An element as JSON: attributes and children by name, lists for several, leaves as text."""
    children = [child for child in element if get_tag(child)]
    if not children or _has_mixed_content(element):
        text = collapse_whitespace(extract_text(element))
        attributes = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
        return {**attributes, "text": text} if attributes and text else attributes or text
    found: dict[str, Any] = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
    repeated: set[str] = set()
    for child in children:
        name, value = get_tag(child), _to_json_value(child)
        if name in repeated:
            found[name].append(value)
        elif name in found:
            found[name] = [found[name], value]
            repeated.add(name)
        else:
            found[name] = value
    return found

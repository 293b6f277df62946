"""XML to a tree that can do no harm: no entity is expanded, nothing is fetched, and depth is limited by the parser.

The one rule: every XML file that is not part of an Office file is parsed here.
"""

from __future__ import annotations

import re
from html.entities import html5
from typing import Any, Final

from citewell.errors import UnreadableFile
from citewell.ingest.html import to_text

DEEPEST: Final = 256  # libxml2's own limit, so walks over its trees may recurse
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_ENTITY = re.compile(r"&(\w{1,40});")
# their parts stand one after the other without anything between
_SPACED: Final = frozenset(
    {"element-citation", "person-group", "name", "institution-wrap", "date", "address", "author", "personname"}
)
_LONGEST_ENTITY: Final = 200


def read_xml(data: bytes, name: str) -> tuple[Any, list[str]]:
    """The root of a document and warnings; a broken one as far as it can be read. Raises UnreadableFile where it has none."""
    from lxml import etree

    text, warnings = to_text(data, name)
    source = _DECLARATION.sub("", text.replace("\0", "").lstrip("\ufeff")).encode("utf-8", "replace")
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(source, parser)
    except etree.XMLSyntaxError as error:
        raise UnreadableFile(f"{name} is broken: {error}"[:300]) from None
    if root is None:
        raise UnreadableFile(f"{name} is broken: it is no XML")
    errors = [error for error in parser.error_log if "Entity" not in error.message]
    if any("depth" in error.message for error in errors):
        raise UnreadableFile(f"{name} nests too deep: more than {DEEPEST} levels")
    if errors:
        warnings = [*warnings, f"it could not be read whole (line {errors[0].line}: {errors[0].message.strip()})"]
    return root, warnings


def words(element: Any, leave_out: frozenset[str] = frozenset()) -> str:
    """All text below `element`, entities said by name, without what stands in the tags to `leave_out`."""
    parts: list[str] = []
    _gather(element, leave_out, parts)
    return "".join(parts)


def _gather(element: Any, leave_out: frozenset[str], parts: list[str]) -> None:
    if not isinstance(element.tag, str):
        parts.append(_entity(element))
        return
    parts.append(element.text or "")
    for child in element:
        if tag(child) not in leave_out:
            _gather(child, leave_out, parts)
        parts.append(child.tail or (" " if tag(element) in _SPACED else ""))


def _entity(node: Any) -> str:
    """What an entity stands for: the character that HTML names so, or a short text that the document itself defines."""
    match = _ENTITY.fullmatch(node.text or "")
    if match is None:
        return ""
    named = match.group(1)
    if f"{named};" in html5:
        return html5[f"{named};"]
    dtd = node.getroottree().docinfo.internalDTD
    for entity in dtd.iterentities() if dtd is not None else ():
        if entity.name == named and len(entity.content or "") <= _LONGEST_ENTITY and not set("&<") & set(entity.content or ""):
            return entity.content or ""
    return ""


def tag(element: Any) -> str:
    """The name of an element without its namespace, empty for what is none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def find(element: Any, *path: str) -> Any | None:
    """The first element below that is reached by these names, one level each."""
    for name in path:
        element = next((child for child in element if tag(child) == name), None)
        if element is None:
            return None
    return element


def below(element: Any, name: str) -> list[Any]:
    """All elements of that name, at any depth."""
    return [each for each in element.iter() if tag(each) == name]

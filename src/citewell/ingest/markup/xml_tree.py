"""XML to a tree that can do no harm: no entity stands for more than a short text, nothing is
fetched, and depth is limited by the parser. Every XML file that is not part of an Office file is
parsed here.
"""

from __future__ import annotations

import re
from html.entities import html5
from typing import Any, Final

from citewell.errors import UnreadableFile
from citewell.ingest.web.html import to_text
from citewell.messages import Text
from citewell.text.split_words import split_words

DEEPEST: Final = 256  # libxml2's own limit, so walks over its trees may recurse
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_ENTITY = re.compile(r"&(\w{1,40});")
_DEFINED = re.compile(r"""<!ENTITY\s+(\w{1,40})\s+(?:"([^"<&%]{0,200})"|'([^'<&%]{0,200})')\s*>""")
_XML_OWN: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})
_MOST_TIMES: Final = 20  # a document may grow so many times by what its entities stand for
# their parts stand one after the other without anything between
_SPACED: Final = split_words(
    "element-citation person-group name institution-wrap date address author personname"
)

# for lxml: broken documents are read as far as possible, nothing is fetched or expanded
PARSER_OPTIONS: Final[dict[str, Any]] = {
    "encoding": "utf-8",
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "recover": True,
    "remove_comments": True,
    "remove_pis": True,
}


def read_xml(data: bytes, name: str) -> tuple[Any, list[str]]:
    """A document's root and warnings, broken ones as far as possible. Raises UnreadableFile."""
    from lxml import etree

    text, warnings = to_text(data, name)
    text = _DECLARATION.sub("", text.replace("\0", "").lstrip("\ufeff"))
    source = _expand_entities(text, name).encode("utf-8", "replace")
    parser = etree.XMLParser(**PARSER_OPTIONS)
    try:
        root = etree.fromstring(source, parser)
    except etree.XMLSyntaxError as error:
        raise UnreadableFile(
            Text("{name} is broken: {error}", name=name, error=error)[:300]
        ) from None
    if root is None:
        raise UnreadableFile(Text("{name} is broken: it is no XML", name=name))
    errors = [error for error in parser.error_log if "Entity" not in error.message]
    if any("depth" in error.message for error in errors):
        raise UnreadableFile(
            Text("{name} nests too deep: more than {deepest} levels", name=name, deepest=DEEPEST)
        )
    if errors:
        warnings = [
            *warnings,
            Text(
                "it could not be read whole (line {line}: {message})",
                line=errors[0].line,
                message=errors[0].message.strip(),
            ),
        ]
    return root, warnings


def _expand_entities(text: str, name: str) -> str:
    """The document with the characters that HTML names, and the short texts that it defines itself,
    in the place of their names. Done here because libxml2 counts what names stand for, and stops in
    the middle of a document with many.
    """
    head = text[: text.find("]>") + 1] if "<!ENTITY" in text else ""
    defined = {match[1]: match[2] or match[3] or "" for match in _DEFINED.finditer(head)}
    left = _MOST_TIMES * len(text)

    def value(match: re.Match[str]) -> str:
        nonlocal left
        known = (
            match[0]
            if match[1] in _XML_OWN
            else html5.get(f"{match[1]};", defined.get(match[1], match[0]))
        )
        left -= len(known)
        if left < 0:
            raise UnreadableFile(
                Text(
                    "{name} grows to more than {most_times} times its size by its entities",
                    name=name,
                    most_times=_MOST_TIMES,
                )
            )
        return known

    return _ENTITY.sub(value, text)


def extract_text(element: Any, leave_out: frozenset[str] = frozenset()) -> str:
    """All text below `element`, without what stands in the tags to `leave_out`."""
    parts: list[str] = []
    _gather_text(element, leave_out, parts)
    return "".join(parts)


def _gather_text(element: Any, leave_out: frozenset[str], parts: list[str]) -> None:
    if not isinstance(element.tag, str):
        return
    parts.append(element.text or "")
    for child in element:
        if get_tag(child) not in leave_out:
            _gather_text(child, leave_out, parts)
        parts.append(child.tail or (" " if get_tag(element) in _SPACED else ""))


def get_tag(element: Any) -> str:
    """The name of an element without its namespace, empty for what is none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def find_element(element: Any, *path: str) -> Any | None:
    """The first element below that is reached by these names, one level each."""
    for name in path:
        element = next((child for child in element if get_tag(child) == name), None)
        if element is None:
            return None
    return element


def find_descendants(element: Any, name: str) -> list[Any]:
    """All elements of that name, at any depth."""
    return [each for each in element.iter() if get_tag(each) == name]

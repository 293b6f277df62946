"""Kinds of document by people's names for them: every media type that such files get."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.errors import InvalidInput
from citewell.messages import Text

_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
KINDS: dict[str, tuple[str, ...]] = {
    "pdf": ("application/pdf",),
    "docx": (_OFFICE + "wordprocessingml.document",),
    "pptx": (_OFFICE + "presentationml.presentation",),
    "xlsx": (_OFFICE + "spreadsheetml.sheet",),
    "xls": ("application/vnd.ms-excel",),
    "odt": (_OPEN + "text",),
    "ods": (_OPEN + "spreadsheet",),
    "odp": (_OPEN + "presentation",),
    "rtf": ("application/rtf",),
    "csv": ("text/csv",),
    "tsv": ("text/tab-separated-values",),
    "html": ("text/html",),
    "epub": ("application/epub+zip",),
    "eml": ("message/rfc822",),
    "md": ("text/markdown",),
    "rst": ("text/x-rst",),
    "txt": ("text/plain",),
    "json": ("application/json",),
    "jsonl": ("application/jsonl", "application/json"),
    "ipynb": ("application/x-ipynb+json",),
    "xml": ("application/xml", "application/jats+xml", "application/rss+xml"),
}
_GROUPS = {
    "image": ("image/png", "image/jpeg", "image/tiff", "image/webp", "image/bmp"),
    "word": KINDS["docx"] + KINDS["odt"] + KINDS["rtf"],
    "slides": KINDS["pptx"] + KINDS["odp"],
    "table": KINDS["xlsx"] + KINDS["xls"] + KINDS["ods"] + KINDS["csv"] + KINDS["tsv"],
}
_SAME = {
    "htm": "html",
    "markdown": "md",
    "text": "txt",
    "png": "image",
    "jpg": "image",
    "jpeg": "image",
    "tiff": "image",
}


def resolve_media_types(names: Sequence[str]) -> tuple[str, ...]:
    """The media types of these names; a media type means itself. Raises InvalidInput."""
    found: list[str] = []
    for name in names:
        plain = name.strip().lower().lstrip(".")
        plain = _SAME.get(plain, plain)
        kinds = KINDS.get(plain) or _GROUPS.get(plain)
        if kinds is None and "/" not in plain:
            known = ", ".join([*KINDS, *_GROUPS])
            raise InvalidInput(
                Text("unknown type: {name}", name=name),
                hint=Text("known: {known}; or a media type like text/x-python", known=known),
            )
        found += kinds or (plain,)
    return tuple(dict.fromkeys(found))

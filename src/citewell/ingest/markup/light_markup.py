"""Text in a markup of its own (LaTeX, AsciiDoc, Org, wiki text): kept as it stands, cut into
sections at its headings. The marks stay, for formulas and the like mean nothing without them; only
headings are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath
from typing import Final, NamedTuple

from citewell.config import IngestSettings
from citewell.ingest import assemble
from citewell.text.charset import decode_text
from citewell.types import Document

_TEX_LEVELS: Final = {
    "part": 1,
    "chapter": 2,
    "section": 3,
    "subsection": 4,
    "subsubsection": 5,
    "paragraph": 6,
}
_TEX_COMMAND = re.compile(r"\\[a-zA-Z]+\*?(?:\[[^\]\n]{0,80}\])?|[{}~$]")


class Markup(NamedTuple):
    """`heading`: with groups `mark`, `title`; `level`: a mark's rank; `named`: the title."""

    media_type: str
    heading: re.Pattern[str]
    level: Callable[[str], int]
    named: re.Pattern[str]


_TEX: Final = Markup(
    "text/x-tex",
    re.compile(
        r"^[ \t]*\\(?P<mark>part|chapter|(?:sub){0,2}section|paragraph)\*?"
        r"(?:\[[^\]\n]{0,200}\])?\{(?P<title>[^\n]{1,300})\}",
        re.MULTILINE,
    ),
    lambda mark: _TEX_LEVELS[mark],
    re.compile(r"\\title(?:\[[^\]\n]{0,200}\])?\{([^\n]{1,300}?)\}"),
)
_ADOC: Final = Markup(
    "text/x-asciidoc",
    re.compile(r"^(?P<mark>={1,6})[ \t]+(?P<title>[^\n]{1,300})$", re.MULTILINE),
    len,
    re.compile(r"\A=[ \t]+(.+)"),
)
_ORG: Final = Markup(
    "text/x-org",
    re.compile(r"^(?P<mark>\*{1,8})[ \t]+(?P<title>[^\n]{1,300})$", re.MULTILINE),
    len,
    re.compile(r"^#\+title:[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE),
)
_WIKI: Final = Markup(
    "text/x-wiki",
    re.compile(r"^(?P<mark>={1,6})[ \t]*(?P<title>[^\n=]{1,300}?)[ \t]*=+[ \t]*$", re.MULTILINE),
    len,
    re.compile(r"(?!)"),
)
_MARKUPS: Final = {
    **dict.fromkeys((".tex", ".ltx"), _TEX),
    **dict.fromkeys((".adoc", ".asciidoc"), _ADOC),
    ".org": _ORG,
    **dict.fromkeys((".wiki", ".mediawiki"), _WIKI),
}


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:  # noqa: ARG001 the form of every parser
    """A file of one of these, by its suffix."""
    raw, warnings = decode_text(data, name)
    text = assemble.clean_text(raw).strip("\n")
    markup = _MARKUPS.get(PurePath(name).suffix.lower(), _TEX)
    outline = assemble.Outline()
    for match in markup.heading.finditer(text):
        if title := _strip_commands(match["title"], markup):
            outline.heading(markup.level(match["mark"]), title, match.start())
    named = markup.named.search(text)
    title = _strip_commands(named.group(1), markup) if named else ""
    return assemble.build_document(
        name, markup.media_type, text, outline.sections(len(text)), title=title, warnings=warnings
    )


def _strip_commands(title: str, markup: Markup) -> str:
    """A heading without the commands in it."""
    return " ".join((_TEX_COMMAND.sub(" ", title) if markup is _TEX else title).split())

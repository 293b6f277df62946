"""Source code and configuration: the text as it stands, white space and all, with a section for
each definition. Not a character is changed or moved; only where sections begin is read out of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from citewell.config import IngestSettings
from citewell.ingest import assemble
from citewell.ingest.markup.code_languages import LANGUAGES, Language
from citewell.text.charset import decode_text
from citewell.types import Document

# characters: longer ones are written by programs, and have no definitions to be found
_LONGEST_LINE: Final = 5_000
_LARGEST: Final = 5_000_000  # characters
_TAB: Final = 4
_MOST_NESTED: Final = 4  # names in a heading path
_ABOVE = re.compile(
    r"\s*(?:@|#\[|//|/\*|\*|#(?!include|define|if|endif|else|pragma)|--|;;|template\b|\[\w)"
)
_OPENS: Final = ("function", "func", "fn", "fun", "def", "defp", "sub", "procedure", "rpc")


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:  # noqa: ARG001 the form of every parser
    """A file of source code, by its suffix."""
    raw, warnings = decode_text(data, name)
    text = assemble.clean_text(raw).strip("\n")
    language = LANGUAGES.get(PurePath(name).suffix.lower(), LANGUAGES[".bat"])
    outline = assemble.Outline()
    if len(text) <= _LARGEST and max(map(len, text.split("\n"))) <= _LONGEST_LINE:
        for level, title, start in _find_definitions(text, language):
            outline.heading(level, title, start)
    return assemble.build_document(
        name,
        language.media_type,
        text,
        outline.sections(len(text)),
        title=PurePath(name).name,
        warnings=warnings,
    )


def _find_definitions(text: str, language: Language) -> Iterator[tuple[int, str, int]]:
    """Level, name and start of each definition, in order; those inside a function belong to it."""
    bare = language.aside.sub(_replace_with_blanks, text)
    found: dict[int, tuple[int, str, bool]] = {}
    for pattern in language.definitions:
        for match in pattern.finditer(bare):
            groups = match.groupdict()
            indent = len((groups["indent"] or "").expandtabs(_TAB))
            is_function = (
                groups["kind"] in _OPENS if groups.get("kind") else bool(groups.get("call"))
            )
            title = groups["name"].strip("\"'`") + ("()" if is_function else "")
            found.setdefault(_find_line_start(text, match.start()), (indent, title, is_function))
    inside = -1  # the indent of the function that is open
    open_indents: list[int] = []
    for start, (indent, title, is_function) in sorted(found.items()):
        open_indents = [each for each in open_indents if each < indent]
        if 0 <= inside < indent or len(open_indents) >= _MOST_NESTED:
            continue
        inside = indent if is_function else -1
        open_indents.append(indent)
        yield indent + 1, title, _extend_to_comments(text, start)


def _replace_with_blanks(match: re.Match[str]) -> str:
    """Comments and texts as blanks, so that every other character stays where it is."""
    return re.sub(r"[^\n]", " ", match.group())


def _find_line_start(text: str, at: int) -> int:
    """Where the first line that is not blank begins, from the line of `at` on."""
    while at < len(text) and text[at] == "\n":
        at += 1
    return text.rfind("\n", 0, at) + 1


def _extend_to_comments(text: str, start: int) -> int:
    """Where the comments and decorators begin that stand right above a definition."""
    while start > 0:
        above = text.rfind("\n", 0, start - 1) + 1
        if not _ABOVE.match(text, above, start - 1):
            break
        start = above
    return start

"""reStructuredText through docutils to readable text: sections, lists, tables, code, notes.

The one rule: nothing is inserted from other files and nothing raw is passed on; what docutils does
not know (the roles and directives of Sphinx) is read for its words, and its complaints never reach
the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from citewell.config import IngestSettings
from citewell.ingest.assemble import Assembly, clean_text
from citewell.ingest.markup import plain_text as text
from citewell.ingest.markup.rst_blocks import Reader
from citewell.text.charset import decode_text
from citewell.types import Document

if TYPE_CHECKING:
    from docutils import nodes

MEDIA_TYPE: Final = "text/x-rst"
_LARGEST: Final = 3_000_000  # characters: docutils reads some 200,000 a second
_LONGEST_PARAGRAPH: Final = (
    20_000  # characters: its time grows with the square of one that is full of open marks
)
_BLANK = re.compile(r"\n[ \t]*\n")
_ROLE = re.compile(r":([A-Za-z][\w.+:-]{0,40}):`")
_DIRECTIVE = re.compile(r"^[ \t]*\.\. (?:\|[^|\n]+\| )?([A-Za-z][\w.+:-]{0,40})::", re.MULTILINE)
_TARGET = re.compile(r"\s*<[^<>]*>\s*\Z")
_SILENT: Final = frozenset(  # no words of theirs
    {"toctree", "index", "highlight", "currentmodule", "only", "tabularcolumns"}
)
_SETTINGS: Final = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": "",
    "doctitle_xform": False,
    "smart_quotes": False,
    "syntax_highlight": "none",
    "line_length_limit": 1_000_000,
}


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """An .rst file. One that docutils cannot read is read as plain text, with a warning."""
    raw, warnings = decode_text(data, name)
    source = clean_text(raw)
    tree = None
    if len(source) <= _LARGEST and max(map(len, _BLANK.split(source))) <= _LONGEST_PARAGRAPH:
        try:
            tree = _parse_tree(source)
        except (
            RecursionError,
            ValueError,
            TypeError,
            AttributeError,
            IndexError,
            KeyError,
            AssertionError,
        ):
            tree = None  # its own faults; the plain text below says so
    if tree is None:
        document = text.parse(data, name, settings)
        return replace(
            document,
            warnings=(
                "it could not be read as reStructuredText, only as plain text",
                *document.warnings,
            ),
        )
    assembly = Assembly()
    Reader(assembly).read(tree)
    return assembly.document(name, MEDIA_TYPE, title=assembly.first_heading, warnings=warnings)


def _parse_tree(source: str) -> nodes.document:
    from docutils import core

    _register_unknown_names(source)
    return core.publish_doctree(source, settings_overrides=dict(_SETTINGS))


def _register_unknown_names(source: str) -> None:
    """Register every role and directive that the text uses and docutils does not know, as one that
    gives its words.
    """
    from docutils.parsers.rst import directives, roles
    from docutils.parsers.rst.languages import en

    for name in {match.lower() for match in _ROLE.findall(source)}:
        if name not in en.roles and name not in roles._roles:  # noqa: SLF001 - docutils has no other way to ask
            roles.register_local_role(name, _make_role_text)
    unknown, code = _make_directives()
    for name in ("code", "code-block", "sourcecode", "highlight-block"):
        directives.register_directive(name, code)
    for name in {match.lower() for match in _DIRECTIVE.findall(source)}:
        if name not in en.directives and name not in directives._directives:  # noqa: SLF001
            directives.register_directive(name, unknown)


def _make_role_text(_name: str, rawtext: str, text: str, *_: Any, **__: Any) -> Any:
    """`:ref:`title <target>`` says its title, `:func:`~a.b.c`` its name."""
    from docutils import nodes

    said = _TARGET.sub("", text) or text
    return [nodes.inline(rawtext, said.lstrip("~!").replace("\0", ""))], []


class _AnyOption(dict[str, Callable[[str], str]]):
    """Options of any name, each kept as it stands."""

    def __missing__(self, key: str) -> Callable[[str | None], str]:
        return lambda value: value or ""

    def __bool__(self) -> bool:
        return True  # docutils looks for options only where there may be some


def _make_directives() -> tuple[type[Any], type[Any]]:
    """Two directives for any name: one whose content is text, one whose content is code."""
    from docutils import nodes
    from docutils.parsers.rst import Directive

    class Unknown(Directive):  # type: ignore[misc] # docutils ships no types
        """Its argument as a line, then its content."""

        has_content = True
        optional_arguments = 1
        final_argument_whitespace = True
        option_spec: ClassVar[dict[str, Callable[[str], Any]]] = _AnyOption()

        def run(self) -> list[nodes.Node]:
            found = nodes.container()
            if self.name in _SILENT:
                return []
            if self.arguments:
                found += nodes.paragraph("", "", nodes.Text(self.arguments[0]))
            self.state.nested_parse(self.content, self.content_offset, found)
            return [found]

    class Code(Unknown):
        """Its content as it stands."""

        def run(self) -> list[nodes.Node]:
            text = "\n".join(self.content)
            return [nodes.literal_block(text, text)] if text else []

    return Unknown, Code

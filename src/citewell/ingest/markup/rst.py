"""reStructuredText through docutils to HTML, which is read as a page is. Nothing is inserted from
other files and nothing raw is passed on; what docutils does not know (the roles and directives of
Sphinx) is read for its words, and its complaints never reach the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Final

from citewell.config import IngestSettings
from citewell.ingest.assemble import Assembly, clean_text
from citewell.ingest.markup import plain_text as text
from citewell.ingest.web.html import read_html
from citewell.messages import Text
from citewell.text.charset import decode_text
from citewell.types import Document

MEDIA_TYPE: Final = "text/x-rst"
_LARGEST: Final = 1_500_000  # characters: docutils takes a second for some 80,000
# characters: its time grows with the square of one that is full of open marks
_LONGEST_PARAGRAPH: Final = 20_000
_BLANK = re.compile(r"\n[ \t]*\n")
_ROLE = re.compile(r":([A-Za-z][\w.+:-]{0,40}):`")
_DIRECTIVE = re.compile(r"^[ \t]*\.\. (?:\|[^|\n]+\| )?([A-Za-z][\w.+:-]{0,40})::", re.MULTILINE)
_TARGET = re.compile(r"\s*<[^<>]*>\s*\Z")
_INSERTS = re.compile(r"\s*\.\. (?:\|[^|]+\| )?(?:include|raw|csv-table)::")
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
    "embed_stylesheet": False,
    "initial_header_level": 1,
    "math_output": "LaTeX",
    "output_encoding": "unicode",
    "smart_quotes": False,
    "syntax_highlight": "none",
    "line_length_limit": 1_000_000,
}


def parse(data: bytes, name: str, settings: IngestSettings) -> Document:
    """An .rst file. One that docutils cannot read is read as plain text, with a warning."""
    raw, warnings = decode_text(data, name)
    source = clean_text(raw)
    page = None
    if len(source) <= _LARGEST and max(map(len, _BLANK.split(source))) <= _LONGEST_PARAGRAPH:
        try:
            page = _render_html(source)
        except (
            RuntimeError,
            ValueError,
            TypeError,
            AttributeError,
            IndexError,
            KeyError,
            AssertionError,
        ):
            page = None  # its own faults; the plain text below says so
    if page is None:
        document = text.parse(data, name, settings)
        return replace(
            document,
            warnings=(
                Text("it could not be read as reStructuredText, only as plain text"),
                *document.warnings,
            ),
        )
    assembly = Assembly()
    read_html(page, assembly)
    return assembly.document(name, MEDIA_TYPE, title=assembly.first_heading, warnings=warnings)


def _render_html(source: str) -> str:
    """The page that docutils makes of a text, without its complaints; what it complained of stands
    there as it was written: a broken table, say.
    """
    from docutils import core, nodes

    _register_unknown_names(source)
    tree = core.publish_doctree(source, settings_overrides=dict(_SETTINGS))
    for message in list(tree.findall(nodes.system_message)):
        kept = [
            child
            for child in message.children
            if child.tagname == "literal_block" and not _INSERTS.match(child.astext())
        ]
        message.parent.replace(message, kept)
    return str(core.publish_from_doctree(tree, writer="html5", settings_overrides=dict(_SETTINGS)))


def _register_unknown_names(source: str) -> None:
    """Register roles and directives that docutils does not know as ones that give their words."""
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

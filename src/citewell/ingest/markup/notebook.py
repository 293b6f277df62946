"""Jupyter notebooks: Markdown cells as Markdown, code cells and the text that they printed as they
stand. Pictures and other encoded output are left out; what a reader sees as text is kept.
"""

from __future__ import annotations

from typing import Any, Final

from citewell.ingest.assemble import Assembly
from citewell.ingest.markup.markdown import read_markdown
from citewell.types import Document

MEDIA_TYPE: Final = "application/x-ipynb+json"
_LONGEST_OUTPUT: Final = 10_000  # characters of one cell's output


def is_notebook(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("cells"), list) and "nbformat" in value


def build_document(value: dict[str, Any], name: str, warnings: list[str]) -> Document:
    """The document that a notebook makes."""
    assembly = Assembly()
    for cell in value["cells"]:
        if not isinstance(cell, dict):
            continue
        source = _join_lines(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            read_markdown(source, assembly)
        else:
            assembly.block(source)
            for output in cell.get("outputs") or []:
                assembly.block(_extract_output_text(output)[:_LONGEST_OUTPUT])
    return assembly.document(name, MEDIA_TYPE, title=assembly.first_heading, warnings=warnings)


def _join_lines(source: Any) -> str:
    """Notebooks keep a text as one string or as its lines."""
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def _extract_output_text(output: Any) -> str:
    """The plain text of one output; an error's name and message."""
    if not isinstance(output, dict):
        return ""
    if output.get("output_type") == "error":
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    data = output.get("data")
    return _join_lines(
        output.get("text") or (data.get("text/plain") if isinstance(data, dict) else "")
    )

"""How an answer and its citations are written down. A number in the text is a citation's `n`."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.skills.answer.wording import format_message
from citewell.text.line_breaks import LIST_ITEM, join_wrapped_lines
from citewell.text.table_rows import is_row
from citewell.types import Citation, Sentence


def format_with_markers(sentences: Sequence[Sentence], lang: str) -> str:
    """The sentences with `[n]` behind each. Rows of a table and items of a list have lines of their
    own: no full stop parts them from what follows.
    """
    text, before = "", ""
    for sentence in sentences:
        row = is_row(sentence.text)
        kind = "row" if row else "item" if LIST_ITEM.match(sentence.text) else ""
        if text and (kind or before):
            text += "\n" if kind == before == "row" else "\n\n"
        elif text:
            text += "" if lang == "zh" else " "
        text += ("- " if row else "") + sentence.text
        text += "".join(f"[{n}]" for n in sentence.citations)
        before = kind
    return text


def format_citations(citations: Sequence[Citation], lang: str) -> list[str]:
    """`[1] Handbook, page 3, Leave › Annual leave: "..."`, one line each."""
    return [f"[{c.n}] {format_place(c, lang)}: {_quote_text(c.quote, lang)}" for c in citations]


def format_place(citation: Citation, lang: str) -> str:
    """Title, page and section of a citation, as far as there are any."""
    page = format_message("page", lang, page=str(citation.page)) if citation.page else ""
    parts = [citation.title, page, citation.section if citation.section != citation.title else ""]
    return ("，" if lang == "zh" else ", ").join(p for p in parts if p)


def _quote_text(text: str, lang: str) -> str:
    flat = join_wrapped_lines(text)
    return f"“{flat}”" if lang == "zh" else f'"{flat}"'

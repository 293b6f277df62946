"""How an answer and its citations are written down. The one rule: a number in the text is a citation's `n`."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.skills.wording import say
from citewell.types import Citation, Sentence


def with_markers(sentences: Sequence[Sentence], lang: str) -> str:
    """The sentences with `[n]` behind each."""
    parts = [s.text + "".join(f"[{n}]" for n in s.citations) for s in sentences]
    return ("" if lang == "zh" else " ").join(parts)


def format_citations(citations: Sequence[Citation], lang: str) -> list[str]:
    """`[1] Handbook, page 3, Leave › Annual leave: "..."`, one line each."""
    return [f"[{c.n}] {place(c, lang)}: {_quoted(c.quote, lang)}" for c in citations]


def place(citation: Citation, lang: str) -> str:
    """Title, page and section of a citation, as far as there are any."""
    page = say("page", lang, page=str(citation.page)) if citation.page else ""
    parts = [citation.title, page, citation.section if citation.section != citation.title else ""]
    return ("，" if lang == "zh" else ", ").join(p for p in parts if p)


def _quoted(text: str, lang: str) -> str:
    flat = " ".join(text.split())
    return f"“{flat}”" if lang == "zh" else f'"{flat}"'

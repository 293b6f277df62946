"""The guide's report as Markdown: for the conversation, the terminal and exports. `[n]` in the text
is the quote of that number at the end, with its page.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.skills.guide.guide_wording import format_message
from citewell.skills.paper.reading_context import Report
from citewell.text.markup import flatten_text
from citewell.types import Citation, Sentence


def render_report(report: Report, *, title: str, authors: Sequence[str]) -> str:
    """The whole report, headings in its language."""
    lang = report.lang
    blocks = [f"# {flatten_text(title)}"] if title.strip() else []
    blocks += (
        [("、" if lang == "zh" else ", ").join(flatten_text(name) for name in authors)]
        if authors
        else []
    )
    blocks += [f"> {flatten_text(warning)}" for warning in report.warnings]
    for part in report.parts:
        blocks += [
            f"## {format_message(part.slot, lang)}",
            "\n".join(f"- {_format_sentence(sentence)}" for sentence in part.sentences),
        ]
    if report.terms:
        colon = "：" if lang == "zh" else ": "
        known = [
            f"- **{flatten_text(term.term)}**{colon}{_format_sentence(term.sentence)}"
            for term in report.terms
        ]
        blocks += [f"## {format_message('terms', lang)}", "\n".join(known)]
    if report.questions:
        asked = [
            f"{n}. {flatten_text(each.question)} "
            f"{_wrap_in_brackets(_format_place(each.section, each.page, lang), lang)} "
            f"{_format_markers(each.citations)}"
            for n, each in enumerate(report.questions, 1)
        ]
        blocks += [f"## {format_message('questions', lang)}", "\n".join(asked)]
    blocks += [f"## {format_message('interest', lang)}", flatten_text(report.question)]
    if report.citations:
        blocks += [
            f"## {format_message('quotes', lang)}",
            "\n".join(_format_quote(citation, lang) for citation in report.citations),
        ]
    return "\n\n".join(blocks) + "\n"


def _format_sentence(sentence: Sentence) -> str:
    return f"{flatten_text(sentence.text)} {_format_markers(sentence.citations)}".rstrip()


def _format_markers(numbers: Sequence[int]) -> str:
    return "".join(f"[{n}]" for n in numbers)


def _format_place(section: str, page: int | None, lang: str) -> str:
    """The heading that an answer stands under, and its page."""
    last = flatten_text(section.rpartition(" › ")[2])
    if page and last:
        return format_message("place", lang, section=last, page=page)
    return format_message("page", lang, page=page) if page else last


def _format_quote(citation: Citation, lang: str) -> str:
    where = _format_place(citation.section, citation.page, lang)
    quote = f"[{citation.n}] “{flatten_text(citation.quote)}” {_wrap_in_brackets(where, lang)}"
    return quote.rstrip() + "  "  # a line of its own


def _wrap_in_brackets(where: str, lang: str) -> str:
    return (f"（{where}）" if lang == "zh" else f"({where})") if where else ""

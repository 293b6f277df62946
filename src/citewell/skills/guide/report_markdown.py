"""The guide's report as Markdown: for the conversation, the terminal and exports.

The one rule: `[n]` in the text is the quote of that number at the end, with its page.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.skills.guide.guide_wording import say
from citewell.skills.paper.reading_context import Report
from citewell.types import Citation, Sentence


def report_markdown(report: Report, *, title: str, authors: Sequence[str]) -> str:
    """The whole report, headings in its language."""
    lang = report.lang
    blocks = [f"# {_flat(title)}"] if title.strip() else []
    blocks += (
        [("、" if lang == "zh" else ", ").join(_flat(name) for name in authors)] if authors else []
    )
    blocks += [f"> {_flat(warning)}" for warning in report.warnings]
    for part in report.parts:
        blocks += [
            f"## {say(part.slot, lang)}",
            "\n".join(f"- {_stated(sentence)}" for sentence in part.sentences),
        ]
    if report.terms:
        colon = "：" if lang == "zh" else ": "
        known = [
            f"- **{_flat(term.term)}**{colon}{_stated(term.sentence)}" for term in report.terms
        ]
        blocks += [f"## {say('terms', lang)}", "\n".join(known)]
    if report.questions:
        asked = [
            f"{n}. {_flat(each.question)} "
            f"{_bracketed(_where(each.section, each.page, lang), lang)} {_marks(each.citations)}"
            for n, each in enumerate(report.questions, 1)
        ]
        blocks += [f"## {say('questions', lang)}", "\n".join(asked)]
    blocks += [f"## {say('interest', lang)}", _flat(report.question)]
    if report.citations:
        blocks += [
            f"## {say('quotes', lang)}",
            "\n".join(_quote(citation, lang) for citation in report.citations),
        ]
    return "\n\n".join(blocks) + "\n"


def _stated(sentence: Sentence) -> str:
    return f"{_flat(sentence.text)} {_marks(sentence.citations)}".rstrip()


def _marks(numbers: Sequence[int]) -> str:
    return "".join(f"[{n}]" for n in numbers)


def _where(section: str, page: int | None, lang: str) -> str:
    """The heading that an answer stands under, and its page."""
    last = _flat(section.rpartition(" › ")[2])
    if page and last:
        return say("place", lang, section=last, page=page)
    return say("page", lang, page=page) if page else last


def _quote(citation: Citation, lang: str) -> str:
    where = _where(citation.section, citation.page, lang)
    # a line of its own
    return f"[{citation.n}] “{_flat(citation.quote)}” {_bracketed(where, lang)}".rstrip() + "  "


def _bracketed(where: str, lang: str) -> str:
    return (f"（{where}）" if lang == "zh" else f"({where})") if where else ""


def _flat(text: str) -> str:
    """One line; what the paper says must not become a tag."""
    return " ".join(text.split()).replace("<", "&lt;")

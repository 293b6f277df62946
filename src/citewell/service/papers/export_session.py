"""A reading session as Markdown. Words of the paper, of the reader and of a model are escaped, so
that none of them is read as Markdown or HTML; and the same session gives the same text, whenever it
is exported.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence

from citewell import __version__
from citewell.agents.paper.paper_state import Exchange
from citewell.service.papers.export_wording import format_pages, format_place, get_words
from citewell.service.papers.reading_sessions import PaperSession
from citewell.skills.paper.reading_context import Plan, Report
from citewell.types import Citation, Sentence

# what Markdown or the HTML in it would obey anywhere in a line
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~!&$^]")
# and only where a line begins: lists, rules, headings underlined
_LEADING = re.compile(r"^(?:([-+=])|(\d{1,9})([.)]))")
_ADDRESS = re.compile(r"(?i)\b(https?|ftp|mailto):|\b(www)\.")
# control characters, and marks that turn the reading direction
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_GAP = re.compile(r"\s*\n\s*")
_NUMBERS = re.compile(r"(?:\s?\[\d+\])+")


def escape_markdown(text: str) -> str:
    """Text on one line that shows as it is, wherever in a line it stands."""
    flat = " ".join(_CONTROLS.sub("", re.sub(r"[\r\n\t\u2028\u2029\x85]", " ", text)).split())
    flat = _SPECIAL.sub(lambda mark: "&amp;" if mark[0] == "&" else "\\" + mark[0], flat)
    flat = _ADDRESS.sub(lambda found: f"{found[1]}\\:" if found[1] else f"{found[2]}\\.", flat)
    return _LEADING.sub(lambda lead: "\\" + lead[1] if lead[1] else f"{lead[2]}\\{lead[3]}", flat)


def render_session(session: PaperSession) -> str:
    """All of a session. Lines end with a newline."""
    lang = session.report.lang if session.report else session.paper.lang
    words = get_words(lang)
    parts = [[f"# {escape_markdown(session.paper.title or session.title)}"]]
    if session.paper.authors:
        parts.append([escape_markdown(", ".join(session.paper.authors))])
    parts.append(
        list(_render_report(session.report, words))
        if session.report
        else [f"*{words['report_missing']}*"]
    )
    if session.plan:
        parts.append(list(_render_plan(session.plan, words)))
    if session.answers:
        parts.append(["## " + words["answers"]])
        parts += [
            list(_render_exchange(n, answer, words))
            for n, answer in enumerate(session.answers, start=1)
        ]
    at = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(session.last_updated))
    made = words["made"].format(
        __version__, escape_markdown(session.paper.name), escape_markdown(session.session_id), at
    )
    parts.append(["---", "", f"*{made}*"])
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _render_report(report: Report, words: dict[str, str]) -> Iterator[str]:
    yield f"## {words['report']}"
    for part in report.parts:
        yield from ("", f"### {words[part.slot]}", "")
        yield " ".join(_render_sentence(sentence, words) for sentence in part.sentences)
    if report.terms:
        yield from ("", f"### {words['terms']}", "")
        yield from (
            f"- **{escape_markdown(term.term)}**: {_render_sentence(term.sentence, words)}"
            for term in report.terms
        )
    if report.questions:
        yield from ("", f"### {words['questions']}", "")
        for each in report.questions:
            where = format_place(escape_markdown(each.section), each.page, words)
            yield f"- {escape_markdown(each.question)}{_render_marks(each.citations)}" + (
                f" ({where})" if where else ""
            )
    yield from ("", f"**{escape_markdown(report.question)}**")
    if report.citations:
        yield from ("", f"### {words['quotes']}", "")
        for citation in report.citations:
            yield f"- \\[{citation.n}\\] {_render_quote(citation, words)}"


def _render_plan(plan: Plan, words: dict[str, str]) -> Iterator[str]:
    yield f"## {words['plan']}"
    yield ""
    yield (
        words["interest"].format(escape_markdown(plan.interest))
        if plan.interest.strip()
        else words["all"]
    )
    yield from (
        "",
        words["left"].format(plan.minutes, sum(step.minutes for step in plan.steps)),
        "",
    )
    for step in plan.steps:
        box = "x" if step.done_at is not None else " "
        where = format_pages(step.first_page, step.last_page, words)
        facts = ", ".join(filter(None, [where, words["minutes"].format(step.minutes)]))
        yield (
            f"- [{box}] **{escape_markdown(step.section)}** ({facts}): {escape_markdown(step.why)}"
        )
        if step.quote:
            yield f"  > {escape_markdown(step.quote)}"


def _render_exchange(n: int, answer: Exchange, words: dict[str, str]) -> Iterator[str]:
    yield f"### {n}\\. {escape_markdown(answer.question)}"
    yield ""
    if answer.status == "refused":
        yield from (f"*{words['refused']}*", "")
    yield _render_paragraphs(n, answer, words)
    if answer.citations:
        yield ""
        yield from (
            f"[^a{n}-{citation.n}]: {_render_quote(citation, words)}"
            for citation in answer.citations
        )


def _render_paragraphs(n: int, answer: Exchange, words: dict[str, str]) -> str:
    """The answer's text with a footnote a citation, and a mark behind unsupported sentences."""
    text, at, said = answer.answer, 0, ""
    for sentence in answer.sentences:
        start = text.find(sentence.text, at)
        if start < 0:
            continue
        end = start + len(sentence.text)
        numbers = _NUMBERS.match(text, end)
        notes = "".join(f"[^a{n}-{each}]" for each in sentence.citations)
        said += (
            _render_between(text[at:start])
            + escape_markdown(sentence.text)
            + notes
            + _render_verdict(sentence, words)
        )
        at = numbers.end() if numbers else end
    return _GAP.sub("\n\n", said + _render_between(text[at:])).strip() or "…"


def _render_between(text: str) -> str:
    """What stands between two sentences, each line of it a paragraph."""
    lines = "\n\n".join(escape_markdown(line) for line in text.split("\n"))
    return (
        (" " if text[:1] == " " else "")
        + lines
        + (" " if lines.strip() and text[-1:] == " " else "")
    )


def _render_sentence(sentence: Sentence, words: dict[str, str]) -> str:
    return (
        escape_markdown(sentence.text)
        + _render_marks(sentence.citations)
        + _render_verdict(sentence, words)
    )


def _render_verdict(sentence: Sentence, words: dict[str, str]) -> str:
    return "" if sentence.verdict == "supported" else f" *(⚠ {words[sentence.verdict]})*"


def _render_marks(numbers: Sequence[int]) -> str:
    return "".join(f" \\[{n}\\]" for n in numbers)


def _render_quote(citation: Citation, words: dict[str, str]) -> str:
    """The place comes first: a footnote of one word would be an address to some programs."""
    where = format_place(escape_markdown(citation.section), citation.page, words) or words["quotes"]
    return f"{where}: “{escape_markdown(citation.quote)}”"

"""How a reading session looks on a terminal: report, reading route, where it is. What proves a
sentence stands under it by number, word for word, with its page.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from citewell.agents.paper.paper_states import FIRST, PENDING_PLAN, ROUTING
from citewell.interfaces.cli.ask.answer import MARKS
from citewell.interfaces.cli.output.terminal import escape_line_breaks, style_text, write_paragraph
from citewell.service.papers.export_wording import format_pages, format_place, get_words
from citewell.service.papers.reading_sessions import PaperRow, PaperSession
from citewell.skills.paper.reading_context import Plan, PlanStep, Report
from citewell.types import Sentence

DONE, OPEN = "[x]", "[ ]"
UNDER_WAY = "it is being answered by another process"
STATES: dict[str, str] = {
    FIRST: "its report is still to be made",
    PENDING_PLAN: "its report is there; say what interests you",
    ROUTING: "ask, or read on",
}


def show_head(console: Console, session: PaperSession) -> None:
    write_paragraph(console, escape_line_breaks(session.paper.title or session.title), "bold")
    if session.paper.authors:
        write_paragraph(console, ", ".join(map(escape_line_breaks, session.paper.authors)), "dim")
    console.print()


def show_report(console: Console, report: Report) -> None:
    words = get_words(report.lang)
    for part in report.parts:
        write_paragraph(console, words[part.slot], "bold")
        write_paragraph(console, _render_sentences(part.sentences, report.lang), indent=2)
        console.print()
    if report.terms:
        write_paragraph(console, words["terms"], "bold")
        for term in report.terms:
            write_paragraph(
                console,
                style_text(escape_line_breaks(term.term), "bold")
                + style_text(": ")
                + _render_sentence(term.sentence),
                indent=2,
            )
        console.print()
    if report.questions:
        write_paragraph(console, words["questions"], "bold")
        for each in report.questions:
            where = format_place(each.section, each.page, words)
            line = style_text("- " + escape_line_breaks(each.question)) + _render_marks(
                each.citations
            )
            write_paragraph(
                console, line + style_text(f"  {where}" if where else "", "dim"), indent=2
            )
        console.print()
    _show_quotes(console, report)


def _show_quotes(console: Console, report: Report) -> None:
    words = get_words(report.lang)
    if not report.citations:
        return
    write_paragraph(console, words["quotes"], "bold")
    for citation in report.citations:
        write_paragraph(
            console,
            style_text(f"[{citation.n}] ", "cyan")
            + style_text(format_place(citation.section, citation.page, words)),
        )
        write_paragraph(console, f"“{' '.join(citation.quote.split())}”", "dim", indent=4)
    console.print()


def show_plan(console: Console, plan: Plan) -> None:
    words = get_words(plan.lang)
    total = sum(step.minutes for step in plan.steps)
    head = (
        words["interest"].format(escape_line_breaks(plan.interest))
        if plan.interest.strip()
        else words["all"]
    )
    write_paragraph(
        console,
        style_text(words["plan"], "bold")
        + style_text("  " + words["left"].format(plan.minutes, total), "dim"),
    )
    write_paragraph(console, head, "dim")
    for n, step in enumerate(plan.steps, start=1):
        read = step.done_at is not None
        line = style_text(f"{n:>2} {DONE if read else OPEN} ", "cyan") + style_text(
            escape_line_breaks(step.section), "dim" if read else "bold"
        )
        write_paragraph(
            console, line + style_text("  " + _format_step_facts(step, plan.lang), "dim")
        )
        if not read:
            write_paragraph(console, escape_line_breaks(step.why), indent=7)
            if step.quote:
                write_paragraph(console, f"“{' '.join(step.quote.split())}”", "dim", indent=7)


def show_place(console: Console, session: PaperSession) -> None:
    """Where a session is: its state, what to read next, what was asked last."""
    write_paragraph(console, escape_line_breaks(session.title), "bold")
    write_paragraph(console, STATES.get(session.current_state, session.current_state), "dim")
    if session.plan and (following := find_next_step(session.plan)):
        words = get_words(session.plan.lang)
        n, step = following
        line = style_text(f"{words['next']}: ", "dim") + style_text(
            f"{n} {escape_line_breaks(step.section)}"
        )
        write_paragraph(
            console, line + style_text("  " + _format_step_facts(step, session.plan.lang), "dim")
        )
    if session.answers:
        words = get_words(session.report.lang if session.report else session.paper.lang)
        write_paragraph(
            console,
            style_text(f"{words['last']}: ", "dim")
            + style_text(escape_line_breaks(session.answers[-1].question)),
        )


def find_next_step(plan: Plan) -> tuple[int, PlanStep] | None:
    """The first that is not ticked off, with its place from 1."""
    return next(
        ((n, step) for n, step in enumerate(plan.steps, start=1) if step.done_at is None), None
    )


def show_rows(console: Console, rows: Sequence[PaperRow]) -> None:
    for row in rows:
        write_paragraph(
            console,
            style_text(row.session_id, "cyan")
            + style_text(" " + escape_line_breaks(row.title), "bold"),
        )
        write_paragraph(console, _format_row_facts(row), "dim", indent=2)


def _format_row_facts(row: PaperRow) -> str:
    parts = [STATES.get(row.current_state, row.current_state), escape_line_breaks(row.paper.name)]
    parts += [f"{row.paper.pages} pages"] if row.paper.pages else []
    parts += (
        [f"{row.read} of {row.steps} steps read, {row.minutes:g} min left"] if row.steps else []
    )
    parts += (
        [f"{row.questions} question{'' if row.questions == 1 else 's'}"] if row.questions else []
    )
    return ", ".join([*parts, time.strftime("%Y-%m-%d %H:%M", time.localtime(row.last_updated))])


def _format_step_facts(step: PlanStep, lang: str) -> str:
    words = get_words(lang)
    where = format_pages(step.first_page, step.last_page, words)
    return ", ".join(filter(None, [where, words["minutes"].format(step.minutes)]))


def _render_sentences(sentences: Sequence[Sentence], lang: str) -> Text:
    return Text("" if lang == "zh" else " ").join(
        [_render_sentence(sentence) for sentence in sentences]
    )


def _render_sentence(sentence: Sentence) -> Text:
    text = style_text(" ".join(sentence.text.split())) + _render_marks(sentence.citations)
    return text + style_text(f" {MARKS[sentence.verdict]}", "dim")


def _render_marks(numbers: Sequence[int]) -> Text:
    return style_text("".join(f" [{n}]" for n in numbers), "cyan")

"""How a reading session looks on a terminal: report, reading route, where it is. The one rule: what
proves a sentence stands under it by number, word for word, with its page.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from citewell.agents.paper_states import FIRST, PENDING_PLAN, ROUTING
from citewell.interfaces.cli.answer import MARKS
from citewell.interfaces.cli.terminal import one_line, styled, write
from citewell.service.papers.export_wording import place, span, words_of
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
    write(console, styled(one_line(session.paper.title or session.title), "bold"))
    if session.paper.authors:
        write(console, styled(", ".join(map(one_line, session.paper.authors)), "dim"))
    console.print()


def show_report(console: Console, report: Report) -> None:
    words = words_of(report.lang)
    for part in report.parts:
        write(console, styled(words[part.slot], "bold"))
        write(console, _sentences(part.sentences, report.lang), indent=2)
        console.print()
    if report.terms:
        write(console, styled(words["terms"], "bold"))
        for term in report.terms:
            write(
                console,
                styled(one_line(term.term), "bold") + styled(": ") + _sentence(term.sentence),
                indent=2,
            )
        console.print()
    if report.questions:
        write(console, styled(words["questions"], "bold"))
        for each in report.questions:
            where = place(each.section, each.page, words)
            line = styled("- " + one_line(each.question)) + _marks(each.citations)
            write(console, line + styled(f"  {where}" if where else "", "dim"), indent=2)
        console.print()
    _show_quotes(console, report)


def _show_quotes(console: Console, report: Report) -> None:
    words = words_of(report.lang)
    if not report.citations:
        return
    write(console, styled(words["quotes"], "bold"))
    for citation in report.citations:
        write(
            console,
            styled(f"[{citation.n}] ", "cyan")
            + styled(place(citation.section, citation.page, words)),
        )
        write(console, styled(f"“{' '.join(citation.quote.split())}”", "dim"), indent=4)
    console.print()


def show_plan(console: Console, plan: Plan) -> None:
    words = words_of(plan.lang)
    total = sum(step.minutes for step in plan.steps)
    head = (
        words["interest"].format(one_line(plan.interest)) if plan.interest.strip() else words["all"]
    )
    write(
        console,
        styled(words["plan"], "bold")
        + styled("  " + words["left"].format(plan.minutes, total), "dim"),
    )
    write(console, styled(head, "dim"))
    for n, step in enumerate(plan.steps, start=1):
        read = step.done_at is not None
        line = styled(f"{n:>2} {DONE if read else OPEN} ", "cyan") + styled(
            one_line(step.section), "dim" if read else "bold"
        )
        write(console, line + styled("  " + _facts(step, plan.lang), "dim"))
        if not read:
            write(console, styled(one_line(step.why)), indent=7)
            if step.quote:
                write(console, styled(f"“{' '.join(step.quote.split())}”", "dim"), indent=7)


def show_place(console: Console, session: PaperSession) -> None:
    """Where a session is that is gone on with: its state, what to read next, what was asked
    last.
    """
    write(console, styled(one_line(session.title), "bold"))
    write(console, styled(STATES.get(session.current_state, session.current_state), "dim"))
    if session.plan and (following := next_step(session.plan)):
        words = words_of(session.plan.lang)
        n, step = following
        line = styled(f"{words['next']}: ", "dim") + styled(f"{n} {one_line(step.section)}")
        write(console, line + styled("  " + _facts(step, session.plan.lang), "dim"))
    if session.answers:
        words = words_of(session.report.lang if session.report else session.paper.lang)
        write(
            console,
            styled(f"{words['last']}: ", "dim") + styled(one_line(session.answers[-1].question)),
        )


def next_step(plan: Plan) -> tuple[int, PlanStep] | None:
    """The first that is not ticked off, with its place from 1."""
    return next(
        ((n, step) for n, step in enumerate(plan.steps, start=1) if step.done_at is None), None
    )


def show_rows(console: Console, rows: Sequence[PaperRow]) -> None:
    for row in rows:
        write(console, styled(row.session_id, "cyan") + styled(" " + one_line(row.title), "bold"))
        write(console, styled(_row_facts(row), "dim"), indent=2)


def _row_facts(row: PaperRow) -> str:
    parts = [STATES.get(row.current_state, row.current_state), one_line(row.paper.name)]
    parts += [f"{row.paper.pages} pages"] if row.paper.pages else []
    parts += (
        [f"{row.read} of {row.steps} steps read, {row.minutes:g} min left"] if row.steps else []
    )
    parts += (
        [f"{row.questions} question{'' if row.questions == 1 else 's'}"] if row.questions else []
    )
    return ", ".join([*parts, time.strftime("%Y-%m-%d %H:%M", time.localtime(row.last_updated))])


def _facts(step: PlanStep, lang: str) -> str:
    words = words_of(lang)
    where = span(step.first_page, step.last_page, words)
    return ", ".join(filter(None, [where, words["minutes"].format(step.minutes)]))


def _sentences(sentences: Sequence[Sentence], lang: str) -> Text:
    return Text("" if lang == "zh" else " ").join([_sentence(sentence) for sentence in sentences])


def _sentence(sentence: Sentence) -> Text:
    text = styled(" ".join(sentence.text.split())) + _marks(sentence.citations)
    return text + styled(f" {MARKS[sentence.verdict]}", "dim")


def _marks(numbers: Sequence[int]) -> Text:
    return styled("".join(f" [{n}]" for n in numbers), "cyan")

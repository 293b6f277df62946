"""The conversation of `citewell paper` at the prompt: a line is an interest, then questions;
commands begin with a slash. What goes wrong with one line costs that line. The prompt is read
outside the event loop, as in `chat`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from citewell.agents.paper.paper_states import FIRST, PENDING_PLAN
from citewell.errors import CitewellError, InvalidInput
from citewell.interfaces.cli.ask.chat import fill_history
from citewell.interfaces.cli.output.terminal import (
    get_stderr,
    get_stdout,
    print_error,
    print_parts,
    print_text,
    style_text,
    write_paragraph,
)
from citewell.interfaces.cli.output.text_file import MARKDOWN, write_file
from citewell.interfaces.cli.papers.paper_reading import Talk, ensure_route
from citewell.interfaces.cli.papers.paper_show import show_plan, show_report
from citewell.interfaces.cli.papers.papers_plan import find_step
from citewell.service.papers.edit_plan import PlanEdit, edit_plan
from citewell.service.papers.export_session import render_session

HELP = """A line is a question to the paper; before there is a route, it says what interests you.
/plan            the reading route            /report          the guide's report
/done N          step N is read               /undo N          it is not
/route TEXT      a route for another interest; without TEXT through all of the paper
/explain TEXT    explain these words of the paper
/quote TEXT      the next question is about these words of the paper
/export FILE     all of it as Markdown
/help            this                         /quit or Ctrl-D  ends; Ctrl-C stops an answer"""
SHORT = "/help says what else there is; /quit or Ctrl-D ends, Ctrl-C stops an answer"


def run_conversation(talk: Talk, runner: asyncio.Runner) -> None:
    """Until `/quit` or the end of the input."""
    fill_history([answer.question for answer in talk.session.answers])
    print_text(SHORT, "dim")
    while not talk.over:
        try:
            line = input(_build_prompt(talk)).strip()
        except EOFError:
            return
        except KeyboardInterrupt:
            get_stderr().print(style_text("\n/quit or Ctrl-D ends", "dim"))
            continue
        try:
            runner.run(_handle_line(talk, line))
        except KeyboardInterrupt:
            get_stderr().print(style_text("stopped", "dim"))
        except CitewellError as error:
            print_error(error)


def _build_prompt(talk: Talk) -> str:
    report = talk.session.report
    if talk.session.current_state == PENDING_PLAN and report is not None:
        print_parts((report.question, "bold"), ("  (Enter alone: all of it)", "dim"))
    return "» " if talk.quoted else "> "


async def _handle_line(talk: Talk, line: str) -> None:
    if line.startswith("/"):
        name, _, rest = line.partition(" ")
        action = COMMANDS.get(name)
        if action is None:
            raise InvalidInput(f"{name}: no such command", hint=SHORT)
        await action(talk, rest.strip())
    elif talk.session.current_state == FIRST:
        await talk.report()  # it was stopped or failed before
    elif talk.session.current_state == PENDING_PLAN:
        talk.show(await talk.ask(line, None, talk.quoted))
        talk.quoted = ""
    elif line:
        talk.show(await talk.ask(line, "ask", talk.quoted))
        talk.quoted = ""


async def _show_plan(talk: Talk, _: str) -> None:
    if talk.session.plan is None:
        raise InvalidInput(
            "there is no route yet", hint="say what interests you, or press Enter for all of it"
        )
    show_plan(get_stdout(), talk.session.plan)


async def _show_report(talk: Talk, _: str) -> None:
    if talk.session.report is None:
        await talk.report()
    else:
        show_report(get_stdout(), talk.session.report)


async def _mark_done(talk: Talk, which: str) -> None:
    await _edit_step(talk, which, PlanEdit(do="tick"))


async def _mark_undone(talk: Talk, which: str) -> None:
    await _edit_step(talk, which, PlanEdit(do="untick"))


async def _edit_step(talk: Talk, which: str, edit: PlanEdit) -> None:
    edit = edit.model_copy(update={"step_id": find_step(talk.session, which)})
    talk.session = await edit_plan(talk.app, talk.session.session_id, [edit], talk.user)
    await _show_plan(talk, "")


async def _make_route(talk: Talk, interest: str) -> None:
    talk.show(await talk.ask(interest, "plan"))


async def _explain_words(talk: Talk, words: str) -> None:
    if not words:
        raise InvalidInput("/explain: which words?", hint="/explain WORDS OF THE PAPER")
    await ensure_route(talk)
    talk.show(await talk.ask("", "ask", words))


async def _quote_words(talk: Talk, words: str) -> None:
    if not words:
        raise InvalidInput(
            "/quote: which words?", hint="/quote WORDS OF THE PAPER; then ask about them"
        )
    talk.quoted = words
    write_paragraph(get_stderr(), "the next question is about these words", "dim")


async def _export_notes(talk: Talk, file: str) -> None:
    if not file:
        raise InvalidInput("/export: to which file?", hint="/export notes.md")
    await talk.look()
    path = write_file(file, render_session(talk.session), MARKDOWN)
    write_paragraph(get_stderr(), f"written to {path}", "dim")


async def _show_help(_: Talk, __: str) -> None:
    write_paragraph(get_stderr(), HELP, "dim")


async def _quit_talk(talk: Talk, _: str) -> None:
    talk.over = True


COMMANDS: dict[str, Callable[[Talk, str], Awaitable[None]]] = {
    "/plan": _show_plan,
    "/report": _show_report,
    "/done": _mark_done,
    "/undo": _mark_undone,
    "/route": _make_route,
    "/explain": _explain_words,
    "/quote": _quote_words,
    "/export": _export_notes,
    "/help": _show_help,
    "/quit": _quit_talk,
}

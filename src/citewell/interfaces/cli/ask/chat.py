"""`citewell chat`: a session at the prompt. Ctrl-C ends the answer in the making, never the
session.

The prompt is read outside the event loop, so that line editing and Ctrl-C work as in any shell;
`asyncio.Runner` keeps one loop for all questions.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import typer

from citewell.errors import CitewellError
from citewell.interfaces.cli.arguments import Agent, Collection, Json, Session, User
from citewell.interfaces.cli.ask.answer import show_answer
from citewell.interfaces.cli.ask.ask import end_early_on_interrupt, explain_resume_on_stop
from citewell.interfaces.cli.ask.live import watch_events
from citewell.interfaces.cli.output.terminal import (
    get_stderr,
    get_stdout,
    print_error,
    print_json,
    print_text,
    print_warning,
    style_text,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, guard_command
from citewell.interfaces.problem import to_problem
from citewell.runtime.app import App
from citewell.service.ask.ask import stream_answer
from citewell.service.ask.default_collection import add_default_collection
from citewell.service.ask.run import AskRequest
from citewell.service.sessions.sessions import read_session

HELP = (
    "/new starts a new session, /quit or Ctrl-D ends, Ctrl-C stops an answer, arrow keys bring "
    "earlier questions back"
)


def run_chat(
    agent: Agent = "qa",
    collection: Collection = None,
    session: Session = None,
    user: User = "local",
    json: Json = False,
) -> None:
    """Ask one question after another; Ctrl-D ends."""
    hold_chat(agent=agent, collection=collection, session=session, user=user, json=json)


@dataclass(slots=True)
class Talk:
    """What a chat keeps between two questions."""

    app: App
    agent: str
    collection: str | None
    session: str | None
    user: str
    json: bool
    options: dict[str, Any]
    over: bool = False


def hold_chat(
    *,
    agent: str,
    collection: str | None,
    session: str | None,
    user: str,
    json: bool,
    options: dict[str, Any] | None = None,
) -> None:
    """`options`: of every question; the fields of AskOptions."""
    with guard_command(json=json) as settings, asyncio.Runner() as runner:
        app = App(settings)
        runner.run(app.__aenter__())
        try:
            earlier = runner.run(read_session(app, session, user)).history if session else []
            fill_history([message.content for message in earlier if message.role == "user"])
            talk = Talk(app, agent, collection, session, user, json, options or {})
            if sys.stdin.isatty() and not json:
                print_text(HELP, "dim")
            while not talk.over:
                _run_turn(talk, runner)
        finally:
            runner.run(app.__aexit__(None, None, None))
    raise typer.Exit(DONE)


def _run_turn(talk: Talk, runner: asyncio.Runner) -> None:
    """Read one line and do what it says."""
    try:
        line = input("> " if sys.stdin.isatty() and not talk.json else "").strip()
    except EOFError:
        talk.over = True
        return
    except KeyboardInterrupt:
        get_stderr().print(style_text("\n/quit or Ctrl-D ends", "dim"))
        return
    if line.startswith("/"):
        _run_command(talk, line)
    elif line:
        try:
            runner.run(_answer_question(talk, line))
        except KeyboardInterrupt:
            get_stderr().print(style_text("stopped", "dim"))
        except CitewellError as error:
            _report_error(talk, error)


def _report_error(talk: Talk, error: CitewellError) -> None:
    """One question failed: a line, and with `--json` the error object."""
    if talk.json:
        print_json(to_problem(error), one_line=True)
    print_error(error)


async def _answer_question(talk: Talk, question: str) -> None:
    request = AskRequest(
        question=question,
        agent=talk.agent,
        collection=talk.collection,
        session_id=talk.session,
        user_id=talk.user,
        options=talk.options,
    )
    request, chosen = await add_default_collection(talk.app, request)
    for warning in chosen:
        print_warning(warning)
        talk.collection = request.collection
    async with end_early_on_interrupt(talk.app), explain_resume_on_stop(talk.app, talk.user):
        answer = await watch_events(stream_answer(talk.app, request))
    talk.session = answer.session_id or talk.session
    if talk.json:
        print_json(answer, one_line=True)
    show_answer(answer, None if talk.json else get_stdout())


def _run_command(talk: Talk, line: str) -> None:
    action = COMMANDS.get(line.split(maxsplit=1)[0])
    if action is None:
        _report_error(
            talk, CitewellError(f"{line.split(maxsplit=1)[0]}: no such command", hint=HELP)
        )
    else:
        action(talk)


def _start_session(talk: Talk) -> None:
    talk.session = None
    write_paragraph(get_stderr(), "a new session", "dim")


def _show_help(_: Talk) -> None:
    write_paragraph(get_stderr(), HELP, "dim")


def _quit_chat(talk: Talk) -> None:
    talk.over = True


COMMANDS: dict[str, Callable[[Talk], None]] = {
    "/new": _start_session,
    "/help": _show_help,
    "/quit": _quit_chat,
}


def fill_history(questions: list[str]) -> None:
    """Give the arrow keys the questions of the session gone on with."""
    with suppress(ImportError):  # no readline on this platform: plain input works
        import readline

        for question in questions:
            readline.add_history(question)

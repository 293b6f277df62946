"""`citewell chat`: a session at the prompt. The one rule: Ctrl-C ends the answer in the making,
never the session.

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
from citewell.interfaces.cli.answer import show_answer
from citewell.interfaces.cli.ask import ending_early, resumable
from citewell.interfaces.cli.live import watch
from citewell.interfaces.cli.run import DONE, boundary
from citewell.interfaces.cli.terminal import err, fail, out, print_json, styled, write
from citewell.interfaces.problem import problem_of
from citewell.runtime.app import App
from citewell.service.ask.ask import AskRequest, stream
from citewell.service.sessions.sessions import read_session

HELP = (
    "/new starts a new session, /quit or Ctrl-D ends, Ctrl-C stops an answer, arrow keys bring "
    "earlier questions back"
)


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


def chat(
    *,
    agent: str,
    collection: str | None,
    session: str | None,
    user: str,
    json: bool,
    options: dict[str, Any] | None = None,
) -> None:
    """`options`: of every question; the fields of AskOptions."""
    with boundary(json=json) as settings, asyncio.Runner() as runner:
        app = App(settings)
        runner.run(app.__aenter__())
        try:
            earlier = runner.run(read_session(app, session, user)).history if session else []
            remember([message.content for message in earlier if message.role == "user"])
            talk = Talk(app, agent, collection, session, user, json, options or {})
            if sys.stdin.isatty() and not json:
                write(out(), styled(HELP, "dim"))
            while not talk.over:
                _turn(talk, runner)
        finally:
            runner.run(app.__aexit__(None, None, None))
    raise typer.Exit(DONE)


def _turn(talk: Talk, runner: asyncio.Runner) -> None:
    """Read one line and do what it says."""
    try:
        line = input("> " if sys.stdin.isatty() and not talk.json else "").strip()
    except EOFError:
        talk.over = True
        return
    except KeyboardInterrupt:
        err().print(styled("\n/quit or Ctrl-D ends", "dim"))
        return
    if line.startswith("/"):
        _command(talk, line)
    elif line:
        try:
            runner.run(_answer(talk, line))
        except KeyboardInterrupt:
            err().print(styled("stopped", "dim"))
        except CitewellError as error:
            _tell(talk, error)


def _tell(talk: Talk, error: CitewellError) -> None:
    """One question failed: a line, and with `--json` the error object."""
    if talk.json:
        print_json(problem_of(error))
    fail(error)


async def _answer(talk: Talk, question: str) -> None:
    request = AskRequest(
        question=question,
        agent=talk.agent,
        collection=talk.collection,
        session_id=talk.session,
        user_id=talk.user,
        options=talk.options,
    )
    async with ending_early(talk.app), resumable(talk.app, talk.user):
        answer = await watch(stream(talk.app, request))
    talk.session = answer.session_id or talk.session
    if talk.json:
        print_json(answer.model_dump(mode="json"))
    show_answer(answer, None if talk.json else out())


def _command(talk: Talk, line: str) -> None:
    action = COMMANDS.get(line.split(maxsplit=1)[0])
    if action is None:
        _tell(talk, CitewellError(f"{line.split(maxsplit=1)[0]}: no such command", hint=HELP))
    else:
        action(talk)


def _new(talk: Talk) -> None:
    talk.session = None
    write(err(), styled("a new session", "dim"))


def _help(_: Talk) -> None:
    write(err(), styled(HELP, "dim"))


def _quit(talk: Talk) -> None:
    talk.over = True


COMMANDS: dict[str, Callable[[Talk], None]] = {"/new": _new, "/help": _help, "/quit": _quit}


def remember(questions: list[str]) -> None:
    """Give the arrow keys the questions of the session gone on with."""
    with suppress(ImportError):  # no readline on this platform: plain input works
        import readline

        for question in questions:
            readline.add_history(question)

"""`citewell ask`: one question, one proved answer, or exit 3 (refused, no evidence, unclear)."""

from __future__ import annotations

import asyncio
import shlex
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any

import typer

from citewell.interfaces.cli.arguments import (
    Agent,
    Collection,
    Docs,
    Json,
    Langs,
    Least,
    Remember,
    Seconds,
    Session,
    Since,
    Strategy,
    Types,
    Until,
    User,
    Web,
    argument,
    collect_filters,
    option,
)
from citewell.interfaces.cli.ask.answer import show_answer
from citewell.interfaces.cli.ask.live import watch_events
from citewell.interfaces.cli.output.terminal import (
    get_stderr,
    get_stdout,
    print_json,
    print_warning,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, ERROR, NO_ANSWER, run
from citewell.runtime.app import App
from citewell.service.ask.ask import list_unfinished_runs, stream_answer
from citewell.service.ask.default_collection import add_default_collection
from citewell.service.ask.run import AskRequest
from citewell.types import Status

EXIT: dict[Status, int] = {
    "answered": DONE,
    "fallback": NO_ANSWER,
    "refused": NO_ANSWER,
    "clarify": NO_ANSWER,
    "error": ERROR,
}


def run_ask(
    question: Annotated[str | None, argument("The question.")] = None,
    agent: Agent = "qa",
    collection: Collection = None,
    session: Session = None,
    user: User = "local",
    resume: Annotated[
        str | None, option("Go on with a question that was stopped.", metavar="TRACE_ID")
    ] = None,
    web: Web = None,
    memory: Remember = None,
    max_seconds: Seconds = None,
    max_calls: Annotated[int | None, option("Calls of the chat model it may cost.")] = None,
    max_tokens: Annotated[int | None, option("Tokens of those calls.")] = None,
    docs: Docs = None,
    types: Types = None,
    langs: Langs = None,
    since: Since = None,
    until: Until = None,
    priority: Least = None,
    strategy: Strategy = None,
    json: Json = False,
) -> None:
    """Ask one question; exit 3 where there is no answer."""
    if bool(question) == bool(resume):
        raise typer.BadParameter(
            "ask a question, or go on with a stopped one by --resume TRACE_ID; one of the two"
        )
    options = collect_filters(docs, types, langs, since, until, priority, strategy)
    ways = {
        "web": web,
        "memory": memory,
        "max_seconds": max_seconds,
        "max_calls": max_calls,
        "max_tokens": max_tokens,
    }
    request = {
        "question": question or "",
        "agent": agent,
        "collection": collection,
        "session_id": session,
        "user_id": user,
        "resume": resume,
        "options": options | {name: value for name, value in ways.items() if value is not None},
    }
    run(lambda app: ask_question(app, request, json=json), json=json)


async def ask_question(app: App, said: dict[str, Any], *, json: bool) -> int:
    """`said`: the fields of AskRequest."""
    request = AskRequest(**said)
    if request.resume and request.options:
        print_warning(f"{', '.join(request.options)}: a question is gone on with as it was asked")
    request, chosen = await add_default_collection(app, request)
    for warning in chosen:
        print_warning(warning)
    async with (
        end_early_on_interrupt(app),
        explain_resume_on_stop(app, request.user_id, request.resume),
    ):
        answer = await watch_events(stream_answer(app, request))
    if json:
        print_json(answer)
    show_answer(answer, None if json else get_stdout())
    return EXIT[answer.status]


@asynccontextmanager
async def end_early_on_interrupt(app: App) -> AsyncIterator[None]:
    """Ctrl-C inside the block asks a run that explores to answer from what it has; a second one, or
    one while nothing explores, ends the command.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def interrupt() -> None:
        exploring = [each for each in app.running.values() if not each.stop.is_set()]
        for each in exploring:
            each.stop.set()
        if exploring:
            write_paragraph(
                get_stderr(),
                "stopping: it answers from what was read; Ctrl-C again gives up",
                "dim",
            )
        else:
            task.cancel()

    with suppress(NotImplementedError):  # Windows: Ctrl-C ends the command
        loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        yield
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        with suppress(NotImplementedError):
            loop.remove_signal_handler(signal.SIGINT)


@asynccontextmanager
async def explain_resume_on_stop(
    app: App, user: str, resumed: str | None = None
) -> AsyncIterator[None]:
    """Where a question is stopped inside the block, say how to go on with it."""
    before = {each.trace_id for each in await list_unfinished_runs(app.runs, user)} - {resumed}
    try:
        yield
    except asyncio.CancelledError:
        whose = "" if user == "local" else f" --user {shlex.quote(user)}"
        for each in await list_unfinished_runs(app.runs, user):
            if each.trace_id not in before:
                write_paragraph(
                    get_stderr(), f"go on with it: citewell ask --resume {each.trace_id}{whose}"
                )
        raise

"""`citewell ask`: one question, one proved answer. Exit 3 where there is none: refused, no
evidence, a question back.
"""

from __future__ import annotations

import asyncio
import shlex
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from citewell.interfaces.cli.answer import show_answer
from citewell.interfaces.cli.live import watch_events
from citewell.interfaces.cli.run import DONE, ERROR, NO_ANSWER
from citewell.interfaces.cli.terminal import (
    get_stderr,
    get_stdout,
    print_json,
    print_warning,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.ask.ask import AskRequest, list_unfinished_runs, stream_answer
from citewell.types import Status

EXIT: dict[Status, int] = {
    "answered": DONE,
    "fallback": NO_ANSWER,
    "refused": NO_ANSWER,
    "clarify": NO_ANSWER,
    "error": ERROR,
}


async def ask_question(app: App, said: dict[str, Any], *, json: bool) -> int:
    """`said`: the fields of AskRequest."""
    request = AskRequest(**said)
    if request.resume and request.options:
        print_warning(f"{', '.join(request.options)}: a question is gone on with as it was asked")
    async with (
        end_early_on_interrupt(app),
        explain_resume_on_stop(app, request.user_id, request.resume),
    ):
        answer = await watch_events(stream_answer(app, request))
    if json:
        print_json(answer.model_dump(mode="json"))
    show_answer(answer, None if json else get_stdout())
    return EXIT[answer.status]


@asynccontextmanager
async def end_early_on_interrupt(app: App) -> AsyncIterator[None]:
    """Ctrl-C inside the block asks a run that explores to answer from what it has; a second one, or
    one while nothing explores, ends the command.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def interrupted() -> None:
        exploring = [run for run in app.running.values() if not run.stop.is_set()]
        for run in exploring:
            run.stop.set()
        if exploring:
            write_paragraph(
                get_stderr(),
                style_text("stopping: it answers from what was read; Ctrl-C again gives up", "dim"),
            )
        else:
            task.cancel()

    with suppress(NotImplementedError):  # Windows: Ctrl-C ends the command
        loop.add_signal_handler(signal.SIGINT, interrupted)
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
    before = {run.trace_id for run in await list_unfinished_runs(app, user)} - {resumed}
    try:
        yield
    except asyncio.CancelledError:
        whose = "" if user == "local" else f" --user {shlex.quote(user)}"
        for run in await list_unfinished_runs(app, user):
            if run.trace_id not in before:
                write_paragraph(
                    get_stderr(),
                    style_text(f"go on with it: citewell ask --resume {run.trace_id}{whose}"),
                )
        raise

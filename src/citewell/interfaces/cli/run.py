"""Runs a command: loads the settings, opens an App, returns an exit code.

0 done or answered, 1 error, 2 usage (typer's own), 3 no answer, 130 stopped by Ctrl-C. People see
one line and a hint; a traceback comes only with `log_level = "debug"`.
"""

from __future__ import annotations

import asyncio
import functools
import getpass
import inspect
import os
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from citewell.config import Settings, load_settings
from citewell.errors import CitewellError
from citewell.interfaces import logs
from citewell.interfaces.cli.output.terminal import get_stderr, print_error, print_json, style_text
from citewell.interfaces.problem import to_problem
from citewell.runtime.app import App
from citewell.store.users.actor import ACTOR, Actor

DONE, ERROR, NO_ANSWER, INTERRUPTED = 0, 1, 3, 130
STOPPED = "stopped; what was done so far is kept whole"


def run(work: Callable[[App], Coroutine[Any, Any, int]], *, json: bool) -> None:
    """Do `work` in an open App and leave with the exit code it gives."""

    async def run_in_app(settings: Settings) -> int:
        async with App(settings) as app:
            return await work(app)

    with guard_command(json=json) as settings:
        raise typer.Exit(asyncio.run(run_in_app(settings)))


def command(work: Callable[..., Coroutine[Any, Any, int]]) -> Callable[..., None]:
    """A command of the command line: `work` without its first parameter, an open App, which it is
    given; it gives an exit code. It has a parameter `json`.
    """

    @functools.wraps(work)
    def run_work(**options: Any) -> None:
        run(lambda app: work(app, **options), json=options["json"])

    signature = inspect.signature(work, eval_str=True)
    _, *options = signature.parameters.values()
    run_work.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    return run_work


@contextmanager
def guard_command(*, json: bool, serves: bool = False, **arguments: Any) -> Iterator[Settings]:
    """Load the settings, set logging up, and turn what goes wrong inside into one line and an exit
    code. `serves`: it runs for long, so lines of its log tell the time.
    """
    debug = False
    try:
        settings = load_settings(**arguments)
        debug = settings.log_level == "debug"
        logs.set_up_logging(settings, times=serves)
        ACTOR.set(Actor() if serves else Actor(f"os:{_get_account_name()}", "cli"))
        yield settings
    except KeyboardInterrupt:
        get_stderr().print(style_text(STOPPED))
        raise typer.Exit(INTERRUPTED) from None
    except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001  # the last line of defence: whatever it is, people get one line
        known = explain_error(error)
        if debug:
            traceback.print_exc()
        if json:
            print_json(to_problem(known))
        print_error(known)
        raise typer.Exit(ERROR) from None


def _get_account_name() -> str:
    """The account name of the operating system, not that of the environment."""
    if os.name != "posix":
        return getpass.getuser()
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may run under a number that has no name
        return str(os.getuid())


def explain_error(error: Exception) -> CitewellError:
    """Any exception as a CitewellError: a message and a hint."""
    if isinstance(error, CitewellError):
        return error
    if isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        return explain_error(error.exceptions[0])
    return CitewellError(
        f"internal error: {type(error).__name__}: {error}",
        hint="a fault of Citewell; CITEWELL_LOG_LEVEL=debug shows where, and please report it",
        code="internal",
    )

"""`citewell trace ...`: names, arguments and help. The one rule: as in commands.py, the work is
imported when it is done.

`citewell trace TRACE_ID` shows that trace, whatever else may be done with one: what is no name of a
command is one of a trace.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from citewell.interfaces.cli.arguments import Json, User

SHOW = "show"


class ShowsByDefault(TyperGroup):
    """A group whose commands may be left out: then its first one is meant."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [SHOW, *args]
        return super().parse_args(ctx, args)


trace_app = typer.Typer(
    cls=ShowsByDefault,
    help="How an answer came about: show it, replay it, delete it.",
    rich_markup_mode=None,
)
TraceId = Annotated[str, typer.Argument(metavar="TRACE_ID", help="A trace.", show_default=False)]


@trace_app.command(name=SHOW)
def trace_show(
    trace_id: Annotated[
        str | None,
        typer.Argument(
            metavar="[TRACE_ID]", help="A trace; none: the latest ones.", show_default=False
        ),
    ] = None,
    user: User = "local",
    json: Json = False,
) -> None:
    """Show how an answer came about, step by step; without an id, the latest ones."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.trace import show_traces as work

    run(lambda app: work(app, trace_id, user, json), json=json)


@trace_app.command(name="replay")
def trace_replay(
    trace_id: TraceId,
    recorded: Annotated[
        bool,
        typer.Option(
            "--recorded", help="The chat model says what it said then, where it is asked the same."
        ),
    ] = False,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Pages of the web may be fetched anew, and stored.")
    ] = False,
    user: User = "local",
    json: Json = False,
) -> None:
    """Run its steps again and show what differs; exit 3 where something does. Nothing is kept."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.trace import replay_trace as work

    run(lambda app: work(app, trace_id, user, recorded=recorded, fetch=fetch, json=json), json=json)


@trace_app.command(name="delete")
def trace_delete(trace_id: TraceId, user: User = "local", json: Json = False) -> None:
    """Delete a trace; the answer stays in its session."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.trace import remove_trace as work

    run(lambda app: work(app, trace_id, user, json), json=json)

"""`citewell trace`: how an answer came about, step by step, and what comes out when that is run
again.

The one rule: what is read first stands first: what was asked, how it was understood, what was done;
the figures after that.
"""

from __future__ import annotations

import json as js
import shlex
import time
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from citewell.interfaces.cli.answer import show_answer
from citewell.interfaces.cli.arguments import Json, User
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.run import DONE, NO_ANSWER, run
from citewell.interfaces.cli.terminal import (
    escape_line_breaks,
    get_stdout,
    print_json,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.ask.ask import list_unfinished_runs
from citewell.service.sessions.compare_traces import Difference
from citewell.service.sessions.replay import Replay
from citewell.service.sessions.replay import replay_trace as run_again
from citewell.service.sessions.traces import delete_trace, get_trace, list_traces
from citewell.text.sentences import detect_language
from citewell.types import Snapshot, Trace

SHOW = "show"
LATEST = 20
NOTHING = {  # of any other agent, of the data agent
    "en": ("nothing was searched", "no statement was run"),
    "zh": ("没有检索", "没有执行语句"),
}
TraceId = Annotated[str, typer.Argument(metavar="TRACE_ID", help="A trace.", show_default=False)]


class ShowsByDefault(TyperGroup):
    """A group whose commands may be left out: then its first one is meant."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [SHOW, *args]
        return super().parse_args(ctx, args)


def run_show(
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
    run(lambda app: show_traces(app, trace_id, user, json), json=json)


def run_replay(
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
    run(
        lambda app: replay_trace(app, trace_id, user, recorded=recorded, fetch=fetch, json=json),
        json=json,
    )


def run_delete(trace_id: TraceId, user: User = "local", json: Json = False) -> None:
    """Delete a trace; the answer stays in its session."""
    run(lambda app: remove_trace(app, trace_id, user, json), json=json)


async def show_traces(app: App, trace_id: str | None, user: str, json: bool) -> int:
    if trace_id is None:
        return await _show_latest(app, user, json)
    found = await get_trace(app, trace_id, user)
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        show_trace(found)
    return DONE


async def _show_latest(app: App, user: str, json: bool) -> int:
    traces = await list_traces(app, LATEST, user)
    if json:
        print_json({"traces": [each.model_dump(mode="json", include=SUMMARY) for each in traces]})
        return DONE
    console = get_stdout()
    if not traces:
        write_paragraph(console, style_text("no traces yet; every question leaves one"))
    for each in traces:
        write_paragraph(
            console,
            style_text(each.trace_id, "cyan")
            + style_text(f" {_format_time(each.created_at)} {each.agent}: {each.question}"),
        )
    whose = "" if user == "local" else f" --user {shlex.quote(user)}"
    for left in await list_unfinished_runs(app, user):
        told = f" {_format_time(left.updated_at)} stopped before {left.next}: {left.question}"
        told += f"; go on with it: citewell ask --resume {left.trace_id}{whose}"
        write_paragraph(console, style_text(left.trace_id, "yellow") + style_text(told))
    return DONE


SUMMARY = {"trace_id", "agent", "question", "collection", "session_id", "created_at", "expires_at"}


async def remove_trace(app: App, trace_id: str, user: str, json: bool) -> int:
    await delete_trace(app, trace_id, user)
    if json:
        print_json({"trace_id": trace_id, "deleted": True})
    else:
        write_paragraph(get_stdout(), style_text(f"deleted {trace_id}"))
    return DONE


async def replay_trace(
    app: App, trace_id: str, user: str, *, recorded: bool, fetch: bool, json: bool
) -> int:
    """0 where it comes out the same, 3 where it does not."""
    found = await run_again(app, trace_id, user, recorded=recorded, fetch=fetch)
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        _show_replay(found)
    return DONE if found.same else NO_ANSWER


def _show_replay(found: Replay) -> None:
    console, steps = get_stdout(), len(found.replayed.steps)
    for line in found.notes:
        write_paragraph(console, style_text(f"note: {line}", "dim"))
    for prompt in found.unknown_prompts:
        write_paragraph(
            console,
            style_text(
                f"not recorded, the model was asked: {escape_line_breaks(prompt)}", "yellow"
            ),
        )
    if found.same:
        write_paragraph(
            console,
            style_text("same: ", "green")
            + style_text(f"{steps} steps and the answer come out as they were"),
        )
        return
    many = len(found.differences)
    write_paragraph(
        console,
        style_text("different: ", "yellow")
        + style_text(f"{many} {'thing' if many == 1 else 'things'} in {steps} steps"),
    )
    place = ""
    for each in found.differences:
        if each.where != place:
            place = each.where
            write_paragraph(console, style_text(place, "cyan"))
        for sign, value in _format_sides(each):
            write_paragraph(
                console,
                style_text(f"{sign} {each.what}: {value}", "red" if sign == "-" else "green"),
                indent=4,
            )


def _format_sides(each: Difference) -> list[tuple[str, str]]:
    """What was there, then what is; a step or a figure may be on one side only."""
    sides = [("-", each.before), ("+", each.now)]
    shown = [
        (sign, escape_line_breaks(value if isinstance(value, str) else _to_json(value)))
        for sign, value in sides
        if value is not None
    ]
    return shown or [("~", "")]


def _to_json(value: object) -> str:
    return js.dumps(value, ensure_ascii=False, default=str)


def show_trace(trace: Trace) -> None:
    """The question and its snapshot, each step with its way on, time and figures, then the
    answer.
    """
    console = get_stdout()
    where = f", collection {trace.collection}" if trace.collection else ""
    until = f", kept until {_format_time(trace.expires_at)}" if trace.expires_at else ""
    write_paragraph(
        console,
        style_text(
            f"{trace.trace_id} {_format_time(trace.created_at)} {trace.agent}{where}{until}", "dim"
        ),
    )
    write_paragraph(console, style_text(trace.question, "bold"))
    if trace.snapshot is not None:
        _show_snapshot(trace.snapshot, trace.agent)
    write_paragraph(console, style_text("Steps", "bold"))
    for step in trace.steps:
        write_paragraph(
            console,
            style_text(f"{step.n:>3} {step.node} ", "cyan")
            + style_text(f"{step.action} ({step.seconds:.2f} s)"),
        )
        for name, value in step.detail.items():
            shown = value if isinstance(value, str) else _to_json(value)
            write_paragraph(console, style_text(f"{name}: {shown}", "dim"), indent=4)
    console.print()
    show_answer(trace.answer, console)


def _show_snapshot(snapshot: Snapshot, agent: str) -> None:
    """What spec 004 keeps of an answer: how the question was read, why, and what was done."""
    console, read = get_stdout(), snapshot.intent_analysis
    write_paragraph(
        console, style_text("Intent ", "bold") + style_text(read.intent_type or "not named")
    )
    for name, value in read.parameters.items():
        write_paragraph(
            console,
            style_text(f"{name}: {value if isinstance(value, str) else _to_json(value)}", "dim"),
            indent=4,
        )
    if read.reasoning:
        write_paragraph(console, style_text(read.reasoning), indent=4)
    write_paragraph(
        console, style_text("Logic ", "bold") + style_text(snapshot.execution_status, "dim")
    )
    write_paragraph(
        console,
        style_text(
            snapshot.generated_logic
            or NOTHING[detect_language(snapshot.user_query)][agent == "data"]
        ),
        indent=4,
    )


def _format_time(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


group = create_group(
    "How an answer came about: show it, replay it, delete it.",
    {
        "show": run_show,
        "replay": run_replay,
        "delete": run_delete,
    },
    ShowsByDefault,
)

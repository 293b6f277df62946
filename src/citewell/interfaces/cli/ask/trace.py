"""`citewell trace`: how an answer came about, step by step, and what comes out when that is run
again. What is read first stands first: what was asked, how it was understood, what was done; the
figures after that.
"""

from __future__ import annotations

import json as js
import shlex
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from citewell.interfaces.cli.arguments import Json, User, argument
from citewell.interfaces.cli.ask.answer import show_answer
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    format_time,
    get_stdout,
    print_json,
    print_parts,
    print_text,
    style_text,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, NO_ANSWER, command
from citewell.runtime.app import App
from citewell.service.ask.ask import list_unfinished_runs
from citewell.service.sessions.compare_traces import Difference
from citewell.service.sessions.replay import Replay
from citewell.service.sessions.replay import replay_trace as run_again
from citewell.service.sessions.traces import delete_trace
from citewell.text.sentences import detect_language
from citewell.types import Snapshot, Trace

SHOW = "show"
LATEST = 20
NOTHING = {  # of any other agent, of the data agent
    "en": ("nothing was searched", "no statement was run"),
    "zh": ("没有检索", "没有执行语句"),
}
TraceId = Annotated[str, argument("A trace.", "TRACE_ID")]


class ShowsByDefault(TyperGroup):
    """A group whose commands may be left out: then its first one is meant."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = [SHOW, *args]
        return super().parse_args(ctx, args)


@command
async def show_traces(
    app: App,
    trace_id: Annotated[
        str | None, argument("A trace; none: the latest ones.", "[TRACE_ID]")
    ] = None,
    user: User = "local",
    json: Json = False,
) -> int:
    """Show how an answer came about, step by step; without an id, the latest ones."""
    if trace_id is None:
        return await _show_latest(app, user, json)
    found = await app.traces.get(trace_id, user)
    if json:
        return print_json(found)
    show_trace(found)
    return DONE


async def _show_latest(app: App, user: str, json: bool) -> int:
    traces = await app.traces.list(LATEST, user)
    if json:
        return print_json(
            {"traces": [each.model_dump(mode="json", include=SUMMARY) for each in traces]}
        )
    if not traces:
        print_text("no traces yet; every question leaves one")
    for each in traces:
        print_parts(
            (each.trace_id, "cyan"),
            f" {format_time(each.created_at)} {each.agent}: {each.question}",
        )
    whose = "" if user == "local" else f" --user {shlex.quote(user)}"
    for left in await list_unfinished_runs(app.runs, user):
        told = f" {format_time(left.updated_at)} stopped before {left.next}: {left.question}"
        told += f"; go on with it: citewell ask --resume {left.trace_id}{whose}"
        print_parts((left.trace_id, "yellow"), told)
    return DONE


SUMMARY = {"trace_id", "agent", "question", "collection", "session_id", "created_at", "expires_at"}


@command
async def remove_trace(
    app: App, trace_id: TraceId, user: User = "local", json: Json = False
) -> int:
    """Delete a trace; the answer stays in its session."""
    await delete_trace(app, trace_id, user)
    if json:
        return print_json({"trace_id": trace_id, "deleted": True})
    print_text(f"deleted {trace_id}")
    return DONE


@command
async def replay_trace(
    app: App,
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
) -> int:
    """Run its steps again and show what differs; exit 3 where something does. Nothing is kept."""
    found = await run_again(app, trace_id, user, recorded=recorded, fetch=fetch)
    if json:
        print_json(found)
    else:
        _show_replay(found)
    return DONE if found.same else NO_ANSWER


def _show_replay(found: Replay) -> None:
    console, steps = get_stdout(), len(found.replayed.steps)
    for line in found.notes:
        write_paragraph(console, f"note: {line}", "dim")
    for prompt in found.unknown_prompts:
        write_paragraph(
            console, f"not recorded, the model was asked: {escape_line_breaks(prompt)}", "yellow"
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
            write_paragraph(console, place, "cyan")
        for sign, value in _format_sides(each):
            write_paragraph(
                console, f"{sign} {each.what}: {value}", "red" if sign == "-" else "green", indent=4
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
    """The question and its snapshot, each step with its way on, time, figures; the answer."""
    where = f", collection {trace.collection}" if trace.collection else ""
    until = f", kept until {format_time(trace.expires_at)}" if trace.expires_at else ""
    print_text(
        f"{trace.trace_id} {format_time(trace.created_at)} {trace.agent}{where}{until}", "dim"
    )
    print_text(trace.question, "bold")
    if trace.snapshot is not None:
        _show_snapshot(trace.snapshot, trace.agent)
    print_text("Steps", "bold")
    for step in trace.steps:
        print_parts((f"{step.n:>3} {step.node} ", "cyan"), f"{step.action} ({step.seconds:.2f} s)")
        for name, value in step.detail.items():
            shown = value if isinstance(value, str) else _to_json(value)
            print_text(f"{name}: {shown}", "dim", indent=4)
    get_stdout().print()
    show_answer(trace.answer, get_stdout())


def _show_snapshot(snapshot: Snapshot, agent: str) -> None:
    """What spec 004 keeps of an answer: how the question was read, why, and what was done."""
    console, read = get_stdout(), snapshot.intent_analysis
    write_paragraph(
        console, style_text("Intent ", "bold") + style_text(read.intent_type or "not named")
    )
    for name, value in read.parameters.items():
        write_paragraph(
            console,
            f"{name}: {value if isinstance(value, str) else _to_json(value)}",
            "dim",
            indent=4,
        )
    if read.reasoning:
        write_paragraph(console, read.reasoning, indent=4)
    write_paragraph(
        console, style_text("Logic ", "bold") + style_text(snapshot.execution_status, "dim")
    )
    write_paragraph(
        console,
        snapshot.generated_logic or NOTHING[detect_language(snapshot.user_query)][agent == "data"],
        indent=4,
    )


group = create_group(
    "How an answer came about: show it, replay it, delete it.",
    {"show": show_traces, "replay": replay_trace, "delete": remove_trace},
    ShowsByDefault,
)

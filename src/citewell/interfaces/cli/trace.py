"""`citewell trace`: how an answer came about, step by step, and what comes out when that is run
again.

The one rule: what is read first stands first: what was asked, how it was understood, what was done;
the figures after that.
"""

from __future__ import annotations

import json as js
import shlex
import time

from citewell.interfaces.cli.answer import show_answer
from citewell.interfaces.cli.run import DONE, NO_ANSWER
from citewell.interfaces.cli.terminal import one_line, out, print_json, styled, write
from citewell.runtime.app import App
from citewell.service.ask.ask import unfinished
from citewell.service.sessions.compare_traces import Difference
from citewell.service.sessions.replay import Replay
from citewell.service.sessions.replay import replay as run_again
from citewell.service.sessions.traces import delete_trace, get_trace, list_traces
from citewell.text.sentences import language
from citewell.types import Snapshot, Trace

LATEST = 20
NOTHING = {  # of any other agent, of the data agent
    "en": ("nothing was searched", "no statement was run"),
    "zh": ("没有检索", "没有执行语句"),
}


async def trace(app: App, trace_id: str | None, user: str, json: bool) -> int:
    if trace_id is None:
        return await _latest(app, user, json)
    found = await get_trace(app, trace_id, user)
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        show(found)
    return DONE


async def _latest(app: App, user: str, json: bool) -> int:
    traces = await list_traces(app, LATEST, user)
    if json:
        print_json({"traces": [each.model_dump(mode="json", include=SUMMARY) for each in traces]})
        return DONE
    console = out()
    if not traces:
        write(console, styled("no traces yet; every question leaves one"))
    for each in traces:
        write(
            console,
            styled(each.trace_id, "cyan")
            + styled(f" {_when(each.created_at)} {each.agent}: {each.question}"),
        )
    whose = "" if user == "local" else f" --user {shlex.quote(user)}"
    for run in await unfinished(app, user):
        told = f" {_when(run.updated_at)} stopped before {run.next}: {run.question}"
        told += f"; go on with it: citewell ask --resume {run.trace_id}{whose}"
        write(console, styled(run.trace_id, "yellow") + styled(told))
    return DONE


SUMMARY = {"trace_id", "agent", "question", "collection", "session_id", "created_at", "expires_at"}


async def delete(app: App, trace_id: str, user: str, json: bool) -> int:
    await delete_trace(app, trace_id, user)
    if json:
        print_json({"trace_id": trace_id, "deleted": True})
    else:
        write(out(), styled(f"deleted {trace_id}"))
    return DONE


async def replay(
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
    console, steps = out(), len(found.replayed.steps)
    for line in found.notes:
        write(console, styled(f"note: {line}", "dim"))
    for prompt in found.unknown_prompts:
        write(console, styled(f"not recorded, the model was asked: {one_line(prompt)}", "yellow"))
    if found.same:
        write(
            console,
            styled("same: ", "green")
            + styled(f"{steps} steps and the answer come out as they were"),
        )
        return
    many = len(found.differences)
    write(
        console,
        styled("different: ", "yellow")
        + styled(f"{many} {'thing' if many == 1 else 'things'} in {steps} steps"),
    )
    place = ""
    for each in found.differences:
        if each.where != place:
            place = each.where
            write(console, styled(place, "cyan"))
        for sign, value in _sides(each):
            write(
                console,
                styled(f"{sign} {each.what}: {value}", "red" if sign == "-" else "green"),
                indent=4,
            )


def _sides(each: Difference) -> list[tuple[str, str]]:
    """What was there, then what is; a step or a figure may be on one side only."""
    sides = [("-", each.before), ("+", each.now)]
    shown = [
        (sign, one_line(value if isinstance(value, str) else _json(value)))
        for sign, value in sides
        if value is not None
    ]
    return shown or [("~", "")]


def _json(value: object) -> str:
    return js.dumps(value, ensure_ascii=False, default=str)


def show(trace: Trace) -> None:
    """The question and its snapshot, each step with its way on, time and figures, then the
    answer.
    """
    console = out()
    where = f", collection {trace.collection}" if trace.collection else ""
    until = f", kept until {_when(trace.expires_at)}" if trace.expires_at else ""
    write(
        console,
        styled(f"{trace.trace_id} {_when(trace.created_at)} {trace.agent}{where}{until}", "dim"),
    )
    write(console, styled(trace.question, "bold"))
    if trace.snapshot is not None:
        _show_snapshot(trace.snapshot, trace.agent)
    write(console, styled("Steps", "bold"))
    for step in trace.steps:
        write(
            console,
            styled(f"{step.n:>3} {step.node} ", "cyan")
            + styled(f"{step.action} ({step.seconds:.2f} s)"),
        )
        for name, value in step.detail.items():
            shown = value if isinstance(value, str) else _json(value)
            write(console, styled(f"{name}: {shown}", "dim"), indent=4)
    console.print()
    show_answer(trace.answer, console)


def _show_snapshot(snapshot: Snapshot, agent: str) -> None:
    """What spec 004 keeps of an answer: how the question was read, why, and what was done."""
    console, read = out(), snapshot.intent_analysis
    write(console, styled("Intent ", "bold") + styled(read.intent_type or "not named"))
    for name, value in read.parameters.items():
        write(
            console,
            styled(f"{name}: {value if isinstance(value, str) else _json(value)}", "dim"),
            indent=4,
        )
    if read.reasoning:
        write(console, styled(read.reasoning), indent=4)
    write(console, styled("Logic ", "bold") + styled(snapshot.execution_status, "dim"))
    write(
        console,
        styled(snapshot.generated_logic or NOTHING[language(snapshot.user_query)][agent == "data"]),
        indent=4,
    )


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))

"""`citewell trace`: how an answer came about, step by step."""

from __future__ import annotations

import json as js
import shlex
import time

from citewell.interfaces.cli.answer import show_answer
from citewell.interfaces.cli.run import DONE
from citewell.interfaces.cli.terminal import out, print_json, styled, write
from citewell.service.app import App
from citewell.service.ask import unfinished
from citewell.service.traces import get_trace, list_traces
from citewell.types import Trace

LATEST = 20


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
        write(console, styled(each.trace_id, "cyan") + styled(f" {_when(each.created_at)} {each.agent}: {each.question}"))
    whose = "" if user == "local" else f" --user {shlex.quote(user)}"
    for run in await unfinished(app, user):
        told = f" {_when(run.updated_at)} stopped before {run.next}: {run.question}"
        told += f"; go on with it: citewell ask --resume {run.trace_id}{whose}"
        write(console, styled(run.trace_id, "yellow") + styled(told))
    return DONE


SUMMARY = {"trace_id", "agent", "question", "collection", "session_id", "created_at"}


def show(trace: Trace) -> None:
    """The question, each step with its way on, time and figures, then the answer."""
    console = out()
    write(console, styled(f"{trace.trace_id} {_when(trace.created_at)} {trace.agent}, collection {trace.collection}", "dim"))
    write(console, styled(trace.question, "bold"))
    for step in trace.steps:
        write(console, styled(f"{step.n:>3} {step.node} ", "cyan") + styled(f"{step.action} ({step.seconds:.2f} s)"))
        for name, value in step.detail.items():
            shown = value if isinstance(value, str) else js.dumps(value, ensure_ascii=False, default=str)
            write(console, styled(f"{name}: {shown}", "dim"), indent=4)
    console.print()
    show_answer(trace.answer, console)


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))

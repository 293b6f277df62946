"""`citewell memory`: what is remembered of a user. The one rule: all of it is not forgotten
unasked.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json, Yes
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.run import DONE, ERROR, run
from citewell.interfaces.cli.terminal import (
    ask_confirmation,
    escape_line_breaks,
    get_stderr,
    get_stdout,
    print_json,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.sessions import memories as service
from citewell.store.memory import Forgotten
from citewell.store.memory_rows import Memory

LONGEST = 160  # characters of an answer in a list
Owner = Annotated[str, typer.Option("--user", help="Whose memory.")]
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The memory.", show_default=False)]


def run_list(
    user: Owner = "local",
    history: Annotated[bool, typer.Option("--history", help="Older versions too.")] = False,
    json: Json = False,
) -> None:
    """List what is remembered, the newest first."""
    run(lambda app: show_memories(app, user, history=history, json=json), json=json)


def run_show(memory_id: MemoryId, user: Owner = "local", json: Json = False) -> None:
    """Show one memory: what proved it, and what it said before."""
    run(lambda app: show_memory(app, user, memory_id, json=json), json=json)


def run_edit(
    memory_id: MemoryId,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The new words.", show_default=False)],
    user: Owner = "local",
    json: Json = False,
) -> None:
    """Reword a fact; its old words are kept as history."""
    run(lambda app: edit_memory(app, user, memory_id, text, json=json), json=json)


def run_forget(
    memory_ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Memories.", show_default=False)
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All that is remembered of the user.")
    ] = False,
    user: Owner = "local",
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Forget memories, what was derived from them, and the traces that used them."""
    if everything == bool(memory_ids):
        raise typer.BadParameter("name memories by their id, or all with --all")
    run(lambda app: forget_memories(app, user, memory_ids or [], yes=yes, json=json), json=json)


async def show_memories(app: App, user: str, *, history: bool, json: bool) -> int:
    memories = await service.list_memories(app, user, history=history)
    if json:
        print_json({"memories": [memory.model_dump(mode="json") for memory in memories]})
        return DONE
    if not memories:
        write_paragraph(
            get_stdout(), style_text(f"nothing is remembered of {escape_line_breaks(user)}")
        )
    for memory in memories:
        write_paragraph(
            get_stdout(),
            style_text(memory.memory_id, "cyan") + style_text(f" {_format_facts(memory)}", "dim"),
        )
        for line in _format_memory(memory):
            write_paragraph(
                get_stdout(),
                style_text(line[:LONGEST] + ("…" if len(line) > LONGEST else "")),
                indent=2,
            )
    return DONE


async def show_memory(app: App, user: str, memory_id: str, *, json: bool) -> int:
    found = await service.show_memory(app, user, memory_id)
    if json:
        history = [memory.model_dump(mode="json") for memory in found.history]
        print_json({**found.memory.model_dump(mode="json"), "history": history})
        return DONE
    memory, console = found.memory, get_stdout()
    write_paragraph(
        console,
        style_text(memory.memory_id, "cyan") + style_text(f" {_format_facts(memory)}", "dim"),
    )
    for line in _format_memory(memory):
        write_paragraph(console, style_text(line), indent=2)
    named = {
        "trace": memory.trace_id,
        "documents": ", ".join(memory.doc_ids),
        "collection": memory.collection,
        "found by": memory.route,
        "derived from": ", ".join(memory.derived_from),
        "replaced by": memory.replaced_by or "",
    }
    for name, value in named.items():
        if value:
            write_paragraph(console, style_text(f"{name}: {value}", "dim"), indent=2)
    for older in found.history:
        write_paragraph(
            console,
            style_text(f"before, {_format_day(older.updated_at)}: ", "dim")
            + style_text(escape_line_breaks(older.text)),
            indent=2,
        )
    return DONE


async def edit_memory(app: App, user: str, memory_id: str, text: str, *, json: bool) -> int:
    memory = await service.edit_memory(app, user, memory_id, text)
    if json:
        print_json(memory.model_dump(mode="json"))
    else:
        write_paragraph(
            get_stdout(), style_text(memory.memory_id, "cyan") + style_text(f" {memory.text}")
        )
    return DONE


async def forget_memories(
    app: App, user: str, memory_ids: Sequence[str], *, yes: bool, json: bool
) -> int:
    """These, or all where none are named."""
    if memory_ids:
        _report_forgotten(await service.forget_memories(app, user, *memory_ids), json=json)
        return DONE
    known = len(await service.list_memories(app, user))
    if not yes and not ask_confirmation(
        f"Forget all {known} memories of {escape_line_breaks(user)}? [y/N] ", "forgets"
    ):
        write_paragraph(get_stderr(), style_text("nothing forgotten"))
        return ERROR
    _report_forgotten(await service.forget_all(app, user), json=json)
    return DONE


def _report_forgotten(gone: Forgotten, *, json: bool) -> None:
    if json:
        print_json(gone.model_dump(mode="json"))
        return
    for memory_id in gone.memory_ids:
        write_paragraph(get_stdout(), style_text(f"forgotten {memory_id}"))
    memories = "1 memory" if len(gone.memory_ids) == 1 else f"{len(gone.memory_ids)} memories"
    traces = "1 trace" if gone.traces == 1 else f"{gone.traces} traces"
    write_paragraph(get_stdout(), style_text(f"{memories} forgotten, and {traces} with them"))


def _format_memory(memory: Memory) -> list[str]:
    """A fact as it was told; a question, then its answer."""
    return (
        [escape_line_breaks(memory.text)]
        if memory.kind == "fact"
        else [escape_line_breaks(memory.subject), "→ " + escape_line_breaks(memory.text)]
    )


def _format_facts(memory: Memory) -> str:
    times = "once" if memory.seen == 1 else f"{memory.seen} times"
    told = "told" if memory.kind == "fact" else "settled"
    old = ", history" if memory.replaced_by else ""
    return (
        f"{memory.kind}, {told} {times}, last {_format_day(memory.updated_at)}, kept "
        f"until {_format_day(memory.expires_at)}{old}"
    )


def _format_day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))


group = create_group(
    "What is remembered of a user.",
    {
        "list": run_list,
        "show": run_show,
        "edit": run_edit,
        "forget": run_forget,
    },
)

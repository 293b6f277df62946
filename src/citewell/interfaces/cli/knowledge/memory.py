"""`citewell memory`: what is remembered of a user. All of it is not forgotten unasked."""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json, Yes, argument
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.output.terminal import (
    ask_confirmation,
    escape_line_breaks,
    format_day,
    get_stderr,
    get_stdout,
    print_json,
    print_parts,
    print_text,
    style_text,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, ERROR, command
from citewell.runtime.app import App
from citewell.service.sessions import memories as service
from citewell.store.memory import Forgotten
from citewell.store.memory_rows import Memory

LONGEST = 160  # characters of an answer in a list
Owner = Annotated[str, typer.Option("--user", help="Whose memory.")]
MemoryId = Annotated[str, argument("The memory.", "ID")]


@command
async def show_memories(
    app: App,
    user: Owner = "local",
    history: Annotated[bool, typer.Option("--history", help="Older versions too.")] = False,
    json: Json = False,
) -> int:
    """List what is remembered, the newest first."""
    memories = await app.memories.list(user, history=history)
    if json:
        return print_json({"memories": memories})
    if not memories:
        print_text(f"nothing is remembered of {escape_line_breaks(user)}")
    for memory in memories:
        print_parts((memory.memory_id, "cyan"), (f" {_format_facts(memory)}", "dim"))
        for line in _format_memory(memory):
            print_text(line[:LONGEST] + ("…" if len(line) > LONGEST else ""), indent=2)
    return DONE


@command
async def show_memory(
    app: App, memory_id: MemoryId, user: Owner = "local", json: Json = False
) -> int:
    """Show one memory: what proved it, and what it said before."""
    found = await service.show_memory(app, user, memory_id)
    if json:
        history = [memory.model_dump(mode="json") for memory in found.history]
        return print_json({**found.memory.model_dump(mode="json"), "history": history})
    memory, console = found.memory, get_stdout()
    write_paragraph(
        console,
        style_text(memory.memory_id, "cyan") + style_text(f" {_format_facts(memory)}", "dim"),
    )
    for line in _format_memory(memory):
        write_paragraph(console, line, indent=2)
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
            write_paragraph(console, f"{name}: {value}", "dim", indent=2)
    for older in found.history:
        write_paragraph(
            console,
            style_text(f"before, {format_day(older.updated_at)}: ", "dim")
            + style_text(escape_line_breaks(older.text)),
            indent=2,
        )
    return DONE


@command
async def edit_memory(
    app: App,
    memory_id: MemoryId,
    text: Annotated[str, argument("The new words.", "TEXT")],
    user: Owner = "local",
    json: Json = False,
) -> int:
    """Reword a fact; its old words are kept as history."""
    memory = await service.edit_memory(app, user, memory_id, text)
    if json:
        return print_json(memory)
    print_parts((memory.memory_id, "cyan"), f" {memory.text}")
    return DONE


@command
async def forget_memories(
    app: App,
    memory_ids: Annotated[list[str] | None, argument("Memories.", "[ID]...")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All that is remembered of the user.")
    ] = False,
    user: Owner = "local",
    yes: Yes = False,
    json: Json = False,
) -> int:
    """Forget memories, what was derived from them, and the traces that used them."""
    if everything == bool(memory_ids):
        raise typer.BadParameter("name memories by their id, or all with --all")
    memory_ids = memory_ids or []
    if memory_ids:
        _report_forgotten(await app.memories.forget(user, *memory_ids), json=json)
        return DONE
    known = len(await app.memories.list(user))
    if not yes and not ask_confirmation(
        f"Forget all {known} memories of {escape_line_breaks(user)}? [y/N] ", "forgets"
    ):
        write_paragraph(get_stderr(), "nothing forgotten")
        return ERROR
    _report_forgotten(await app.memories.forget_all(user), json=json)
    return DONE


def _report_forgotten(gone: Forgotten, *, json: bool) -> None:
    if json:
        print_json(gone)
        return
    for memory_id in gone.memory_ids:
        print_text(f"forgotten {memory_id}")
    memories = "1 memory" if len(gone.memory_ids) == 1 else f"{len(gone.memory_ids)} memories"
    traces = "1 trace" if gone.traces == 1 else f"{gone.traces} traces"
    print_text(f"{memories} forgotten, and {traces} with them")


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
        f"{memory.kind}, {told} {times}, last {format_day(memory.updated_at)}, kept "
        f"until {format_day(memory.expires_at)}{old}"
    )


group = create_group(
    "What is remembered of a user.",
    {"list": show_memories, "show": show_memory, "edit": edit_memory, "forget": forget_memories},
)

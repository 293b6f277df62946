"""`citewell memory ...`: names, arguments and help. The one rule: as in commands.py, the work is
imported when it is done.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json

memory_app = typer.Typer(
    help="What is remembered of a user.", no_args_is_help=True, rich_markup_mode=None
)

Owner = Annotated[str, typer.Option("--user", help="Whose memory.")]
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The memory.", show_default=False)]


@memory_app.command(name="list")
def memory_list(
    user: Owner = "local",
    history: Annotated[bool, typer.Option("--history", help="Older versions too.")] = False,
    json: Json = False,
) -> None:
    """List what is remembered, the newest first."""
    from citewell.interfaces.cli.memory import show_memories
    from citewell.interfaces.cli.run import run

    run(lambda app: show_memories(app, user, history=history, json=json), json=json)


@memory_app.command(name="show")
def memory_show(memory_id: MemoryId, user: Owner = "local", json: Json = False) -> None:
    """Show one memory: what proved it, and what it said before."""
    from citewell.interfaces.cli.memory import show_memory
    from citewell.interfaces.cli.run import run

    run(lambda app: show_memory(app, user, memory_id, json=json), json=json)


@memory_app.command(name="edit")
def memory_edit(
    memory_id: MemoryId,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The new words.", show_default=False)],
    user: Owner = "local",
    json: Json = False,
) -> None:
    """Reword a fact; its old words are kept as history."""
    from citewell.interfaces.cli.memory import edit_memory
    from citewell.interfaces.cli.run import run

    run(lambda app: edit_memory(app, user, memory_id, text, json=json), json=json)


@memory_app.command(name="forget")
def memory_forget(
    memory_ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Memories.", show_default=False)
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All that is remembered of the user.")
    ] = False,
    user: Owner = "local",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Forget memories, what was derived from them, and the traces that used them."""
    from citewell.interfaces.cli.memory import forget_memories
    from citewell.interfaces.cli.run import run

    if everything == bool(memory_ids):
        raise typer.BadParameter("name memories by their id, or all with --all")
    run(lambda app: forget_memories(app, user, memory_ids or [], yes=yes, json=json), json=json)

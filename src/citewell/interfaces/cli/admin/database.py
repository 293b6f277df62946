"""`citewell db`: the database that all is kept in."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from citewell.config import Settings
from citewell.interfaces.cli.arguments import Json, argument
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.output.progress import show_progress
from citewell.interfaces.cli.output.terminal import print_json, print_parts, print_text
from citewell.interfaces.cli.run import DONE, ERROR, guard_command
from citewell.service.admin.database import (
    DatabaseMoved,
    DatabaseStatus,
    get_database_status,
    move_database,
    upgrade_database,
)

STATES = {
    "empty": "empty: the first start makes its tables",
    "current": "up to date",
    "older": "older than this Citewell: run citewell db upgrade",
    "moving": "being moved into: run the same citewell db move again",
    "ahead": "a later Citewell brought it there; this one works with it",
    "later": "a later Citewell wrote it: upgrade Citewell",
    "foreign": "not Citewell's: name another database",
}


def show_status(json: Json = False) -> None:
    """Where the database is, and how its schema stands; exit 1 where Citewell cannot open it."""
    with guard_command(json=json) as settings:
        status = asyncio.run(get_database_status(settings))
        raise typer.Exit(print_status(status, json=json))


def run_upgrade(json: Json = False) -> None:
    """Bring the schema of the database to this version of Citewell."""
    with guard_command(json=json) as settings:
        status = asyncio.run(upgrade_database(settings))
        raise typer.Exit(print_status(status, json=json))


def run_move(
    source: Annotated[str, argument("The folder of a home, or the address of a database.", "FROM")],
    target: Annotated[str, argument("The other, with nothing in it.", "TO")],
    json: Json = False,
) -> None:
    """Move all rows of a home into another database; run it again where it was cut off."""

    async def move(settings: Settings) -> DatabaseMoved:
        async with show_progress() as tell:
            return await move_database(settings, source, target, tell)

    with guard_command(json=json) as settings:
        moved = asyncio.run(move(settings))
        if json:
            raise typer.Exit(print_json(moved))
        rows = sum(moved.counts.values())
        print_text(f"{rows} rows of {len(moved.counts)} tables, each counted and compared")
        print_text("the home's files and its key stay where they are")
        raise typer.Exit(DONE)


def print_status(status: DatabaseStatus, *, json: bool) -> int:
    opens = status.state in {"empty", "current", "ahead"} or (
        status.state == "older" and status.dialect == "sqlite"
    )
    if json:
        print_json(status)
    else:
        print_parts((f"{status.place}  ", "bold"), (STATES[status.state], ""))
        revision = status.revision or "none"
        print_text(f"schema {revision}, known {status.known}; {status.tables} tables")
    return DONE if opens else ERROR


group = create_group(
    "The database that all is kept in (docs/scale.md).",
    {"status": show_status, "upgrade": run_upgrade, "move": run_move},
)

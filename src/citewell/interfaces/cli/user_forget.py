"""`citewell user forget`: what is kept of a person is shown, deleted, and looked for once more. The
one rule: what is left, in the home or in a backup, is said; where the home still holds something
the exit code is 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json, UserName, Yes
from citewell.interfaces.cli.run import DONE, ERROR, run
from citewell.interfaces.cli.terminal import (
    ask_confirmation,
    escape_line_breaks,
    get_stderr,
    get_stdout,
    print_json,
    print_warning,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.admin.forget_person import Forgotten, forget_person, get_personal_data


def run_forget(
    name: UserName,
    backups: Annotated[
        list[str] | None,
        typer.Option(
            "--backups", metavar="DIR", help="Look for backups here, too.", show_default=False
        ),
    ] = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Delete all that is kept of a person, and show that it is gone; exit 1 where something is left
    (docs/security.md).
    """
    from pathlib import Path

    folders = [Path(each).expanduser() for each in backups or []]
    run(lambda app: forget_user(app, name, folders, yes=yes, json=json), json=json)


async def forget_user(
    app: App, name: str, backups: Sequence[Path], *, yes: bool, json: bool
) -> int:
    known = await get_personal_data(app, name)
    if not yes:
        write_paragraph(
            get_stderr(),
            style_text(f"{escape_line_breaks(known.user_id)}: {_format_rows(known.rows)}"),
        )
        if not ask_confirmation(
            "Delete all of it, private collections and papers too? It cannot be undone. [y/N] ",
            "removes",
        ):
            write_paragraph(get_stderr(), style_text("nothing deleted"))
            return ERROR
    gone = await forget_person(app, name, backups)
    if json:
        print_json(gone.model_dump(mode="json") | {"ok": not gone.left.found})
    else:
        _print_forgotten(gone)
    return ERROR if gone.left.found else DONE


def _print_forgotten(gone: Forgotten) -> None:
    write_paragraph(get_stdout(), style_text(f"forgotten: {escape_line_breaks(gone.user_id)}"))
    write_paragraph(get_stdout(), style_text(f"deleted: {_format_rows(gone.removed)}"), indent=2)
    write_paragraph(
        get_stdout(), style_text(f"kept without the name: {_format_rows(gone.nameless)}"), indent=2
    )
    scanned = (
        f"{gone.left.columns} columns and {gone.left.bytes / 1e6:.1f} MB of the database's "
        "files were looked through"
    )
    if gone.left.found:
        print_warning(
            f"{scanned}, and something is left: {_format_rows(gone.left.found)}; do it again "
            "when no "
            "question is under way"
        )
    else:
        write_paragraph(get_stdout(), style_text(f"{scanned}: nothing is left"), indent=2)
    for each in gone.backups:
        said = f"made {each.made}" if each.made else "cannot be looked into"
        print_warning(f"a backup may still hold it: {escape_line_breaks(each.place)} ({said})")


def _format_rows(rows: Mapping[str, int]) -> str:
    return ", ".join(f"{count} of {table}" for table, count in sorted(rows.items())) or "nothing"

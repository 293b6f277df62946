"""`citewell user forget`: what is kept of a person is shown, deleted, and looked for once more. The
one rule: what is left, in the home or in a backup, is said; where the home still holds something
the exit code is 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from citewell.interfaces.cli.arguments import Json, UserName, Yes, option
from citewell.interfaces.cli.output.terminal import (
    ask_confirmation,
    escape_line_breaks,
    get_stderr,
    print_json,
    print_text,
    print_warning,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, ERROR, command
from citewell.runtime.app import App
from citewell.service.admin.forget_person import Forgotten, forget_person, get_personal_data


@command
async def forget_user(
    app: App,
    name: UserName,
    backups: Annotated[
        list[str] | None, option("Look for backups here, too.", "--backups", metavar="DIR")
    ] = None,
    yes: Yes = False,
    json: Json = False,
) -> int:
    """Delete all that is kept of a person, and show that it is gone; exit 1 where something is left
    (docs/security.md).
    """
    folders = [Path(each).expanduser() for each in backups or []]  # noqa: ASYNC240 no disk is asked
    known = await get_personal_data(app.db, name)
    if not yes:
        write_paragraph(
            get_stderr(), f"{escape_line_breaks(known.user_id)}: {_format_rows(known.rows)}"
        )
        if not ask_confirmation(
            "Delete all of it, private collections and papers too? It cannot be undone. [y/N] ",
            "removes",
        ):
            write_paragraph(get_stderr(), "nothing deleted")
            return ERROR
    gone = await forget_person(app, name, folders)
    if json:
        print_json(gone.model_dump(mode="json") | {"ok": not gone.left.found})
    else:
        _print_forgotten(gone)
    return ERROR if gone.left.found else DONE


def _print_forgotten(gone: Forgotten) -> None:
    print_text(f"forgotten: {escape_line_breaks(gone.user_id)}")
    print_text(f"deleted: {_format_rows(gone.removed)}", indent=2)
    print_text(f"kept without the name: {_format_rows(gone.nameless)}", indent=2)
    scanned = f"{gone.left.columns} columns"
    if gone.left.bytes:
        scanned += f" and {gone.left.bytes / 1e6:.1f} MB of the database's files"
    scanned += " were looked through"
    if gone.left.found:
        print_warning(
            f"{scanned}, and something is left: {_format_rows(gone.left.found)}; do it again "
            "when no "
            "question is under way"
        )
    else:
        print_text(f"{scanned}: nothing is left", indent=2)
    if not gone.left.bytes:
        print_text("the server's tables were written anew", indent=2)
        print_warning(
            "its write-ahead log holds it until the log is written over (max_wal_size); its "
            "replicas' logs, archives and backups hold it as long as they are kept"
        )
    if gone.remains:
        print_warning(
            "too large or too busy to be written anew, so bytes of it may stand in their free "
            f"space until that is used: {', '.join(gone.remains)}; `VACUUM FULL` ends that"
        )
    for each in gone.backups:
        said = f"made {each.made}" if each.made else "cannot be looked into"
        print_warning(f"a backup may still hold it: {escape_line_breaks(each.place)} ({said})")


def _format_rows(rows: Mapping[str, int]) -> str:
    return ", ".join(f"{count} of {table}" for table, count in sorted(rows.items())) or "nothing"

"""`citewell user forget`: what is kept of a person is shown, deleted, and looked for once more. The
one rule: what is left, in the home or in a backup, is said; where the home still holds something
the exit code is 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from citewell.interfaces.cli.run import DONE, ERROR
from citewell.interfaces.cli.terminal import err, one_line, out, print_json, styled, warn, write
from citewell.interfaces.cli.user import confirmed
from citewell.runtime.app import App
from citewell.service.admin.forget_person import Forgotten, forget_person, known_of


async def forget(app: App, name: str, backups: Sequence[Path], *, yes: bool, json: bool) -> int:
    known = await known_of(app, name)
    if not yes:
        write(err(), styled(f"{one_line(known.user_id)}: {_rows(known.rows)}"))
        if not confirmed(
            "Delete all of it, private collections and papers too? It cannot be undone. [y/N] "
        ):
            write(err(), styled("nothing deleted"))
            return ERROR
    gone = await forget_person(app, name, backups)
    if json:
        print_json(gone.model_dump(mode="json") | {"ok": not gone.left.found})
    else:
        _print(gone)
    return ERROR if gone.left.found else DONE


def _print(gone: Forgotten) -> None:
    write(out(), styled(f"forgotten: {one_line(gone.user_id)}"))
    write(out(), styled(f"deleted: {_rows(gone.removed)}"), indent=2)
    write(out(), styled(f"kept without the name: {_rows(gone.nameless)}"), indent=2)
    scanned = (
        f"{gone.left.columns} columns and {gone.left.bytes / 1e6:.1f} MB of the database's "
        "files were looked through"
    )
    if gone.left.found:
        warn(
            f"{scanned}, and something is left: {_rows(gone.left.found)}; do it again when no "
            "question is under way"
        )
    else:
        write(out(), styled(f"{scanned}: nothing is left"), indent=2)
    for each in gone.backups:
        said = f"made {each.made}" if each.made else "cannot be looked into"
        warn(f"a backup may still hold it: {one_line(each.place)} ({said})")


def _rows(rows: Mapping[str, int]) -> str:
    return ", ".join(f"{count} of {table}" for table, count in sorted(rows.items())) or "nothing"

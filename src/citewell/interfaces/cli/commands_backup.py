"""`citewell backup`, `citewell restore`: names, arguments and help. The one rule: as in
commands.py, work is imported late.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json


def backup(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="The archive; a folder, or none: named by the moment.",
            show_default=False,
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Write nothing: check FILE, unpack it, open what it makes and ask it."
        ),
    ] = False,
    keep: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Verify what was written; then remove all but so many in its folder, named by "
            "their moment.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Put all that is kept into one archive, also while the server runs (docs/backup.md)."""
    from citewell.interfaces.cli import backup as work

    if verify and file is None:
        raise typer.BadParameter("name the archive to check: citewell backup --verify FILE")
    if verify and keep is not None:
        raise typer.BadParameter("--keep goes with a backup that is written")
    if verify and file is not None:
        work.verify_backup(file, json=json)
    work.make_backup(file, keep=keep, json=json)


def restore(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="An archive of `citewell backup`.", show_default=False),
    ],
    home: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Where to; the home of the settings.", show_default=False),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace what is there, and keep that beside it.")
    ] = False,
    json: Json = False,
) -> None:
    """Make a home of an archive: checked first, then in place at once."""
    from citewell.interfaces.cli.backup import restore_backup as work

    work(file, home, force=force, json=json)

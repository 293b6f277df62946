"""`citewell audit`: its arguments and help. The one rule: as in commands.py, the work is imported
when it is done.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json


def audit(
    verify: Annotated[
        bool, typer.Option("--verify", help="Check the chain; exit 1 where it does not hold.")
    ] = False,
    expect: Annotated[
        str,
        typer.Option(
            metavar="SEQ:MAC",
            help="With --verify: an entry noted earlier, which must be there.",
            show_default=False,
        ),
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many of the newest.")] = 50,
    json: Json = False,
) -> None:
    """Who administered what: users, tokens, collections, sources, backups, restores."""
    from citewell.interfaces.cli.audit import show_entries, verify_log
    from citewell.interfaces.cli.run import run

    if expect and not verify:
        raise typer.BadParameter("--expect goes with --verify")
    run(
        lambda app: (
            verify_log(app, expect, json=json) if verify else show_entries(app, limit, json=json)
        ),
        json=json,
    )

"""`citewell data ask`: its arguments and help. The one rule: as in commands.py, the work is
imported when it is done.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json, Session, User


def data_ask(
    question: Annotated[
        str,
        typer.Argument(metavar="QUESTION", help="What the tables are asked.", show_default=False),
    ],
    source: Annotated[
        str | None,
        typer.Option(
            help="The source; else the session's, or the one that fits.", show_default=False
        ),
    ] = None,
    session: Session = None,
    user: User = "local",
    max_seconds: Annotated[
        float | None, typer.Option(help="Seconds this question may take.", show_default=False)
    ] = None,
    knowledge: Annotated[
        bool, typer.Option("--knowledge/--no-knowledge", help="Use what people have confirmed.")
    ] = True,
    json: Json = False,
) -> None:
    """Ask tables: the answer with its rows and the SQL that ran; exit 3 where there is none."""
    from citewell.interfaces.cli.data_ask import ask_data
    from citewell.interfaces.cli.run import run

    said = {"source": source, "max_seconds": max_seconds, "knowledge": None if knowledge else False}
    options = {name: value for name, value in said.items() if value is not None}
    run(lambda app: ask_data(app, question, session, user, options, json=json), json=json)

"""`citewell data ask`: `citewell ask -a data`, with the options of tables."""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json, Seconds, Session, User, argument, option
from citewell.interfaces.cli.ask.ask import ask_question
from citewell.interfaces.cli.run import command
from citewell.runtime.app import App


@command
async def ask_data(
    app: App,
    question: Annotated[str, argument("What the tables are asked.", "QUESTION")],
    source: Annotated[
        str | None, option("The source; else the session's, or the one that fits.")
    ] = None,
    session: Session = None,
    user: User = "local",
    max_seconds: Seconds = None,
    knowledge: Annotated[
        bool, typer.Option("--knowledge/--no-knowledge", help="Use what people have confirmed.")
    ] = True,
    json: Json = False,
) -> int:
    """Ask tables: the answer with its rows and the SQL that ran; exit 3 where there is none."""
    said = {"source": source, "max_seconds": max_seconds, "knowledge": None if knowledge else False}
    options = {name: value for name, value in said.items() if value is not None}
    request = {"question": question, "session_id": session, "user_id": user, "options": options}
    return await ask_question(app, request | {"agent": "data"}, json=json)

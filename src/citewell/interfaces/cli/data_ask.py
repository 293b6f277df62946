"""`citewell data ask`: one question to tables. The one rule: it is `citewell ask -a data`, with the
options of tables.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from citewell.interfaces.cli.arguments import Json, Seconds, Session, User
from citewell.interfaces.cli.ask import ask_question
from citewell.interfaces.cli.run import run
from citewell.runtime.app import App


def run_ask(
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
    max_seconds: Seconds = None,
    knowledge: Annotated[
        bool, typer.Option("--knowledge/--no-knowledge", help="Use what people have confirmed.")
    ] = True,
    json: Json = False,
) -> None:
    """Ask tables: the answer with its rows and the SQL that ran; exit 3 where there is none."""
    said = {"source": source, "max_seconds": max_seconds, "knowledge": None if knowledge else False}
    options = {name: value for name, value in said.items() if value is not None}
    run(lambda app: ask_data(app, question, session, user, options, json=json), json=json)


async def ask_data(
    app: App, question: str, session: str | None, user: str, options: dict[str, Any], *, json: bool
) -> int:
    """The exit code: 0 answered, 3 no answer, 1 error."""
    said = {
        "question": question,
        "agent": "data",
        "session_id": session,
        "user_id": user,
        "options": options,
    }
    return await ask_question(app, said, json=json)

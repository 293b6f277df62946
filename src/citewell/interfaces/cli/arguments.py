"""Arguments and options that several commands take. The one rule: only typer is imported here, so
that help stays quick.
"""

from __future__ import annotations

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Collection = Annotated[
    str | None,
    typer.Option("--collection", "-c", help="Collection of documents.", show_default=False),
]
Agent = Annotated[
    str,
    typer.Option(
        "--agent", "-a", help="Who answers: qa, dual_loop, website, data, or auto to choose."
    ),
]
User = Annotated[
    str, typer.Option("--user", help="Whose question it is: sessions and memories are this user's.")
]
Web = Annotated[
    bool | None,
    typer.Option(
        "--web/--no-web", help="Search the web too, where it is configured.", show_default=False
    ),
]
Remember = Annotated[
    bool | None,
    typer.Option(
        "--memory/--no-memory", help="Use and write the long-term memory.", show_default=False
    ),
]
Docs = Annotated[
    list[str] | None, typer.Option("--doc", help="Only this document: id or path; may be repeated.")
]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", help="Only such files: pdf, docx, html, ...; may be repeated."),
]
Langs = Annotated[
    list[str] | None, typer.Option("--lang", help="Only passages in this language: en or zh.")
]
Since = Annotated[
    str | None,
    typer.Option(help="Only documents of this day, month or year, or later.", show_default=False),
]
Until = Annotated[
    str | None,
    typer.Option(help="Only documents of this day, month or year, or earlier.", show_default=False),
]
Least = Annotated[
    int | None,
    typer.Option("--priority", min=0, max=10, help="Only documents of this priority or a higher."),
]
Strategy = Annotated[
    str | None, typer.Option(help="How to search; the setting search.strategy.", show_default=False)
]
Session = Annotated[
    str | None, typer.Option("--session", help="Go on with this session.", show_default=False)
]

"""Arguments and options that several modules of commands take. The one rule: what one module alone
takes stands in that module.
"""

from __future__ import annotations

from typing import Annotated, Any

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
Several = list[str] | None
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Seconds = Annotated[
    float | None, typer.Option(help="Seconds this question may take.", show_default=False)
]
Who = Annotated[str, typer.Option("--user", help="Who says so.")]
Reader = Annotated[str, typer.Option("--user", help="Who reads: sessions are this user's.")]
SessionId = Annotated[
    str, typer.Argument(metavar="SESSION", help="The session.", show_default=False)
]
SourceName = Annotated[str, typer.Argument(metavar="NAME", help="The source.", show_default=False)]
UserName = Annotated[str, typer.Argument(metavar="NAME", help="The user.", show_default=False)]
Days = Annotated[
    float | None,
    typer.Option("--days", help="Days that the token is good for.", show_default="until revoked"),
]
Label = Annotated[
    str,
    typer.Option("--name", help="What the token is for: laptop, backup.", show_default="the day"),
]


def collect_filters(
    docs: list[str] | None,
    types: list[str] | None,
    langs: list[str] | None,
    since: str | None,
    until: str | None,
    priority: int | None,
    strategy: str | None,
) -> dict[str, Any]:
    """The options of a search that were given, by their names in the API."""
    given: dict[str, Any] = {
        "doc_ids": docs,
        "types": types,
        "langs": langs,
        "since": since,
        "until": until,
    }
    given |= {"least_priority": priority, "strategy": strategy}
    return {name: value for name, value in given.items() if value is not None}

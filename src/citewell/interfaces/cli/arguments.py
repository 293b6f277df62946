"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def option(about: str, *names: str, **more: Any) -> Any:
    """An option whose help shows no default."""
    return typer.Option(*names, help=about, show_default=False, **more)


def argument(about: str, metavar: str | None = None, **more: Any) -> Any:
    """An argument whose help shows no default."""
    return typer.Argument(metavar=metavar, help=about, show_default=False, **more)


Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Collection = Annotated[str | None, option("Collection of documents.", "--collection", "-c")]
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
    bool | None, option("Search the web too, where it is configured.", "--web/--no-web")
]
Remember = Annotated[
    bool | None, option("Use and write the long-term memory.", "--memory/--no-memory")
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
Since = Annotated[str | None, option("Only documents of this day, month or year, or later.")]
Until = Annotated[str | None, option("Only documents of this day, month or year, or earlier.")]
Least = Annotated[
    int | None,
    typer.Option("--priority", min=0, max=10, help="Only documents of this priority or a higher."),
]
Strategy = Annotated[str | None, option("How to search; the setting search.strategy.")]
Session = Annotated[str | None, option("Go on with this session.", "--session")]
Several = list[str] | None
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Seconds = Annotated[float | None, option("Seconds this question may take.")]
Who = Annotated[str, typer.Option("--user", help="Who says so.")]
Reader = Annotated[str, typer.Option("--user", help="Who reads: sessions are this user's.")]
SessionId = Annotated[str, argument("The session.", "SESSION")]
SourceName = Annotated[str, argument("The source.", "NAME")]
UserName = Annotated[str, argument("The user.", "NAME")]
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

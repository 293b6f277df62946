"""`citewell site`: a website asked from its start pages; without a question, a chat."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from citewell.interfaces.cli.arguments import Json, Seconds, Session, User, argument, option
from citewell.interfaces.cli.ask.ask import ask_question
from citewell.interfaces.cli.ask.chat import hold_chat
from citewell.interfaces.cli.run import run

AGENT = "website"
StartPages = Annotated[
    list[str] | None, argument("Start pages; a session has its own.", "[URL]...")
]
AllowedHosts = Annotated[
    list[str] | None,
    option("Host whose links are followed, *.example.com, or '*'; may be repeated."),
]
Instruction = Annotated[
    str | None, option("What to look for and prefer: 'official policies, FAQ pages'.")
]


def run_site(
    urls: StartPages = None,
    question: Annotated[
        str | None, option("The question; without one, a prompt.", "--question", "-q")
    ] = None,
    allow: AllowedHosts = None,
    instruction: Instruction = None,
    collection: Annotated[
        str | None, option("Where the pages are kept: the first host.", "--collection", "-c")
    ] = None,
    session: Session = None,
    user: User = "local",
    max_iterations: Annotated[int | None, option("Rounds of exploring; 5.", min=0)] = None,
    max_pages: Annotated[int | None, option("Pages asked for; 100.", min=1)] = None,
    max_seconds: Seconds = None,
    json: Json = False,
) -> None:
    """Ask a website: it is explored from its start pages; exit 3 where there is no answer."""
    limits = {"max_iterations": max_iterations, "max_pages": max_pages, "max_seconds": max_seconds}
    said = {
        "start_urls": urls or None,
        "allowed_domains": allow,
        "instruction": instruction,
    } | limits
    if not (urls or session or collection):
        raise typer.BadParameter(
            "name start pages: citewell site https://docs.example.com -q QUESTION"
        )
    options = {name: value for name, value in said.items() if value is not None}
    ask_site(question, options, collection=collection, session=session, user=user, json=json)


def ask_site(
    question: str | None,
    options: dict[str, Any],
    *,
    collection: str | None,
    session: str | None,
    user: str,
    json: bool,
) -> None:
    """`options`: the fields of AskOptions."""
    if "start_urls" in options:
        options["start_urls"] = [_complete_url(url) for url in options["start_urls"]]
    if question is None:
        hold_chat(
            agent=AGENT,
            collection=collection,
            session=session,
            user=user,
            json=json,
            options=options,
        )
        return
    of_request = {
        "collection": collection,
        "session_id": session,
        "user_id": user,
        "options": options,
    }
    said = {"question": question, "agent": AGENT} | of_request
    run(lambda app: ask_question(app, said, json=json), json=json)


def _complete_url(url: str) -> str:
    """An address typed without its scheme: https, but with a port or as a number http."""
    if "://" in url:
        return url
    host = url.partition("/")[0]
    return (
        f"http://{url}"
        if ":" in host or host == "localhost" or host.replace(".", "").isdigit()
        else f"https://{url}"
    )

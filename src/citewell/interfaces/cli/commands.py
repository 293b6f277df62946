"""Every command and group: its name, its one line of help, and where it is.

The one rule: no command is imported here; the one that is asked for is, so that `citewell --help`
stays quick.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from citewell import __version__
from citewell.interfaces.cli.group import LazyCommand, Place

COMMANDS = {
    "add": Place("add:run_add", "Add files, folders and web pages to a collection."),
    "ask": Place("ask:run_ask", "Ask one question; exit 3 where there is no answer."),
    "site": Place(
        "site:run_site",
        "Ask a website: it is explored from its start pages; exit 3 where there is no answer.",
    ),
    "paper": Place(
        "paper:run_paper",
        "Read a paper with a guide: a report, a reading route, answers; exit 3 where the last "
        "question has none.",
    ),
    "feedback": Place(
        "feedback:run_feedback",
        "Say that an answer is right or wrong: what is right becomes knowledge, a correction a "
        "rule.",
    ),
    "search": Place(
        "search:run_search", "Find passages, without an answer; exit 3 where there are none."
    ),
    "check": Place(
        "check:run_check",
        "Hold a text against documents, sentence by sentence; exit 3 where a sentence of a text "
        "is not entailed.",
    ),
    "chat": Place("chat:run_chat", "Ask one question after another; Ctrl-D ends."),
    "list": Place("list:run_list", "List collections and their documents."),
    "collection": Place(
        "collection:run_collection",
        "Show how a collection's documents are cut into passages; with an option, cut them "
        "otherwise.",
    ),
    "chunks": Place(
        "chunks:run_chunks",
        "Preview the passages that a file would be cut into; nothing is stored.",
    ),
    "remove": Place(
        "remove:run_remove", "Remove documents, or with -c NAME --all a whole collection."
    ),
    "eval": Place(
        "evaluate:run_eval", "Measure search and answers on questions whose answers are known."
    ),
    "doctor": Place(
        "doctor:run_doctor",
        "Check this installation: settings, models and their speed, database, disk.",
    ),
    "serve": Place(
        "serve:run_serve", "Serve the web page, the API and the chat element on this machine."
    ),
    "mcp": Place(
        "mcp:run_mcp",
        "Serve the Model Context Protocol on standard input and output, for a program that starts "
        "it.",
    ),
    "audit": Place(
        "audit:run_audit",
        "Who administered what: users, tokens, collections, sources, backups, restores.",
    ),
    "backup": Place(
        "backup:run_backup",
        "Put all that is kept into one archive, also while the server runs (docs/backup.md).",
    ),
    "restore": Place(
        "backup:run_restore", "Make a home of an archive: checked first, then in place at once."
    ),
    "models": Place("models:group", "The models that come with Citewell."),
    "data": Place("data:group", "Tables that are asked: files and databases."),
    "memory": Place("memory:group", "What is remembered of a user."),
    "knowledge": Place("knowledge:group", "What people have confirmed or corrected."),
    "jobs": Place("jobs:group", "Uploads and other work of the server: list, try again, cancel."),
    "papers": Place("papers:group", "Papers that are being read."),
    "sites": Place("sites:group", "Web sites that are kept."),
    "trace": Place("trace:group", "How an answer came about: show it, replay it, delete it."),
    "user": Place("user:group", 'Users and their tokens, for auth = "token" (docs/security.md).'),
}


class Root(TyperGroup):
    """`citewell` itself: the commands of the table."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, place in COMMANDS.items():
            self.add_command(LazyCommand(name, place))


app = typer.Typer(
    cls=Root,
    help="Answers from your own documents, in Chinese and English, with every sentence proved.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # rich's help pages cost 0.3 s of start-up
    pretty_exceptions_enable=False,
)


def print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"citewell {__version__}")
        raise typer.Exit


@app.callback()
def accept_options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass

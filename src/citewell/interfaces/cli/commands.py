"""Every command and group: its name, its one line of help, and where it is. No command is imported
here; the one that is asked for is, so that `citewell --help` stays quick.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from citewell import __version__
from citewell.interfaces.cli.group import LazyCommand, Place

# by what people come for, in the order of the help
SECTIONS = {
    "Ask": {
        "ask": Place("ask.ask:run_ask", "Ask one question; exit 3 where there is no answer."),
        "chat": Place("ask.chat:run_chat", "Ask one question after another; Ctrl-D ends."),
        "data": Place("data.data:group", "Tables that are asked: files and databases."),
        "site": Place(
            "ask.site:run_site",
            "Ask a website: it is explored from its start pages; exit 3 where there is no answer.",
        ),
        "paper": Place(
            "papers.paper:run_paper",
            "Read a paper with a guide: a report, a reading route, answers; exit 3 where the last "
            "question has none.",
        ),
        "search": Place(
            "ask.search:search_passages",
            "Find passages, without an answer; exit 3 where there are none.",
        ),
        "check": Place(
            "ask.check:run_check",
            "Hold a text against documents, sentence by sentence; exit 3 where a sentence of a "
            "text is not entailed.",
        ),
    },
    "Add and look after": {
        "add": Place(
            "library.add:add_documents",
            "Add files, folders, buckets and web pages to a collection.",
        ),
        "list": Place("library.list:show_collections", "List collections and their documents."),
        "remove": Place(
            "library.remove:remove_documents",
            "Remove documents, or with -c NAME --all a whole collection.",
        ),
        "collection": Place(
            "library.collection:manage_collection",
            "Show how a collection's documents are cut into passages; with an option, cut them "
            "otherwise.",
        ),
        "chunks": Place(
            "library.chunks:run_chunks",
            "Preview the passages that a file would be cut into; nothing is stored.",
        ),
        "sync": Place(
            "library.sync:group",
            "Collections kept in step with folders, feeds, buckets, repositories, mail.",
        ),
        "sites": Place("library.kept_sites:group", "Web sites that are kept."),
        "papers": Place("papers.papers:group", "Papers that are being read."),
        "jobs": Place(
            "library.jobs:group",
            "Uploads and other work of the server: list, try again, cancel.",
        ),
    },
    "What people say, and how answers came about": {
        "feedback": Place(
            "ask.feedback:give_feedback",
            "Say that an answer is right or wrong: what is right becomes knowledge, a correction a "
            "rule.",
        ),
        "knowledge": Place("knowledge.knowledge:group", "What people have confirmed or corrected."),
        "memory": Place("knowledge.memory:group", "What is remembered of a user."),
        "trace": Place(
            "ask.trace:group", "How an answer came about: show it, replay it, delete it."
        ),
    },
    "Run it": {
        "serve": Place(
            "admin.serve:run_serve",
            "Serve the web page, the API and the chat element on this machine.",
        ),
        "worker": Place(
            "admin.job_worker:run_worker",
            "Do the jobs of servers started with --no-worker: uploads, feedback, refreshes.",
        ),
        "mcp": Place(
            "admin.mcp:run_mcp",
            "Serve the Model Context Protocol on standard input and output, for a program that "
            "starts it.",
        ),
        "models": Place("admin.models:group", "The models that come with Citewell."),
        "doctor": Place(
            "admin.doctor:run_doctor",
            "Check this installation: settings, models and their speed, database, disk.",
        ),
        "db": Place("admin.database:group", "The database that all is kept in (docs/scale.md)."),
        "user": Place(
            "admin.user:group", 'Users and their tokens, for auth = "token" (docs/security.md).'
        ),
        "audit": Place(
            "admin.audit:show_audit",
            "Who administered what: users, tokens, collections, sources, backups, restores.",
        ),
        "backup": Place(
            "admin.backup:run_backup",
            "Put all that is kept into one archive, also while the server runs (docs/backup.md).",
        ),
        "restore": Place(
            "admin.backup:run_restore",
            "Make a home of an archive: checked first, then in place at once.",
        ),
    },
    "Measure": {
        "eval": Place(
            "evaluate.evaluate:run_eval",
            "Measure search and answers on questions whose answers are known.",
        ),
    },
}
COMMANDS = {name: place for places in SECTIONS.values() for name, place in places.items()}


class Root(TyperGroup):
    """`citewell` itself: the commands of the table."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, place in COMMANDS.items():
            self.add_command(LazyCommand(name, place))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 the framework's form
        """The commands under the headings of the table, each with its whole line."""
        for title, places in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, place.help) for name, place in places.items()])


app = typer.Typer(
    cls=Root,
    help="Answers from your own documents, in Chinese and English, with every sentence proved.",
    no_args_is_help=True,
    context_settings={"max_content_width": 110},
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

"""`citewell paper` and `citewell papers ...`: names, arguments and help. The one rule: as in
commands.py, the work is imported when it is done.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json

papers_app = typer.Typer(
    help="Papers that are being read.", no_args_is_help=True, rich_markup_mode=None
)

LANGS = {"en", "zh"}
Reader = Annotated[str, typer.Option("--user", help="Who reads: sessions are this user's.")]
SessionId = Annotated[
    str, typer.Argument(metavar="SESSION", help="The session.", show_default=False)
]
Steps = Annotated[
    list[str],
    typer.Argument(metavar="STEP...", help="Numbers or ids of steps.", show_default=False),
]
Several = list[str] | None


def paper(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE|URL]", help="The paper; a session has its own.", show_default=False
        ),
    ] = None,
    interest: Annotated[
        str | None,
        typer.Option(
            help="What interests you: gives a reading route; '': through all of it.",
            show_default=False,
        ),
    ] = None,
    ask: Annotated[
        Several,
        typer.Option("--ask", help="A question to the paper; may be repeated.", show_default=False),
    ] = None,
    select: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Words of the paper that the first question is about.",
            show_default=False,
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="Go on with this session.", show_default=False)
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option(
            metavar="en|zh", help="Language of report and route: the paper's.", show_default=False
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Name of the session: the paper's title.", show_default=False)
    ] = None,
    user: Reader = "local",
    json: Json = False,
) -> None:
    """Read a paper with a guide: a report, a reading route, answers; exit 3 where the last question
    has none.
    """
    from citewell.interfaces.cli.paper import Asked
    from citewell.interfaces.cli.paper import run_paper as work

    if bool(source) == bool(session):
        raise typer.BadParameter(
            "name a paper (FILE or URL), or go on with one by --session ID; one of the two"
        )
    if session and title:
        raise typer.BadParameter(
            "--title is for a new session; `citewell papers rename` changes that of another"
        )
    if lang not in {None, *LANGS}:
        raise typer.BadParameter("--lang takes: en, zh")
    if select and not ask:
        raise typer.BadParameter("--select goes with --ask QUESTION")
    work(
        Asked(
            source=source or "",
            session=session or "",
            interest=interest,
            questions=ask or [],
            select=select or "",
            lang=lang,
            title=title or "",
            user=user,
            json=json,
        )
    )


@papers_app.command(name="list")
def papers_list(user: Reader = "local", json: Json = False) -> None:
    """List the papers of a user, the one last touched first."""
    from citewell.interfaces.cli.papers import show_papers
    from citewell.interfaces.cli.run import run

    run(lambda app: show_papers(app, user, json=json), json=json)


@papers_app.command(name="show")
def papers_show(session: SessionId, user: Reader = "local", json: Json = False) -> None:
    """Show one: report, route, questions and answers."""
    from citewell.interfaces.cli.papers import show_paper
    from citewell.interfaces.cli.run import run

    run(lambda app: show_paper(app, session, user, json=json), json=json)


@papers_app.command(name="rename")
def papers_rename(
    session: SessionId,
    title: Annotated[
        str, typer.Argument(metavar="TITLE", help="The new name.", show_default=False)
    ],
    user: Reader = "local",
    json: Json = False,
) -> None:
    """Give a session another name."""
    from citewell.interfaces.cli.papers import rename_paper
    from citewell.interfaces.cli.run import run

    run(lambda app: rename_paper(app, session, title, user, json=json), json=json)


@papers_app.command(name="delete")
def papers_delete(
    session: SessionId,
    user: Reader = "local",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Delete a session, with its paper where no other session reads that."""
    from citewell.interfaces.cli.papers import delete_paper
    from citewell.interfaces.cli.run import run

    run(lambda app: delete_paper(app, session, user, yes=yes, json=json), json=json)


@papers_app.command(name="export")
def papers_export(
    session: SessionId,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A .md file; - for standard output.", show_default=False
        ),
    ],
    user: Reader = "local",
    json: Json = False,
) -> None:
    """Write a session as Markdown: report, route, conversation, with quotes and pages."""
    from citewell.interfaces.cli.papers import export_paper
    from citewell.interfaces.cli.run import run

    if json and file == "-":
        raise typer.BadParameter("--json prints one object, and - prints the Markdown; choose one")
    run(lambda app: export_paper(app, session, file, user, json=json), json=json)


@papers_app.command(name="done")
def papers_done(
    session: SessionId, steps: Steps, user: Reader = "local", json: Json = False
) -> None:
    """Tick steps of the route off."""
    from citewell.interfaces.cli.papers import tick_steps
    from citewell.interfaces.cli.run import run

    run(lambda app: tick_steps(app, session, steps, user, read=True, json=json), json=json)


@papers_app.command(name="undo")
def papers_undo(
    session: SessionId, steps: Steps, user: Reader = "local", json: Json = False
) -> None:
    """Take ticks back."""
    from citewell.interfaces.cli.papers import tick_steps
    from citewell.interfaces.cli.run import run

    run(lambda app: tick_steps(app, session, steps, user, read=False, json=json), json=json)


@papers_app.command(name="plan")
def papers_plan(
    session: SessionId,
    remove: Annotated[
        Several, typer.Option(metavar="STEP", help="Leave a step out.", show_default=False)
    ] = None,
    move: Annotated[
        Several, typer.Option(metavar="STEP:PLACE", help="Move a step, 4:1.", show_default=False)
    ] = None,
    add: Annotated[
        Several,
        typer.Option(metavar="SECTION", help="Add a section by its heading.", show_default=False),
    ] = None,
    user: Reader = "local",
    json: Json = False,
) -> None:
    """Show the reading route; with an option, change it. All options may be repeated."""
    from citewell.interfaces.cli.papers import change_plan
    from citewell.interfaces.cli.run import run

    changes = {"remove": remove or [], "move": move or [], "add": add or []}
    run(lambda app: change_plan(app, session, user, changes, json=json), json=json)

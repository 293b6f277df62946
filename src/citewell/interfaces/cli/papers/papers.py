"""`citewell papers`: reading sessions that are kept. A session is not deleted unasked."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Annotated

import typer

from citewell.errors import StorageError
from citewell.interfaces.cli.arguments import Json, Reader, SessionId, Yes, argument
from citewell.interfaces.cli.ask.answer import show_answer
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.output.terminal import (
    ask_confirmation,
    escape_line_breaks,
    get_stderr,
    get_stdout,
    print_json,
    print_parts,
    print_text,
    print_warning,
    write_paragraph,
)
from citewell.interfaces.cli.output.text_file import MARKDOWN, write_file
from citewell.interfaces.cli.papers.paper_show import (
    UNDER_WAY,
    show_head,
    show_place,
    show_plan,
    show_report,
    show_rows,
)
from citewell.interfaces.cli.papers.papers_compare import compare
from citewell.interfaces.cli.papers.papers_plan import change_plan, run_done, run_undo
from citewell.interfaces.cli.run import DONE, ERROR, command
from citewell.runtime.app import App
from citewell.service.papers import reading_sessions as service
from citewell.service.papers.export_session import render_session
from citewell.service.papers.reading_sessions import PaperSession


@command
async def show_papers(app: App, user: Reader = "local", json: Json = False) -> int:
    """List the papers of a user, the one last touched first."""
    rows = await service.list_papers(app, user)
    if json:
        return print_json({"papers": rows})
    if not rows:
        print_text("no papers yet; `citewell paper FILE` begins one")
    show_rows(get_stdout(), rows)
    return DONE


@command
async def show_paper(
    app: App, session_id: SessionId, user: Reader = "local", json: Json = False
) -> int:
    """Show one: report, route, questions and answers."""
    session = await service.read_paper_session(app, session_id, user)
    if json:
        return print_json(session)
    console = get_stdout()
    show_head(console, session)
    if session.report:
        show_report(console, session.report)
    if session.plan:
        show_plan(console, session.plan)
        console.print()
    for n, each in enumerate(session.answers, start=1):
        write_paragraph(console, f"{n}. {escape_line_breaks(each.question)}", "bold")
        show_answer(service.build_answer(session, each), console)
        console.print()
    show_place(console, session)
    for asked in session.under_way:
        print_warning(f"{UNDER_WAY}: {escape_line_breaks(asked.question) or 'the guide'}")
    for left in session.unfinished:
        print_warning(
            f"stopped before its end: {escape_line_breaks(left.question) or 'the guide'}; the next "
            "`citewell paper --session` does it"
        )
    _warn_removed(session)
    return DONE


@command
async def rename_paper(
    app: App,
    session_id: SessionId,
    title: Annotated[str, argument("The new name.", "TITLE")],
    user: Reader = "local",
    json: Json = False,
) -> int:
    """Give a session another name."""
    session = await service.rename_paper_session(app, session_id, title, user)
    if json:
        return print_json(session)
    print_parts((session.session_id, "cyan"), f" {session.title}")
    return DONE


@command
async def delete_paper(
    app: App, session_id: SessionId, user: Reader = "local", yes: Yes = False, json: Json = False
) -> int:
    """Delete a session, with its paper where no other session reads that."""
    session = await service.read_paper_session(app, session_id, user)
    if not yes and not ask_confirmation(
        f"Delete what was read of {escape_line_breaks(session.title)}? [y/N] ", "deletes"
    ):
        write_paragraph(get_stderr(), "nothing deleted")
        return ERROR
    gone = await service.delete_paper_session(app, session_id, user)
    if json:
        return print_json(
            {"session_id": session_id, "title": session.title, "document_removed": gone}
        )
    with_it = (
        "with its paper"
        if gone
        else "its paper stays"
        if not session.removed
        else "its paper was gone before"
    )
    print_text(f"deleted {escape_line_breaks(session.title)} ({with_it})")
    return DONE


@command
async def export_paper(
    app: App,
    session_id: SessionId,
    file: Annotated[str, argument("A .md file; - for standard output.", "FILE")],
    user: Reader = "local",
    json: Json = False,
) -> int:
    """Write a session as Markdown: report, route, conversation, with quotes and pages."""
    if json and file == "-":
        raise typer.BadParameter("--json prints one object, and - prints the Markdown; choose one")
    session = await service.read_paper_session(app, session_id, user)
    text = render_session(session)
    if file == "-":
        _print_text(text)
        return DONE
    path = write_file(file, text, MARKDOWN)
    if json:
        return print_json(
            {"session_id": session_id, "file": str(path), "answers": len(session.answers)}
        )
    print_text(f"written to {path}")
    return DONE


def _print_text(text: str) -> None:
    """Raises StorageError where standard output takes no more."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        with suppress(OSError):
            sys.stdout.close()  # or Python tries to write the rest again at its end
        raise StorageError(
            f"standard output: cannot be written: {error.strerror}", hint="see that there is room"
        ) from error


def _warn_removed(session: PaperSession) -> None:
    if session.removed:
        print_warning(
            "the paper itself was removed: this can be read and exported, and no more asked"
        )


group = create_group(
    "Papers that are being read.",
    {
        "list": show_papers,
        "show": show_paper,
        "rename": rename_paper,
        "delete": delete_paper,
        "export": export_paper,
        "compare": compare,
        "done": run_done,
        "undo": run_undo,
        "plan": change_plan,
    },
)

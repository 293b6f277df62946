"""`citewell papers`: reading sessions that are kept. The one rule: a session is not deleted
unasked.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from citewell.errors import InvalidInput, StorageError
from citewell.interfaces.cli.answer import show_answer
from citewell.interfaces.cli.arguments import Json, Reader, SessionId, Yes
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.paper_show import (
    UNDER_WAY,
    show_head,
    show_place,
    show_plan,
    show_report,
    show_rows,
)
from citewell.interfaces.cli.papers_plan import run_done, run_plan, run_undo
from citewell.interfaces.cli.run import DONE, ERROR, run
from citewell.interfaces.cli.terminal import (
    ask_confirmation,
    escape_line_breaks,
    get_stderr,
    get_stdout,
    print_json,
    print_warning,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.papers import reading_sessions as service
from citewell.service.papers.export_session import render_session
from citewell.service.papers.reading_sessions import PaperSession

SUFFIXES = {".md", ".markdown"}


def run_list(user: Reader = "local", json: Json = False) -> None:
    """List the papers of a user, the one last touched first."""
    run(lambda app: show_papers(app, user, json=json), json=json)


def run_show(session: SessionId, user: Reader = "local", json: Json = False) -> None:
    """Show one: report, route, questions and answers."""
    run(lambda app: show_paper(app, session, user, json=json), json=json)


def run_rename(
    session: SessionId,
    title: Annotated[
        str, typer.Argument(metavar="TITLE", help="The new name.", show_default=False)
    ],
    user: Reader = "local",
    json: Json = False,
) -> None:
    """Give a session another name."""
    run(lambda app: rename_paper(app, session, title, user, json=json), json=json)


def run_delete(
    session: SessionId,
    user: Reader = "local",
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Delete a session, with its paper where no other session reads that."""
    run(lambda app: delete_paper(app, session, user, yes=yes, json=json), json=json)


def run_export(
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
    if json and file == "-":
        raise typer.BadParameter("--json prints one object, and - prints the Markdown; choose one")
    run(lambda app: export_paper(app, session, file, user, json=json), json=json)


async def show_papers(app: App, user: str, *, json: bool) -> int:
    rows = await service.list_papers(app, user)
    if json:
        print_json({"papers": [row.model_dump(mode="json") for row in rows]})
        return DONE
    if not rows:
        write_paragraph(get_stdout(), style_text("no papers yet; `citewell paper FILE` begins one"))
    show_rows(get_stdout(), rows)
    return DONE


async def show_paper(app: App, session_id: str, user: str, *, json: bool) -> int:
    """All that is kept of it."""
    session = await service.read_paper_session(app, session_id, user)
    if json:
        print_json(session.model_dump(mode="json"))
        return DONE
    console = get_stdout()
    show_head(console, session)
    if session.report:
        show_report(console, session.report)
    if session.plan:
        show_plan(console, session.plan)
        console.print()
    for n, each in enumerate(session.answers, start=1):
        write_paragraph(console, style_text(f"{n}. {escape_line_breaks(each.question)}", "bold"))
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


async def rename_paper(app: App, session_id: str, title: str, user: str, *, json: bool) -> int:
    session = await service.rename_paper_session(app, session_id, title, user)
    if json:
        print_json(session.model_dump(mode="json"))
    else:
        write_paragraph(
            get_stdout(), style_text(session.session_id, "cyan") + style_text(f" {session.title}")
        )
    return DONE


async def delete_paper(app: App, session_id: str, user: str, *, yes: bool, json: bool) -> int:
    session = await service.read_paper_session(app, session_id, user)
    if not yes and not ask_confirmation(
        f"Delete what was read of {escape_line_breaks(session.title)}? [y/N] ", "deletes"
    ):
        write_paragraph(get_stderr(), style_text("nothing deleted"))
        return ERROR
    gone = await service.delete_paper_session(app, session_id, user)
    if json:
        print_json({"session_id": session_id, "title": session.title, "document_removed": gone})
        return DONE
    with_it = (
        "with its paper"
        if gone
        else "its paper stays"
        if not session.removed
        else "its paper was gone before"
    )
    write_paragraph(
        get_stdout(), style_text(f"deleted {escape_line_breaks(session.title)} ({with_it})")
    )
    return DONE


async def export_paper(app: App, session_id: str, file: str, user: str, *, json: bool) -> int:
    """A file appears whole or not at all."""
    session = await service.read_paper_session(app, session_id, user)
    text = render_session(session)
    if file == "-":
        _print_text(text)
        return DONE
    path = write_file(file, text)
    if json:
        print_json({"session_id": session_id, "file": str(path), "answers": len(session.answers)})
    else:
        write_paragraph(get_stdout(), style_text(f"written to {path}"))
    return DONE


def write_file(named: str, text: str) -> Path:
    """Raises InvalidInput for a name that is none of Markdown, StorageError."""
    path = Path(named).expanduser()
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput(f"{path}: not a name for Markdown", hint="name it NAME.md")
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        part.replace(path)
    except OSError as error:
        why = f"{error.filename or part}: cannot be written: {error.strerror}"
        raise StorageError(
            why, hint="see that the folder is there, can be written to and has room"
        ) from error
    finally:
        with suppress(OSError):  # where it could not even be begun
            part.unlink(missing_ok=True)
    return path


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
        "list": run_list,
        "show": run_show,
        "rename": run_rename,
        "delete": run_delete,
        "export": run_export,
        "done": run_done,
        "undo": run_undo,
        "plan": run_plan,
    },
)

"""`citewell papers`: reading sessions that are kept. The one rule: a session is not deleted
unasked.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from citewell.errors import InvalidInput, NotFound, StorageError
from citewell.interfaces.cli.answer import show_answer
from citewell.interfaces.cli.paper_show import (
    UNDER_WAY,
    show_head,
    show_place,
    show_plan,
    show_report,
    show_rows,
)
from citewell.interfaces.cli.run import DONE, ERROR
from citewell.interfaces.cli.terminal import (
    escape_line_breaks,
    get_stderr,
    get_stdout,
    print_json,
    print_warning,
    strip_controls,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.papers import reading_sessions as service
from citewell.service.papers.edit_plan import PlanEdit, edit_plan
from citewell.service.papers.export_session import render_session
from citewell.service.papers.reading_sessions import PaperSession

SUFFIXES = {".md", ".markdown"}


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
    if not yes and not _ask_confirmation(
        f"Delete what was read of {escape_line_breaks(session.title)}? [y/N] "
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


async def tick_steps(
    app: App, session_id: str, which: Sequence[str], user: str, *, read: bool, json: bool
) -> int:
    session = await service.read_paper_session(app, session_id, user)
    steps = [find_step(session, each) for each in which]
    edits = [PlanEdit(do="tick" if read else "untick", step_id=step) for step in steps]
    return _show_session_plan(await edit_plan(app, session_id, edits, user), json=json)


async def change_plan(
    app: App, session_id: str, user: str, changes: dict[str, list[str]], *, json: bool
) -> int:
    """Show the route; with changes, make them first: leave out, move, add. Steps are numbered as
    they stand before.
    """
    session = await service.read_paper_session(app, session_id, user)
    edits = [
        PlanEdit(do="remove", step_id=find_step(session, each))
        for each in changes.get("remove", [])
    ]
    for each in changes.get("move", []):
        which, _, place = each.rpartition(":")
        edits.append(
            PlanEdit(do="move", step_id=find_step(session, which), place=_parse_number(place, each))
        )
    edits += [PlanEdit(do="add", section=each) for each in changes.get("add", [])]
    return _show_session_plan(
        await edit_plan(app, session_id, edits, user) if edits else session, json=json
    )


def find_step(session: PaperSession, which: str) -> str:
    """The step of this number, as the route shows it, or of this id. Raises NotFound, and
    InvalidInput without a route.
    """
    if session.plan is None:
        raise InvalidInput(
            "there is no route yet", hint="`citewell paper --session ID --interest TEXT` makes one"
        )
    steps = [step.step_id for step in session.plan.steps]
    which = which.strip()
    if which in steps:
        return which
    if which.isdecimal() and 1 <= int(which) <= len(steps):
        return steps[int(which) - 1]
    raise NotFound(
        f"no step {which!r} in the route", hint=f"its steps are numbered from 1 to {len(steps)}"
    )


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


def _parse_number(text: str, said: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise InvalidInput(f"{said}: not understood", hint="--move STEP:PLACE, such as 4:1")
    return int(text)


def _show_session_plan(session: PaperSession, *, json: bool) -> int:
    if json:
        print_json(session.model_dump(mode="json"))
    elif session.plan is None:
        write_paragraph(
            get_stdout(),
            style_text("no route yet; `citewell paper --session ID --interest TEXT` makes one"),
        )
    else:
        show_plan(get_stdout(), session.plan)
    return DONE


def _warn_removed(session: PaperSession) -> None:
    if session.removed:
        print_warning(
            "the paper itself was removed: this can be read and exported, and no more asked"
        )


def _ask_confirmation(question: str) -> bool:
    if not sys.stdin.isatty():
        raise InvalidInput("there is no terminal to ask on", hint="--yes deletes without asking")
    sys.stderr.write(strip_controls(question))
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes", "是"}

"""`citewell papers done|undo|plan`: the reading route of a session. The one rule: steps are
numbered as the route shows them before the command.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from citewell.errors import InvalidInput, NotFound
from citewell.interfaces.cli.arguments import Json, Reader, SessionId, Several
from citewell.interfaces.cli.paper_show import show_plan
from citewell.interfaces.cli.run import DONE, run
from citewell.interfaces.cli.terminal import get_stdout, print_json, style_text, write_paragraph
from citewell.runtime.app import App
from citewell.service.papers import reading_sessions as service
from citewell.service.papers.edit_plan import PlanEdit, edit_plan
from citewell.service.papers.reading_sessions import PaperSession

Steps = Annotated[
    list[str],
    typer.Argument(metavar="STEP...", help="Numbers or ids of steps.", show_default=False),
]


def run_done(session: SessionId, steps: Steps, user: Reader = "local", json: Json = False) -> None:
    """Tick steps of the route off."""
    run(lambda app: tick_steps(app, session, steps, user, read=True, json=json), json=json)


def run_undo(session: SessionId, steps: Steps, user: Reader = "local", json: Json = False) -> None:
    """Take ticks back."""
    run(lambda app: tick_steps(app, session, steps, user, read=False, json=json), json=json)


def run_plan(
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
    changes = {"remove": remove or [], "move": move or [], "add": add or []}
    run(lambda app: change_plan(app, session, user, changes, json=json), json=json)


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

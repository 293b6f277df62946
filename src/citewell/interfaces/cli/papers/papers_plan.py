"""`citewell papers done|undo|plan`: the reading route of a session. Steps are numbered as the route
shows them before the command.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from citewell.errors import InvalidInput, NotFound
from citewell.interfaces.cli.arguments import Json, Reader, SessionId, Several, argument, option
from citewell.interfaces.cli.output.terminal import get_stdout, print_json, print_text
from citewell.interfaces.cli.papers.paper_show import show_plan
from citewell.interfaces.cli.run import DONE, command, run
from citewell.runtime.app import App
from citewell.service.papers import reading_sessions as service
from citewell.service.papers.edit_plan import PlanEdit, edit_plan
from citewell.service.papers.reading_sessions import PaperSession

Steps = Annotated[list[str], argument("Numbers or ids of steps.", "STEP...")]


def run_done(session: SessionId, steps: Steps, user: Reader = "local", json: Json = False) -> None:
    """Tick steps of the route off."""
    run(lambda app: tick_steps(app, session, steps, user, read=True, json=json), json=json)


def run_undo(session: SessionId, steps: Steps, user: Reader = "local", json: Json = False) -> None:
    """Take ticks back."""
    run(lambda app: tick_steps(app, session, steps, user, read=False, json=json), json=json)


async def tick_steps(
    app: App, session_id: str, which: Sequence[str], user: str, *, read: bool, json: bool
) -> int:
    session = await service.read_paper_session(app, session_id, user)
    steps = [find_step(session, each) for each in which]
    edits = [PlanEdit(do="tick" if read else "untick", step_id=step) for step in steps]
    return _show_session_plan(await edit_plan(app, session_id, edits, user), json=json)


@command
async def change_plan(
    app: App,
    session_id: SessionId,
    remove: Annotated[Several, option("Leave a step out.", metavar="STEP")] = None,
    move: Annotated[Several, option("Move a step, 4:1.", metavar="STEP:PLACE")] = None,
    add: Annotated[Several, option("Add a section by its heading.", metavar="SECTION")] = None,
    user: Reader = "local",
    json: Json = False,
) -> int:
    """Show the reading route; with an option, change it. All options may be repeated."""
    changes = {"remove": remove or [], "move": move or [], "add": add or []}
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
        print_json(session)
    elif session.plan is None:
        print_text("no route yet; `citewell paper --session ID --interest TEXT` makes one")
    else:
        show_plan(get_stdout(), session.plan)
    return DONE

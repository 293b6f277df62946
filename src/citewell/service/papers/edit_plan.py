"""Changes of a reading route by hand: tick a step off, take the tick back, leave a step out, move
it, add a section. All edits of one call are one transaction with the line that the history keeps of
them, or none of them happens.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import Connection

from citewell.agents.paper.paper_state import PAPER, PLAN, PaperInfo
from citewell.agents.paper.paper_states import get_next_state
from citewell.errors import InvalidInput
from citewell.messages import Text, dump_model
from citewell.runtime.app import App
from citewell.service.papers.add_paper import LOCAL
from citewell.service.papers.export_wording import get_words
from citewell.service.papers.message_intake import open_paper
from citewell.service.papers.reading_sessions import PaperSession, get_own_paper, read_paper_session
from citewell.skills.paper.reading_context import OpenPaper, Plan
from citewell.skills.reading_route.edit_route import add_section, move_step, remove_step, tick_step
from citewell.types import Message, Shown

MOST_EDITS = 100  # of one call


class PlanEdit(Shown):
    """`step_id` of the step that is meant, of all but `add`; `section`: the heading of what is
    added; `place`: where a step is moved or added to, from 1 (an added one without: where it stands
    in the paper).
    """

    do: Literal["tick", "untick", "remove", "move", "add"]
    step_id: str = Field("", max_length=200)
    section: str = Field("", max_length=500)
    place: int | None = Field(None, ge=1)


async def edit_plan(
    app: App, session_id: str, edits: Sequence[PlanEdit], user_id: str = LOCAL
) -> PaperSession:
    """The session with the route as it is now. Raises NotFound (session, step, section; a removed
    paper where a section is added), Conflict where there is no route yet, InvalidInput.
    """
    if not 1 <= len(edits) <= MOST_EDITS:
        raise InvalidInput(
            Text("{edits} changes of the route", edits=len(edits)),
            hint=Text("1 to {most_edits} at a time", most_edits=MOST_EDITS),
        )
    info = await get_own_paper(app, session_id, user_id)
    then = get_next_state(info.current_state, "plan_changed")
    kept = await app.sessions.data(session_id)
    book = (
        await open_paper(app, PaperInfo(**kept[PAPER]))
        if any(edit.do == "add" for edit in edits)
        else None
    )
    said: list[Message] = []

    def change(data: dict[str, Any]) -> None:
        plan = Plan(**data[PLAN])
        for edit in edits:
            plan, line = _apply_edit(plan, edit, book)
            said.extend([Message(role="user", content=line)] if line else [])
        data[PLAN] = dump_model(plan)

    def write(connection: Connection) -> None:
        app.sessions.advance_in(
            connection, session_id, before=info.current_state, after=then, said=said, change=change
        )

    await app.db.write_beside(write)
    return await read_paper_session(app, session_id, user_id)


def _apply_edit(plan: Plan, edit: PlanEdit, book: OpenPaper | None) -> tuple[Plan, str]:
    """The route after one edit, and how the history tells it; empty where nothing has changed."""
    words = get_words(plan.lang)
    if edit.do == "add":
        assert book is not None, "opened where a section is added"
        return _add_section(plan, edit, book)
    section = next((step.section for step in plan.steps if step.step_id == edit.step_id), "")
    if edit.do == "move":
        if edit.place is None:
            raise InvalidInput(Text("moved to where?"), hint=Text("name its place, from 1"))
        changed = move_step(plan, edit.step_id, edit.place)
        line = words["move"].format(edit.place, section)
    elif edit.do == "remove":
        changed, line = remove_step(plan, edit.step_id), words["remove"].format(section)
    else:
        changed = tick_step(plan, edit.step_id, edit.do == "tick", time.time())
        line = words[edit.do].format(section)
    return (changed, line) if changed.steps != plan.steps else (plan, "")


def _add_section(plan: Plan, edit: PlanEdit, book: OpenPaper) -> tuple[Plan, str]:
    known = {step.step_id for step in plan.steps}
    changed = add_section(plan, book, edit.section)
    new = next((step for step in changed.steps if step.step_id not in known), None)
    if new is None:
        return plan, ""
    if edit.place is not None:
        changed = move_step(changed, new.step_id, edit.place)
    return changed, get_words(plan.lang)["add"].format(new.section)

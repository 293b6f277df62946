"""`/api/sessions`: list, read with history and answers, rename, delete."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from citewell.interfaces.http.body import JSONRoute
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.service.sessions import sessions as service
from citewell.service.sessions.sessions import AnsweredQuestion
from citewell.store.sessions import SessionInfo
from citewell.types import Message

router = APIRouter(prefix="/api/sessions", tags=["sessions"], route_class=JSONRoute)


class Sessions(BaseModel):
    sessions: list[SessionInfo]


class SessionWithHistory(SessionInfo):
    history: list[Message]


class Answers(BaseModel):
    answers: list[AnsweredQuestion]


class Title(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: str


@router.get("")
async def list_sessions(app: Citewell, caller: Asking) -> Sessions:
    """Newest first."""
    return Sessions(sessions=await service.list_sessions(app, caller.user_id))


@router.get("/{session_id}")
async def get_session(session_id: str, app: Citewell, caller: Asking) -> SessionWithHistory:
    """With what was said in it."""
    session = await service.read_session(app, session_id, caller.user_id)
    return SessionWithHistory(**session.info.model_dump(), history=session.history)


@router.get("/{session_id}/answers", operation_id="list_session_answers")
async def session_answers(session_id: str, app: Citewell, caller: Asking) -> Answers:
    """Questions and whole answers in order, with citations, as far back as traces are kept
    (`trace_days`).
    """
    return Answers(answers=await service.list_exchanges(app, session_id, caller.user_id))


@router.patch("/{session_id}")
async def rename_session(
    session_id: str, body: Title, app: Citewell, caller: Asking
) -> SessionInfo:
    """Give it another title."""
    return await service.rename_session(app, session_id, body.title, caller.user_id)


@router.delete("/{session_id}", status_code=204)
async def delete_session(session_id: str, app: Citewell, caller: Asking) -> None:
    """With its traces; a reading session with its paper."""
    await service.delete_session(app, session_id, caller.user_id)

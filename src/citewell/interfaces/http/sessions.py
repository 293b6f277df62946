"""`/api/sessions`: list, read with history, rename, delete."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from citewell.interfaces.http.deps import Citewell
from citewell.knowledge.sessions import SessionInfo
from citewell.service import sessions as service
from citewell.types import Message

router = APIRouter(prefix="/api/sessions", tags=["sessions"])


class Sessions(BaseModel):
    sessions: list[SessionInfo]


class SessionWithHistory(SessionInfo):
    history: list[Message]


class Title(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: str


@router.get("")
async def list_sessions(app: Citewell, user_id: str = "local") -> Sessions:
    """Newest first."""
    return Sessions(sessions=await service.list_sessions(app, user_id))


@router.get("/{session_id}")
async def get_session(session_id: str, app: Citewell, user_id: str = "local") -> SessionWithHistory:
    session = await service.read_session(app, session_id, user_id)
    return SessionWithHistory(**session.info.model_dump(), history=session.history)


@router.patch("/{session_id}")
async def rename_session(session_id: str, body: Title, app: Citewell, user_id: str = "local") -> SessionInfo:
    return await service.rename_session(app, session_id, body.title, user_id)


@router.delete("/{session_id}", status_code=204)
async def delete_session(session_id: str, app: Citewell, user_id: str = "local") -> None:
    await service.delete_session(app, session_id, user_id)

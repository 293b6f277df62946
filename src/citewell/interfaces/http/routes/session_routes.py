"""`/api/sessions`: list, read with history and answers, export, rename, mark, delete; their folders
(`/api/folders`), and links by which others read them (`/api/shared`).
"""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from citewell.interfaces.http.body import Closed, JSONRoute
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.interfaces.http.description import describe_replies
from citewell.interfaces.http.routes.document_routes import format_disposition
from citewell.service.library.uploads import get_base_name
from citewell.service.sessions import folders, shares
from citewell.service.sessions import sessions as service
from citewell.service.sessions.export.export import WRITERS, export_session
from citewell.service.sessions.sessions import AnsweredQuestion
from citewell.service.sessions.shares import SharedSession
from citewell.store.conversations.folders import Folder
from citewell.store.conversations.shares import Share
from citewell.store.session_rows import SessionInfo
from citewell.types import Message

MOST = 500  # sessions a page

router = APIRouter(prefix="/api/sessions", tags=["sessions"], route_class=JSONRoute)
folder_router = APIRouter(prefix="/api/folders", tags=["sessions"], route_class=JSONRoute)
share_router = APIRouter(prefix="/api", tags=["sessions"], route_class=JSONRoute)


class Sessions(BaseModel):
    """`total`: how many stand in no folder, on any page. `archived`, `agents`: of all that the user
    has.
    """

    sessions: list[SessionInfo]
    folders: list[Folder]
    total: int
    archived: int
    agents: list[str]


class SessionWithHistory(SessionInfo):
    history: list[Message]


class Answers(BaseModel):
    answers: list[AnsweredQuestion]


class SessionChange(Closed):
    """What is left out stays as it is."""

    title: str | None = None
    pinned: bool | None = None
    archived: bool | None = None
    folder: str | None = Field(
        default=None, max_length=64, description="id of a folder; empty: in none"
    )


@router.get("")
async def list_sessions(
    app: Citewell,
    caller: Asking,
    q: Annotated[
        str, Query(max_length=200, description="words of the title or of what was said")
    ] = "",
    agent: Annotated[str, Query(max_length=50, description="of this agent alone")] = "",
    archived: Annotated[bool, Query(description="those that are archived too")] = True,
    offset: Annotated[int, Query(ge=0, description="sessions before the page")] = 0,
    limit: Annotated[int | None, Query(ge=1, le=MOST, description="sessions a page")] = None,
) -> Sessions:
    """Newest first, and the folders they may stand in, by name. With a `limit` a page of those in
    no folder, pinned ones first; those in folders come with the first page.
    """
    page = await service.list_sessions(
        app, caller.user_id, q, agent=agent, archived=archived, offset=offset, limit=limit
    )
    kept = await folders.list_folders(app, caller.user_id)
    return Sessions(folders=kept, **{each.name: getattr(page, each.name) for each in fields(page)})


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


@router.get(
    "/{session_id}/export",
    response_class=Response,
    responses={200: describe_replies(*(kind for kind, _ in WRITERS.values()))},
    operation_id="export_session",
)
async def export(
    session_id: str,
    app: Citewell,
    caller: Asking,
    kind: Annotated[
        Literal["md", "docx", "pdf"], Query(alias="format", description="Markdown, Word or PDF")
    ] = "md",
) -> Response:
    """The conversation as a file, its citations as footnotes."""
    made = await export_session(app, session_id, kind, caller.user_id)
    name = get_base_name(made.title.replace("/", " ").replace("\\", " "))
    headers = {"Content-Disposition": format_disposition(f"{name}.{kind}")}
    return Response(made.content, media_type=made.media_type, headers=headers)


@router.patch("/{session_id}")
async def rename_session(
    session_id: str, body: SessionChange, app: Citewell, caller: Asking
) -> SessionInfo:
    """Give it another title; keep it at the top (`pinned`), out of the way (`archived`), or in a
    folder.
    """
    if body.folder is not None:
        await folders.move_session(app, session_id, body.folder, caller.user_id)
    if body.title is not None:
        await service.rename_session(app, session_id, body.title, caller.user_id)
    return await service.mark_session(
        app, session_id, caller.user_id, pinned=body.pinned, archived=body.archived
    )


@router.delete("/{session_id}", status_code=204)
async def delete_session(session_id: str, app: Citewell, caller: Asking) -> None:
    """With its traces; a reading session with its paper."""
    await service.delete_session(app, session_id, caller.user_id)


class FolderList(BaseModel):
    folders: list[Folder]


class FolderName(Closed):
    name: str = Field(max_length=200)


@folder_router.get("")
async def list_folders(app: Citewell, caller: Asking) -> FolderList:
    """By name."""
    return FolderList(folders=await folders.list_folders(app, caller.user_id))


@folder_router.post("", status_code=201)
async def create_folder(body: FolderName, app: Citewell, caller: Asking) -> Folder:
    """Make one; two of one name are refused."""
    return await folders.create_folder(app, caller.user_id, body.name)


@folder_router.patch("/{folder_id}")
async def rename_folder(folder_id: str, body: FolderName, app: Citewell, caller: Asking) -> Folder:
    """Give it another name."""
    return await folders.rename_folder(app, caller.user_id, folder_id, body.name)


@folder_router.delete("/{folder_id}", status_code=204)
async def delete_folder(folder_id: str, app: Citewell, caller: Asking) -> None:
    """Its conversations stay, in no folder."""
    await folders.delete_folder(app, caller.user_id, folder_id)


class ShareList(BaseModel):
    shares: list[Share]


class ShareRequest(Closed):
    days: int = Field(default=30, description="how long it lasts, 1 to 365")
    readers: list[str] = Field(
        default=[],
        max_length=shares.MOST_READERS,
        description="users who may read it; none: whoever may ask this server",
    )


@share_router.get("/sessions/{session_id}/shares")
async def list_shares(session_id: str, app: Citewell, caller: Asking) -> ShareList:
    """Those that still lead somewhere, the newest first."""
    return ShareList(shares=await shares.list_shares(app, session_id, caller.user_id))


@share_router.post("/sessions/{session_id}/shares", status_code=201)
async def create_share(session_id: str, body: ShareRequest, app: Citewell, caller: Asking) -> Share:
    """A link to the conversation as it is now: the page shows it at `#/shared/{share_id}`."""
    return await shares.create_share(
        app, session_id, caller.user_id, days=body.days, readers=body.readers
    )


@share_router.delete("/sessions/{session_id}/shares/{share_id}", status_code=204)
async def revoke_share(session_id: str, share_id: str, app: Citewell, caller: Asking) -> None:
    """From now on it leads nowhere."""
    await shares.revoke_share(app, session_id, share_id, caller.user_id)


@share_router.get("/shared/{share_id}")
async def read_shared_session(share_id: str, app: Citewell, caller: Asking) -> SharedSession:
    """What a link shows: questions, answers and quotes."""
    return await shares.read_shared_session(app, share_id, caller.user_id)

"""`/api/papers`: reading sessions: upload a paper, ask it, change its route, structure, export. The
session is there, with its paper, before the reply to the upload; a job makes the report.
"""

from __future__ import annotations

from typing import Any, Literal

import anyio.to_thread
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from citewell.errors import InvalidInput
from citewell.interfaces.http.body import (
    Closed,
    JSONRoute,
    describe_upload,
    get_single_file,
    validate_body,
    validate_json_body,
)
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.interfaces.http.description import describe_replies
from citewell.interfaces.http.routes.ask_routes import EVENTS, respond_with_answer
from citewell.interfaces.http.routes.document_routes import format_disposition
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.ask.run import AskRequest
from citewell.service.library.uploads import get_base_name
from citewell.service.papers import reading_sessions as service
from citewell.service.papers.edit_plan import PlanEdit, edit_plan
from citewell.service.papers.export_session import render_session
from citewell.service.papers.guide_job import submit_report
from citewell.service.papers.reading_sessions import PaperRow, PaperSession
from citewell.service.papers.structure import Structure, read_structure
from citewell.skills.paper.reading_context import Selection
from citewell.store.job_rows import Job
from citewell.types import Answer

router = APIRouter(prefix="/api/papers", tags=["papers"], route_class=JSONRoute)
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}, "description": EVENTS}
}
FIELDS = {
    "user_id": {"type": "string"},
    "title": {"type": "string"},
    "lang": {"type": "string", "enum": ["en", "zh"]},
}


FORM = describe_upload(FIELDS)


class Wishes(Closed):
    """What may be said beside the paper. `user_id` None: that of the address, or `local`."""

    user_id: str | None = None
    title: str = ""
    lang: Literal["en", "zh"] | None = None


class WebPaper(Wishes):
    url: str


class Begun(BaseModel):
    session: PaperSession
    job: Job


class PaperList(BaseModel):
    papers: list[PaperRow]


class Title(Closed):
    title: str


class NewMessage(Closed):
    """`text` may be empty where something is marked, and where the state expects no words.
    `message_id`: the sender's own name of the message; the same one again brings the answer that is
    there.
    """

    text: str = ""
    selection: Selection | None = None
    message_id: str = Field("", max_length=100)
    lang: Literal["en", "zh"] | None = None


class Interest(Closed):
    """Empty: the route through all of the paper. `message_id`: as of a message."""

    interest: str = ""
    message_id: str = Field("", max_length=100)
    lang: Literal["en", "zh"] | None = None


class Edits(Closed):
    edits: list[PlanEdit]


@router.post("", status_code=201, openapi_extra=FORM, operation_id="begin_paper")
async def begin(request: Request, app: Citewell, caller: Asking) -> Begun:
    """A session of the paper in the file of a multipart form, or at the `url` of a JSON object; a
    job makes its report.
    """
    kind = request.headers.get("content-type", "")
    if kind.startswith("application/json"):
        said: Wishes = (page := await validate_json_body(WebPaper, request))
        whose = caller.resolve_user(said.user_id or None)
        session = await service.begin_paper_session(
            app, url=page.url, user_id=whose, title=page.title
        )
    elif kind.startswith("multipart/form-data"):
        said, name, data = await _read_form(request, app)
        whose = caller.resolve_user(said.user_id or None)
        session = await service.begin_paper_session(
            app, data=data, name=name, user_id=whose, title=said.title
        )
    else:
        hint = Text(
            'curl -F file=@paper.pdf .../api/papers; one of the web: JSON {"url": "https://..."}'
        )
        raise InvalidInput(Text("an upload is a multipart/form-data body"), hint=hint)
    return Begun(session=session, job=await submit_report(app, session.session_id, said.lang))


@router.get("")
async def list_papers(app: Citewell, caller: Asking) -> PaperList:
    """Newest first."""
    return PaperList(papers=await service.list_papers(app, caller.user_id))


@router.get("/{session_id}")
async def get_paper(session_id: str, app: Citewell, caller: Asking) -> PaperSession:
    """With its report, its route and its answers."""
    return await service.read_paper_session(app, session_id, caller.user_id)


@router.patch("/{session_id}", operation_id="rename_paper")
async def rename(session_id: str, body: Title, app: Citewell, caller: Asking) -> PaperSession:
    """Give it another title."""
    return await service.rename_paper_session(app, session_id, body.title, caller.user_id)


@router.delete("/{session_id}", status_code=204, operation_id="delete_paper")
async def delete(session_id: str, app: Citewell, caller: Asking) -> None:
    """With its paper where no other session of this user reads that; a report that is being made is
    given up.
    """
    await service.delete_paper_session(app, session_id, caller.user_id)


@router.post(
    "/{session_id}/messages", response_model=Answer, responses=ANSWERS, operation_id="send_message"
)
async def message(
    session_id: str, request: Request, body: NewMessage, app: Citewell, caller: Asking
) -> Response:
    """What the session's state expects: an interest, then questions. An Answer, or events."""
    await service.get_own_paper(app, session_id, caller.user_id)
    options = body.model_dump(exclude={"text"}, exclude_none=True)
    return await _ask_paper(request, app, session_id, caller.user_id, body.text, options)


@router.post("/{session_id}/plan", response_model=Answer, responses=ANSWERS)
async def make_plan(
    session_id: str, request: Request, body: Interest, app: Citewell, caller: Asking
) -> Response:
    """The reading route of an interest, the first or another one. An Answer, or events."""
    await service.get_own_paper(app, session_id, caller.user_id)
    options = {"event": "plan"} | body.model_dump(include={"lang", "message_id"}, exclude_none=True)
    return await _ask_paper(request, app, session_id, caller.user_id, body.interest, options)


@router.patch("/{session_id}/plan")
async def change_plan(session_id: str, body: Edits, app: Citewell, caller: Asking) -> PaperSession:
    """Tick steps, leave them out, move them, add sections: all of it or nothing."""
    return await edit_plan(app, session_id, body.edits, caller.user_id)


@router.get("/{session_id}/structure", operation_id="get_paper_structure")
async def get_structure(session_id: str, app: Citewell, caller: Asking) -> Structure:
    """Its parts, figures, tables, equations and references."""
    return await read_structure(app, session_id, caller.user_id)


@router.get(
    "/{session_id}/export",
    response_class=Response,
    responses={200: describe_replies("text/markdown")},
    operation_id="export_paper",
)
async def export(session_id: str, app: Citewell, caller: Asking) -> Response:
    """Report, route and conversation as Markdown."""
    session = await service.read_paper_session(app, session_id, caller.user_id)
    headers = {"Content-Disposition": format_disposition(f"{get_base_name(session.title)}.md")}
    return Response(
        render_session(session).encode("utf-8", "replace"),
        media_type="text/markdown",
        headers=headers,
    )


async def _ask_paper(
    request: Request, app: App, session_id: str, user_id: str, text: str, options: dict[str, Any]
) -> Response:
    body = AskRequest(
        question=text, agent="paper", session_id=session_id, user_id=user_id, options=options
    )
    return await respond_with_answer(request, app, body)


async def _read_form(request: Request, app: App) -> tuple[Wishes, str, bytes]:
    """The wishes, and the name and the bytes of the one file."""
    async with request.form(max_files=2) as form:
        file = get_single_file(
            form,
            app.settings.ingest.max_bytes,
            hint=Text("send one paper, as a part with a file name"),
        )
        said = validate_body(
            Wishes, {name: value for name, value in form.multi_items() if isinstance(value, str)}
        )
        data = await anyio.to_thread.run_sync(file.file.read)
        return said, get_base_name(file.filename or ""), data

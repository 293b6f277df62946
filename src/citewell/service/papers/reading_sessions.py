"""Reading sessions: begin one with a paper, list, read, rename, delete. What needs thinking is
asked of the `paper` agent. A paper is a document first and a session then. A stop in between leaves
a document, which is found the next time.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import anyio.to_thread
from pydantic import Field
from sqlalchemy import Connection

from citewell.agents.paper.paper_state import ANSWERS, PAPER, PLAN, REPORT, Exchange, PaperInfo
from citewell.agents.paper.paper_states import FIRST
from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.ingest.paper.read_paper import read_paper
from citewell.messages import AnyText, Text
from citewell.runtime.app import App
from citewell.service.papers import delete_session
from citewell.service.papers.add_paper import (
    LOCAL,
    Source,
    fetch_paper,
    read_paper_file,
    store_paper,
)
from citewell.service.sessions import sessions
from citewell.service.sessions.sessions import LONGEST, READING, get_own_session
from citewell.skills.paper.reading_context import Plan, Report
from citewell.store.library import documents
from citewell.store.library.documents import DocumentInfo
from citewell.store.library.library_locks import hold_documents
from citewell.store.session_rows import SessionInfo
from citewell.text.normalize import normalize_text
from citewell.types import Answer, Document, Shown

LONGEST_USER = 200  # characters
# stands for bytes that could not be read: two names that differ in those would be one
REPLACED = "\ufffd"
TRIES = 3  # times a paper is taken in again that somebody removes while its session begins


class Pending(Shown):
    """Something asked that has not ended. `question` is empty for a report or a whole route."""

    trace_id: str
    question: str


class PaperSession(Shown):
    """All of a reading session. `unfinished` was stopped before its end and waits for somebody to
    go on with it; `under_way` is being answered, here or by another process. `removed`: its
    document is gone, so that it can be read and exported but no more asked. `warnings`: what could
    not be read of the paper. `last_updated`: seconds since the epoch.
    """

    session_id: str
    user_id: str
    title: str
    current_state: str
    paper: PaperInfo
    report: Report | None = None
    plan: Plan | None = None
    answers: list[Exchange] = Field(default=[])
    unfinished: list[Pending] = Field(default=[])
    under_way: list[Pending] = Field(default=[])
    removed: bool = False
    warnings: list[AnyText] = Field(default=[])
    last_updated: float


class PaperRow(Shown):
    """A reading session in a list. `read` of `steps` are ticked; `minutes` are left."""

    session_id: str
    user_id: str
    title: str
    current_state: str
    paper: PaperInfo
    steps: int = 0
    read: int = 0
    minutes: float = 0.0
    questions: int = 0
    last_updated: float


async def begin_paper_session(
    app: App,
    *,
    data: bytes | None = None,
    path: str = "",
    url: str = "",
    name: str = "",
    user_id: str = LOCAL,
    title: str = "",
    reuse: bool = False,
) -> PaperSession:
    """A new session of the paper in `data` (whose file is called `name`), at `path` or at `url`:
    exactly one of the three. `title`: that of the paper where it is empty. `reuse`: the newest that
    the user has of this paper, where there is one. Raises UnreadableFile for what cannot be read as
    a paper, InvalidInput, and what fetching raises; there is no session then.
    """
    if (data is not None) + bool(path) + bool(url) != 1:
        raise InvalidInput(
            Text("which paper?"),
            hint=Text("give its bytes, its path or its address; one of the three"),
        )
    check_user(user_id)
    title = title and sessions.check_title(title)
    source = (
        Source(data, name)
        if data is not None
        else await read_paper_file(app, path)
        if path
        else await fetch_paper(app, url)
    )
    for _ in range(TRIES):
        info, document = await store_paper(app, source, user_id)
        kept = await list_papers(app, user_id) if reuse else []
        if same := [row.session_id for row in kept if row.paper.doc_id == info.doc_id]:
            return await read_paper_session(app, same[0], user_id)
        paper = await _read_paper_info(info, document, name or source.name)
        session_id = await _create_session(app, paper, user_id, title or _format_title(paper))
        if session_id:
            return await read_paper_session(app, session_id, user_id)
    raise Conflict(
        Text("{name} is removed as soon as it is taken in", name=source.name),
        hint=Text("somebody else is deleting it; try again later"),
    )


async def _create_session(app: App, paper: PaperInfo, user_id: str, title: str) -> str:
    """Empty where the document has been removed meanwhile."""

    def create(connection: Connection) -> str:
        hold_documents(connection, [paper.doc_id])  # it goes with the last session that reads it
        if documents.get_document(connection, app.embedder.name, paper.doc_id) is None:
            return ""
        session_id = app.sessions.create_in(
            connection, READING, user_id, title, state=FIRST
        ).session_id
        app.sessions.set_data_in(connection, session_id, {PAPER: paper.model_dump(mode="json")})
        return session_id

    return await app.db.write_beside(create)


async def list_papers(app: App, user_id: str = LOCAL) -> list[PaperRow]:
    """A user's reading sessions, newest first."""
    infos = [info for info in await app.sessions.list(user_id) if info.agent == READING]
    return [_build_row(info, await app.sessions.data(info.session_id)) for info in infos]


async def read_paper_session(app: App, session_id: str, user_id: str = LOCAL) -> PaperSession:
    """Raises NotFound, also for another user's and for a session that reads no paper."""
    info = await get_own_paper(app, session_id, user_id)
    data = await app.sessions.data(session_id)
    paper = PaperInfo(**data[PAPER])
    try:
        kept: DocumentInfo | None = await app.catalog.document(paper.doc_id)
    except NotFound:
        kept = None
    runs = [run for run in reversed(await app.runs.list(user_id)) if run.session_id == session_id]
    return PaperSession(
        session_id=session_id,
        user_id=user_id,
        title=info.title,
        current_state=info.current_state,
        paper=paper,
        report=data.get(REPORT),
        plan=data.get(PLAN),
        answers=data.get(ANSWERS) or [],
        unfinished=[
            Pending(trace_id=run.trace_id, question=run.question) for run in runs if not run.alive
        ],
        under_way=[
            Pending(trace_id=run.trace_id, question=run.question) for run in runs if run.alive
        ],
        removed=kept is None,
        warnings=kept.warnings if kept else [],
        last_updated=info.last_updated,
    )


async def get_own_paper(app: App, session_id: str, user_id: str) -> SessionInfo:
    """Raises NotFound."""
    try:
        info = await get_own_session(app, session_id, user_id)
    except NotFound as error:
        hint = Text(
            "it was deleted, is another user's (--user), or its id is mistyped; "
            "`citewell papers list` shows what is there"
        )
        raise NotFound(error.message, hint=hint) from None
    if info.agent != READING:
        hint = Text(
            "`citewell papers list` shows those that do; `citewell chat --session` "
            "goes on with others"
        )
        raise NotFound(
            Text("session {session_id!r} reads no paper", session_id=session_id), hint=hint
        )
    return info


async def rename_paper_session(
    app: App, session_id: str, title: str, user_id: str = LOCAL
) -> PaperSession:
    """Raises NotFound, InvalidInput."""
    await get_own_paper(app, session_id, user_id)
    await sessions.rename_session(app, session_id, title, user_id)
    return await read_paper_session(app, session_id, user_id)


async def delete_paper_session(app: App, session_id: str, user_id: str = LOCAL) -> bool:
    """With its paper, if no other session reads it: whether that went. Raises NotFound."""
    return await delete_session.forget_session(app, await get_own_paper(app, session_id, user_id))


async def drop_run(app: App, trace_id: str, user_id: str = LOCAL) -> None:
    """What was stopped is given up, unless it has ended: its session went on without it."""
    with suppress(NotFound, Conflict):
        _, holder = await app.runs.take(trace_id, user_id)
        await app.runs.end(trace_id, holder)


def check_user(user_id: str) -> str:
    """Raises InvalidInput."""
    if (
        not user_id.strip()
        or len(user_id) > LONGEST_USER
        or not user_id.isprintable()
        or REPLACED in user_id
    ):
        hint = Text("send it as UTF-8") if REPLACED in user_id else ""
        raise InvalidInput(
            Text(
                "a user's name has 1 to {longest_user} printable characters",
                longest_user=LONGEST_USER,
            ),
            hint=hint,
        )
    return user_id


async def _read_paper_info(info: DocumentInfo, document: Document, name: str) -> PaperInfo:
    paper = await anyio.to_thread.run_sync(read_paper, document)
    return PaperInfo(
        doc_id=info.doc_id,
        collection=info.collection,
        name=name,
        title=normalize_text(paper.title or document.title),
        authors=[name for author in paper.authors if (name := normalize_text(author))],
        lang=paper.lang or document.lang,
        pages=info.pages,
    )


def _format_title(paper: PaperInfo) -> str:
    said = "".join(letter for letter in paper.title if letter.isprintable()) or paper.name
    return said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"


def build_answer(session: PaperSession, kept: Exchange) -> Answer:
    """A kept exchange as an answer is shown."""
    return Answer(
        answer=kept.answer,
        sentences=kept.sentences,
        citations=kept.citations,
        status=kept.status,
        confidence=kept.confidence,
        agent=READING,
        session_id=session.session_id,
        trace_id=kept.trace_id,
        warnings=kept.warnings,
    )


def _build_row(info: SessionInfo, data: dict[str, Any]) -> PaperRow:
    plan = Plan(**data[PLAN]) if data.get(PLAN) else None
    return PaperRow.of(
        info,
        paper=PaperInfo(**data[PAPER]),
        steps=len(plan.steps) if plan else 0,
        read=sum(step.done_at is not None for step in plan.steps) if plan else 0,
        minutes=plan.minutes if plan else 0.0,
        questions=len(data.get(ANSWERS) or []),
    )

"""The report of a paper that was uploaded, made by the server's worker while the passages are
embedded beside it. The session's state says what is still to do, so a job that is done again does
nothing twice.
"""

from __future__ import annotations

import asyncio

import anyio

from citewell.agents.paper.paper_states import FIRST
from citewell.errors import Conflict, PermanentError
from citewell.messages import AnyText
from citewell.runtime.app import App
from citewell.runtime.progress import Progress
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.jobs.job_lease import Holder
from citewell.service.library.embedding import Embedding
from citewell.service.papers import reading_sessions as papers
from citewell.service.papers.delete_session import KIND
from citewell.store.job_rows import URGENT, Job
from citewell.store.runs import GAVE_UP
from citewell.types import Shown

LOOK = 1.0  # seconds between two looks at a report that another process makes


class ReportMade(Shown):
    """`problem`: why passages still wait to be found by meaning; empty where none does."""

    session_id: str
    current_state: str
    embedded: int
    problem: AnyText = ""


async def submit_report(app: App, session_id: str, lang: str | None = None) -> Job:
    """Have the report made. `lang` None: in the language of the paper."""
    job = await app.jobs.create(KIND, {"session_id": session_id, "lang": lang}, URGENT)
    app.new_job.set()
    return job


async def make_report(app: App, job: Job, holder: Holder) -> ReportMade:
    """Raises NotFound where the session was deleted, and what the agent raises."""
    session_id = str(job.payload["session_id"])
    user_id = (await app.sessions.get(session_id)).user_id
    session = await papers.read_paper_session(app, session_id, user_id)
    work = _Work(app, holder, session)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(work.embedding.run_beside)
            await work.report(job.payload.get("lang"))
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    state = (await app.sessions.get(session_id)).current_state
    return ReportMade(
        session_id=session_id,
        current_state=state,
        embedded=work.embedding.done,
        problem=work.embedding.problem,
    )


class _Work:
    def __init__(self, app: App, holder: Holder, session: papers.PaperSession) -> None:
        self.embedding = Embedding(app, holder.tell, docs=(session.paper.doc_id,))
        self.embedding.close()
        self._app, self._holder, self._session = app, holder, session

    async def report(self, lang: str | None) -> None:
        name = self._session.paper.name
        await self._holder.tell(Progress("read", 0, 1, name))
        session = await self._reload_session()
        while session.under_way and session.current_state == FIRST:  # another process makes it
            await asyncio.sleep(LOOK)
            session = await self._reload_session()
        if session.current_state == FIRST and not await self._resume_report(session):
            options = {"event": "report"} | ({"lang": lang} if lang else {})
            request = AskRequest(
                question="",
                agent="paper",
                session_id=session.session_id,
                user_id=session.user_id,
                options=options,
            )
            await ask(self._app, request)
        await self._holder.tell(Progress("read", 1, 1, name))

    async def _reload_session(self) -> papers.PaperSession:
        """The session as it is now."""
        return await papers.read_paper_session(
            self._app, self._session.session_id, self._session.user_id
        )

    async def _resume_report(self, session: papers.PaperSession) -> bool:
        """Whether a report that a kill has stopped was made now."""
        for left in session.unfinished:
            try:
                await ask(self._app, AskRequest(resume=left.trace_id, user_id=session.user_id))
            except Conflict as error:
                if error.code == GAVE_UP:  # the job is still this worker's, and over
                    raise PermanentError(error.message, hint=error.hint, code=GAVE_UP) from None
                raise
        return bool(session.unfinished)

"""A session is forgotten: its job, its runs, its traces, itself, and its paper where no other
session of its user reads that. All of it goes in one transaction: a session that begins at the same
moment has its paper or takes it in anew.
"""

from __future__ import annotations

from contextlib import suppress

from sqlalchemy import Connection

from citewell.agents.paper.paper_state import PAPER
from citewell.errors import Conflict
from citewell.runtime.app import App
from citewell.store.job_rows import ENDED
from citewell.store.library.library_locks import hold_documents
from citewell.store.session_rows import SessionInfo

KIND = "paper"  # of the job that makes the report
MOST_JOBS = 10_000  # looked at for that of a session


async def forget_session(app: App, info: SessionInfo) -> bool:
    """Whether the document went too. Raises NotFound where the session is gone already."""
    for job in await app.jobs.list(MOST_JOBS):
        if (
            job.kind == KIND
            and job.state not in ENDED
            and job.payload.get("session_id") == info.session_id
        ):
            with suppress(Conflict):  # it has ended just now
                await app.jobs.cancel(job.job_id)

    def delete(connection: Connection) -> bool:
        gone = app.sessions.delete_in(connection, info.session_id)
        app.runs.end_session_in(connection, info.session_id)
        app.traces.delete_session_in(connection, info.session_id)
        doc_id = gone.get(PAPER, {}).get("doc_id", "")
        hold_documents(connection, [doc_id])  # of two last sessions that go at once, one sees none
        others = app.sessions.list_user_data_in(connection, info.user_id)
        if not doc_id or any(data.get(PAPER, {}).get("doc_id") == doc_id for data in others):
            return False
        return app.catalog.delete_in(connection, doc_id)

    gone = await app.db.write_beside(delete)
    await app.db.forget()
    return gone

"""The end of a run: session, trace and answer are kept in one transaction. Whatever is killed, all
of it is kept or the run goes on.
"""

from __future__ import annotations

import time
from contextlib import suppress

import stamina
from sqlalchemy import Connection

from citewell.errors import CitewellError, Conflict, DatabaseAway, NotFound
from citewell.messages import Text
from citewell.service.admin.forbidden_folders import redact_folders
from citewell.service.ask.run import Run
from citewell.service.ask.snapshot import build_snapshot, dump_request
from citewell.store.confirmed.items import note_uses
from citewell.types import Answer, Message, Trace

AWAY = 30.0  # seconds that an answer which is made waits for a database that is away


async def store_answer(run: Run, answer: Answer) -> Answer:
    """Store session and trace before the answer goes out; a refusal is told in the answer."""
    try:
        return await _commit_when_back(run, answer)
    except CitewellError as error:
        if (
            run.ending is not None
            and isinstance(error, Conflict)
            and (before := await run.ending.find_earlier_answer()) is not None
        ):
            return before
        if run.ending is not None and (run.ending.needed or isinstance(error, Conflict)):
            raise
        warning = Text(
            "this answer could not be kept: {folders}",
            folders=redact_folders(error.message, run.app.settings),
        )
        return answer.model_copy(
            update={"session_id": "", "trace_id": "", "warnings": [*answer.warnings, warning]}
        )


async def _commit_when_back(run: Run, answer: Answer) -> Answer:
    """What may have been kept as the server went is looked for before it is kept again."""
    async for attempt in stamina.retry_context(
        on=DatabaseAway, attempts=None, timeout=AWAY, wait_initial=0.1, wait_max=2.0
    ):
        with attempt:
            if attempt.num > 1 and (kept := await _find_kept_answer(run)) is not None:
                return kept
            return await _commit_answer(run, answer)
    raise AssertionError("the last attempt returns or raises")


async def _find_kept_answer(run: Run) -> Answer | None:
    with suppress(NotFound):
        return (await run.app.traces.get(run.trace_id, run.request.user_id)).answer
    return None


async def _commit_answer(run: Run, answer: Answer) -> Answer:
    """Session, trace and run's end in one transaction: all is kept, or the run goes on."""
    app, request = run.app, run.request

    def store(connection: Connection) -> Answer:
        if run.holder:  # whoever took the run over keeps its answer
            app.runs.end_in(connection, run.trace_id, run.holder)
        session_id = run.session_id
        if not session_id and request.keep and request.history is None:
            title = request.question.strip()[:80]
            session_id = app.sessions.create_in(
                connection, answer.agent, request.user_id, title
            ).session_id
        stored = answer.model_copy(update={"session_id": session_id})
        if remembered:
            app.traces.put_in(connection, build_trace(run, stored, session_id))
        if stored.followed:
            note_uses(connection, stored.trace_id, stored.followed, time.time())
        if run.ending is not None:
            ending, change = run.ending, run.ending.change
            app.sessions.advance_in(
                connection,
                session_id,
                before=ending.before,
                after=ending.after,
                said=ending.said,
                change=lambda data: change(data, stored),
            )
        elif session_id and request.keep:
            said = [
                Message(role="user", content=request.question),
                Message(role="assistant", content=stored.answer),
            ]
            app.sessions.append_in(connection, session_id, said)
            app.sessions.set_data_in(connection, session_id, run.session_data)
        return stored

    remembered = await _has_all_memories(run)
    stored = await app.db.write_beside(store)
    if remembered and not await _has_all_memories(run):
        await app.traces.delete(run.trace_id)
    return stored


async def _has_all_memories(run: Run) -> bool:
    """Whether all memories that the run saw or wrote are still there: else no trace of it."""
    ids = list(dict.fromkeys(run.recalled))
    return not ids or len(
        await run.app.memories.note_uses(run.request.user_id, run.trace_id, ids)
    ) == len(ids)


def build_trace(run: Run, answer: Answer, session_id: str) -> Trace:
    """What is kept of a run, with its snapshot and the request that it can be asked by again."""
    at = time.time()
    trace = Trace(
        trace_id=answer.trace_id,
        user_id=run.request.user_id,
        agent=answer.agent,
        question=run.request.question,
        collection=run.collection,
        session_id=session_id,
        created_at=at,
        steps=run.steps,
        prompts=run.meter.prompts if run.meter else [],
        answer=answer,
        request=dump_request(run),
        expires_at=run.app.traces.compute_expiry(at),
    )
    return trace.model_copy(update={"snapshot": build_snapshot(trace)})

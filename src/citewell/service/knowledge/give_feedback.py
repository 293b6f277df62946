"""Somebody says that an answer is right or wrong. When `submit_feedback` returns, their word, a
copy of the whole trace and the job that makes something of it are on the disk, in one transaction;
nothing that can fail is done before the reply.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress

from sqlalchemy import Connection

from citewell.config import FeedbackSettings
from citewell.errors import CitewellError, InvalidInput, NotFound
from citewell.messages import AnyText, Text
from citewell.runtime.app import App
from citewell.service.knowledge.update_items import get_feedback_settings
from citewell.store.confirmed import feedback as rows
from citewell.store.confirmed.feedback import Vote, Wrong
from citewell.store.confirmed.item_files import clean_text
from citewell.store.confirmed.types import LONGEST_ANSWER, LONGEST_LOGIC, LONGEST_QUESTION
from citewell.store.job_rows import URGENT
from citewell.store.users.identity import VISITOR, is_one_of, normalize_user_id
from citewell.types import Shown, Trace

KIND = "feedback"
LONGEST = 4_000  # characters of a correction
LONGEST_USER = 100
# errors after which a job is tried again
PASSING = ("storage", "model_unavailable", "transient", "permanent", "gave_up")
RETRY = 60.0  # seconds between two tries by the server


class Given(Shown):
    """The reply to a vote. `state` of the vote: `waiting` for its job, or `done` where nothing is
    new. `message` in words.
    """

    feedback_id: str
    trace_id: str
    state: str
    job_id: str = ""
    message: AnyText


async def submit_feedback(
    app: App,
    trace_id: str,
    is_correct: bool,
    user_correction: str | None = None,
    user_id: str = "local",
) -> Given:
    """Keep one person's word on an answer of theirs, in place of what they said of it before.
    Raises NotFound for a trace that is unknown, expired or another user's; InvalidInput for a
    correction that is too long or comes with a right answer; StorageError.
    """
    user, correction = normalize_user(user_id), clean_correction(user_correction)
    if is_correct and correction:
        raise InvalidInput(
            Text("a right answer takes no correction"),
            hint=Text("say that it is wrong, and what would be right"),
        )

    def give(connection: Connection) -> Given:
        now = time.time()
        kept = rows.find_trace(connection, trace_id, user_id, now) or rows.find_trace(
            connection, trace_id, user, now
        )
        if kept is None:
            hint = Text(
                "`citewell trace` lists your answers; they are kept for {trace_days} "
                "days (trace_days)",
                trace_days=app.settings.trace_days,
            )
            raise NotFound(
                Text("no trace {trace_id!r} of {user}", trace_id=trace_id, user=user), hint=hint
            )
        before = rows.find_vote(connection, trace_id, user)
        if (
            before is not None
            and _is_same_vote(before, is_correct, correction)
            and _is_under_way(connection, before)
        ):
            return _build_reply(before, "", Text("nothing has changed: you have said so before"))
        trace = Trace(**json.loads(kept))
        vote = rows.put_vote(
            connection, trace, kept, user, is_correct=is_correct, correction=correction, now=now
        )
        job = app.jobs.create_in(connection, KIND, {"feedback_id": vote.feedback_id}, URGENT)
        return _build_reply(
            vote, job.job_id, _write_message(get_feedback_settings(app, connection), trace, vote)
        )

    given = await app.db.write_beside(give)
    if given.job_id:
        app.new_job.set()
    return given


async def list_feedback(app: App, user_id: str | None = "local", limit: int = 100) -> list[Vote]:
    """What a user has said, the newest first; None: what everybody has."""
    user = None if user_id is None else normalize_user_id(user_id)
    return await app.db.read(rows.list_votes, user, limit)


async def get_feedback(app: App, feedback_id: str, user_id: str = "local") -> Vote:
    """Raises NotFound, also for another user's."""
    vote = await app.db.read(rows.find_vote_by_id, feedback_id)
    if vote is None or vote.user_id != normalize_user_id(user_id):
        raise NotFound(
            Text("no feedback {feedback_id!r}", feedback_id=feedback_id),
            hint=Text("GET /api/feedback lists what a user has said"),
        )
    return vote


async def list_wrong_questions(app: App, limit: int = 100) -> list[Wrong]:
    """Questions whose answers people said to be wrong, the most often first."""
    viewer = app.viewer.user_id if app.viewer else None
    return await app.db.read(rows.list_wrong_questions, limit, viewer)


async def retry_refused_jobs(app: App) -> int:
    """Jobs that the disk or a model refused a while ago wait once more."""
    count = await app.jobs.requeue_failed(KIND, PASSING, RETRY)
    if count:
        app.new_job.set()
    return count


async def note_failure(app: App, feedback_id: str, error: Exception) -> None:
    """Where the disk refuses this too, the job's own error is all there is."""
    why = error.explanation if isinstance(error, CitewellError) else type(error).__name__
    with suppress(CitewellError):
        await app.db.write_beside(rows.note_failure, feedback_id, why)


def clean_correction(text: str | None) -> str:
    """Without what is no text; empty where there is none. Raises InvalidInput."""
    correction = "\n".join(
        line.rstrip(" \t") for line in clean_text(text or "").split("\n")
    ).strip()
    if len(correction) > LONGEST:
        raise InvalidInput(
            Text(
                "the correction has {correction:,} characters, {longest:,} are allowed",
                correction=len(correction),
                longest=LONGEST,
            ),
            hint=Text("say less"),
        )
    return correction


def normalize_user(user_id: str) -> str:
    """The name as kept (store/users/identity.py). Raises InvalidInput if it cannot be shown."""
    user = normalize_user_id(user_id)
    if not user or len(user) > LONGEST_USER or not user.isprintable() or clean_text(user) != user:
        raise InvalidInput(
            Text("user {user_id!r}: not allowed", user_id=user_id[:LONGEST_USER]),
            hint=Text("1 to {longest_user} printable characters", longest_user=LONGEST_USER),
        )
    return user


def explain_unfit(trace: Trace) -> str:
    """Why an answer cannot become knowledge; empty where it can."""
    if trace.user_id == VISITOR:
        return Text("what visitors of other sites say makes no knowledge")
    if trace.answer.status != "answered":
        return Text("an answer with status {status} is no knowledge", status=trace.answer.status)
    if any(citation.origin == "memory" for citation in trace.answer.citations):
        return Text("it rests on what is remembered of you, and knowledge is everybody's")
    return explain_too_long(trace)


def explain_too_long(trace: Trace) -> str:
    """What of an answer is longer than knowledge may be; empty where nothing is."""
    snapshot, data = trace.snapshot, trace.answer.data or {}
    alone = str(snapshot.intent_analysis.parameters.get("standalone") or "") if snapshot else ""
    logic = str(data.get("sql") or "") or (snapshot.generated_logic if snapshot else "")
    for what, text, most in (
        ("question", max(trace.question, alone, key=len), LONGEST_QUESTION),
        ("statement" if trace.agent == "data" else "search", logic, LONGEST_LOGIC),
        ("answer", trace.answer.answer, LONGEST_ANSWER),
    ):
        if len(text) > most:
            return Text(
                "its {what} has {text:,} characters; {most:,} can be kept as knowledge",
                what=what,
                text=len(text),
                most=most,
            )
    return ""


def _is_same_vote(before: Vote, is_correct: bool, correction: str) -> bool:
    """A failed one is tried again, and one whose item was undone since counts anew."""
    said = (before.is_correct, before.correction) == (is_correct, correction)
    return said and before.state != "failed" and before.outcome != "undone"


def _is_under_way(connection: Connection, vote: Vote) -> bool:
    """Whether nothing is left to do for a vote, or its job is there (it may be cancelled)."""
    return vote.state == "done" or rows.has_job(connection, vote.feedback_id)


def _build_reply(vote: Vote, job_id: str, message: str) -> Given:
    return Given(
        feedback_id=vote.feedback_id,
        trace_id=vote.trace_id,
        state=vote.state,
        job_id=job_id,
        message=message,
    )


def _write_message(settings: FeedbackSettings, trace: Trace, vote: Vote) -> str:
    if vote.is_correct:
        if why := explain_unfit(trace):
            return Text("noted, for analysis only: {why}", why=why)
        if settings.reviewers and not is_one_of(vote.user_id, settings.reviewers):
            return Text("noted: it becomes knowledge when a reviewer confirms it too")
        if settings.confirmations > 1:
            return Text(
                "noted: it becomes knowledge when {confirmations} people have confirmed it",
                confirmations=settings.confirmations,
            )
        return Text("noted: this answer becomes knowledge")
    if vote.correction and (why := explain_too_long(trace)):
        return Text("noted, for analysis only: {why}", why=why)
    if vote.correction:
        return Text("noted: the correction waits for review (`citewell knowledge rules`)")
    return Text("noted, for analysis")

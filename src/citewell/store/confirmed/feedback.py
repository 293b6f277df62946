"""What people said of answers, as rows. Functions of a connection. One vote for each user and
trace; another word of the same user replaces it, and with it all that came of it.
"""

from __future__ import annotations

import secrets
from typing import Any, Literal

from sqlalchemy import (
    Connection,
    Select,
    and_,
    bindparam,
    case,
    desc,
    exists,
    func,
    or_,
    select,
    update,
)

from citewell.messages import AnyText, encode_column, load_json
from citewell.store.dialects.expressions import json_field, list_json
from citewell.store.dialects.upserts import upsert
from citewell.store.schema.conversations import traces
from citewell.store.schema.data_tables import sources
from citewell.store.schema.job_tables import jobs
from citewell.store.schema.knowledge import feedback
from citewell.store.schema.library import collections
from citewell.store.schema.metadata import match_optional, pick_columns
from citewell.types import Shown, Trace

VoteState = Literal["waiting", "done", "failed"]


class Vote(Shown):
    """`waiting` for its job, `done`, or `failed` (`outcome` says why, and it is tried again).
    `outcome` of one that is done: what came of it (`active`, `pending`, `quarantined`, `rule`,
    `kept`; after a colon what is wrong with it). `item_id`: the confirmed item or the rule.
    """

    feedback_id: str
    trace_id: str
    user_id: str
    agent: str
    question: str = ""
    is_correct: bool
    correction: str
    state: VoteState
    outcome: AnyText
    item_id: str
    created_at: float
    updated_at: float


class Wrong(Shown):
    """A question whose answers were said to be wrong: how many, and the last answer."""

    question: str
    agent: str
    times: int
    people: int
    corrected: int
    last_trace_id: str
    last_answer: str
    last_at: float


def find_trace(connection: Connection, trace_id: str, user_id: str, now: float) -> str | None:
    """A trace of this user as JSON: as it is kept, or where its day is over, as it was when they
    said something of it. FOR UPDATE: for who keeps a copy of it. So of two words of one user the
    second finds the first, and who deletes the trace, and after it all copies, finds this one.
    """
    values = {"trace": trace_id, "user": user_id, "now": now}
    kept = (
        connection.execute(_TRACE, values).scalar_one_or_none()
        or connection.execute(_LOCK_COPY, values).scalar_one_or_none()
    )
    return str(kept) if kept else None


def put_vote(
    connection: Connection,
    trace: Trace,
    copy: str,
    user_id: str,
    *,
    is_correct: bool,
    correction: str,
    now: float,
) -> Vote:
    """A user's word on a trace, in place of the one before. `copy`: the whole trace, JSON."""
    row = {
        "feedback_id": "fb_" + secrets.token_hex(8),
        "trace_id": trace.trace_id,
        "user_id": user_id,
        "agent": trace.agent,
        "is_correct": int(is_correct),
        "correction": correction,
        "trace": copy,
        "state": "waiting",
        "outcome": "",
        "item_id": "",
        "created_at": now,
        "updated_at": now,
    }
    connection.execute(_PUT, row)
    vote = find_vote(connection, trace.trace_id, user_id)
    assert vote is not None
    return vote


def find_vote(connection: Connection, trace_id: str, user_id: str) -> Vote | None:
    """What this user said of a trace."""
    return _fetch_vote(connection, _OF_USER, trace=trace_id, user=user_id)


def find_vote_by_id(connection: Connection, feedback_id: str) -> Vote | None:
    return _fetch_vote(connection, _BY_ID, id=feedback_id)


def lock_vote(connection: Connection, feedback_id: str) -> Vote | None:
    """The same, as it is until the end of the transaction: no other word replaces it meanwhile."""
    return _fetch_vote(connection, _BY_ID.with_for_update(), id=feedback_id)


def get_trace_copy(connection: Connection, feedback_id: str) -> Trace | None:
    """The trace at the time of the vote; None where deleted since, by session or memory."""
    kept = connection.execute(_COPY.where(_ID), {"id": feedback_id}).scalar_one_or_none()
    return Trace(**load_json(kept)) if kept else None


def list_votes(connection: Connection, user_id: str | None, limit: int) -> list[Vote]:
    """The newest first; None: everybody's."""
    rows = connection.execute(_LIST, {"user": user_id, "limit": limit}).mappings()
    return [Vote(**row) for row in rows]


def find_item_trace(connection: Connection, item_id: str, user_id: str) -> str | None:
    """The newest trace of this user that they said to be right, and that stands for this item."""
    found: str | None = connection.execute(
        _OF_ITEM, {"item": item_id, "user": user_id}
    ).scalar_one_or_none()
    return found


def link_item(connection: Connection, vote: Vote, item_id: str) -> None:
    """Which item or rule came of a vote that is being dealt with."""
    connection.execute(_CHANGE, {"id": vote.feedback_id, "item_id": item_id})


def finish_vote(connection: Connection, vote: Vote, outcome: str) -> None:
    """Unless its user has said otherwise, or its item was undone, meanwhile."""
    values = {"state": "done", "outcome": encode_column(outcome)}
    connection.execute(_FINISH, {"id": vote.feedback_id, "at": vote.updated_at} | values)


def note_failure(connection: Connection, feedback_id: str, why: str) -> None:
    """Unless another run of its job has done it."""
    values = {"state": "failed", "outcome": encode_column(why)}
    connection.execute(_FINISH, {"id": feedback_id, "at": None} | values)


def release_item(connection: Connection, item_id: str) -> None:
    """The votes that stood for an item stand for nothing any more: a new word counts anew."""
    connection.execute(_RELEASE, {"item": item_id, "state": "done", "outcome": "undone"})


def has_job(connection: Connection, feedback_id: str) -> bool:
    """Whether a job waits or runs that will deal with it."""
    return bool(connection.execute(_JOB, {"id": feedback_id}).scalar_one())


def list_wrong_questions(
    connection: Connection, limit: int, viewer: str | None = None
) -> list[Wrong]:
    """The most often first: this user's, and those that rest on what everybody sees; None: all."""
    rows = connection.execute(_WRONG, {"limit": limit, "viewer": viewer}).mappings()
    return [Wrong(**row) for row in rows]


def forget_trace(connection: Connection, trace_id: str) -> None:
    """A trace deleted before its day leaves no copy: what it holds was the reason."""
    connection.execute(_FORGET, {"id": trace_id, "trace": ""})


def forget_session(connection: Connection, session_id: str) -> None:
    connection.execute(_FORGET_SESSION, {"id": session_id, "trace": ""})


def _fetch_vote(connection: Connection, query: Select[Any], **values: str) -> Vote | None:
    row = connection.execute(query, values).mappings().one_or_none()
    return None if row is None else Vote(**row)


_QUESTION = json_field(feedback.c.trace, "question")
_ID = feedback.c.feedback_id == bindparam("id")
_VOTES = select(*pick_columns(feedback, Vote), func.coalesce(_QUESTION, "").label("question"))
_SAID = (feedback.c.trace_id == bindparam("trace"), feedback.c.user_id == bindparam("user"))
_OF_USER = _VOTES.where(*_SAID)
_BY_ID = _VOTES.where(_ID)
_LATEST = (feedback.c.updated_at.desc(), feedback.c.rowid.desc())
_LIST = (
    _VOTES.where(match_optional(feedback.c.user_id, "user"))
    .order_by(*_LATEST)
    .limit(bindparam("limit"))
)
_TRACE = (
    select(traces.c.trace)
    .where(
        traces.c.trace_id == bindparam("trace"),
        traces.c.user_id == bindparam("user"),
        traces.c.expires > bindparam("now"),
    )
    .with_for_update()
)
_COPY = _VOTES.with_only_columns(feedback.c.trace)
_LOCK_COPY = _COPY.where(*_SAID).with_for_update()
_PUT = upsert(
    feedback,
    feedback.c.trace_id,
    feedback.c.user_id,
    update=[*feedback.c["is_correct", "correction", "trace", "state", "outcome", "updated_at"]],
)
_OF_ITEM = (
    select(feedback.c.trace_id)
    .where(
        feedback.c.item_id == bindparam("item"),
        feedback.c.user_id == bindparam("user"),
        feedback.c.is_correct == 1,
        feedback.c.outcome != "undone",
    )
    .order_by(*_LATEST)
    .limit(1)
)
_CHANGE = update(feedback).where(_ID)
_FINISH = _CHANGE.where(match_optional(feedback.c.updated_at, "at"), feedback.c.state != "done")
_RELEASE = update(feedback).where(feedback.c.item_id == bindparam("item"))
_FORGET = update(feedback).where(feedback.c.trace_id == bindparam("id"))
_FORGET_SESSION = update(feedback).where(
    json_field(feedback.c.trace, "session_id") == bindparam("id")
)
_JOB = select(
    exists().where(
        jobs.c.kind == "feedback",
        jobs.c.state.in_(("queued", "running")),
        json_field(jobs.c.payload, "feedback_id") == bindparam("id"),
    )
)
_CITED = list_json(func.nullif(feedback.c.trace, ""), "answer.citations").c.value
# collections and sources that everybody sees, and no memory of the one who asked
_RESTS_ON_ALL = and_(
    or_(
        exists().where(
            collections.c.name == json_field(feedback.c.trace, "collection"),
            collections.c.owner == "",
        ),
        exists().where(
            sources.c.name == json_field(feedback.c.trace, "answer.data.source"),
            sources.c.owner == "",
        ),
    ),
    ~exists().where(json_field(_CITED, "origin") == "memory"),
)
_TOLD = (
    select(
        *feedback.c["agent", "user_id", "trace_id", "correction", "updated_at"],
        _QUESTION.label("question"),
        json_field(feedback.c.trace, "answer.answer").label("answer"),
        func.row_number()
        .over(partition_by=(feedback.c.agent, _QUESTION), order_by=_LATEST)
        .label("nth"),
    )
    .where(
        feedback.c.is_correct == 0,
        feedback.c.trace != "",
        or_(match_optional(feedback.c.user_id, "viewer"), _RESTS_ON_ALL),
    )
    .subquery()
)
_WRONG = (
    select(
        _TOLD.c.question,
        _TOLD.c.agent,
        func.count().label("times"),
        func.count(_TOLD.c.user_id.distinct()).label("people"),
        func.sum(case((_TOLD.c.correction != "", 1), else_=0)).label("corrected"),
        func.max(case((_TOLD.c.nth == 1, _TOLD.c.trace_id))).label("last_trace_id"),
        func.max(case((_TOLD.c.nth == 1, _TOLD.c.answer))).label("last_answer"),
        func.max(_TOLD.c.updated_at).label("last_at"),
    )
    .group_by(_TOLD.c.agent, _TOLD.c.question)
    .order_by(desc("times"), desc("last_at"))
    .limit(bindparam("limit"))
)

"""What people said of answers, as rows. Functions of a connection.

The one rule: one vote for each user and trace; another word of the same user replaces it, and with
it all that came of it.
"""

from __future__ import annotations

import json
import secrets
from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, text

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
    outcome: str
    item_id: str
    created_at: float
    updated_at: float


class Wrong(Shown):
    """A question whose answers people said to be wrong: how many of them, and what the last answer
    was.
    """

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
    said something of it.
    """
    values = {"trace": trace_id, "user": user_id, "now": now}
    kept = (
        connection.execute(_TRACE, values).scalar_one_or_none()
        or connection.execute(_COPY, values).scalar_one_or_none()
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
        "id": "fb_" + secrets.token_hex(8),
        "trace_id": trace.trace_id,
        "user_id": user_id,
        "agent": trace.agent,
        "is_correct": int(is_correct),
        "correction": correction,
        "trace": copy,
        "now": now,
    }
    connection.execute(_PUT, row)
    vote = find_vote(connection, trace.trace_id, user_id)
    assert vote is not None
    return vote


def find_vote(connection: Connection, trace_id: str, user_id: str) -> Vote | None:
    """What this user said of a trace."""
    return _fetch_vote(
        connection, f"{_VOTES} WHERE f.trace_id = :a AND f.user_id = :b", trace_id, user_id
    )


def find_vote_by_id(connection: Connection, feedback_id: str) -> Vote | None:
    return _fetch_vote(connection, f"{_VOTES} WHERE f.feedback_id = :a", feedback_id)


def get_trace_copy(connection: Connection, feedback_id: str) -> Trace | None:
    """The trace as it was when the vote was given; None where it was deleted since, with its
    session or a memory.
    """
    query = text("SELECT trace FROM feedback WHERE feedback_id = :id")
    kept = connection.execute(query, {"id": feedback_id}).scalar_one_or_none()
    return Trace(**json.loads(kept)) if kept else None


def list_votes(connection: Connection, user_id: str | None, limit: int) -> list[Vote]:
    """The newest first; None: everybody's."""
    query = text(
        f"{_VOTES} WHERE :user IS NULL OR f.user_id = :user ORDER BY f.updated_at DESC, f.rowid "
        "DESC LIMIT :limit"
    )
    return [
        _parse_vote(row)
        for row in connection.execute(query, {"user": user_id, "limit": limit}).mappings()
    ]


def find_item_trace(connection: Connection, item_id: str, user_id: str) -> str | None:
    """The newest trace of this user that they said to be right, and that stands for this item."""
    found: str | None = connection.execute(
        _OF_ITEM, {"item": item_id, "user": user_id}
    ).scalar_one_or_none()
    return found


def link_item(connection: Connection, vote: Vote, item_id: str) -> None:
    """Which item or rule came of a vote that is being dealt with."""
    query = text("UPDATE feedback SET item_id = :item WHERE feedback_id = :id")
    connection.execute(query, {"id": vote.feedback_id, "item": item_id})


def finish_vote(connection: Connection, vote: Vote, outcome: str) -> None:
    """Unless its user has said otherwise, or its item was undone, meanwhile."""
    connection.execute(_FINISH, {"id": vote.feedback_id, "outcome": outcome, "at": vote.updated_at})


def note_failure(connection: Connection, feedback_id: str, why: str) -> None:
    """Unless another run of its job has done it."""
    connection.execute(_FAILED, {"id": feedback_id, "why": why})


def release_item(connection: Connection, item_id: str) -> None:
    """The votes that stood for an item stand for nothing any more: a new word counts anew."""
    query = text("UPDATE feedback SET state = 'done', outcome = 'undone' WHERE item_id = :item")
    connection.execute(query, {"item": item_id})


def has_job(connection: Connection, feedback_id: str) -> bool:
    """Whether a job waits or runs that will deal with it."""
    return connection.execute(_JOB, {"id": feedback_id}).scalar_one_or_none() is not None


def list_wrong_questions(
    connection: Connection, limit: int, viewer: str | None = None
) -> list[Wrong]:
    """Questions that were answered wrong, the most often first; those that this user asked, or that
    rest on what everybody sees. None: all.
    """
    rows = connection.execute(_WRONG, {"limit": limit, "viewer": viewer}).mappings()
    return [Wrong(**row) for row in rows]


def forget_trace(connection: Connection, trace_id: str) -> None:
    """A trace that is deleted before its day leaves no copy: it was deleted because of what it
    holds.
    """
    connection.execute(
        text("UPDATE feedback SET trace = '' WHERE trace_id = :id"), {"id": trace_id}
    )


def forget_session(connection: Connection, session_id: str) -> None:
    query = (
        "UPDATE feedback SET trace = '' WHERE trace <> '' AND json_extract(trace, "
        "'$.session_id') = :id"
    )
    connection.execute(text(query), {"id": session_id})


def _fetch_vote(connection: Connection, query: str, a: str, b: str = "") -> Vote | None:
    row = (
        connection.execute(text(query), {"a": a, "b": b} if ":b" in query else {"a": a})
        .mappings()
        .one_or_none()
    )
    return None if row is None else _parse_vote(row)


def _parse_vote(row: RowMapping) -> Vote:
    values: dict[str, Any] = dict(row)
    return Vote(
        **values | {"is_correct": bool(row["is_correct"]), "question": row["question"] or ""}
    )


_VOTES = """SELECT f.feedback_id, f.trace_id, f.user_id, f.agent, f.is_correct, f.correction,
        f.state, f.outcome, f.item_id, f.created_at, f.updated_at,
        CASE WHEN f.trace <> '' THEN json_extract(f.trace, '$.question') END AS question
    FROM feedback f"""
_TRACE = text(
    "SELECT trace FROM traces WHERE trace_id = :trace AND user_id = :user AND expires > :now"
)
_COPY = text("SELECT trace FROM feedback WHERE trace_id = :trace AND user_id = :user")
_PUT = text(
    """INSERT INTO feedback (feedback_id, trace_id, user_id, agent, is_correct, correction, trace,
        state, outcome, item_id, created_at, updated_at)
    VALUES (:id, :trace_id, :user_id, :agent, :is_correct, :correction, :trace, 'waiting', '', '',
        :now, :now)
    ON CONFLICT (trace_id, user_id) DO UPDATE SET is_correct = excluded.is_correct,
        correction = excluded.correction, trace = excluded.trace, state = 'waiting', outcome = '',
        updated_at = excluded.updated_at"""
)
_OF_ITEM = text(
    """SELECT trace_id FROM feedback WHERE item_id = :item AND user_id = :user AND is_correct = 1
    AND outcome <> 'undone'
    ORDER BY updated_at DESC, rowid DESC LIMIT 1"""
)
_FINISH = text(
    """UPDATE feedback SET state = 'done', outcome = :outcome
    WHERE feedback_id = :id AND updated_at = :at AND state <> 'done'"""
)
_FAILED = text(
    "UPDATE feedback SET state = 'failed', outcome = :why WHERE feedback_id = :id AND state <> "
    "'done'"
)
_JOB = text(
    """SELECT 1 FROM jobs WHERE kind = 'feedback' AND state IN ('queued', 'running')
    AND json_extract(payload, '$.feedback_id') = :id LIMIT 1"""
)
_WRONG = text(
    """WITH told AS (
        SELECT agent, user_id, trace_id, correction, updated_at,
            json_extract(trace, '$.question') AS question,
            json_extract(trace, '$.answer.answer') AS answer,
            row_number() OVER (PARTITION BY agent, json_extract(trace, '$.question')
                ORDER BY updated_at DESC) AS nth
        FROM feedback WHERE is_correct = 0 AND trace <> ''
            AND (:viewer IS NULL OR user_id = :viewer OR ((
            EXISTS (SELECT 1 FROM collections WHERE name = json_extract(trace, '$.collection')
                AND owner = '')
            OR EXISTS (SELECT 1 FROM sources
                WHERE name = json_extract(trace, '$.answer.data.source') AND owner = ''))
            AND NOT EXISTS (
                SELECT 1 FROM json_each(trace, '$.answer.citations')
                WHERE json_extract(value, '$.origin') = 'memory'))))
    SELECT question, agent, count(*) AS times, count(DISTINCT user_id) AS people,
        sum(correction <> '') AS corrected,
        max(CASE WHEN nth = 1 THEN trace_id END) AS last_trace_id,
        max(CASE WHEN nth = 1 THEN answer END) AS last_answer, max(updated_at) AS last_at
    FROM told GROUP BY agent, question ORDER BY times DESC, last_at DESC LIMIT :limit"""
)

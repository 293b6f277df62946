"""How answers came about, kept for a number of days.

The one rule: a trace is shown to its user only, and past its day to nobody, whether or not it has
been deleted yet; each `put` deletes those that are (retention_clock.py). Whole traces are large:
they are parsed in the database's thread, never where everybody waits.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, text

from citewell.errors import InvalidInput, NotFound
from citewell.store.confirmed import feedback
from citewell.store.db import Database
from citewell.store.retention_clock import get_deletion_time
from citewell.types import Shown, Status, Trace

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which traces are looked for; what is empty does not count. `before`: the `next` of the page
    that was read last. `words`: a text that question, collection or id hold, in whatever case.
    """

    before: str = ""
    agent: str = ""
    status: str = ""
    words: str = ""


class TraceSummary(Shown):
    trace_id: str
    agent: str
    question: str
    collection: str
    session_id: str
    created_at: float
    expires_at: float
    status: Status


@dataclass(frozen=True, slots=True)
class Page:
    """Some traces, the newest first. `next`: what `Wanted.before` takes for those after them;
    empty: there are no more.
    """

    traces: Sequence[TraceSummary]
    next: str = ""


class Traces:
    """Raises NotFound for a trace that is unknown or past its day, and StorageError."""

    def __init__(self, db: Database, days: float, clock: Callable[[], float] = time.time) -> None:
        self._db = db
        self._seconds = days * DAY
        self._clock = clock

    def until(self, created_at: float) -> float:
        """The moment from which on a trace of that one is shown to nobody."""
        return created_at + self._seconds

    async def put(self, trace: Trace) -> None:
        """Keep a trace, or replace the one of the same id."""
        await self._db.write(lambda connection: self.put_in(connection, trace))

    def put_in(self, connection: Connection, trace: Trace) -> None:
        """The same, as part of a transaction."""
        row = {
            "trace_id": trace.trace_id,
            "user_id": trace.user_id,
            "session_id": trace.session_id,
            "created_at": trace.created_at,
            "expires": trace.expires_at or self.until(trace.created_at),
            # details of steps may hold anything
            "trace": json.dumps(trace.model_dump(mode="python"), default=str),
            "agent": trace.agent,
            "status": trace.answer.status,
            "words": _fold_case(f"{trace.question} {trace.collection} {trace.trace_id}"),
        }
        self.expire_in(connection)
        connection.execute(_PUT, row)

    async def get(self, trace_id: str, user_id: str = "local") -> Trace:
        def get(connection: Connection) -> Trace | None:
            query = text(
                "SELECT trace, expires FROM traces WHERE trace_id = :id AND user_id = :user AND "
                "expires > :now"
            )
            row = connection.execute(
                query, {"id": trace_id, "user": user_id, "now": self._clock()}
            ).one_or_none()
            return _parse_trace(row) if row else None

        kept = await self._db.read(get)
        if kept is None:
            raise NotFound(
                f"no trace {trace_id!r}",
                hint=f"traces are kept for {self._seconds / DAY:g} days (trace_days)",
            )
        return kept

    async def delete(self, trace_id: str) -> None:
        """With the copies that votes keep. Nothing happens where there is none."""

        def delete(connection: Connection) -> None:
            connection.execute(text("DELETE FROM traces WHERE trace_id = :id"), {"id": trace_id})
            feedback.forget_trace(connection, trace_id)

        await self._db.write(delete)

    def expire_in(self, connection: Connection, *, dry_run: bool = False) -> int:
        """Delete those past their day, as far as the clock is believed; how many there are."""
        now = {"now": self._clock() if dry_run else get_deletion_time(connection, self._clock())}
        count = int(
            connection.execute(
                text("SELECT count(*) FROM traces WHERE expires <= :now"), now
            ).scalar_one()
        )
        if not dry_run:
            connection.execute(text("DELETE FROM traces WHERE expires <= :now"), now)
        return count

    def delete_session_in(self, connection: Connection, session_id: str) -> None:
        """Those of a session that is deleted go with it: they hold what was said, and the sentences
        that were quoted.
        """
        connection.execute(
            text("DELETE FROM traces WHERE session_id = :session"), {"session": session_id}
        )
        feedback.forget_session(connection, session_id)

    async def list_session(
        self, session_id: str, user_id: str = "local", limit: int = 200
    ) -> list[Trace]:
        """The newest of a session, in the order in which they were asked."""
        values = {"session": session_id, "user": user_id, "now": self._clock(), "limit": limit}

        newest = await self._db.read(
            lambda connection: [
                _parse_trace(row) for row in connection.execute(_OF_SESSION, values)
            ]
        )
        return newest[::-1]

    async def page(self, limit: int, user_id: str, wanted: Wanted) -> Page:
        """Those that fit, the newest first, at most so many. Raises InvalidInput for a `before`
        that no page has told.
        """
        at, rowid = _parse_cursor(wanted.before)
        values = {
            "now": self._clock(),
            "limit": limit + 1,
            "user": user_id,
            "at": at,
            "rowid": rowid,
        }
        values |= {
            "agent": wanted.agent,
            "status": wanted.status,
            "words": _fold_case(wanted.words.strip()),
        }

        def page(connection: Connection) -> Page:
            found = connection.execute(_FOUND, values).all()
            shown = found[:limit]
            after = f"{shown[-1].created_at!r}~{shown[-1].rowid}" if len(found) > limit else ""
            return Page([_parse_summary(row) for row in shown], after)

        return await self._db.read(page)

    async def list(self, limit: int = 50, user_id: str = "local") -> list[Trace]:
        """The newest first."""
        values = {"now": self._clock(), "limit": limit, "user": user_id}
        return await self._db.read(
            lambda connection: [_parse_trace(row) for row in connection.execute(_NEWEST, values)]
        )


def _parse_trace(kept: Row[Any]) -> Trace:
    """One that was kept before traces told their end is told it by its row."""
    stored: dict[str, Any] = json.loads(kept.trace)
    return Trace(**{**stored, "expires_at": kept.expires})


def _parse_summary(row: Row[Any]) -> TraceSummary:
    said = json.loads(row.said)
    question, collection = (
        said if isinstance(said, list) else (said["question"], said["collection"])
    )
    return TraceSummary(
        trace_id=row.trace_id,
        agent=row.agent,
        question=question,
        collection=collection,
        session_id=row.session_id,
        created_at=row.created_at,
        expires_at=row.expires,
        status=row.status,
    )


def _fold_case(words: str) -> str:
    """As it is looked for: SQLite knows upper and lower case of English letters only, and no half
    characters.
    """
    return words.casefold().encode("utf-8", "replace").decode()


def _parse_cursor(before: str) -> tuple[float, int]:
    """Where the last page ended; without one, behind everything."""
    if not before:
        return math.inf, 0
    at, _, rowid = before.partition("~")
    try:
        place = float(at), int(rowid)
    except ValueError:
        place = math.nan, 0
    if not -(2**63) <= place[1] < 2**63 or math.isnan(place[0]):
        raise InvalidInput(
            f"before {before[:80]!r} is no place in the list",
            hint="send the `next` of the page before it",
        )
    return place


_PUT = text(
    """INSERT OR REPLACE INTO traces (trace_id, user_id, session_id, created_at, expires, trace,
        agent, status, words)
    VALUES (:trace_id, :user_id, :session_id, :created_at, :expires, :trace, :agent, :status,
        :words)"""
)
# Two paths give a JSON array, with the escapes of half characters as they were. A trace with a NaN
# in it is no JSON to SQLite.
_FOUND = text(
    """SELECT trace_id, agent, session_id, status, expires, created_at, rowid,
        CASE WHEN json_valid(trace) THEN json_extract(trace, '$.question', '$.collection')
            ELSE trace END AS said
    FROM traces WHERE user_id = :user AND expires > :now
    AND (created_at < :at OR (created_at = :at AND rowid < :rowid))
    AND (:agent = '' OR agent = :agent) AND (:status = '' OR status = :status)
    AND (:words = '' OR instr(words, :words) > 0)
    ORDER BY created_at DESC, rowid DESC LIMIT :limit"""
)
_NEWEST = text(
    """SELECT trace, expires FROM traces WHERE user_id = :user AND expires > :now
    ORDER BY created_at DESC, rowid DESC LIMIT :limit"""
)
_OF_SESSION = text(
    """SELECT trace, expires FROM traces WHERE session_id = :session AND user_id = :user
    AND expires > :now
    ORDER BY created_at DESC, rowid DESC LIMIT :limit"""
)

"""How answers came about, kept for a number of days. A trace is shown to its user only, and past
its day to nobody, whether or not it has been deleted yet; each `put` deletes those that are
(retention_clock.py). Whole traces are large: they are parsed in the database's thread, never where
everybody waits.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Connection,
    Executable,
    RowMapping,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
)

from citewell.errors import InvalidInput, NotFound
from citewell.messages import Text, dump_json, load_json
from citewell.store.confirmed import feedback
from citewell.store.db import Database
from citewell.store.dialects.expressions import find_text, json_excerpt
from citewell.store.dialects.fence import lift_fence
from citewell.store.dialects.upserts import upsert
from citewell.store.retention_clock import get_deletion_time
from citewell.store.schema.conversations import traces
from citewell.store.schema.metadata import match_optional, pick_columns
from citewell.types import Chart, Shown, Status, Trace

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

    def compute_expiry(self, created_at: float) -> float:
        """The moment from which on a trace of that one is shown to nobody."""
        return created_at + self._seconds

    async def put(self, trace: Trace) -> None:
        """Keep a trace, or replace the one of the same id."""
        await self._db.write_beside(self.put_in, trace)

    def put_in(self, connection: Connection, trace: Trace) -> None:
        """The same, as part of a transaction."""
        row = {
            "trace_id": trace.trace_id,
            "user_id": trace.user_id,
            "session_id": trace.session_id,
            "created_at": trace.created_at,
            "expires": trace.expires_at or self.compute_expiry(trace.created_at),
            # details of steps may hold anything
            "trace": dump_json(trace.model_dump(mode="python"), default=str),
            "agent": trace.agent,
            "status": trace.answer.status,
            "words": _fold_case(f"{trace.question} {trace.collection} {trace.trace_id}"),
        }
        self.expire_in(connection)
        connection.execute(_PUT, row)

    async def get(self, trace_id: str, user_id: str = "local") -> Trace:
        return self._check_found(
            trace_id, await self._db.read(lambda one: self._find(one, trace_id, user_id))
        )

    async def choose_chart(self, trace_id: str, user_id: str, chart: Chart | None) -> Trace:
        """Keep with an answer over tables how its rows are to be drawn; None: as the agent chose.
        Raises InvalidInput for an answer of no tables.
        """

        def choose(connection: Connection) -> Trace | None:
            # FOR UPDATE: one that is deleted meanwhile does not come back
            trace = self._find(connection, trace_id, user_id, lock=True)
            if trace is None:
                return None
            if not trace.answer.data:
                raise InvalidInput(Text("this answer rests on no table"))
            data = {**trace.answer.data, "chosen": chart.model_dump() if chart else None}
            answer = trace.answer.model_copy(update={"data": data})
            changed = trace.model_copy(update={"answer": answer})
            self.put_in(connection, changed)
            return changed

        return self._check_found(trace_id, await self._db.write_beside(choose))

    def _find(
        self, connection: Connection, trace_id: str, user_id: str, *, lock: bool = False
    ) -> Trace | None:
        values = {"id": trace_id, "user": user_id, "now": self._clock()}
        row = connection.execute(_LOCK_ONE if lock else _GET_ONE, values).one_or_none()
        return _parse_trace(row) if row else None

    def _check_found(self, trace_id: str, kept: Trace | None) -> Trace:
        if kept is None:
            raise NotFound(
                Text("no trace {trace_id!r}", trace_id=trace_id),
                hint=Text(
                    "traces are kept for {seconds:g} days (trace_days)", seconds=self._seconds / DAY
                ),
            )
        return kept

    async def delete(self, trace_id: str) -> None:
        """With the copies that votes keep. Nothing happens where there is none."""

        def delete(connection: Connection) -> None:
            connection.execute(_DELETE, {"id": trace_id})
            feedback.forget_trace(connection, trace_id)

        await self._db.write_beside(delete)

    def expire_in(self, connection: Connection, *, dry_run: bool = False) -> int:
        """Delete those past their day, as far as the clock is believed; how many there are."""
        with lift_fence(connection):
            if dry_run:
                return int(connection.execute(_COUNT_OLD, {"now": self._clock()}).scalar_one())
            now = get_deletion_time(connection, self._clock())
            return connection.execute(_DELETE_OLD, {"now": now}).rowcount

    def delete_session_in(self, connection: Connection, session_id: str) -> None:
        """Those of a deleted session go with it: they hold what was said and quoted."""
        connection.execute(_DELETE_SESSION, {"session": session_id})
        feedback.forget_session(connection, session_id)

    async def list_session(
        self, session_id: str, user_id: str = "local", limit: int = 200
    ) -> list[Trace]:
        """The newest of a session, in the order in which they were asked."""
        values = {"session": session_id, "user": user_id, "now": self._clock(), "limit": limit}

        return (await self._db.read(_list_traces, _GET_SESSION, values))[::-1]

    async def page(self, limit: int, user_id: str, wanted: Wanted) -> Page:
        """Those that fit, newest first. Raises InvalidInput for a `before` no page told."""
        at, rowid = _parse_cursor(wanted.before)
        values = {
            "now": self._clock(),
            "limit": limit + 1,
            "user": user_id,
            "at": at,
            "rowid": rowid,
            "agent": wanted.agent or None,
            "status": wanted.status or None,
            "words": _fold_case(wanted.words.strip()),
        }

        def page(connection: Connection) -> Page:
            found = connection.execute(_FOUND, values).mappings().all()
            shown = found[:limit]
            last = shown[-1] if len(found) > limit else None
            after = f"{last['created_at']!r}~{last['rowid']}" if last else ""
            return Page([_parse_summary(row) for row in shown], after)

        return await self._db.read(page)

    async def list(self, limit: int = 50, user_id: str = "local") -> list[Trace]:
        """The newest first."""
        values = {"now": self._clock(), "limit": limit, "user": user_id}
        return await self._db.read(_list_traces, _GET_NEWEST, values)


def _list_traces(
    connection: Connection, statement: Executable, values: Mapping[str, Any]
) -> list[Trace]:
    return [_parse_trace(row) for row in connection.execute(statement, values)]


def _parse_trace(kept: Any) -> Trace:
    """One that was kept before traces told their end is told it by its row."""
    stored: dict[str, Any] = load_json(kept.trace)
    return Trace(**{**stored, "expires_at": kept.expires})


def _parse_summary(row: RowMapping) -> TraceSummary:
    said = json.loads(row["said"])
    question, collection = (
        said if isinstance(said, list) else (said["question"], said["collection"])
    )
    kept = {name: row[name] for name in TraceSummary.model_fields.keys() & row.keys()}
    return TraceSummary(**kept, question=question, collection=collection)


def _fold_case(words: str) -> str:
    """As it is looked for: SQLite folds English letters only; no half characters."""
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
            Text("before {before!r} is no place in the list", before=before[:80]),
            hint=Text("send the `next` of the page before it"),
        )
    return place


_ONE = traces.c.trace_id == bindparam("id")
_OLD = traces.c.expires <= bindparam("now")
_SESSION = traces.c.session_id == bindparam("session")
_DELETE = delete(traces).where(_ONE)
_DELETE_OLD = delete(traces).where(_OLD)
_DELETE_SESSION = delete(traces).where(_SESSION)
_COUNT_OLD = select(func.count()).select_from(traces).where(_OLD)
_PUT = upsert(traces, traces.c.trace_id)
_NEWEST = (traces.c.created_at.desc(), traces.c.rowid.desc())
_SHOWN = and_(traces.c.user_id == bindparam("user"), traces.c.expires > bindparam("now"))
_GET = select(traces.c.trace, traces.c.expires).where(_SHOWN)
_GET_ONE = _GET.where(_ONE)
_LOCK_ONE = _GET_ONE.with_for_update()
_GET_NEWEST = _GET.order_by(*_NEWEST).limit(bindparam("limit"))
_GET_SESSION = _GET_NEWEST.where(_SESSION)

# A trace with a NaN in it is no JSON to SQLite, and is there whole
_FOUND = (
    select(
        *pick_columns(traces, TraceSummary),
        traces.c.expires.label("expires_at"),
        traces.c.rowid,
        json_excerpt(traces.c.trace, "question", "collection").label("said"),
    )
    .where(
        _SHOWN,
        or_(
            traces.c.created_at < bindparam("at"),
            and_(traces.c.created_at == bindparam("at"), traces.c.rowid < bindparam("rowid")),
        ),
        match_optional(traces.c.agent, "agent"),
        match_optional(traces.c.status, "status"),
        find_text(traces.c.words, bindparam("words")) > 0,
    )
    .order_by(*_NEWEST)
    .limit(bindparam("limit"))
)

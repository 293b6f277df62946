"""Work that outlives the process that asked for it: a table, and leases.

The one rule: a worker holds a job by its lease and must report before it runs out (`progress` renews it). A job whose
worker died is taken again. `Job.attempts` is the worker's proof: one that was too slow and lost its job is told so.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, text

from citewell.errors import CitewellError, Conflict, NotFound
from citewell.knowledge.db import Database
from citewell.types import Shown

State = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED = frozenset({"done", "failed", "cancelled"})

LEASE_SECONDS = 60.0
MOST_ATTEMPTS = 3  # a job that killed its worker this often is not tried again


class Job(Shown):
    """`done` of `total` are steps of the work (`total` 0: not known yet); `detail` says what it is at. `result` is of what was
    done so far until the job is done. `error` of one that waits or runs: why it was put off.
    """

    job_id: str
    kind: str
    payload: dict[str, Any]
    state: State
    done: int
    total: int
    detail: str
    result: dict[str, Any] | None
    error: dict[str, str] | None
    attempts: int
    created_at: float
    updated_at: float


class Jobs:
    """Raises NotFound for an unknown job, Conflict for one that is not the caller's to change, and StorageError."""

    def __init__(
        self,
        db: Database,
        clock: Callable[[], float] = time.time,
        *,
        lease: float = LEASE_SECONDS,
        viewer: str | None = None,
    ) -> None:
        """`viewer`: finds this user's jobs and those of shared collections, and makes jobs of theirs; None: finds all."""
        self._db = db
        self._clock = clock
        self._lease = lease
        self._viewer = viewer

    def seen_by(self, viewer: str) -> Jobs:
        """The same, with this user's eyes."""
        return Jobs(self._db, self._clock, lease=self._lease, viewer=viewer)

    async def create(self, kind: str, payload: Mapping[str, Any]) -> Job:
        return await self._db.write(lambda connection: self.create_in(connection, kind, payload))

    def create_in(self, connection: Connection, kind: str, payload: Mapping[str, Any]) -> Job:
        """The same, as part of a transaction: the work is there when what it is about is."""
        job_id = "job_" + secrets.token_hex(8)
        row = {"job_id": job_id, "kind": kind, "payload": json.dumps(dict(payload)), "now": self._clock()}
        connection.execute(_INSERT, row | {"owner": self._viewer or ""})
        return _job(_row(connection, job_id))

    async def get(self, job_id: str) -> Job:
        return await self._db.read(lambda connection: _job(_row(connection, job_id, self._viewer)))

    async def list(self, limit: int = 100) -> list[Job]:
        """The newest first."""
        values = {"limit": limit, "viewer": self._viewer}

        def rows(connection: Connection) -> list[Job]:
            return [_job(row) for row in connection.execute(_NEWEST, values).mappings()]

        return await self._db.read(rows)

    async def claim(self, kind: str = "") -> Job | None:
        """A job (of this kind) that waits, or whose worker's lease ran out; it is the caller's then, nobody else's. Of the user
        who has the fewest running, so that many of one hold up nobody else's; of those the oldest.
        """
        if await self._db.read(lambda connection: self._waiting(connection, kind)) is None:
            return None  # an idle worker asks often: it need not take the write lock

        def claim(connection: Connection) -> Job | None:
            now = self._clock()
            connection.execute(_GIVE_UP, {"now": now, "most": MOST_ATTEMPTS, "error": _GAVE_UP})
            job_id = self._waiting(connection, kind)
            if job_id is None:
                return None
            connection.execute(_CLAIM, {"job_id": job_id, "now": now, "lease": now + self._lease})
            return _job(_row(connection, job_id))

        return await self._db.write(claim)

    async def again(self, kind: str, codes: Iterable[str], seconds: float = 0.0) -> int:
        """Jobs of this kind that failed so long ago by one of these errors wait once more, counted from nothing; how many. Only
        for work that may be done twice.
        """
        now = self._clock()
        values = {"kind": kind, "codes": json.dumps(sorted(codes)), "before": now - seconds, "now": now}
        if not await self._db.read(lambda connection: connection.execute(_FAILED, values).scalar_one()):
            return 0
        return await self._db.write(lambda connection: connection.execute(_AGAIN, values).rowcount)

    async def progress(
        self,
        job_id: str,
        done: int,
        total: int,
        detail: str = "",
        *,
        attempt: int | None = None,
        result: Mapping[str, Any] | None = None,
    ) -> Job:
        """Say how far it is, and renew the lease. With `attempt` (the `attempts` of the claimed job) only for its holder."""
        changes = {"done": done, "total": total, "detail": detail, "lease": self._clock() + self._lease}
        columns = "done = :done, total = :total, detail = :detail, lease = :lease"
        if result is not None:
            changes["result"] = json.dumps(dict(result))
            columns += ", result = :result"
        return await self._update(job_id, attempt, columns, changes)

    async def still(self, job_id: str, attempt: int) -> None:
        """Raises Conflict where the job is its holder's no more."""
        await self._db.read(lambda connection: _held(connection, job_id, attempt))

    async def cancel(self, job_id: str) -> Job:
        """A job that waits or runs ends here; its worker's next report is refused. Raises Conflict where it has ended."""

        def cancel(connection: Connection) -> Job:
            state = _row(connection, job_id, self._viewer)["state"]
            if state in ENDED:
                raise Conflict(f"job {job_id}: it is {state} already", hint="only a job that waits or runs can be cancelled")
            connection.execute(_CANCEL, {"job_id": job_id, "now": self._clock()})
            return _job(_row(connection, job_id))

        return await self._db.write(cancel)

    async def finish(self, job_id: str, result: Mapping[str, Any], *, attempt: int | None = None) -> Job:
        changes = {"result": json.dumps(dict(result))}
        return await self._update(job_id, attempt, "state = 'done', result = :result, error = NULL", changes)

    async def fail(self, job_id: str, error: CitewellError | Mapping[str, str], *, attempt: int | None = None) -> Job:
        """An error of ours is kept as its code, message and hint."""
        if isinstance(error, CitewellError):
            error = {"code": error.code, "message": error.message, "hint": error.hint}
        return await self._update(job_id, attempt, "state = 'failed', error = :error", {"error": json.dumps(dict(error))})

    async def release(self, job_id: str, *, attempt: int) -> Job:
        """Back to the queue at once, the attempt not counted: its worker was stopped on purpose and did not die of it."""
        return await self._update(job_id, attempt, "state = 'queued', attempts = attempts - 1, lease = 0", {})

    async def put_off(self, job_id: str, error: CitewellError, seconds: float, *, attempt: int) -> Job:
        """Back to the queue, the attempt not counted, but nobody takes it for so many seconds. Why is kept as its `error`, and
        how often that was so as `times` of it.
        """

        def put_off(connection: Connection) -> Job:
            times = put_off_so_often(_held(connection, job_id, attempt)) + 1
            now = self._clock()
            why = {"code": error.code, "message": error.message, "hint": error.hint, "times": str(times)}
            connection.execute(_PUT_OFF, {"job_id": job_id, "error": json.dumps(why), "until": now + seconds, "now": now})
            return _job(_row(connection, job_id))

        return await self._db.write(put_off)

    def _waiting(self, connection: Connection, kind: str) -> str | None:
        found: str | None = connection.execute(_WAITING, {"now": self._clock(), "kind": kind}).scalar_one_or_none()
        return found

    async def _update(self, job_id: str, attempt: int | None, columns: str, changes: Mapping[str, Any]) -> Job:
        statement = text(f"UPDATE jobs SET {columns}, updated_at = :now WHERE job_id = :job_id")  # noqa: S608 columns are ours

        def update(connection: Connection) -> Job:
            _held(connection, job_id, attempt)
            connection.execute(statement, {**changes, "now": self._clock(), "job_id": job_id})
            return _job(_row(connection, job_id))

        return await self._db.write(update)


def _row(connection: Connection, job_id: str, viewer: str | None = None) -> RowMapping:
    row = connection.execute(_ONE, {"id": job_id, "viewer": viewer}).mappings().one_or_none()
    if row is None:
        raise NotFound(f"no job {job_id!r}", hint="an upload answers with the id of its job; GET /api/jobs lists them")
    return row


def put_off_so_often(job: Job) -> int:
    """How often the disk has refused it."""
    return int((job.error or {}).get("times", "0"))


def _held(connection: Connection, job_id: str, attempt: int | None) -> Job:
    row = _row(connection, job_id)
    if row["state"] != "running" or attempt not in (None, row["attempts"]):
        hint = "its lease ran out and another worker took it, or it has ended; drop this run's result"
        raise Conflict(f"job {job_id}: it is {row['state']}, attempt {row['attempts']}, and not this worker's", hint=hint)
    return _job(row)


def _job(row: RowMapping) -> Job:
    shown = {name: row[name] for name in Job.model_fields}
    decoded = {name: json.loads(row[name]) if row[name] else None for name in ("payload", "result", "error")}
    return Job(**shown | decoded)


_GAVE_UP = json.dumps({"code": "gave_up", "message": "the worker died each time it was tried", "hint": "see the log"})
_INSERT = text(
    """INSERT INTO jobs (job_id, kind, payload, state, done, total, detail, attempts, lease, created_at, updated_at, owner)
    VALUES (:job_id, :kind, :payload, 'queued', 0, 0, '', 0, 0, :now, :now, :owner)"""
)
# work on a shared collection is everybody's to see, as the collection is; not that on one of its name that was there before
_SEEN = """(:viewer IS NULL OR owner = :viewer OR EXISTS (SELECT 1 FROM collections c
    WHERE c.owner = '' AND c.name = json_extract(jobs.payload, '$.collection') AND c.created_at <= jobs.created_at))"""
_ONE = text(f"SELECT * FROM jobs WHERE job_id = :id AND {_SEEN}")  # noqa: S608 - words of ours only
_NEWEST = text(f"SELECT * FROM jobs WHERE {_SEEN} ORDER BY created_at DESC, rowid DESC LIMIT :limit")  # noqa: S608
_WAITING = text(
    """WITH busy AS (SELECT owner, count(*) AS jobs FROM jobs WHERE state = 'running' AND lease >= :now GROUP BY owner)
    SELECT job_id FROM jobs LEFT JOIN busy USING (owner)
    WHERE ((state = 'queued' AND lease <= :now) OR (state = 'running' AND lease < :now)) AND :kind IN ('', kind)
    ORDER BY coalesce(busy.jobs, 0), created_at, jobs.rowid LIMIT 1"""
)
_CLAIM = text(
    "UPDATE jobs SET state = 'running', attempts = attempts + 1, lease = :lease, updated_at = :now WHERE job_id = :job_id"
)
_FAILED = text(
    """SELECT count(*) FROM jobs WHERE state = 'failed' AND kind = :kind AND updated_at <= :before
    AND json_extract(error, '$.code') IN (SELECT value FROM json_each(:codes))"""
)
_AGAIN = text(
    """UPDATE jobs SET state = 'queued', attempts = 0, lease = 0, updated_at = :now
    WHERE state = 'failed' AND kind = :kind AND updated_at <= :before
    AND json_extract(error, '$.code') IN (SELECT value FROM json_each(:codes))"""
)
_CANCEL = text("UPDATE jobs SET state = 'cancelled', updated_at = :now WHERE job_id = :job_id")
_PUT_OFF = text(
    """UPDATE jobs SET state = 'queued', attempts = attempts - 1, lease = :until, error = :error, updated_at = :now
    WHERE job_id = :job_id"""
)
_GIVE_UP = text(
    """UPDATE jobs SET state = 'failed', error = :error, updated_at = :now
    WHERE state = 'running' AND lease < :now AND attempts >= :most"""
)

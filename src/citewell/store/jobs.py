"""Work that outlives the process that asked for it: a table, and leases.

The one rule: a worker holds a job by its lease and must report before it runs out (`progress`
renews it). A job whose worker died is taken again, unharmed, however often: a death is the job's
fault only where it was tried alone, in a process whose death another one saw (`blame`).
`Job.attempts` is the worker's proof: one that was too slow and lost its job is told so.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import Connection, Row, RowMapping, text

from citewell.errors import CitewellError, Conflict, NotFound
from citewell.store.db import Database
from citewell.store.leases import Leases
from citewell.store.processes import get_clock_mark, has_died, name_this_process
from citewell.types import Shown

State = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED = frozenset({"done", "failed", "cancelled"})

LEASE_SECONDS = 60.0
SUSPECT = 2  # deaths of processes that were at a job, after which it is tried alone only
# a job that ended the process it was alone in this often is given up, until somebody wants it tried
# again
MOST_FAULTS = 3
# seconds until a job is tried again that was alone in a process which died; four times as long the
# next time
FAULT_PAUSE = 5.0
LONGEST_PAUSE = 900.0  # that a job is put off


class Job(Shown):
    """`done` of `total` are steps of the work (`total` 0: not known yet); `detail` says what it is
    at. `result` is of what was done so far until the job is done. `error` of one that waits or
    runs: why it was put off.
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
    """Raises NotFound for an unknown job, Conflict for one that is not the caller's to change, and
    StorageError.
    """

    def __init__(
        self,
        db: Database,
        clock: Callable[[], float] = time.time,
        *,
        steady: Callable[[], float] = time.monotonic,
        lease: float = LEASE_SECONDS,
        viewer: str | None = None,
    ) -> None:
        """`viewer`: finds this user's jobs and those of shared collections, and makes jobs of
        theirs; None: finds all.
        """
        self._db = db
        self._clock = clock
        self._leases = Leases(lease, steady, clock)
        self._viewer = viewer

    def restrict_to_viewer(self, viewer: str) -> Jobs:
        """The same, with this user's eyes."""
        steady, seconds = self._leases.steady, self._leases.seconds
        return Jobs(self._db, self._clock, steady=steady, lease=seconds, viewer=viewer)

    async def create(self, kind: str, payload: Mapping[str, Any]) -> Job:
        return await self._db.write(lambda connection: self.create_in(connection, kind, payload))

    def create_in(self, connection: Connection, kind: str, payload: Mapping[str, Any]) -> Job:
        """The same, as part of a transaction: the work is there when what it is about is."""
        job_id = "job_" + secrets.token_hex(8)
        row = {
            "job_id": job_id,
            "kind": kind,
            "payload": json.dumps(dict(payload)),
            "now": self._clock(),
        }
        connection.execute(_INSERT, row | {"owner": self._viewer or ""})
        return _parse_job(_get_row(connection, job_id))

    async def get(self, job_id: str) -> Job:
        return await self._db.read(
            lambda connection: _parse_job(_get_row(connection, job_id, self._viewer))
        )

    async def list(self, limit: int = 100) -> list[Job]:
        """The newest first."""
        values = {"limit": limit, "viewer": self._viewer}

        def rows(connection: Connection) -> list[Job]:
            return [_parse_job(row) for row in connection.execute(_NEWEST, values).mappings()]

        return await self._db.read(rows)

    async def claim(self, kind: str = "", *, alone: bool = False) -> Job | None:
        """A job (of this kind) that waits, or whose worker is silent; it is the caller's then,
        nobody else's. Of the user who has the fewest running, so that many of one hold up nobody
        else's; of those the oldest. `alone`: one of those that are tried in a process of their own,
        and else none of them.
        """

        def there_is_one(connection: Connection) -> bool:
            return (
                bool(self._list_silent(connection))
                or self._find_waiting(connection, kind, alone) is not None
            )

        if not await self._db.read(there_is_one):
            return None  # an idle worker asks often: it need not take the write lock

        def claim(connection: Connection) -> Job | None:
            for row in self._list_silent(connection):
                values = {
                    "job_id": row.job_id,
                    "deaths": int(has_died(row.process)),
                    "now": self._clock(),
                }
                connection.execute(_FREE, values)
            job_id = self._find_waiting(connection, kind, alone)
            if job_id is None:
                return None
            values = {
                "job_id": job_id,
                "now": self._clock(),
                "lease": self._leases.until(),
                "process": name_this_process(),
            }
            connection.execute(_CLAIM, values)
            return _parse_job(_get_row(connection, job_id))

        return await self._db.write(claim)

    async def has_suspects(self, kind: str = "") -> bool:
        """Whether a job waits that has to be tried alone."""
        return await self._db.read(
            lambda connection: self._find_waiting(connection, kind, alone=True) is not None
        )

    async def record_crash(self, process: str) -> Sequence[Job]:
        """A process that did one job at a time has died, and whoever started it lives: what it was
        at was the cause. It is tried again a little later, or given up; what it was sent with is
        kept.
        """

        def blame(connection: Connection) -> list[Job]:
            rows = connection.execute(_HELD_BY, {"process": process}).all()
            for row in rows:
                pause = FAULT_PAUSE * 4**row.faults
                values = {
                    "job_id": row.job_id,
                    "now": self._clock(),
                    "until": self._leases.steady() + pause,
                }
                connection.execute(
                    _BLAME,
                    values | {"clock": get_clock_mark(), "most": MOST_FAULTS, "error": _GAVE_UP},
                )
            return [_parse_job(_get_row(connection, row.job_id)) for row in rows]

        return await self._db.write(blame)

    async def try_again(self, job_id: str) -> Job:
        """One that failed, or was given up, waits once more; alone where it was. Raises Conflict
        for others.
        """

        def try_again(connection: Connection) -> Job:
            state = _get_row(connection, job_id, self._viewer)["state"]
            if state != "failed":
                raise Conflict(
                    f"job {job_id}: it is {state}", hint="only a job that failed can be tried again"
                )
            connection.execute(_ONCE_MORE, {"job_id": job_id, "now": self._clock()})
            return _parse_job(_get_row(connection, job_id))

        return await self._db.write(try_again)

    async def list_folders(self) -> set[str]:
        """The folders of bytes that are still wanted: those of what has not ended, and of what can
        be tried again.
        """
        return set(
            await self._db.read(lambda connection: connection.execute(_FOLDERS).scalars().all())
        )

    async def again(self, kind: str, codes: Iterable[str], seconds: float = 0.0) -> int:
        """Jobs of this kind that failed so long ago by one of these errors wait once more, counted
        from nothing; how many. Only for work that may be done twice.
        """
        now = self._clock()
        values = {
            "kind": kind,
            "codes": json.dumps(sorted(codes)),
            "before": now - seconds,
            "now": now,
        }
        if not await self._db.read(
            lambda connection: connection.execute(_FAILED, values).scalar_one()
        ):
            return 0
        return await self._db.write(lambda connection: connection.execute(_AGAIN, values).rowcount)

    async def report_progress(
        self,
        job_id: str,
        done: int,
        total: int,
        detail: str = "",
        *,
        attempt: int | None = None,
        result: Mapping[str, Any] | None = None,
    ) -> Job:
        """Say how far it is, and renew the lease. With `attempt` (the `attempts` of the claimed
        job) only for its holder.
        """
        changes = {"done": done, "total": total, "detail": detail, "lease": self._leases.until()}
        columns = "done = :done, total = :total, detail = :detail, lease = :lease"
        if result is not None:
            changes["result"] = json.dumps(dict(result))
            columns += ", result = :result"
        return await self._update_job(job_id, attempt, columns, changes)

    async def still(self, job_id: str, attempt: int) -> None:
        """Raises Conflict where the job is its holder's no more."""
        await self._db.read(lambda connection: _get_held_job(connection, job_id, attempt))

    async def cancel(self, job_id: str) -> Job:
        """A job that waits or runs ends here; its worker's next report is refused. So does one that
        failed, which could be tried again. Raises Conflict where it has ended otherwise.
        """

        def cancel(connection: Connection) -> Job:
            state = _get_row(connection, job_id, self._viewer)["state"]
            if state in ENDED and state != "failed":
                raise Conflict(
                    f"job {job_id}: it is {state} already",
                    hint="only a job that waits or runs can be cancelled",
                )
            connection.execute(_CANCEL, {"job_id": job_id, "now": self._clock()})
            return _parse_job(_get_row(connection, job_id))

        return await self._db.write(cancel)

    async def finish(
        self, job_id: str, result: Mapping[str, Any], *, attempt: int | None = None
    ) -> Job:
        changes = {"result": json.dumps(dict(result))}
        return await self._update_job(
            job_id, attempt, "state = 'done', result = :result, error = NULL", changes
        )

    async def fail(
        self, job_id: str, error: CitewellError | Mapping[str, str], *, attempt: int | None = None
    ) -> Job:
        """An error of ours is kept as its code, message and hint."""
        if isinstance(error, CitewellError):
            error = {"code": error.code, "message": error.message, "hint": error.hint}
        return await self._update_job(
            job_id, attempt, "state = 'failed', error = :error", {"error": json.dumps(dict(error))}
        )

    async def release(self, job_id: str, *, attempt: int) -> Job:
        """Back to the queue at once, the attempt not counted: its worker was stopped on purpose and
        did not die of it.
        """
        columns = "state = 'queued', attempts = attempts - 1, lease = 0, process = ''"
        return await self._update_job(job_id, attempt, columns, {})

    async def put_off(
        self, job_id: str, error: CitewellError, seconds: float, *, attempt: int
    ) -> Job:
        """Back to the queue, the attempt not counted, but nobody takes it for so many seconds. Why
        is kept as its `error`, and how often that was so as `times` of it.
        """

        def put_off(connection: Connection) -> Job:
            times = count_postponements(_get_held_job(connection, job_id, attempt)) + 1
            now = self._clock()
            why = {
                "code": error.code,
                "message": error.message,
                "hint": error.hint,
                "times": str(times),
            }
            values = {
                "job_id": job_id,
                "error": json.dumps(why),
                "now": now,
                "clock": get_clock_mark(),
            }
            connection.execute(
                _PUT_OFF, values | {"until": self._leases.steady() + min(seconds, LONGEST_PAUSE)}
            )
            return _parse_job(_get_row(connection, job_id))

        return await self._db.write(put_off)

    def _find_waiting(self, connection: Connection, kind: str, alone: bool) -> str | None:
        values = {
            "now": self._leases.steady(),
            "pause": LONGEST_PAUSE,
            "clock": get_clock_mark(),
            "kind": kind,
        }
        values |= {"suspect": SUSPECT, "alone": alone}
        found: str | None = connection.execute(_WAITING, values).scalar_one_or_none()
        return found

    def _list_silent(self, connection: Connection) -> Sequence[Row[Any]]:
        """Those whose workers hold them no more."""
        rows = connection.execute(_RUNNING).all()
        return [
            row for row in rows if not self._leases.is_held(row.process, row.lease, row.updated_at)
        ]

    async def _update_job(
        self, job_id: str, attempt: int | None, columns: str, changes: Mapping[str, Any]
    ) -> Job:
        statement = text(f"UPDATE jobs SET {columns}, updated_at = :now WHERE job_id = :job_id")  # noqa: S608 columns are ours

        def update(connection: Connection) -> Job:
            _get_held_job(connection, job_id, attempt)
            connection.execute(statement, {**changes, "now": self._clock(), "job_id": job_id})
            return _parse_job(_get_row(connection, job_id))

        return await self._db.write(update)


def _get_row(connection: Connection, job_id: str, viewer: str | None = None) -> RowMapping:
    row = connection.execute(_ONE, {"id": job_id, "viewer": viewer}).mappings().one_or_none()
    if row is None:
        raise NotFound(
            f"no job {job_id!r}",
            hint="an upload answers with the id of its job; GET /api/jobs lists them",
        )
    return row


def count_postponements(job: Job) -> int:
    """How often the disk has refused it."""
    return int((job.error or {}).get("times", "0"))


def _get_held_job(connection: Connection, job_id: str, attempt: int | None) -> Job:
    row = _get_row(connection, job_id)
    if row["state"] != "running" or attempt not in (None, row["attempts"]):
        hint = (
            "its lease ran out and another worker took it, or it has ended; drop this run's result"
        )
        raise Conflict(
            f"job {job_id}: it is {row['state']}, attempt {row['attempts']}, and not this worker's",
            hint=hint,
        )
    return _parse_job(row)


def _parse_job(row: RowMapping) -> Job:
    shown = {name: row[name] for name in Job.model_fields}
    decoded = {
        name: json.loads(row[name]) if row[name] else None
        for name in ("payload", "result", "error")
    }
    return Job(**shown | decoded)


_GAVE_UP = json.dumps(
    {
        "code": "gave_up",
        "message": "the process that tried it alone died each time",
        "hint": "what was sent is kept: try it again, or cancel it; the log says more",
    }
)
_INSERT = text(
    """INSERT INTO jobs (job_id, kind, payload, state, done, total, detail, attempts, lease,
        created_at, updated_at, owner)
    VALUES (:job_id, :kind, :payload, 'queued', 0, 0, '', 0, 0, :now, :now, :owner)"""
)
# work on a shared collection is everybody's to see, as the collection is; not that on one of its
# name that was there before
_SEEN = """(:viewer IS NULL OR owner = :viewer OR EXISTS (SELECT 1 FROM collections c
    WHERE c.owner = '' AND c.name = json_extract(jobs.payload, '$.collection')
    AND c.created_at <= jobs.created_at))"""
_ONE = text(f"SELECT * FROM jobs WHERE job_id = :id AND {_SEEN}")  # noqa: S608 - words of ours only
_NEWEST = text(
    f"SELECT * FROM jobs WHERE {_SEEN} ORDER BY created_at DESC, rowid DESC LIMIT :limit"  # noqa: S608
)
_RUNNING = text("SELECT job_id, process, lease, updated_at FROM jobs WHERE state = 'running'")
# who held it last stays known, until another does: its end may still be looked into (`blame`)
_FREE = text(
    "UPDATE jobs SET state = 'queued', lease = 0, deaths = deaths + :deaths, updated_at = :now "
    "WHERE job_id = :job_id"
)
# a moment by the clock of an earlier start of the machine says nothing, and none is further away
# than the longest pause
_WAITING = text(
    """WITH busy AS
        (SELECT owner, count(*) AS jobs FROM jobs WHERE state = 'running' GROUP BY owner)
    SELECT job_id FROM jobs LEFT JOIN busy USING (owner)
    WHERE state = 'queued'
    AND NOT (lease > :now AND lease <= :now + :pause AND instr(process, :clock) > 0)
    AND (deaths >= :suspect) = :alone AND :kind IN ('', kind)
    ORDER BY coalesce(busy.jobs, 0), created_at, jobs.rowid LIMIT 1"""
)
_CLAIM = text(
    """UPDATE jobs SET state = 'running', attempts = attempts + 1, lease = :lease,
        process = :process, updated_at = :now
    WHERE job_id = :job_id"""
)
_HELD_BY = text(
    "SELECT job_id, faults FROM jobs WHERE process = :process AND state IN ('running', 'queued')"
)
_BLAME = text(
    """UPDATE jobs SET state = iif(faults + 1 < :most, 'queued', 'failed'),
        error = iif(faults + 1 < :most, NULL, :error), faults = faults + 1, lease = :until,
        process = :clock, updated_at = :now
    WHERE job_id = :job_id"""
)
_ONCE_MORE = text(
    """UPDATE jobs SET state = 'queued', error = NULL, attempts = 0, faults = 0, lease = 0,
        updated_at = :now
    WHERE job_id = :job_id"""
)
_FOLDERS = text(
    """SELECT json_extract(payload, '$.folder') FROM jobs
    WHERE state IN ('queued', 'running', 'failed')
    AND json_extract(payload, '$.folder') IS NOT NULL"""
)
_FAILED = text(
    """SELECT count(*) FROM jobs WHERE state = 'failed' AND kind = :kind
    AND NOT (updated_at > :before AND updated_at <= :now)
    AND json_extract(error, '$.code') IN (SELECT value FROM json_each(:codes))"""
)
_AGAIN = text(
    """UPDATE jobs SET state = 'queued', attempts = 0, faults = 0, lease = 0, updated_at = :now
    WHERE state = 'failed' AND kind = :kind AND NOT (updated_at > :before AND updated_at <= :now)
    AND json_extract(error, '$.code') IN (SELECT value FROM json_each(:codes))"""
)
_CANCEL = text("UPDATE jobs SET state = 'cancelled', updated_at = :now WHERE job_id = :job_id")
_PUT_OFF = text(
    """UPDATE jobs SET state = 'queued', attempts = attempts - 1, lease = :until, process = :clock,
        error = :error, updated_at = :now
    WHERE job_id = :job_id"""
)

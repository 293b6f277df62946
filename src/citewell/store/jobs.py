"""Work that outlives the process that asked for it: a table, and leases.

The one rule: a worker holds a job by its lease and must report before it runs out, which renews it
(`report_progress`). A job whose worker died is taken again, unharmed, however often: a death is its
fault only where it was tried alone, in a process whose death another one saw (`record_crash`).
`Job.attempts` is the worker's proof: one that was too slow and lost its job is told so.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, text

from citewell.errors import CitewellError, Conflict
from citewell.store.db import Database
from citewell.store.job_claims import (
    blame_jobs,
    claim_job,
    find_waiting,
    is_there_work,
    put_off_job,
)
from citewell.store.job_rows import ENDED, Job, get_held_job, get_row, list_newest, parse_job
from citewell.store.leases import Leases

LEASE_SECONDS = 60.0


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
        return parse_job(get_row(connection, job_id))

    async def get(self, job_id: str) -> Job:
        return await self._db.read(
            lambda connection: parse_job(get_row(connection, job_id, self._viewer))
        )

    async def list(self, limit: int = 100) -> list[Job]:
        """The newest first."""
        return await self._db.read(lambda connection: list_newest(connection, self._viewer, limit))

    async def claim(self, kind: str = "", *, alone: bool = False) -> Job | None:
        """A job (of this kind) that waits, or whose worker is silent; it is the caller's then,
        nobody else's. Of the user who has the fewest running, so that many of one hold up nobody
        else's; of those the oldest. `alone`: one of those that are tried in a process of their own,
        and else none of them.
        """
        if not await self._db.read(
            lambda connection: is_there_work(connection, self._leases, kind, alone=alone)
        ):
            return None  # an idle worker asks often: it need not take the write lock
        return await self._db.write(
            lambda connection: claim_job(connection, self._leases, kind, alone=alone)
        )

    async def has_suspects(self, kind: str = "") -> bool:
        """Whether a job waits that has to be tried alone."""
        return await self._db.read(
            lambda connection: find_waiting(connection, self._leases, kind, alone=True) is not None
        )

    async def record_crash(self, process: str) -> Sequence[Job]:
        """A process that did one job at a time has died, and whoever started it lives: what it was
        at was the cause. It is tried again a little later, or given up; what it was sent with is
        kept.
        """
        return await self._db.write(
            lambda connection: blame_jobs(connection, self._leases, process)
        )

    async def try_again(self, job_id: str) -> Job:
        """One that failed, or was given up, waits once more; alone where it was. Raises Conflict
        for others.
        """

        def try_again(connection: Connection) -> Job:
            state = get_row(connection, job_id, self._viewer)["state"]
            if state != "failed":
                raise Conflict(
                    f"job {job_id}: it is {state}", hint="only a job that failed can be tried again"
                )
            connection.execute(_ONCE_MORE, {"job_id": job_id, "now": self._clock()})
            return parse_job(get_row(connection, job_id))

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
        await self._db.read(lambda connection: get_held_job(connection, job_id, attempt))

    async def cancel(self, job_id: str) -> Job:
        """A job that waits or runs ends here; its worker's next report is refused. So does one that
        failed, which could be tried again. Raises Conflict where it has ended otherwise.
        """

        def cancel(connection: Connection) -> Job:
            state = get_row(connection, job_id, self._viewer)["state"]
            if state in ENDED and state != "failed":
                raise Conflict(
                    f"job {job_id}: it is {state} already",
                    hint="only a job that waits or runs can be cancelled",
                )
            connection.execute(_CANCEL, {"job_id": job_id, "now": self._clock()})
            return parse_job(get_row(connection, job_id))

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
        return await self._db.write(
            lambda connection: put_off_job(
                connection, self._leases, job_id, error, seconds, attempt
            )
        )

    async def _update_job(
        self, job_id: str, attempt: int | None, columns: str, changes: Mapping[str, Any]
    ) -> Job:
        statement = text(f"UPDATE jobs SET {columns}, updated_at = :now WHERE job_id = :job_id")  # noqa: S608 columns are ours

        def update(connection: Connection) -> Job:
            get_held_job(connection, job_id, attempt)
            connection.execute(statement, {**changes, "now": self._clock(), "job_id": job_id})
            return parse_job(get_row(connection, job_id))

        return await self._db.write(update)


_INSERT = text(
    """INSERT INTO jobs (job_id, kind, payload, state, done, total, detail, attempts, lease,
        created_at, updated_at, owner)
    VALUES (:job_id, :kind, :payload, 'queued', 0, 0, '', 0, 0, :now, :now, :owner)"""
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

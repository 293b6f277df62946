"""Work that outlives the process that asked for it: a table, and leases.

What changes a job decides on its row, and reads it FOR UPDATE.

A worker holds a job by its lease and must report before it runs out, which renews it
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

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, not_, select, update

from citewell.errors import CitewellError, Conflict
from citewell.messages import Text, dump_json, encode_column
from citewell.store.db import Database
from citewell.store.dialects.expressions import json_field
from citewell.store.dialects.job_notices import notify_of_job
from citewell.store.job_claims import (
    Wanted,
    claim_job,
    find_waiting,
    is_there_work,
    put_off_job,
    record_job_faults,
)
from citewell.store.job_rows import (
    BULK,
    ENDED,
    USUAL,
    Job,
    State,
    change_job,
    get_held_job,
    get_row,
    list_newest,
    parse_job,
)
from citewell.store.leases import Leases
from citewell.store.retention_clock import DAY, get_deletion_time
from citewell.store.schema.job_tables import jobs

LEASE_SECONDS = 60.0


class Jobs:
    """Raises NotFound, Conflict for one that is not the caller's to change, StorageError."""

    def __init__(
        self,
        db: Database,
        clock: Callable[[], float] = time.time,
        *,
        steady: Callable[[], float] | None = None,
        lease: float = LEASE_SECONDS,
        viewer: str | None = None,
    ) -> None:
        """`viewer`: this user's jobs and those of shared collections; None: all."""
        self._db = db
        self._clock = clock
        self._leases = Leases(lease, steady, clock)
        self._viewer = viewer

    def restrict_to_viewer(self, viewer: str) -> Jobs:
        """The same, with this user's eyes."""
        steady, seconds = self._leases.steady, self._leases.seconds
        return Jobs(self._db, self._clock, steady=steady, lease=seconds, viewer=viewer)

    async def create(self, kind: str, payload: Mapping[str, Any], priority: int = USUAL) -> Job:
        """`priority`: URGENT, USUAL or BULK."""
        return await self._db.write_beside(self.create_in, kind, payload, priority)

    def create_in(
        self, connection: Connection, kind: str, payload: Mapping[str, Any], priority: int = USUAL
    ) -> Job:
        """The same, as part of a transaction: the work is there when what it is about is."""
        job_id = "job_" + secrets.token_hex(8)
        now = self._clock()
        row = {
            "job_id": job_id,
            "kind": kind,
            "payload": json.dumps(dict(payload)),
            "detail": "",
            "created_at": now,
            "updated_at": now,
            "owner": self._viewer or "",
            "priority": priority,
        }
        connection.execute(_INSERT, row)
        notify_of_job(connection)
        return parse_job(get_row(connection, job_id))

    async def get(self, job_id: str) -> Job:
        return await self._db.read(
            lambda connection: parse_job(get_row(connection, job_id, self._viewer))
        )

    async def list(self, limit: int = 100, state: State | None = None) -> list[Job]:
        """The newest first; of this state, where one is named."""
        return await self._db.read(list_newest, self._viewer, limit, state)

    async def claim(self, kind: str = "", *, alone: bool = False, least: int = BULK) -> Job | None:
        """A job (of this kind) that waits, or whose worker is silent; it is the caller's then,
        nobody else's. Of the most urgent, to which what has waited for long belongs too; of those
        of the user who has the fewest running, so that many of one hold up nobody else's; of those
        the oldest. `alone`: one of those that are tried in a process of their own, and else none of
        them. `least`: nothing that may wait longer than this.
        """
        wanted = Wanted(kind, alone, least)
        if not await self._db.read(is_there_work, self._leases, wanted):
            return None  # an idle worker asks often: it need not take the write lock
        return await self._db.write_beside(claim_job, self._leases, wanted)

    async def has_suspects(self, kind: str = "") -> bool:
        """Whether a job waits that has to be tried alone."""
        return await self._db.read(
            lambda connection: (
                find_waiting(connection, self._leases, Wanted(kind, alone=True)) is not None
            )
        )

    async def record_crash(self, process: str) -> Sequence[Job]:
        """A process that did one job at a time has died, and whoever started it lives: what it was
        at was the cause. It is tried again a little later, or given up; what it was sent with is
        kept.
        """
        return await self._db.write_beside(record_job_faults, self._leases, process)

    async def try_again(self, job_id: str) -> Job:
        """One that failed or was given up waits again, alone if it was so. Raises Conflict."""

        def try_again(connection: Connection) -> Job:
            state = get_row(connection, job_id, self._viewer, lock=True)["state"]
            if state != "failed":
                raise Conflict(
                    Text("job {job_id}: it is {state}", job_id=job_id, state=state),
                    hint=Text("only a job that failed can be tried again"),
                )
            again = {**_AGAIN, "error": None, "updated_at": self._clock()}
            return change_job(connection, job_id, **again)

        return await self._db.write_beside(try_again)

    async def list_folders(self) -> set[str]:
        """Folders of bytes still wanted: of what has not ended, or can be tried again."""
        return set(
            await self._db.read(lambda connection: connection.execute(FOLDERS).scalars().all())
        )

    async def requeue_failed(self, kind: str, codes: Iterable[str], seconds: float = 0.0) -> int:
        """Jobs of this kind that failed so long ago by one of these errors wait once more, counted
        from nothing; how many. Only for work that may be done twice.
        """
        now = self._clock()
        values = {"of": kind, "codes": sorted(codes), "before": now - seconds, "now": now}
        if not await self._db.read(
            lambda connection: connection.execute(_COUNT_FAILED, values).scalar_one()
        ):
            return 0
        values |= {**_AGAIN, "updated_at": now}
        return await self._db.write_beside(
            lambda connection: connection.execute(_TRY_AGAIN, values).rowcount
        )

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
        """Say how far it is, and renew the lease; with `attempt` only for its holder."""
        changes = {
            "done": done,
            "total": total,
            "detail": encode_column(detail),
        }
        if result is not None:
            changes["result"] = dump_json(dict(result))
        return await self._update_job(job_id, attempt, changes, renew=True)

    async def check_held(self, job_id: str, attempt: int) -> None:
        """Raises Conflict where the job is its holder's no more."""
        await self._db.read(get_held_job, job_id, attempt)

    async def cancel(self, job_id: str) -> Job:
        """A job that waits or runs ends here; its worker's next report is refused. So does one that
        failed, which could be tried again. Raises Conflict where it has ended otherwise.
        """

        def cancel(connection: Connection) -> Job:
            state = get_row(connection, job_id, self._viewer, lock=True)["state"]
            if state in ENDED and state != "failed":
                raise Conflict(
                    Text("job {job_id}: it is {state} already", job_id=job_id, state=state),
                    hint=Text("only a job that waits or runs can be cancelled"),
                )
            return change_job(connection, job_id, state="cancelled", updated_at=self._clock())

        return await self._db.write_beside(cancel)

    async def finish(
        self, job_id: str, result: Mapping[str, Any], *, attempt: int | None = None
    ) -> Job:
        changes = {"state": "done", "result": dump_json(dict(result)), "error": None}
        return await self._update_job(job_id, attempt, changes)

    async def fail(
        self, job_id: str, error: CitewellError | Mapping[str, str], *, attempt: int | None = None
    ) -> Job:
        """An error of ours is kept as its code, message and hint."""
        if isinstance(error, CitewellError):
            error = {"code": error.code, "message": error.message, "hint": error.hint}
        changes = {"state": "failed", "error": dump_json(dict(error))}
        return await self._update_job(job_id, attempt, changes)

    async def release(self, job_id: str, *, attempt: int) -> Job:
        """Back in the queue, the attempt uncounted: its worker was stopped on purpose."""
        changes = {"state": "queued", "attempts": attempt - 1, "lease": 0, "process": ""}
        return await self._update_job(job_id, attempt, changes)

    async def put_off(
        self, job_id: str, error: CitewellError, seconds: float, *, attempt: int
    ) -> Job:
        """Back to the queue, the attempt not counted, but nobody takes it for so many seconds. Why
        is kept as its `error`, and how often that was so as `times` of it.
        """
        return await self._db.write_beside(
            put_off_job, self._leases, job_id, error, seconds, attempt
        )

    async def forget_ended(self, days: float) -> int:
        """Those that ended well, or were cancelled, so long ago; how many. One that failed stays
        until it is tried again or cancelled.
        """

        def forget(connection: Connection) -> int:
            before = get_deletion_time(connection, self._clock()) - days * DAY
            return connection.execute(_FORGET, {"before": before}).rowcount

        return await self._db.write_beside(forget)

    async def _update_job(
        self, job_id: str, attempt: int | None, changes: Mapping[str, Any], *, renew: bool = False
    ) -> Job:
        def change(connection: Connection) -> Job:
            get_held_job(connection, job_id, attempt, lock=True)
            lease = (
                {"lease": self._leases.read_moment(connection).compute_expiry()} if renew else {}
            )
            return change_job(connection, job_id, **changes, **lease, updated_at=self._clock())

        return await self._db.write_beside(change)


_AGAIN = {"state": "queued", "attempts": 0, "faults": 0, "lease": 0}
_INSERT = insert(jobs).values(state="queued", done=0, total=0, attempts=0, lease=0)
_FORGET = delete(jobs).where(
    jobs.c.state.in_(["done", "cancelled"]),
    jobs.c.created_at < bindparam("before"),  # there is an index of it
    jobs.c.updated_at < bindparam("before"),
)
_FOLDER = json_field(jobs.c.payload, "folder")
FOLDERS = select(_FOLDER).where(
    jobs.c.state.in_(["queued", "running", "failed"]), _FOLDER.is_not(None)
)
_FAILED = and_(
    jobs.c.state == "failed",
    jobs.c.kind == bindparam("of"),
    not_((jobs.c.updated_at > bindparam("before")) & (jobs.c.updated_at <= bindparam("now"))),
    json_field(jobs.c.error, "code").in_(bindparam("codes", expanding=True)),
)
_COUNT_FAILED = select(func.count()).select_from(jobs).where(_FAILED)
_TRY_AGAIN = update(jobs).where(_FAILED)

"""Which job a worker gets next, and what becomes of one whose worker died or whose disk refused it.
Functions of a connection; `jobs.py` gives the verbs. A death is the job's fault only where it was
tried alone, in a process whose death another one saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    case,
    func,
    not_,
    or_,
    select,
    update,
)

from citewell.errors import CitewellError
from citewell.messages import dump_json
from citewell.store.dialects.expressions import find_text
from citewell.store.job_rows import BULK, URGENT, Job, change_job, count_postponements, get_held_job
from citewell.store.leases import Leases
from citewell.store.processes import has_died, name_this_process
from citewell.store.schema.job_tables import jobs

SUSPECT = 2  # deaths of processes that were at a job, after which it is tried alone only
# a job that ended the process it was alone in this often is given up, until somebody wants it tried
# again
MOST_FAULTS = 3
# seconds until a job is tried again that was alone in a process which died; four times as long the
# next time
FAULT_PAUSE = 5.0
PATIENCE = 600.0  # seconds after which a job that may wait is as urgent as any
LONGEST_PAUSE = 900.0  # that a job is put off


class Wanted(NamedTuple):
    """Which job a worker takes, as `Jobs.claim` says it."""

    kind: str
    alone: bool = False
    least: int = BULK


def is_there_work(connection: Connection, leases: Leases, wanted: Wanted) -> bool:
    """Whether `claim_job` would give one."""
    return (
        bool(_list_silent(connection, leases))
        or find_waiting(connection, leases, wanted) is not None
    )


def claim_job(connection: Connection, leases: Leases, wanted: Wanted) -> Job | None:
    """Those whose workers are silent wait again, and the next one that waits is this process's: its
    row is locked, and rows that others have locked are passed over.
    """
    silent, moment = _list_silent(connection, leases), leases.read_moment(connection)
    for row in silent:
        values = {
            "id": row.job_id,
            "seen": row.lease,
            "state": "queued",
            "lease": 0,
            "deaths": row.deaths + has_died(row.process),
            "updated_at": moment.wall,
        }
        connection.execute(_FREE, values)
    waiting = find_waiting(connection, leases, wanted, lock=True)
    if waiting is None:
        return None
    return change_job(
        connection,
        waiting.job_id,
        state="running",
        attempts=waiting.attempts + 1,
        lease=moment.compute_expiry(),
        process=name_this_process(),
        updated_at=moment.wall,
    )


def find_waiting(
    connection: Connection, leases: Leases, wanted: Wanted, *, lock: bool = False
) -> Row[Any] | None:
    """The next job. `lock`: for this transaction; one that another locked is passed over."""
    moment = leases.read_moment(connection)
    values = {
        "now": moment.steady,
        "longest": moment.steady + LONGEST_PAUSE,
        "clock": moment.mark,
        "of": wanted.kind,
        "least": wanted.least,
        "aged": moment.wall - PATIENCE,
    }
    statement = (_ALONE if wanted.alone else _TOGETHER)[lock]
    return connection.execute(statement, values).one_or_none()


def record_job_faults(connection: Connection, leases: Leases, process: str) -> list[Job]:
    """What this process held was the cause of its death: it waits for a while, or is given up."""
    moment, blamed = leases.read_moment(connection), []
    for row in connection.execute(_HELD_BY, {"holder": process}).all():
        given_up = row.faults + 1 >= MOST_FAULTS
        values = {
            "state": "failed" if given_up else "queued",
            "error": _GAVE_UP if given_up else None,
            "faults": row.faults + 1,
            "lease": moment.steady + FAULT_PAUSE * 4**row.faults,
            "process": moment.mark,
            "updated_at": moment.wall,
        }
        blamed.append(change_job(connection, row.job_id, **values))
    return blamed


def put_off_job(
    connection: Connection,
    leases: Leases,
    job_id: str,
    error: CitewellError,
    seconds: float,
    attempt: int,
) -> Job:
    """Its holder's no more; it waits, and nobody takes it for so many seconds."""
    moment = leases.read_moment(connection)
    times = count_postponements(get_held_job(connection, job_id, attempt, lock=True)) + 1
    why = {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "times": str(times),
    }
    return change_job(
        connection,
        job_id,
        state="queued",
        attempts=attempt - 1,
        error=dump_json(why),
        lease=moment.steady + min(seconds, LONGEST_PAUSE),
        process=moment.mark,
        updated_at=moment.wall,
    )


def _list_silent(connection: Connection, leases: Leases) -> Sequence[Any]:
    """Those whose workers hold them no more."""
    rows = connection.execute(_RUNNING).all()
    moment = leases.read_moment(
        connection
    )  # after the rows: a lease that begins later would look too long
    return [row for row in rows if not moment.is_held(row.process, row.lease, row.updated_at)]


_GAVE_UP = dump_json(
    {
        "code": "gave_up",
        "message": "the process that tried it alone died each time",
        "hint": "what was sent is kept: try it again, or cancel it; the log says more",
    }
)
_RUNNING = (
    select(jobs.c.job_id, jobs.c.process, jobs.c.lease, jobs.c.deaths, jobs.c.updated_at)
    .where(jobs.c.state == "running")
    .order_by(jobs.c.job_id)  # so that two who set jobs free never wait for each other
)
# the last holder stays known until there is another, for `record_job_faults`
_FREE = update(jobs).where(
    jobs.c.job_id == bindparam("id"),
    jobs.c.state == "running",
    jobs.c.lease == bindparam("seen"),  # its worker may have given a sign of life since
)
_HELD_BY = (
    select(jobs.c.job_id, jobs.c.faults)
    .where(jobs.c.process == bindparam("holder"), jobs.c.state.in_(["running", "queued"]))
    .order_by(jobs.c.job_id)
    .with_for_update()
)
_BUSY = (
    select(jobs.c.owner, func.count().label("jobs"))
    .where(jobs.c.state == "running")
    .group_by(jobs.c.owner)
    .cte("busy")
)


def _select_waiting(mode: ColumnElement[bool]) -> tuple[Select[Any], Select[Any]]:
    """To look at, and to take: of several that take at once, each gets another one."""
    # a moment by the clock of an earlier start of the machine says nothing, and none is further
    # away than the longest pause
    put_off = and_(
        jobs.c.lease > bindparam("now"),
        jobs.c.lease <= bindparam("longest"),
        find_text(jobs.c.process, bindparam("clock")) > 0,
    )
    urgency = case((jobs.c.created_at < bindparam("aged"), URGENT), else_=jobs.c.priority)
    waiting = (
        select(jobs.c.job_id, jobs.c.attempts)
        .outerjoin(_BUSY, _BUSY.c.owner == jobs.c.owner)
        .where(jobs.c.state == "queued", not_(put_off), mode)
        .where(or_(bindparam("of") == "", jobs.c.kind == bindparam("of")))
        .where(jobs.c.priority <= bindparam("least"))
        .order_by(urgency, func.coalesce(_BUSY.c.jobs, 0), jobs.c.created_at, jobs.c.rowid)
        .limit(1)
    )
    return waiting, waiting.with_for_update(of=jobs, skip_locked=True)


_ALONE = _select_waiting(jobs.c.deaths >= SUSPECT)
_TOGETHER = _select_waiting(jobs.c.deaths < SUSPECT)

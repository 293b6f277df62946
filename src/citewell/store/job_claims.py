"""Which job a worker gets next, and what becomes of one whose worker died or whose disk refused it.
Functions of a connection; `jobs.py` gives the verbs.

The one rule: a death is the job's fault only where it was tried alone, in a process whose death
another one saw.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, text

from citewell.errors import CitewellError
from citewell.store.job_rows import Job, count_postponements, get_held_job, get_row, parse_job
from citewell.store.leases import Leases
from citewell.store.processes import get_clock_mark, has_died, name_this_process

SUSPECT = 2  # deaths of processes that were at a job, after which it is tried alone only
# a job that ended the process it was alone in this often is given up, until somebody wants it tried
# again
MOST_FAULTS = 3
# seconds until a job is tried again that was alone in a process which died; four times as long the
# next time
FAULT_PAUSE = 5.0
LONGEST_PAUSE = 900.0  # that a job is put off


def is_there_work(connection: Connection, leases: Leases, kind: str, *, alone: bool) -> bool:
    """Whether `claim_job` would give one."""
    return (
        bool(_list_silent(connection, leases))
        or find_waiting(connection, leases, kind, alone=alone) is not None
    )


def claim_job(connection: Connection, leases: Leases, kind: str, *, alone: bool) -> Job | None:
    """Those whose workers are silent wait again, and the next one that waits is this process's."""
    for row in _list_silent(connection, leases):
        values = {
            "job_id": row.job_id,
            "deaths": int(has_died(row.process)),
            "now": leases.wall(),
        }
        connection.execute(_FREE, values)
    job_id = find_waiting(connection, leases, kind, alone=alone)
    if job_id is None:
        return None
    values = {
        "job_id": job_id,
        "now": leases.wall(),
        "lease": leases.until(),
        "process": name_this_process(),
    }
    connection.execute(_CLAIM, values)
    return parse_job(get_row(connection, job_id))


def find_waiting(connection: Connection, leases: Leases, kind: str, *, alone: bool) -> str | None:
    """The id of the next job. `alone`: of those that are tried in a process of their own."""
    values = {
        "now": leases.steady(),
        "pause": LONGEST_PAUSE,
        "clock": get_clock_mark(),
        "kind": kind,
    }
    values |= {"suspect": SUSPECT, "alone": alone}
    found: str | None = connection.execute(_WAITING, values).scalar_one_or_none()
    return found


def blame_jobs(connection: Connection, leases: Leases, process: str) -> list[Job]:
    """What this process held was the cause of its death: it waits for a while, or is given up."""
    rows = connection.execute(_HELD_BY, {"process": process}).all()
    for row in rows:
        pause = FAULT_PAUSE * 4**row.faults
        values = {
            "job_id": row.job_id,
            "now": leases.wall(),
            "until": leases.steady() + pause,
        }
        connection.execute(
            _BLAME,
            values | {"clock": get_clock_mark(), "most": MOST_FAULTS, "error": _GAVE_UP},
        )
    return [parse_job(get_row(connection, row.job_id)) for row in rows]


def put_off_job(
    connection: Connection,
    leases: Leases,
    job_id: str,
    error: CitewellError,
    seconds: float,
    attempt: int,
) -> Job:
    """Its holder's no more; it waits, and nobody takes it for so many seconds."""
    times = count_postponements(get_held_job(connection, job_id, attempt)) + 1
    now = leases.wall()
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
    connection.execute(_PUT_OFF, values | {"until": leases.steady() + min(seconds, LONGEST_PAUSE)})
    return parse_job(get_row(connection, job_id))


def _list_silent(connection: Connection, leases: Leases) -> Sequence[Row[Any]]:
    """Those whose workers hold them no more."""
    rows = connection.execute(_RUNNING).all()
    return [row for row in rows if not leases.is_held(row.process, row.lease, row.updated_at)]


_GAVE_UP = json.dumps(
    {
        "code": "gave_up",
        "message": "the process that tried it alone died each time",
        "hint": "what was sent is kept: try it again, or cancel it; the log says more",
    }
)
_RUNNING = text("SELECT job_id, process, lease, updated_at FROM jobs WHERE state = 'running'")
# who held it last stays known, until another does: its end may still be looked into (`blame_jobs`)
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
_PUT_OFF = text(
    """UPDATE jobs SET state = 'queued', attempts = attempts - 1, lease = :until, process = :clock,
        error = :error, updated_at = :now
    WHERE job_id = :job_id"""
)

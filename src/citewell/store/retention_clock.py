"""Up to which moment what is old may be deleted: not at once where the clock has leapt forward. A
clock that is more than a day ahead of what was seen last is believed when it has gone on for a day.
Until then what is past its day is shown to nobody, and kept: who sets the clock right again has
lost nothing.
"""

from __future__ import annotations

from sqlalchemy import Connection, insert, select, update

from citewell.store.schema.memory_tables import moments

DAY = 86_400.0  # seconds
NOTED = 60.0  # seconds that pass between two notes: every writer of a trace would wait for them


def get_deletion_time(connection: Connection, now: float) -> float:
    """The moment to delete by, `now` or earlier; in a writing transaction, for it is noted."""
    row = connection.execute(_GET).first()  # two servers that began at once have noted one each
    if row is None:
        connection.execute(_INSERT, {"trusted": now})
        return now
    if row.ahead is None and row.trusted <= now <= row.trusted + NOTED:
        return now
    # what is decided from here on is decided on the row: once a minute somebody waits for it
    row = connection.execute(_LOCK).all()[0]
    trusted, ahead = row.trusted, row.ahead
    if now <= trusted + DAY + NOTED:
        trusted, ahead = max(trusted, now), None
    elif ahead is None or now < ahead:
        ahead = now
    elif now >= ahead + DAY:
        trusted, ahead = now, None
    if (trusted, ahead) != (row.trusted, row.ahead):
        connection.execute(_CHANGE, {"trusted": trusted, "ahead": ahead})
    return min(now, float(trusted))


_GET = select(moments)
_LOCK = _GET.order_by(moments.c.rowid).with_for_update()
_INSERT = insert(moments)
_CHANGE = update(moments)

"""Up to which moment what is old may be deleted: not at once where the clock has leapt forward.

The one rule: a clock that is more than a day ahead of what was seen last is believed when it has
gone on for a day. Until then what is past its day is shown to nobody, and kept: who sets the clock
right again has lost nothing.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

LEAP = 86_400.0  # seconds


def get_deletion_time(connection: Connection, now: float) -> float:
    """The moment to delete by, `now` or an earlier one; in a transaction that writes, for it notes
    what it has seen.
    """
    row = connection.execute(text("SELECT trusted, ahead FROM moments")).one_or_none()
    if row is None:
        connection.execute(text("INSERT INTO moments (trusted) VALUES (:now)"), {"now": now})
        return now
    trusted, ahead = row.trusted, row.ahead
    if now <= trusted + LEAP:
        trusted, ahead = max(trusted, now), None
    elif ahead is None or now < ahead:
        ahead = now
    elif now >= ahead + LEAP:
        trusted, ahead = now, None
    if (trusted, ahead) != (row.trusted, row.ahead):
        connection.execute(
            text("UPDATE moments SET trusted = :trusted, ahead = :ahead"),
            {"trusted": trusted, "ahead": ahead},
        )
    return min(now, float(trusted))

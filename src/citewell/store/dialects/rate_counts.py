"""How often somebody has asked, over all servers on one PostgreSQL: a row a key, one statement a
request. A home in SQLite has one server, which counts in memory.

The one rule: the weighing is that of `limits`' sliding window counter: the hits of this window, and
of the one before as much as still reaches into the last `seconds`.
"""

from __future__ import annotations

import hashlib

from sqlalchemy import Connection, text

_HIT = text(
    """
    WITH moment AS (SELECT extract(epoch FROM statement_timestamp()) / :seconds AS at)
    INSERT INTO rate_counts AS r (key, slot, hits, hits_before, expires)
    SELECT :key, floor(at), :more, 0, (floor(at) + 2) * :seconds FROM moment
    ON CONFLICT (key) DO UPDATE SET
        hits = CASE WHEN r.slot = excluded.slot THEN r.hits ELSE 0 END + excluded.hits,
        hits_before = CASE WHEN r.slot = excluded.slot THEN r.hits_before
            WHEN r.slot = excluded.slot - 1 THEN r.hits ELSE 0 END,
        slot = excluded.slot, expires = excluded.expires
    WHERE floor(
        CASE WHEN r.slot = excluded.slot THEN r.hits_before
            WHEN r.slot = excluded.slot - 1 THEN r.hits ELSE 0 END
            * (SELECT 1 - at + floor(at) FROM moment)
        + CASE WHEN r.slot = excluded.slot THEN r.hits ELSE 0 END
    ) + :more <= :most
    """
)
_WINDOW = text(
    """
    SELECT CASE WHEN r.slot = floor(at) THEN r.hits_before
            WHEN r.slot = floor(at) - 1 THEN r.hits ELSE 0 END,
        (1 - at + floor(at)) * :seconds,
        CASE WHEN r.slot = floor(at) THEN r.hits ELSE 0 END
    FROM rate_counts AS r,
        (SELECT extract(epoch FROM statement_timestamp()) / :seconds AS at) AS moment
    WHERE r.key = :key
    """
)
_FORGET = text("DELETE FROM rate_counts WHERE key = :key")
_SWEEP = text("DELETE FROM rate_counts WHERE expires < extract(epoch FROM statement_timestamp())")


def count_hit(connection: Connection, key: str, most: int, seconds: int, hits: int = 1) -> bool:
    """So many more within these `seconds`; False, and not counted, where that would be more than
    `most`.
    """
    values = {"key": hash_key(key), "most": most, "seconds": seconds, "more": hits}
    return bool(connection.execute(_HIT, values).rowcount)


def read_window(connection: Connection, key: str, seconds: int) -> tuple[int, float, int]:
    """Hits of the window before, for how many seconds these still count in part, hits of this
    one.
    """
    row = connection.execute(_WINDOW, {"key": hash_key(key), "seconds": seconds}).one_or_none()
    return (int(row[0]), float(row[1]), int(row[2])) if row else (0, 0.0, 0)


def forget_hits(connection: Connection, key: str) -> None:
    connection.execute(_FORGET, {"key": hash_key(key)})


def sweep_counts(connection: Connection) -> None:
    """Rows of which nothing counts any more."""
    connection.execute(_SWEEP)


def hash_key(key: str) -> str:
    """No name and no address is in the table."""
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=16).hexdigest()

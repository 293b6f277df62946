"""The words of chunks, as both databases keep them. How they are searched differs, so the tables
are made apart: FTS5 in SQLite (`migrations`), `migrations/versions` in PostgreSQL.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Text, column, table

words = table("words", column("rowid", BigInteger), column("tokens", Text), column("place", Text))

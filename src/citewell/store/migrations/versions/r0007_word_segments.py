"""Words of many chunks packed by term, in PostgreSQL (`store/index/postgres_blocks.py`). All chunks
that are there wait to be packed: `citewell db upgrade` does it afterwards.
"""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"

_STEPS = (
    # whoever writes words now does so without the log of what is new
    "LOCK TABLE words IN SHARE ROW EXCLUSIVE MODE",
    "CREATE TABLE word_news (chunk bigint PRIMARY KEY)",
    "CREATE TABLE word_gone (chunk bigint PRIMARY KEY)",
    """CREATE TABLE word_segments (segment bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        first bigint NOT NULL, last bigint NOT NULL, ids bigint[] NOT NULL,
        buckets integer NOT NULL)""",
    """CREATE TABLE word_blocks (segment bigint NOT NULL, bucket integer NOT NULL,
        postings bytea NOT NULL, PRIMARY KEY (segment, bucket))""",
    "ALTER TABLE word_blocks ALTER COLUMN postings SET STORAGE EXTERNAL",
    """CREATE OR REPLACE FUNCTION add_word_totals() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
    INSERT INTO word_totals (chunks, tokens)
    SELECT count(*), sum(size) FROM changed HAVING count(*) > 0;
    INSERT INTO word_news SELECT rowid FROM changed;
    RETURN NULL;
    END $$""",
    # one that is being packed holds its row of the news: this waits, and finds it packed
    """CREATE OR REPLACE FUNCTION take_word_totals() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
    INSERT INTO word_totals (chunks, tokens)
    SELECT -count(*), -sum(size) FROM changed HAVING count(*) > 0;
    WITH unpacked AS (DELETE FROM word_news USING changed WHERE word_news.chunk = changed.rowid
        RETURNING word_news.chunk)
    INSERT INTO word_gone SELECT rowid FROM changed
        WHERE rowid NOT IN (SELECT chunk FROM unpacked) ON CONFLICT DO NOTHING;
    RETURN NULL;
    END $$""",
    "INSERT INTO word_news SELECT rowid FROM words",
)


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        for step in _STEPS:
            connection.exec_driver_sql(step)

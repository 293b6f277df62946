"""Steps 10 to 16: leases, sources, feedback, users, and what traces are found by. A step that has
been released is never changed; the next one corrects it.
"""

from __future__ import annotations

import json

from sqlalchemy import Connection, text

from citewell.store.migrations.statements import run_statements


def m010_leases(connection: Connection) -> None:
    """Who is at work on a run: until when without a sign of life, in which process, and how often
    it was begun. And the traces of a session, which go with it.
    """
    run_statements(
        connection,
        "ALTER TABLE runs ADD COLUMN lease REAL NOT NULL DEFAULT 0",
        "ALTER TABLE runs ADD COLUMN process TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE runs ADD COLUMN attempts INTEGER NOT NULL DEFAULT 1",
        "CREATE INDEX traces_session ON traces (session_id)",
    )


def m011_sources(connection: Connection) -> None:
    """Table sources of the data agent. `location` as it was added (a URL with its password: never
    shown), `path` of the copy that is asked where it is a file; `stat`, `tables` (the schema),
    `glossary` are JSON.
    """
    run_statements(
        connection,
        """CREATE TABLE sources (
            name TEXT PRIMARY KEY, dialect TEXT NOT NULL, location TEXT NOT NULL,
            path TEXT NOT NULL, stat TEXT NOT NULL, tables TEXT NOT NULL, fingerprint TEXT NOT NULL,
            glossary TEXT NOT NULL, problem TEXT NOT NULL, created_at REAL NOT NULL,
            refreshed_at REAL NOT NULL)""",
    )


def m012_feedback(connection: Connection) -> None:
    """What people said of answers, and what became of it: confirmed chains, rules, and which
    answers used them.

    `feedback.trace` is the whole trace at that moment, JSON, so that its expiry loses nothing.
    `confirmations`: who stands by an item. `vec` is the vector of `question`, by `embedder`.
    `knowledge_log`: who did what to an item or a rule, when and why.
    """
    run_statements(
        connection,
        """CREATE TABLE feedback (
            feedback_id TEXT PRIMARY KEY, trace_id TEXT NOT NULL, user_id TEXT NOT NULL,
            agent TEXT NOT NULL, is_correct INTEGER NOT NULL, correction TEXT NOT NULL,
            trace TEXT NOT NULL, state TEXT NOT NULL, outcome TEXT NOT NULL, item_id TEXT NOT NULL,
            created_at REAL NOT NULL, updated_at REAL NOT NULL, UNIQUE (trace_id, user_id))""",
        "CREATE INDEX feedback_created ON feedback (created_at)",
        """CREATE TABLE confirmed (
            item_id TEXT PRIMARY KEY, trace_id TEXT NOT NULL, agent TEXT NOT NULL,
            question TEXT NOT NULL, lang TEXT NOT NULL, source TEXT NOT NULL,
            collection TEXT NOT NULL, intent TEXT NOT NULL, logic TEXT NOT NULL,
            answer TEXT NOT NULL, tags TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
            fingerprint TEXT NOT NULL, evidence TEXT NOT NULL, doc_id TEXT NOT NULL,
            uses INTEGER NOT NULL, good INTEGER NOT NULL, bad INTEGER NOT NULL,
            used_at REAL NOT NULL, created_at REAL NOT NULL, updated_at REAL NOT NULL,
            embedder TEXT NOT NULL, vec BLOB NOT NULL)""",
        "CREATE INDEX confirmed_state ON confirmed (state, source, collection)",
        """CREATE TABLE confirmations (
            item_id TEXT NOT NULL REFERENCES confirmed ON DELETE CASCADE, user_id TEXT NOT NULL,
            trace_id TEXT NOT NULL, at REAL NOT NULL,
            PRIMARY KEY (item_id, user_id)) WITHOUT ROWID""",
        """CREATE TABLE rules (
            rule_id TEXT PRIMARY KEY, trace_id TEXT NOT NULL, user_id TEXT NOT NULL,
            agent TEXT NOT NULL, question TEXT NOT NULL, lang TEXT NOT NULL, source TEXT NOT NULL,
            collection TEXT NOT NULL, wrong TEXT NOT NULL, correction TEXT NOT NULL,
            logic TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
            reviewed_by TEXT NOT NULL, uses INTEGER NOT NULL, used_at REAL NOT NULL,
            created_at REAL NOT NULL, updated_at REAL NOT NULL, embedder TEXT NOT NULL,
            vec BLOB NOT NULL)""",
        "CREATE INDEX rules_state ON rules (state, source, collection)",
        """CREATE TABLE knowledge_uses (
            item_id TEXT NOT NULL, trace_id TEXT NOT NULL, how TEXT NOT NULL, at REAL NOT NULL,
            PRIMARY KEY (item_id, trace_id)) WITHOUT ROWID""",
        "CREATE INDEX knowledge_uses_trace ON knowledge_uses (trace_id)",
        """CREATE TABLE knowledge_log (
            item_id TEXT NOT NULL, at REAL NOT NULL, user_id TEXT NOT NULL, action TEXT NOT NULL,
            reason TEXT NOT NULL)""",
        "CREATE INDEX knowledge_log_item ON knowledge_log (item_id, at)",
    )


def m013_users(connection: Connection) -> None:
    """Who may sign in, their tokens and the page's sessions (hashes only), and whose things are
    that are not everybody's.

    `person`: what two spellings of one name share (store/users/identity.py). `expires` 0: never. An
    empty `owner`: shared. What was there is shared, but papers: those are their reader's, and so is
    what was confirmed of them; a job moves that out of all sight.
    """
    run_statements(
        connection,
        """CREATE TABLE users (
            user_id TEXT PRIMARY KEY, person TEXT NOT NULL UNIQUE, role TEXT NOT NULL,
            created_at REAL NOT NULL)""",
        """CREATE TABLE tokens (
            token_id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
            name TEXT NOT NULL, scope TEXT NOT NULL, sha256 TEXT NOT NULL UNIQUE,
            created_at REAL NOT NULL, used_at REAL NOT NULL, expires REAL NOT NULL)""",
        "CREATE INDEX tokens_user ON tokens (user_id, created_at)",
        """CREATE TABLE sign_ins (
            sha256 TEXT PRIMARY KEY, token_id TEXT NOT NULL REFERENCES tokens ON DELETE CASCADE,
            created_at REAL NOT NULL, used_at REAL NOT NULL)""",
        "CREATE INDEX sign_ins_token ON sign_ins (token_id)",
        *(f"ALTER TABLE {table} ADD COLUMN owner TEXT NOT NULL DEFAULT ''" for table in _OWNED),
        """UPDATE collections SET owner = coalesce((SELECT min(user_id) FROM sessions
            WHERE json_valid(session_data)
                AND json_extract(session_data, '$.paper.collection') = collections.name
            HAVING count(DISTINCT user_id) = 1), '')""",
        *(
            f"""UPDATE {table} SET owner =
                coalesce((SELECT owner FROM collections WHERE name = {table}.collection), '')
            WHERE collection <> ''"""  # noqa: S608 - names of ours only
            for table in ("confirmed", "rules")
        ),
        """INSERT INTO jobs (job_id, kind, payload, state, done, total, detail, attempts, lease,
            created_at, updated_at)
            SELECT 'job_' || lower(hex(randomblob(8))), 'feedback', json_object('item_id', item_id),
                'queued', 0, 0, '', 0, 0, updated_at, updated_at
            FROM confirmed WHERE owner <> '' AND doc_id <> ''""",
    )


_OWNED = ("collections", "sources", "jobs", "confirmed", "rules")


def m014_traces_found(connection: Connection) -> None:
    """What traces are looked for by. `words`: question, collection and id, case folded."""
    run_statements(
        connection,
        "ALTER TABLE traces ADD COLUMN agent TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE traces ADD COLUMN status TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE traces ADD COLUMN words TEXT NOT NULL DEFAULT ''",
    )
    change = text(
        "UPDATE traces SET agent = :agent, status = :status, words = :words WHERE trace_id = :id"
    )
    for row in connection.execute(text("SELECT trace_id, trace FROM traces")).all():
        kept = json.loads(row.trace)
        words = " ".join(
            str(kept.get(name, "")) for name in ("question", "collection", "trace_id")
        ).casefold()
        # half a character is no text to a database
        plain = words.encode("utf-8", "replace").decode()
        answer = kept.get("answer") or {}
        connection.execute(
            change,
            {
                "id": row.trace_id,
                "agent": kept.get("agent", ""),
                "status": answer.get("status", ""),
                "words": plain,
            },
        )


def m015_bound_tokens(connection: Connection) -> None:
    """What a page's token may ask: `collection:NAME`, `site:NAME`, or empty (settings)."""
    run_statements(connection, "ALTER TABLE tokens ADD COLUMN bound TEXT NOT NULL DEFAULT ''")


def m016_holders(connection: Connection) -> None:
    """Which process is at a job, how many died that were, and how many in which it was alone. When
    a run gave its last sign of life, by the wall clock: `lease` is by one that counts from the
    machine's start. And up to which moment what is old may be deleted: `trusted`, and `ahead` where
    the clock has leapt past it.
    """
    run_statements(
        connection,
        "ALTER TABLE jobs ADD COLUMN process TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE jobs ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE jobs ADD COLUMN faults INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE runs ADD COLUMN seen_at REAL NOT NULL DEFAULT 0",
        "CREATE TABLE moments (trusted REAL NOT NULL, ahead REAL)",
        "INSERT INTO moments (trusted) SELECT max(created_at) FROM traces HAVING "
        "max(created_at) IS NOT NULL",
    )

"""The tables, as an ordered list of steps that are only ever added to.

The one rule: a step that has been released is never changed; the next one corrects it. Step number
n is the n-th of MIGRATIONS, and runs in one transaction with its record. Times are seconds since
the epoch, ids are text with a prefix.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from sqlalchemy import Connection, text

from citewell.store.migrations_guarded import m017_audit, m018_sealed_sources

APPLICATION_ID = 0x43495445  # "CITE", in the header of the file


def m001_knowledge(connection: Connection) -> None:
    """Collections, documents, their bytes, chunks, vectors, words, and the log of changes that
    indexes in memory follow.
    """
    _run_statements(
        connection,
        f"PRAGMA application_id = {APPLICATION_ID}",
        "CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, "
        "applied_at REAL NOT NULL)",
        "CREATE TABLE collections (name TEXT PRIMARY KEY, created_at REAL NOT NULL)",
        """CREATE TABLE documents (
            doc_id TEXT PRIMARY KEY,
            collection TEXT NOT NULL REFERENCES collections ON DELETE CASCADE,
            uri TEXT NOT NULL, title TEXT NOT NULL, media_type TEXT NOT NULL, lang TEXT NOT NULL,
            sha256 TEXT NOT NULL REFERENCES files, bytes INTEGER NOT NULL, version INTEGER NOT NULL,
            added_at REAL NOT NULL, page_count INTEGER NOT NULL, warnings TEXT NOT NULL,
            sections TEXT NOT NULL, pages TEXT NOT NULL, text TEXT NOT NULL,
            UNIQUE (collection, uri))""",
        "CREATE INDEX documents_sha256 ON documents (sha256)",
        "CREATE TABLE files (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL)",
        # AUTOINCREMENT: an id is never used twice, so nobody who kept one is shown another text
        # under it
        """CREATE TABLE chunks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            doc TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
            collection TEXT NOT NULL, lang TEXT NOT NULL,
            ordinal INTEGER NOT NULL, section INTEGER NOT NULL, first INTEGER NOT NULL,
            last INTEGER NOT NULL, page INTEGER, tokens INTEGER NOT NULL, sha256 TEXT NOT NULL,
            embedder TEXT NOT NULL DEFAULT '', heading_path TEXT NOT NULL, text TEXT NOT NULL)""",
        "CREATE INDEX chunks_doc ON chunks (doc, embedder)",
        "CREATE INDEX chunks_collection ON chunks (collection, embedder)",
        "CREATE INDEX chunks_sha256 ON chunks (sha256)",
        # covers both "which chunks still wait" and all that an index in memory loads beside the
        # vectors
        "CREATE INDEX chunks_embedder ON chunks (embedder, id, collection, doc, lang)",
        # beside the chunks, not in them: an index in memory reads all of these and none of the text
        "CREATE TABLE vectors (chunk INTEGER PRIMARY KEY REFERENCES chunks ON DELETE "
        "CASCADE, vec BLOB NOT NULL)",
        # our own tokens between spaces; `place` holds what filters ask for and does not count in
        # the rank
        """CREATE VIRTUAL TABLE words
            USING fts5 (tokens, place, tokenize = "ascii tokenchars '.-_/:@&+%#'")""",
        "INSERT INTO words (words, rank) VALUES ('rank', 'bm25(1.0, 0.0)')",
        "CREATE TABLE changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, chunk INTEGER NOT NULL)",
        """CREATE TRIGGER vectors_added AFTER INSERT ON vectors
            BEGIN INSERT INTO changes (chunk) VALUES (new.chunk); END""",
        """CREATE TRIGGER vectors_changed AFTER UPDATE ON vectors
            BEGIN INSERT INTO changes (chunk) VALUES (new.chunk); END""",
        """CREATE TRIGGER vectors_gone AFTER DELETE ON vectors
            BEGIN INSERT INTO changes (chunk) VALUES (old.chunk); END""",
        """CREATE TRIGGER chunks_gone AFTER DELETE ON chunks
            BEGIN DELETE FROM words WHERE rowid = old.id; END""",
    )


def m002_sessions(connection: Connection) -> None:
    """Spec 003's one table, with its fields."""
    _run_statements(
        connection,
        """CREATE TABLE sessions (
            session_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, title TEXT,
            current_state TEXT NOT NULL, session_data TEXT, last_updated REAL NOT NULL)""",
        "CREATE INDEX sessions_user ON sessions (user_id, last_updated)",
    )


def m003_traces(connection: Connection) -> None:
    _run_statements(
        connection,
        """CREATE TABLE traces (
            trace_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, created_at REAL NOT NULL,
            expires REAL NOT NULL, trace TEXT NOT NULL)""",
        "CREATE INDEX traces_created ON traces (created_at)",
        "CREATE INDEX traces_expires ON traces (expires)",
    )


def m004_jobs(connection: Connection) -> None:
    _run_statements(
        connection,
        """CREATE TABLE jobs (
            job_id TEXT PRIMARY KEY, kind TEXT NOT NULL, payload TEXT NOT NULL, state TEXT NOT NULL,
            done INTEGER NOT NULL, total INTEGER NOT NULL, detail TEXT NOT NULL, result TEXT,
            error TEXT, attempts INTEGER NOT NULL, lease REAL NOT NULL, created_at REAL NOT NULL,
            updated_at REAL NOT NULL)""",
        "CREATE INDEX jobs_state ON jobs (state, created_at)",
    )


def m005_sections(connection: Connection) -> None:
    """Kinds of chunk, summaries, ways to cut a collection, days and priorities of documents, where
    lines stand on a page.
    """
    _run_statements(
        connection,
        "ALTER TABLE collections ADD COLUMN chunking TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE documents ADD COLUMN dated REAL",
        "ALTER TABLE documents ADD COLUMN priority INTEGER NOT NULL DEFAULT 0",
        # they stand behind the text in their row, so whoever read them there would read the whole
        # text first
        "CREATE INDEX documents_facts ON documents (doc_id, collection, media_type, "
        "priority, dated, added_at)",
        "ALTER TABLE chunks ADD COLUMN kind TEXT NOT NULL DEFAULT 'text'",
        "ALTER TABLE chunks ADD COLUMN author TEXT NOT NULL DEFAULT ''",
        "DROP INDEX chunks_doc",
        "CREATE INDEX chunks_doc ON chunks (doc, ordinal, section, kind, embedder)",
        "DROP INDEX chunks_collection",
        "CREATE INDEX chunks_collection ON chunks (collection, embedder, kind)",
        "DROP INDEX chunks_embedder",
        "CREATE INDEX chunks_embedder ON chunks (embedder, id, collection, doc, lang, kind, "
        "first, last)",
        "CREATE INDEX chunks_summaries ON chunks (author, id) WHERE kind = 'summary'",
        """CREATE TABLE lines (
            doc TEXT NOT NULL REFERENCES documents ON DELETE CASCADE, first INTEGER NOT NULL,
            number INTEGER NOT NULL, last INTEGER NOT NULL, page INTEGER NOT NULL,
            x0 REAL NOT NULL, y0 REAL NOT NULL, x1 REAL NOT NULL, y1 REAL NOT NULL,
            PRIMARY KEY (doc, first, number)) WITHOUT ROWID""",
    )


def m006_containers(connection: Connection) -> None:
    """Files that hold others, by their hash: one that has not changed is not unpacked again.
    `members`: addresses, JSON.
    """
    _run_statements(
        connection,
        """CREATE TABLE containers (
            collection TEXT NOT NULL REFERENCES collections ON DELETE CASCADE, uri TEXT NOT NULL,
            sha256 TEXT NOT NULL, members TEXT NOT NULL,
            PRIMARY KEY (collection, uri)) WITHOUT ROWID""",
    )


def m007_memories(connection: Connection) -> None:
    """What is remembered of users, and the traces in which each memory was used.

    `replaced_by`: a newer memory says otherwise, and this one is its history. `docs` and
    `derived_from` are JSON lists of ids; `vec` is the vector of `subject`, by `embedder`.
    """
    _run_statements(
        connection,
        """CREATE TABLE memories (
            memory_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, kind TEXT NOT NULL,
            subject TEXT NOT NULL, text TEXT NOT NULL, collection TEXT NOT NULL,
            route TEXT NOT NULL, trace_id TEXT NOT NULL, docs TEXT NOT NULL,
            derived_from TEXT NOT NULL, replaced_by TEXT, seen INTEGER NOT NULL,
            created_at REAL NOT NULL, updated_at REAL NOT NULL, expires REAL NOT NULL,
            embedder TEXT NOT NULL, vec BLOB NOT NULL)""",
        "CREATE INDEX memories_user ON memories (user_id, replaced_by, updated_at)",
        "CREATE INDEX memories_expires ON memories (expires)",
        "CREATE INDEX memories_history ON memories (replaced_by)",
        """CREATE TABLE memory_uses (
            memory_id TEXT NOT NULL REFERENCES memories ON DELETE CASCADE, trace_id TEXT NOT NULL,
            PRIMARY KEY (memory_id, trace_id)) WITHOUT ROWID""",
    )


def m008_runs(connection: Connection) -> None:
    """Runs of agents that are not over: how far each came. `request` and `state` are JSON; `holder`
    is who may write them. And whose each trace is.
    """
    _run_statements(
        connection,
        "ALTER TABLE traces ADD COLUMN user_id TEXT NOT NULL DEFAULT 'local'",
        "DROP INDEX traces_created",
        "CREATE INDEX traces_created ON traces (user_id, created_at)",
        """CREATE TABLE runs (
            trace_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, agent TEXT NOT NULL,
            request TEXT NOT NULL, next TEXT NOT NULL, state TEXT NOT NULL, holder TEXT NOT NULL,
            started_at REAL NOT NULL, updated_at REAL NOT NULL)""",
        "CREATE INDEX runs_updated ON runs (updated_at)",
    )


def m009_pages(connection: Connection) -> None:
    """Pages fetched from the web, sites that were explored, and on which page an answer to a
    question was found.

    `key` is `ingest.urls.identity` of an address: what addresses are compared by. `pages` are under
    the address that they were found at in the end, `redirects` lead there from those that were
    asked for. No reference to documents: a new version of a document deletes its row first, and
    what is kept of its page must outlive that.
    """
    _run_statements(
        connection,
        # `links`, JSON, is long and stands last: who wants the rest does not read it
        """CREATE TABLE pages (
            collection TEXT NOT NULL REFERENCES collections ON DELETE CASCADE, key TEXT NOT NULL,
            uri TEXT NOT NULL, doc_id TEXT NOT NULL, title TEXT NOT NULL, sha256 TEXT NOT NULL,
            etag TEXT NOT NULL, last_modified TEXT NOT NULL, fetched_at REAL NOT NULL,
            checked_at REAL NOT NULL, problem TEXT NOT NULL, code TEXT NOT NULL,
            links TEXT NOT NULL, PRIMARY KEY (collection, key))""",
        """CREATE TABLE redirects (
            collection TEXT NOT NULL REFERENCES collections ON DELETE CASCADE, key TEXT NOT NULL,
            url TEXT NOT NULL, target TEXT NOT NULL, checked_at REAL NOT NULL,
            PRIMARY KEY (collection, key))""",
        "CREATE INDEX redirects_target ON redirects (collection, target)",
        """CREATE TABLE sites (
            collection TEXT PRIMARY KEY REFERENCES collections ON DELETE CASCADE,
            start_urls TEXT NOT NULL, allowed_domains TEXT NOT NULL, instruction TEXT NOT NULL,
            created_at REAL NOT NULL, updated_at REAL NOT NULL)""",
        """CREATE TABLE finds (
            collection TEXT NOT NULL REFERENCES collections ON DELETE CASCADE, key TEXT NOT NULL,
            asked TEXT NOT NULL, uri TEXT NOT NULL, at REAL NOT NULL, embedder TEXT NOT NULL,
            vec BLOB NOT NULL, PRIMARY KEY (collection, key, asked))""",
        "CREATE INDEX finds_at ON finds (collection, at)",
    )


def m010_leases(connection: Connection) -> None:
    """Who is at work on a run: until when without a sign of life, in which process, and how often
    it was begun. And the traces of a session, which go with it.
    """
    _run_statements(
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
    _run_statements(
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
    _run_statements(
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
    _run_statements(
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
    """What traces are looked for by, beside the trace itself. `words`: question, collection and id,
    case folded.
    """
    _run_statements(
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
    """What a token for a page of another site may ask, as `collection:NAME` or `site:NAME`; empty:
    what the settings open.
    """
    _run_statements(connection, "ALTER TABLE tokens ADD COLUMN bound TEXT NOT NULL DEFAULT ''")


def m016_holders(connection: Connection) -> None:
    """Which process is at a job, how many died that were, and how many in which it was alone. When
    a run gave its last sign of life, by the wall clock: `lease` is by one that counts from the
    machine's start. And up to which moment what is old may be deleted: `trusted`, and `ahead` where
    the clock has leapt past it.
    """
    _run_statements(
        connection,
        "ALTER TABLE jobs ADD COLUMN process TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE jobs ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE jobs ADD COLUMN faults INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE runs ADD COLUMN seen_at REAL NOT NULL DEFAULT 0",
        "CREATE TABLE moments (trusted REAL NOT NULL, ahead REAL)",
        "INSERT INTO moments (trusted) SELECT max(created_at) FROM traces HAVING "
        "max(created_at) IS NOT NULL",
    )


MIGRATIONS: list[Callable[[Connection], None]] = [
    m001_knowledge,
    m002_sessions,
    m003_traces,
    m004_jobs,
    m005_sections,
    m006_containers,
    m007_memories,
    m008_runs,
    m009_pages,
    m010_leases,
    m011_sources,
    m012_feedback,
    m013_users,
    m014_traces_found,
    m015_bound_tokens,
    m016_holders,
    m017_audit,
    m018_sealed_sources,
]


def _run_statements(connection: Connection, *statements: str) -> None:
    for statement in statements:
        connection.exec_driver_sql(statement)

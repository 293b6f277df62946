"""Steps 1 to 9: documents, sessions, traces, jobs, memories, runs, pages. A step that has been
released is never changed; the next one corrects it.
"""

from __future__ import annotations

from sqlalchemy import Connection

from citewell.store.migrations.statements import APPLICATION_ID, run_statements


def m001_knowledge(connection: Connection) -> None:
    """Collections, documents, bytes, chunks, vectors, words, and the log of their changes."""
    run_statements(
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
    run_statements(
        connection,
        """CREATE TABLE sessions (
            session_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, title TEXT,
            current_state TEXT NOT NULL, session_data TEXT, last_updated REAL NOT NULL)""",
        "CREATE INDEX sessions_user ON sessions (user_id, last_updated)",
    )


def m003_traces(connection: Connection) -> None:
    run_statements(
        connection,
        """CREATE TABLE traces (
            trace_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, created_at REAL NOT NULL,
            expires REAL NOT NULL, trace TEXT NOT NULL)""",
        "CREATE INDEX traces_created ON traces (created_at)",
        "CREATE INDEX traces_expires ON traces (expires)",
    )


def m004_jobs(connection: Connection) -> None:
    run_statements(
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
    run_statements(
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
    """Files that hold others, by hash: unchanged ones are not unpacked again. `members`: JSON."""
    run_statements(
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
    run_statements(
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
    run_statements(
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
    run_statements(
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

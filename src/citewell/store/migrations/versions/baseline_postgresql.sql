-- All tables as they were when PostgreSQL came. Never changed once it is released.

CREATE TABLE audit (
    seq BIGSERIAL NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    who TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    detail TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    mac TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (seq)
);

CREATE INDEX audit_action ON audit (action);

CREATE TABLE audit_count (
    audit BIGINT NOT NULL,
    entries BIGINT NOT NULL,
    PRIMARY KEY (audit)
);

CREATE TABLE audit_names (
    alias TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    salt BYTEA NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (alias),
    UNIQUE (name)
);

CREATE TABLE boards (
    board_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    shared BIGINT NOT NULL,
    refresh_seconds BIGINT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (board_id)
);

CREATE TABLE changes (
    seq BIGSERIAL NOT NULL,
    chunk BIGINT NOT NULL,
    PRIMARY KEY (seq)
);

CREATE TABLE collections (
    name TEXT COLLATE "C" NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    chunking TEXT COLLATE "C" DEFAULT '{}' NOT NULL,
    owner TEXT COLLATE "C" DEFAULT '' NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (name)
);

CREATE TABLE confirmed (
    item_id TEXT COLLATE "C" NOT NULL,
    trace_id TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    question TEXT COLLATE "C" NOT NULL,
    lang TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    intent TEXT COLLATE "C" NOT NULL,
    logic TEXT COLLATE "C" NOT NULL,
    answer TEXT COLLATE "C" NOT NULL,
    tags TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    evidence TEXT COLLATE "C" NOT NULL,
    doc_id TEXT COLLATE "C" NOT NULL,
    uses BIGINT NOT NULL,
    good BIGINT NOT NULL,
    bad BIGINT NOT NULL,
    used_at DOUBLE PRECISION NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    embedder TEXT COLLATE "C" NOT NULL,
    vec BYTEA NOT NULL,
    owner TEXT COLLATE "C" DEFAULT '' NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (item_id)
);

CREATE INDEX confirmed_state ON confirmed (state, source, collection);

CREATE TABLE feedback (
    feedback_id TEXT COLLATE "C" NOT NULL,
    trace_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    is_correct BIGINT NOT NULL,
    correction TEXT COLLATE "C" NOT NULL,
    trace TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    item_id TEXT COLLATE "C" NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (feedback_id),
    UNIQUE (trace_id, user_id)
);

CREATE INDEX feedback_created ON feedback (created_at);

CREATE TABLE files (
    sha256 TEXT COLLATE "C" NOT NULL,
    data BYTEA NOT NULL,
    place TEXT COLLATE "C" DEFAULT '' NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (sha256)
);

CREATE TABLE folders (
    folder_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (folder_id),
    UNIQUE (user_id, name)
);

CREATE TABLE jobs (
    job_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    payload TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    done BIGINT NOT NULL,
    total BIGINT NOT NULL,
    detail TEXT COLLATE "C" NOT NULL,
    result TEXT COLLATE "C",
    error TEXT COLLATE "C",
    attempts BIGINT NOT NULL,
    lease DOUBLE PRECISION NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    owner TEXT COLLATE "C" DEFAULT '' NOT NULL,
    process TEXT COLLATE "C" DEFAULT '' NOT NULL,
    deaths BIGINT DEFAULT 0 NOT NULL,
    faults BIGINT DEFAULT 0 NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (job_id)
);

CREATE INDEX jobs_state ON jobs (state, created_at);

CREATE TABLE knowledge_log (
    item_id TEXT COLLATE "C" NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY
);

CREATE INDEX knowledge_log_item ON knowledge_log (item_id, at);

CREATE TABLE knowledge_uses (
    item_id TEXT COLLATE "C" NOT NULL,
    trace_id TEXT COLLATE "C" NOT NULL,
    how TEXT COLLATE "C" NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (item_id, trace_id)
);

CREATE INDEX knowledge_uses_trace ON knowledge_uses (trace_id);

CREATE TABLE memories (
    memory_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    route TEXT COLLATE "C" NOT NULL,
    trace_id TEXT COLLATE "C" NOT NULL,
    docs TEXT COLLATE "C" NOT NULL,
    derived_from TEXT COLLATE "C" NOT NULL,
    replaced_by TEXT COLLATE "C",
    seen BIGINT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION NOT NULL,
    embedder TEXT COLLATE "C" NOT NULL,
    vec BYTEA NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (memory_id)
);

CREATE INDEX memories_expires ON memories (expires);

CREATE INDEX memories_history ON memories (replaced_by);

CREATE INDEX memories_user ON memories (user_id, replaced_by, updated_at);

CREATE TABLE moments (
    trusted DOUBLE PRECISION NOT NULL,
    ahead DOUBLE PRECISION,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY
);

CREATE TABLE rules (
    rule_id TEXT COLLATE "C" NOT NULL,
    trace_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    question TEXT COLLATE "C" NOT NULL,
    lang TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    wrong TEXT COLLATE "C" NOT NULL,
    correction TEXT COLLATE "C" NOT NULL,
    logic TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    reviewed_by TEXT COLLATE "C" NOT NULL,
    uses BIGINT NOT NULL,
    used_at DOUBLE PRECISION NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    embedder TEXT COLLATE "C" NOT NULL,
    vec BYTEA NOT NULL,
    owner TEXT COLLATE "C" DEFAULT '' NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (rule_id)
);

CREATE INDEX rules_state ON rules (state, source, collection);

CREATE TABLE runs (
    trace_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    request TEXT COLLATE "C" NOT NULL,
    next TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    holder TEXT COLLATE "C" NOT NULL,
    started_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    lease DOUBLE PRECISION DEFAULT 0 NOT NULL,
    process TEXT COLLATE "C" DEFAULT '' NOT NULL,
    attempts BIGINT DEFAULT 1 NOT NULL,
    seen_at DOUBLE PRECISION DEFAULT 0 NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (trace_id)
);

CREATE INDEX runs_updated ON runs (updated_at);

CREATE TABLE saved_questions (
    saved_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    sql TEXT COLLATE "C" NOT NULL,
    question TEXT COLLATE "C" NOT NULL,
    edited BIGINT NOT NULL,
    chart TEXT COLLATE "C" NOT NULL,
    lang TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    shared BIGINT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (saved_id)
);

CREATE INDEX saved_questions_owner ON saved_questions (owner);

CREATE TABLE sessions (
    session_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C",
    current_state TEXT COLLATE "C" NOT NULL,
    session_data TEXT COLLATE "C",
    last_updated DOUBLE PRECISION NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (session_id)
);

CREATE INDEX sessions_user ON sessions (user_id, last_updated);

CREATE TABLE sources (
    name TEXT COLLATE "C" NOT NULL,
    dialect TEXT COLLATE "C" NOT NULL,
    location TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    stat TEXT COLLATE "C" NOT NULL,
    tables TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    problem TEXT COLLATE "C" NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    refreshed_at DOUBLE PRECISION NOT NULL,
    owner TEXT COLLATE "C" DEFAULT '' NOT NULL,
    description TEXT COLLATE "C" DEFAULT '' NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (name)
);

CREATE TABLE traces (
    trace_id TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION NOT NULL,
    trace TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" DEFAULT 'local' NOT NULL,
    agent TEXT COLLATE "C" DEFAULT '' NOT NULL,
    status TEXT COLLATE "C" DEFAULT '' NOT NULL,
    words TEXT COLLATE "C" DEFAULT '' NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (trace_id)
);

CREATE INDEX traces_created ON traces (user_id, created_at);

CREATE INDEX traces_expires ON traces (expires);

CREATE INDEX traces_session ON traces (session_id);

CREATE TABLE users (
    user_id TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (user_id),
    UNIQUE (person)
);

CREATE TABLE board_cards (
    board TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    card TEXT COLLATE "C" NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (board, position),
    FOREIGN KEY(board) REFERENCES boards (board_id) ON DELETE CASCADE,
    FOREIGN KEY(card) REFERENCES saved_questions (saved_id) ON DELETE CASCADE
);

CREATE INDEX board_cards_card ON board_cards (card);

CREATE TABLE confirmations (
    item_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    trace_id TEXT COLLATE "C" NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (item_id, user_id),
    FOREIGN KEY(item_id) REFERENCES confirmed (item_id) ON DELETE CASCADE
);

CREATE TABLE containers (
    collection TEXT COLLATE "C" NOT NULL,
    uri TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    members TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (collection, uri),
    FOREIGN KEY(collection) REFERENCES collections (name) ON DELETE CASCADE
);

CREATE TABLE documents (
    doc_id TEXT COLLATE "C" NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    uri TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    media_type TEXT COLLATE "C" NOT NULL,
    lang TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL,
    version BIGINT NOT NULL,
    added_at DOUBLE PRECISION NOT NULL,
    page_count BIGINT NOT NULL,
    warnings TEXT COLLATE "C" NOT NULL,
    sections TEXT COLLATE "C" NOT NULL,
    pages TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    dated DOUBLE PRECISION,
    priority BIGINT DEFAULT 0 NOT NULL,
    gone_since DOUBLE PRECISION,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (doc_id),
    UNIQUE (collection, uri),
    FOREIGN KEY(collection) REFERENCES collections (name) ON DELETE CASCADE,
    FOREIGN KEY(sha256) REFERENCES files (sha256)
);

CREATE INDEX documents_facts ON documents (doc_id, collection, media_type, priority, dated, added_at, gone_since);

CREATE INDEX documents_gone ON documents (doc_id) WHERE gone_since IS NOT NULL;

CREATE INDEX documents_sha256 ON documents (sha256);

CREATE TABLE finds (
    collection TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    asked TEXT COLLATE "C" NOT NULL,
    uri TEXT COLLATE "C" NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    embedder TEXT COLLATE "C" NOT NULL,
    vec BYTEA NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (collection, key, asked),
    FOREIGN KEY(collection) REFERENCES collections (name) ON DELETE CASCADE
);

CREATE INDEX finds_at ON finds (collection, at);

CREATE TABLE memory_uses (
    memory_id TEXT COLLATE "C" NOT NULL,
    trace_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (memory_id, trace_id),
    FOREIGN KEY(memory_id) REFERENCES memories (memory_id) ON DELETE CASCADE
);

CREATE TABLE pages (
    collection TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    uri TEXT COLLATE "C" NOT NULL,
    doc_id TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    etag TEXT COLLATE "C" NOT NULL,
    last_modified TEXT COLLATE "C" NOT NULL,
    fetched_at DOUBLE PRECISION NOT NULL,
    checked_at DOUBLE PRECISION NOT NULL,
    problem TEXT COLLATE "C" NOT NULL,
    code TEXT COLLATE "C" NOT NULL,
    links TEXT COLLATE "C" NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (collection, key),
    FOREIGN KEY(collection) REFERENCES collections (name) ON DELETE CASCADE
);

CREATE TABLE redirects (
    collection TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    url TEXT COLLATE "C" NOT NULL,
    target TEXT COLLATE "C" NOT NULL,
    checked_at DOUBLE PRECISION NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (collection, key),
    FOREIGN KEY(collection) REFERENCES collections (name) ON DELETE CASCADE
);

CREATE INDEX redirects_target ON redirects (collection, target);

CREATE TABLE shares (
    share_id TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    messages BIGINT NOT NULL,
    named BIGINT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (share_id),
    FOREIGN KEY(session_id) REFERENCES sessions (session_id) ON DELETE CASCADE
);

CREATE INDEX shares_session ON shares (session_id);

CREATE TABLE sites (
    collection TEXT COLLATE "C" NOT NULL,
    start_urls TEXT COLLATE "C" NOT NULL,
    allowed_domains TEXT COLLATE "C" NOT NULL,
    instruction TEXT COLLATE "C" NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (collection),
    FOREIGN KEY(collection) REFERENCES collections (name) ON DELETE CASCADE
);

CREATE TABLE syncs (
    sync_id TEXT COLLATE "C" NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    place TEXT COLLATE "C" NOT NULL,
    options TEXT COLLATE "C" NOT NULL,
    secret TEXT COLLATE "C" NOT NULL,
    every DOUBLE PRECISION NOT NULL,
    next_at DOUBLE PRECISION NOT NULL,
    job_id TEXT COLLATE "C" NOT NULL,
    mark TEXT COLLATE "C" NOT NULL,
    report TEXT COLLATE "C" NOT NULL,
    ran_at DOUBLE PRECISION NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (sync_id),
    FOREIGN KEY(collection) REFERENCES collections (name) ON DELETE CASCADE
);

CREATE INDEX syncs_collection ON syncs (collection);

CREATE TABLE tokens (
    token_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    used_at DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION NOT NULL,
    bound TEXT COLLATE "C" DEFAULT '' NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (token_id),
    FOREIGN KEY(user_id) REFERENCES users (user_id) ON DELETE CASCADE,
    UNIQUE (sha256)
);

CREATE INDEX tokens_user ON tokens (user_id, created_at);

CREATE TABLE chunks (
    id BIGSERIAL NOT NULL,
    doc TEXT COLLATE "C" NOT NULL,
    collection TEXT COLLATE "C" NOT NULL,
    lang TEXT COLLATE "C" NOT NULL,
    ordinal BIGINT NOT NULL,
    section BIGINT NOT NULL,
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    page BIGINT,
    tokens BIGINT NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    embedder TEXT COLLATE "C" DEFAULT '' NOT NULL,
    heading_path TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" DEFAULT 'text' NOT NULL,
    author TEXT COLLATE "C" DEFAULT '' NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(doc) REFERENCES documents (doc_id) ON DELETE CASCADE
);

CREATE INDEX chunks_collection ON chunks (collection, embedder, kind);

CREATE INDEX chunks_doc ON chunks (doc, ordinal, section, kind, embedder);

CREATE INDEX chunks_embedder ON chunks (embedder, id, collection, doc, lang, kind, first, last);

CREATE INDEX chunks_sha256 ON chunks (sha256);

CREATE INDEX chunks_summaries ON chunks (author, id) WHERE kind = 'summary';

CREATE TABLE lines (
    doc TEXT COLLATE "C" NOT NULL,
    first BIGINT NOT NULL,
    number BIGINT NOT NULL,
    last BIGINT NOT NULL,
    page BIGINT NOT NULL,
    x0 DOUBLE PRECISION NOT NULL,
    y0 DOUBLE PRECISION NOT NULL,
    x1 DOUBLE PRECISION NOT NULL,
    y1 DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (doc, first, number),
    FOREIGN KEY(doc) REFERENCES documents (doc_id) ON DELETE CASCADE
);

CREATE TABLE question_sets (
    doc TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (doc),
    FOREIGN KEY(doc) REFERENCES documents (doc_id) ON DELETE CASCADE
);

CREATE TABLE share_readers (
    share_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (share_id, user_id),
    FOREIGN KEY(share_id) REFERENCES shares (share_id) ON DELETE CASCADE
);

CREATE TABLE sign_ins (
    sha256 TEXT COLLATE "C" NOT NULL,
    token_id TEXT COLLATE "C" NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    used_at DOUBLE PRECISION NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (sha256),
    FOREIGN KEY(token_id) REFERENCES tokens (token_id) ON DELETE CASCADE
);

CREATE INDEX sign_ins_token ON sign_ins (token_id);

CREATE TABLE sync_items (
    sync_id TEXT COLLATE "C" NOT NULL,
    uri TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    problem TEXT COLLATE "C" NOT NULL,
    seen_at DOUBLE PRECISION NOT NULL,
    gone_at DOUBLE PRECISION,
    document TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (sync_id, uri),
    FOREIGN KEY(sync_id) REFERENCES syncs (sync_id) ON DELETE CASCADE
);

CREATE INDEX sync_items_document ON sync_items (document);

CREATE TABLE questions (
    doc TEXT COLLATE "C" NOT NULL,
    question TEXT COLLATE "C" NOT NULL,
    lang TEXT COLLATE "C" NOT NULL,
    confidence DOUBLE PRECISION NOT NULL,
    embedder TEXT COLLATE "C" NOT NULL,
    vector BYTEA NOT NULL,
    rowid BIGINT GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (doc, question),
    FOREIGN KEY(doc) REFERENCES question_sets (doc) ON DELETE CASCADE
);

CREATE TABLE vectors (
    chunk BIGINT NOT NULL,
    vec BYTEA NOT NULL,
    PRIMARY KEY (chunk),
    FOREIGN KEY(chunk) REFERENCES chunks (id) ON DELETE CASCADE
);

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the audit log is only added to'; END $$;

CREATE TRIGGER audit_unchanged BEFORE UPDATE OR DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();

CREATE EXTENSION IF NOT EXISTS vector;

-- vectors do not get smaller by being packed
ALTER TABLE vectors ALTER COLUMN vec SET STORAGE EXTERNAL;

CREATE TABLE words (rowid bigint PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
collection text COLLATE "C" NOT NULL, doc text COLLATE "C" NOT NULL,
lang text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
first bigint NOT NULL, last bigint NOT NULL, size bigint NOT NULL, tokens text COLLATE "C" NOT NULL, terms integer[] NOT NULL,
weights sparsevec NOT NULL);

CREATE INDEX words_terms ON words USING gin (terms);

CREATE INDEX words_collection ON words (collection, kind);

CREATE INDEX words_doc ON words (doc);

CREATE TABLE word_totals (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
chunks bigint NOT NULL, tokens bigint NOT NULL);

CREATE FUNCTION add_word_totals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
INSERT INTO word_totals (chunks, tokens)
SELECT count(*), sum(size) FROM changed HAVING count(*) > 0;
RETURN NULL;
END $$;

CREATE FUNCTION take_word_totals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
INSERT INTO word_totals (chunks, tokens)
SELECT -count(*), -sum(size) FROM changed HAVING count(*) > 0;
RETURN NULL;
END $$;

-- without it they would grow by a row with each document; only who makes the 500th joins them
CREATE FUNCTION join_word_totals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
WITH gone AS (DELETE FROM word_totals WHERE seq IN (SELECT seq FROM word_totals
ORDER BY seq LIMIT 1000 FOR UPDATE SKIP LOCKED) RETURNING chunks, tokens)
INSERT INTO word_totals (chunks, tokens) SELECT sum(chunks), sum(tokens) FROM gone;
RETURN NULL;
END $$;

CREATE TRIGGER word_totals_joined AFTER INSERT ON word_totals FOR EACH ROW
WHEN (mod(new.seq, 500) = 0) EXECUTE FUNCTION join_word_totals();

CREATE TRIGGER words_added AFTER INSERT ON words REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION add_word_totals();

CREATE TRIGGER words_gone AFTER DELETE ON words REFERENCING OLD TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION take_word_totals();

CREATE TABLE vector_index (chunk bigint PRIMARY KEY REFERENCES chunks (id)
ON DELETE CASCADE, embedder text COLLATE "C" NOT NULL, collection text COLLATE "C" NOT NULL, doc text COLLATE "C" NOT NULL,
lang text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
first bigint NOT NULL, last bigint NOT NULL, vec halfvec NOT NULL);

CREATE INDEX vector_index_facts ON vector_index (embedder, collection, kind, lang);

CREATE INDEX vector_index_doc ON vector_index (doc);

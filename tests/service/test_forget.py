"""A person is forgotten everywhere, others keep what is theirs, and the scan that says so can
fail.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, String, insert, inspect, select, update
from tests.service.made_traces import data_trace

from citewell.config import Settings
from citewell.errors import Conflict, NotFound
from citewell.runtime.app import App, make_database
from citewell.service.admin.backup import create_backup
from citewell.service.admin.backup_verify import note_backup
from citewell.service.admin.forget_person import forget_person
from citewell.service.admin.users import add_user
from citewell.service.knowledge import review_knowledge as knowledge
from citewell.service.knowledge.feedback_job import run_pending_jobs
from citewell.service.knowledge.give_feedback import submit_feedback
from citewell.store.confirmed.item_files import get_item_path
from citewell.store.schema.conversations import sessions
from citewell.store.schema.knowledge import confirmations
from citewell.store.schema.metadata import metadata
from citewell.store.users.actor import ACTOR, Actor
from citewell.store.users.person_columns import (
    GO_ALONG,
    LOOKS_LIKE_A_PERSON,
    MACHINES,
    NOBODY,
    PERSON_COLUMNS,
    count_person_rows,
)
from citewell.store.users.person_scan import scan_tables

FILLED = {  # a row of each table, with the columns that are not a user's
    "runs": "trace_id, agent, request, next, state, holder, started_at, updated_at",
    "live_runs": "trace_id, question, agent, session_id, wish, started_at, seen_at, ended_at",
    "traces": "trace_id, session_id, created_at, expires, trace",
    "sessions": "session_id, current_state, session_data, last_updated",
    "memories": "memory_id, kind, subject, text, collection, route, trace_id, docs, "
    "derived_from, seen, created_at, updated_at, expires, embedder, vec",
    "feedback": "feedback_id, trace_id, agent, is_correct, correction, trace, state, outcome, "
    "item_id, created_at, updated_at",
    "confirmed": "item_id, trace_id, agent, question, lang, source, collection, intent, logic, "
    "answer, tags, state, reason, fingerprint, evidence, doc_id, uses, good, bad, used_at, "
    "created_at, updated_at, embedder, vec",
    "confirmations": "item_id, trace_id, at",
    "rules": "rule_id, trace_id, agent, question, lang, source, collection, wrong, correction, "
    "logic, state, reason, uses,"
    " used_at, created_at, updated_at, embedder, vec",
    "knowledge_log": "item_id, at, action, reason",
    "jobs": "job_id, kind, payload, state, done, total, detail, attempts, lease, created_at, "
    "updated_at",
    "sources": "name, dialect, location, path, stat, tables, fingerprint, description, problem, "
    "created_at, refreshed_at",
    "collections": "name, created_at",
    "saved_questions": "saved_id, name, source, sql, question, edited, chart, lang, shared, "
    "created_at, updated_at",
    "boards": "board_id, name, shared, refresh_seconds, created_at, updated_at",
    "folders": "folder_id, name, created_at",
    "shares": "share_id, session_id, messages, named, created_at, expires_at",
    "share_readers": "share_id",
}
GIVEN: dict[str, Any] = {
    "session_data": "{}",
    "payload": "{}",
    "request": "{}",
    "stat": "{}",
    "tables": "[]",
}
GIVEN |= {
    "state": "undone",
    "docs": "[]",
    "derived_from": "[]",
    "is_correct": 1,
    "vec": b"",
    "trace": "{}",
    "intent": "{}",
    "evidence": "[]",
    "tags": "[]",
}
OTHER = {"reviewed_by", "owner", "user_id"}


def fill(connection: Connection, user: str) -> None:
    """A row of this user in every table that can hold one, by every column."""
    _row(connection, "confirmed", f"house-{user}", {"owner": ""})
    _row(connection, "sessions", f"kept-{user}", {"user_id": "house"})
    _row(connection, "shares", f"kept-{user}", {"user_id": "house", "session_id": f"kept-{user}"})
    refers = {
        "confirmations": {"item_id": f"house-{user}"},
        "shares": {"session_id": f"kept-{user}"},
        "share_readers": {"share_id": f"kept-{user}"},
    }
    for n, held in enumerate(each for each in PERSON_COLUMNS if each.table in FILLED):
        others = {*metadata.tables[held.table].c.keys()} & OTHER
        extra = dict.fromkeys(others, "house") | {held.column: user}
        _row(
            connection,
            held.table,
            f"{user}-{n}",
            extra | refers.get(held.table, {}),
        )


def _row(connection: Connection, table: str, which: str, extra: dict[str, str]) -> None:
    kinds = {column.name: column.type for column in metadata.tables[table].c}
    columns = [each.strip() for each in FILLED[table].split(",")]
    row: dict[str, Any] = {
        name: GIVEN.get(name, which if isinstance(kinds[name], String) else 1) for name in columns
    }
    row |= extra
    row |= (
        {"state": "done"}
        if table in {"jobs", "feedback"}
        else {"dialect": "duckdb"}
        if table == "sources"
        else {}
    )
    connection.execute(insert(metadata.tables[table]), row)


async def filled(app: App) -> None:
    ACTOR.set(Actor("boss", "http"))
    await add_user(app, "boss", "admin")
    for name in ("ann", "bob"):
        token = (await add_user(app, name, "editor")).info.token_id
        await app.users.sign_in(token)
        await app.db.write(lambda connection, name=name: fill(connection, name))  # type: ignore[misc]


async def test_every_column_of_a_person_is_declared(app: App) -> None:
    """A new table with a user in it fails here until person_columns.py says what becomes of it."""

    def columns(connection: Connection) -> set[tuple[str, str]]:
        schema = inspect(connection)
        return {(t, c["name"]) for t in schema.get_table_names() for c in schema.get_columns(t)}

    there = await app.db.read(columns)
    declared = {(held.table, held.column) for held in PERSON_COLUMNS}
    assert declared <= there
    missing = (
        {each for each in there if LOOKS_LIKE_A_PERSON.search(each[1])}
        - declared
        - NOBODY
        - MACHINES
    )
    assert missing == set()
    assert {("audit_names", "name"), ("audit", "who")} <= there
    assert {table for table, _ in there} >= {*GO_ALONG, *GO_ALONG.values()}


async def test_one_is_forgotten_and_the_other_is_not(app: App) -> None:
    """Every table has a row of both; after it, only those of the other, and the house's without the
    name.
    """
    await filled(app)
    before = await app.db.read(
        lambda connection: (
            count_person_rows(connection, "ann"),
            count_person_rows(connection, "bob"),
        )
    )
    assert before[0].keys() == before[1].keys()
    assert before[0].keys() >= {held.table for held in PERSON_COLUMNS} | {"sign_ins"}
    gone = await forget_person(app, "ANN")  # two ways to write one name are one person
    assert gone.left.found == {}
    assert gone.left.columns > 150
    # the files of PostgreSQL are its server's
    assert (gone.left.bytes > 100_000) == (app.db.dialect == "sqlite")
    assert {*gone.removed} >= {
        "sessions",
        "traces",
        "memories",
        "feedback",
        "tokens",
        "users",
        "sign_ins",
        "runs",
        "jobs",
    }
    assert {*gone.nameless} == {"confirmations", "rules", "knowledge_log"}
    after = await app.db.read(
        lambda connection: (
            count_person_rows(connection, "ann"),
            count_person_rows(connection, "bob"),
        )
    )
    assert after == ({}, before[1])
    assert [each.user_id for each in await app.users.list()] == ["bob", "boss"]


async def test_the_log_holds_and_has_no_name(app: App) -> None:
    await filled(app)
    await forget_person(app, "ann")
    assert (await app.audit.verify()).damage == []
    [entry, *_] = await app.audit.list()
    assert (entry.who, entry.action, entry.subject) == ("boss", "user.forget", "")
    assert entry.detail["rows"]["sessions"] == 1
    assert "ann" not in {each.subject for each in await app.audit.list() if each.kind == "user"}


@pytest.mark.sqlite
async def test_the_bytes_of_the_file_hold_nothing(app: App, settings: Settings) -> None:
    """Not what they asked either, in the database and its log of writes."""
    session = await app.sessions.create("qa", "ann", "a title that stands nowhere else")
    await app.sessions.set_data(session.session_id, {"said": "zyzzyva " * 2_000})
    assert b"zyzzyva" in bytes_of(settings)
    gone = await forget_person(app, "ann")
    assert gone.removed == {"sessions": 1}
    for each in (b"zyzzyva", b"stands nowhere else", session.session_id.encode()):
        assert each not in bytes_of(settings)


def bytes_of(settings: Settings) -> bytes:
    return b"".join(each.read_bytes() for each in sorted(settings.home.glob("citewell.db*")))


async def test_the_scan_finds_what_is_left(app: App) -> None:
    """In a column that is declared, in JSON of any table; and not in the words of a document."""
    await app.sessions.create("qa", "bob")
    said = {
        "session_data": '{"turns": [{"user_id": "Ann"}]}',
        "title": "ann went to the market; owner: bob",
    }
    await app.db.write(lambda c: c.execute(update(sessions), said) and None)
    assert (await app.db.read(lambda c: scan_tables(c, "ann")))[0] == {"sessions.session_data": 1}
    assert (await app.db.read(lambda c: scan_tables(c, "eve")))[0] == {}
    assert (await app.db.read(lambda c: scan_tables(c, "bob")))[0]["sessions"] == 1


@pytest.mark.sqlite
async def test_backups_that_still_hold_it_are_named(
    app: App, settings: Settings, tmp_path: Path
) -> None:
    """Those that the log knows, what lies beside them, folders that are told, homes of before; not
    what is older than they.
    """
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    await app.sessions.create("qa", "ann")
    await app.sessions.create("qa", "bob")
    later = (
        "UPDATE sessions SET last_updated = last_updated + CASE user_id WHEN 'bob' THEN 3600 "
        "ELSE -3600 END"
    )
    await app.db.write(lambda c: c.exec_driver_sql(later) and None)
    made = create_backup(settings.home, tmp_path / "a" / "known.tar.gz", lambda *_: None)
    await note_backup(make_database(settings), settings.home, made)
    whole = (tmp_path / "a" / "known.tar.gz").read_bytes()
    for name, size in (("a/beside", 10**9), ("b/torn", 40)):
        (tmp_path / f"{name}.tar.gz").write_bytes(whole[:size])
    before = settings.home.with_name(f"{settings.home.name}.replaced-2026-01-01-000000")
    before.mkdir()
    unsure = {"torn.tar.gz": "unknown", before.name: "unknown"}
    gone = await forget_person(app, "bob", [tmp_path / "b"])
    assert {Path(each.place).name: each.holds for each in gone.backups} == unsure
    gone = await forget_person(app, "ann", [tmp_path / "b"])
    assert {Path(each.place).name: each.holds for each in gone.backups} == unsure | {
        "known.tar.gz": "yes",
        "beside.tar.gz": "yes",
    }


async def test_who_is_not_there_and_the_last_admin(app: App) -> None:
    """Nothing is deleted of the only admin of several."""
    with pytest.raises(NotFound, match="nothing is kept of 'eve'"):
        await forget_person(app, "eve")
    await filled(app)
    await app.sessions.create("qa", "boss")
    with pytest.raises(Conflict, match="only admin"):
        await forget_person(app, "boss")
    assert len(await app.sessions.list("boss")) == 1


def words_of(path: Path) -> str:
    return path.read_text("utf-8")


async def test_a_confirmed_answer_stays_without_the_name(app: App) -> None:
    """Its row, its document, its index entry and its file: another who stands by it is named as
    before.
    """
    for n, user in enumerate(("Ann", "bob")):
        trace = data_trace(f"tr_{n}", user_id=user)
        await app.traces.put(trace)
        await submit_feedback(app, trace.trace_id, True, None, user)
        await run_pending_jobs(app)
    [item] = await knowledge.list_items(app)
    path = get_item_path(app.settings.home, item.trace_id)
    assert "Ann" in words_of(path)
    gone = await forget_person(app, "ann")
    assert gone.left.found == {}
    assert gone.nameless["confirmations"] == 1
    [item] = await knowledge.list_items(app)
    by = [each.user_id for each in item.confirmed_by]
    assert (item.state, len(by), "bob" in by) == ("active", 2, True)
    words = words_of(path)
    assert "Ann" not in words
    assert "bob" in words


async def test_two_spellings_that_vouch_for_one_answer_leave_one_row(app: App) -> None:
    """Another who stands by it still counts once, and the person who is forgotten too."""

    def vouch(connection: Connection) -> None:
        _row(connection, "confirmed", "house", {"owner": ""})
        for user in ("ann", "ANN", "bob"):
            _row(connection, "confirmations", f"tr_{user}", {"item_id": "house", "user_id": user})

    await app.db.write(vouch)
    gone = await forget_person(app, "ann")
    assert gone.nameless["confirmations"] == 2
    query = select(confirmations.c.user_id).where(confirmations.c.item_id == "house")
    left = await app.db.read(lambda connection: connection.execute(query).scalars().all())
    assert "bob" in left
    assert len(left) == 2
    assert sum(user.startswith("forgotten-") for user in left) == 1

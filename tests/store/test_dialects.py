"""What SQLite and PostgreSQL write differently gives the same in both."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    Table,
    Text,
    bindparam,
    create_engine,
    func,
    insert,
    literal,
    select,
    update,
)
from sqlalchemy.sql.elements import ColumnElement

from citewell.store.dialects.expressions import (
    find_text,
    greatest,
    is_among,
    json_excerpt,
    json_field,
    json_without,
    least,
    list_json,
    list_values,
)
from citewell.store.dialects.soundness import find_faults, measure_database
from citewell.store.dialects.upserts import get_excluded, insert_or_ignore, upsert

notes = Table(
    "notes",
    MetaData(),
    Column("note_id", Integer, primary_key=True, autoincrement=False),
    Column("words", Text),
    Column("seen", Integer, nullable=False, server_default="0"),
)
DOCUMENT = json.dumps(
    {
        "title": "灯塔 \U0001f5fc",
        "answer": {"status": "answered", "n": 3, "sure": True, "cited": [{"o": "m"}, "x"]},
        "half": "a\ud800b\u0000c",
        "none": None,
    }
)


@pytest.fixture(params=["sqlite", "postgresql"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connection]:
    url = "sqlite://"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_database").replace("://", "+psycopg://")
    engine = create_engine(url)
    with engine.connect() as opened:
        notes.metadata.create_all(opened)
        rows: list[dict[str, Any]] = [
            {"note_id": 1, "words": DOCUMENT},
            {"note_id": 2, "words": "no JSON"},
            {"note_id": 3, "words": None},
            {"note_id": 4, "words": '["b","a","c"]'},
        ]
        opened.execute(insert(notes), rows)
        yield opened
    engine.dispose()


def ask(connection: Connection, expression: ColumnElement[Any]) -> list[Any]:
    """Of the four notes."""
    return list(connection.execute(select(expression).order_by(notes.c.note_id)).scalars())


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("title", "灯塔 \U0001f5fc"),
        ("answer.status", "answered"),
        ("answer.n", "3"),
        ("answer.sure", "true"),
        ("answer", None),
        ("answer.cited", None),
        ("none", None),
        ("missing.field", None),
    ],
)
def test_a_field_of_json(connection: Connection, path: str, expected: str | None) -> None:
    assert ask(connection, json_field(notes.c.words, path)) == [expected, None, None, None]


def test_half_a_character_hides_no_other_field(connection: Connection) -> None:
    """PostgreSQL's text cannot hold it; what can be read is read."""
    [half, *_] = ask(connection, json_field(notes.c.words, "title"))
    assert half == "灯塔 \U0001f5fc"
    if connection.dialect.name == "postgresql":
        assert ask(connection, json_field(notes.c.words, "half"))[0] == "a\ufffdb\ufffdc"


def test_an_excerpt_of_json(connection: Connection) -> None:
    """Of a text that is JSON in SQLite; the whole otherwise."""
    excerpt = json_excerpt(
        notes.c.words, "answer.n", "missing", "answer.sure", counted="answer.cited"
    )
    several = ask(connection, excerpt)
    if connection.dialect.name == "sqlite":
        assert [json.loads(several[at]) for at in (0, 3)] == [[3, None, True, 2], [None] * 4]
    else:
        assert [several[0], several[3]] == [DOCUMENT, '["b","a","c"]']
    assert several[1:3] == ["no JSON", None]


def test_one_field_is_taken_away(connection: Connection) -> None:
    where = notes.c.note_id == 1
    put = update(notes).where(where)
    connection.execute(put.values(words=json_without(notes.c.words, "answer")))
    connection.execute(put.values(words=json_without(notes.c.words, "half")))
    kept = connection.execute(select(notes.c.words).where(where)).scalar_one()
    assert json.loads(kept) == {"title": "灯塔 \U0001f5fc", "none": None}
    unchanged = ask(connection, json_without(notes.c.words, "k"))[1:]
    assert unchanged == ["no JSON", None, '["b","a","c"]']


def test_members_of_a_list_of_json(connection: Connection) -> None:
    members = list_json(notes.c.words)
    query = select(members.c.value).select_from(notes.join(members, literal(1) == 1))
    assert connection.execute(query.where(notes.c.note_id == 4)).scalars().all() == ["b", "a", "c"]
    cited = list_json(notes.c.words, "answer.cited")
    said = select(1).select_from(cited).where(json_field(cited.c.value, "o") == "m").exists()
    found = select(notes.c.note_id).where(notes.c.note_id.in_([1, 4]), said)
    assert connection.execute(found).scalars().all() == [1]


def test_one_of_many(connection: Connection) -> None:
    """More than either takes as single parameters; given at once, or by name."""
    many = list(range(3, 100_000))
    query = select(notes.c.note_id).order_by(notes.c.note_id)
    assert connection.execute(query.where(is_among(notes.c.note_id, many))).scalars().all() == [
        3,
        4,
    ]
    named = query.where(~is_among(notes.c.note_id, "ids"))
    assert connection.execute(named, {"ids": many}).scalars().all() == [1, 2]
    assert connection.execute(named, {"ids": []}).scalars().all() == [1, 2, 3, 4]
    words = query.where(is_among(notes.c.words, "texts"))
    assert connection.execute(words, {"texts": ["no JSON", "'"]}).scalars().all() == [2]
    values = list_values("texts")
    counted = connection.execute(select(func.count()).select_from(values), {"texts": ["a", "a"]})
    assert counted.scalar_one() == 2


def test_a_text_within_another(connection: Connection) -> None:
    assert ask(connection, find_text(notes.c.words, literal("JSON"))) == [0, 4, None, 0]
    assert ask(connection, find_text(notes.c.words, bindparam("w", "a"))) != [0] * 4


def test_the_greatest_and_the_least(connection: Connection) -> None:
    assert ask(connection, greatest(notes.c.note_id, literal(3))) == [3, 3, 3, 4]
    assert ask(connection, least(notes.c.note_id, literal(3), literal(2))) == [1, 2, 2, 2]


def test_upsert(connection: Connection) -> None:
    """One row, many rows; the columns named, expressions, all but the keys."""
    row = {"note_id": 1, "words": "new", "seen": 5}
    connection.execute(upsert(notes, notes.c.note_id, update=[notes.c.words]), [row, row])
    read = select(notes.c.words, notes.c.seen).where(notes.c.note_id == 1)
    assert connection.execute(read).one() == ("new", 0)
    seen = notes.c.seen + get_excluded(notes).c.seen
    more = upsert(notes, notes.c.note_id, update={notes.c.seen: seen})
    connection.execute(more, [row, row])
    assert connection.execute(read).one() == ("new", 10)
    connection.execute(upsert(notes, notes.c.note_id), row | {"words": "all", "seen": 1})
    assert connection.execute(read).one() == ("all", 1)
    assert connection.execute(upsert(notes, notes.c.note_id), row | {"note_id": 9}).rowcount == 1


def test_insert_or_ignore(connection: Connection) -> None:
    put = insert_or_ignore(notes)
    assert connection.execute(put, {"note_id": 1, "words": "again"}).rowcount == 0
    assert connection.execute(put, {"note_id": 5, "words": "fresh"}).rowcount == 1
    assert connection.execute(select(func.count()).select_from(notes)).scalar_one() == 5


def test_what_was_left_half_made_is_found(connection: Connection) -> None:
    assert find_faults(connection) == []
    assert measure_database(connection) > 0
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'notes_pkey'::regclass"
        )
        assert find_faults(connection) == ["index notes_pkey"]

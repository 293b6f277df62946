"""Which joined tables nothing asks for."""

from __future__ import annotations

import pytest

from citewell.sql.engines.engine import Column, Schema, Table
from citewell.sql.rewrite.drop_joins import drop_joins
from citewell.sql.schema_link import Link, Linked

SCHEMA = Schema(
    "sqlite",
    (
        Table("singer", (Column("id", "INT", "number"), Column("Country", "TEXT", "text"))),
        Table("concert", (Column("id", "INT", "number"), Column("Year", "INT", "number"))),
        Table(
            "singer_in_concert",
            (Column("singer_id", "INT", "number"), Column("concert_id", "INT", "number")),
        ),
    ),
)
CHAIN = "FROM singer JOIN singer_in_concert ON singer.id = singer_in_concert.singer_id"
WHOLE = f"{CHAIN} JOIN concert ON singer_in_concert.concert_id = concert.id"
TURNED = (
    "FROM concert JOIN singer_in_concert ON singer_in_concert.concert_id = concert.id "
    "JOIN singer ON singer.id = singer_in_concert.singer_id"
)
SINGERS = Linked(
    (Link("singers", "singer", "", 1.0), Link("singers", "singer_in_concert", "", 0.8)),
    (),
    (),
    ("singers",),
)
CONCERTS = Linked((*SINGERS.links, Link("concerts", "concert", "", 1.0)), (), (), ("singers",))


@pytest.mark.parametrize("joined", [CHAIN, WHOLE, TURNED])
def test_tables_of_which_nothing_is_asked_are_left_out(joined: str) -> None:
    sql = f"SELECT singer.Country {joined} WHERE singer.id > 2"
    assert drop_joins(sql, SCHEMA, SINGERS) == (
        "SELECT singer.Country FROM singer WHERE singer.id > 2"
    )


@pytest.mark.parametrize(
    ("sql", "linked"),
    [
        (f"SELECT singer.Country {CHAIN}", CONCERTS),
        (f"SELECT singer.Country {CHAIN}", None),
        (f"SELECT singer.Country, concert.Year {WHOLE}", SINGERS),
        (f"SELECT count(*) {CHAIN}", SINGERS),
        (f"SELECT singer.Country {CHAIN.replace('JOIN', 'LEFT JOIN')}", SINGERS),
        ("SELECT Country FROM singer", SINGERS),
    ],
)
def test_what_the_question_speaks_of_or_the_statement_uses_stays(
    sql: str, linked: Linked | None
) -> None:
    assert drop_joins(sql, SCHEMA, linked) == sql

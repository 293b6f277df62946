"""Conditions that no row meets at once are parted where things with rows of either kind are meant,
and only there.
"""

from __future__ import annotations

import pytest
import sqlglot

from citewell.sql.mend_both import has_both_wording, split_to_intersect


def told(sql: str, *, both: bool = False) -> str:
    return split_to_intersect(sqlglot.parse_one(sql, dialect="sqlite"), both=both).sql(
        dialect="sqlite"
    )


@pytest.mark.parametrize(
    ("sql", "kinds"),
    [
        ("SELECT name FROM s WHERE year = 2014 AND year = 2015", ("year = 2014", "year = 2015")),
        (
            "SELECT name FROM s WHERE year = 2014 AND x > 1 AND year = 2015",
            ("x > 1 AND year = 2014", "x > 1 AND year = 2015"),
        ),
        (
            "SELECT country FROM s WHERE age > 40 AND age < 30 ORDER BY age",
            ("age > 40", "age < 30"),
        ),
    ],
)
def test_what_no_row_meets(sql: str, kinds: tuple[str, str]) -> None:
    start = sql.partition(" WHERE ")[0]
    assert told(sql) == " INTERSECT ".join(f"{start} WHERE {kind}" for kind in kinds)


def test_a_statement_with_itself_is_said_once() -> None:
    same = "SELECT DISTINCT name FROM s WHERE year = 2014"
    assert told(f"{same} INTERSECT {same}") == same
    bare = same.replace("DISTINCT ", "")
    assert told(f"{bare} UNION {bare}") == same
    assert told(f"{same} UNION ALL {same}") == f"{same} UNION ALL {same}"
    assert told(f"{same} EXCEPT {same}") == f"{same} EXCEPT {same}"


@pytest.mark.parametrize(
    "where", ["year IN (2014, 2015)", "(year = 2014 OR year = 2015)", "year = 2014 OR year = 2015"]
)
def test_either_where_both_are_asked_for(where: str) -> None:
    sql = f"SELECT name FROM s WHERE {where}"
    assert (
        told(sql, both=True)
        == "SELECT name FROM s WHERE year = 2014 INTERSECT SELECT name FROM s WHERE year = 2015"
    )
    assert told(sql) == sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM s WHERE age > 30 AND age < 40",
        "SELECT name FROM s WHERE age > 40 AND weight < 30",
        "SELECT name FROM s WHERE year = 2014",
        "SELECT name FROM s WHERE year IN (2013, 2014, 2015)",
        "SELECT year FROM s WHERE year IN (2014, 2015)",  # rows of either year, with the year
        "SELECT COUNT(*) FROM s WHERE year IN (2014, 2015)",
        "SELECT name FROM s WHERE year IN (2014, 2015) GROUP BY name HAVING COUNT(*) = 2",
        "SELECT name FROM s WHERE year IN (2014, 2015) LIMIT 3",
        "SELECT * FROM s WHERE year IN (2014, 2015)",
        "SELECT name FROM s WHERE (year = 2014 OR age = 3)",
        "SELECT name FROM s WHERE year IN (SELECT year FROM t)",
        "SELECT name FROM s",
        "SELECT 1",
    ],
)
def test_what_stays(sql: str) -> None:
    assert told(sql, both=True) == sql


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Stadiums with concerts in both 2014 and 2015?", True),
        ("Which shops sell both?", False),
        ("既有猫又有狗的学生", True),
        ("同时在2014年和2015年举办音乐会的场馆", True),
        ("2014年和2015年的音乐会", False),
    ],
)
def test_questions_that_say_both(question: str, said: bool) -> None:
    assert has_both_wording(question) is said

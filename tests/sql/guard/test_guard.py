"""The guard alone: every attack is refused with words that help, every safe statement passes as it
was written, however both are dressed up.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from pathlib import Path

import pytest

from citewell.errors import StatementRefused
from citewell.sql.engines.engine import Dialect
from citewell.sql.guard.check import check_statement
from guard_sets import DIALECTS, Statement, statements

ATTACKS, SAFE = statements("attacks"), statements("safe")
GAPS = [" ", "\n", "\t ", "\r\n", " /* SELECT */ ", " -- it's\n", "/**/", " /*;*/ "]
WRAPPED = [
    item for item in ATTACKS if item.name not in ("nothing", "only_comment", "only_semicolon")
]  # alone they are nothing
QUOTED = re.compile(r"""('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`[^`]*`|\[[^\]]*\])""")


def refused(sql: str, dialect: Dialect) -> str:
    with pytest.raises(StatementRefused) as caught:
        check_statement(sql, dialect)
    assert caught.value.hint
    return caught.value.message


def test_the_lists_are_what_was_asked_for() -> None:
    for dialect in DIALECTS:
        assert sum(item.dialect == dialect for item in ATTACKS) >= 80
        assert sum(item.dialect == dialect for item in SAFE) >= 80
    for items in (ATTACKS, SAFE):
        assert len({str(item) for item in items}) == len(items)


def test_attacks_are_refused() -> None:
    refusals = {str(item): explain_refusal(item) for item in ATTACKS}
    assert {name: told for name, told in refusals.items() if len(told) <= 10} == {}


def explain_refusal(item: Statement) -> str:
    """Empty where it passes, or is refused without a hint."""
    try:
        check_statement(item.sql, item.dialect)
    except StatementRefused as error:
        return error.message if error.hint else ""
    return ""


def test_safe_statements_pass() -> None:
    """What is run would be run again the same."""
    faults = {}
    for item in SAFE:
        try:
            told = check_statement(item.sql, item.dialect)
            again = check_statement(told, item.dialect)
        except StatementRefused as error:
            faults[str(item)] = error.message
        else:
            if again != told or told.endswith(";"):
                faults[str(item)] = told
    assert faults == {}


def dressed(sql: str, chance: random.Random) -> str:
    """The same statement in other letters' case, with other white space and comments between its
    words.
    """
    parts = QUOTED.split(sql)
    for place in range(0, len(parts), 2):
        part = parts[place]
        if chance.random() < 0.7:
            part = "".join(
                letter.upper() if letter.isascii() and chance.random() < 0.5 else letter
                for letter in part
            )
        if not re.search(r"--|#|/\*|\*/", sql):
            part = re.sub(r"[ \t\n]+", lambda _: chance.choice(GAPS), part)
        parts[place] = part
    return "".join(parts)


def wrapped(sql: str, chance: random.Random) -> str:
    inner = sql.rstrip("; \n")
    return chance.choice(
        [
            f"SELECT * FROM ({inner}\n) AS x",
            f"WITH x AS ({inner}\n) SELECT * FROM x",
            f"SELECT 1 UNION ALL {inner}",
            f"SELECT (SELECT COUNT(*) FROM ({inner}\n) AS x) AS y",
            f"EXPLAIN {inner}",
            f"SELECT 1 WHERE EXISTS ({inner}\n)",
            f"SELECT 1; {inner}",
            f"{inner};",
        ]
    )


@pytest.mark.parametrize("seed", range(8))
def test_attacks_are_refused_in_any_dress(seed: int) -> None:
    chance = random.Random(seed)
    passed = []
    for item in ATTACKS:
        dressings = [dressed(item.sql, chance)]
        if item in WRAPPED:
            dressings += [wrapped(item.sql, chance), wrapped(dressed(item.sql, chance), chance)]
        for sql in dressings:
            try:
                passed.append(f"{item}: {check_statement(sql, item.dialect)}")
            except StatementRefused:
                continue
    assert passed == []


@pytest.mark.parametrize("seed", range(4))
def test_safe_statements_pass_in_any_dress(seed: int) -> None:
    chance = random.Random(seed)
    for item in SAFE:
        check_statement(dressed(item.sql, chance), item.dialect)
        if item.sql.upper().startswith("SELECT") and "--" not in item.sql and "#" not in item.sql:
            check_statement(f"WITH x AS ({item.sql.rstrip(';')}) SELECT * FROM x", item.dialect)


def test_the_attacks_hidden_in_safe_statements_are_refused() -> None:
    """Each forbidden call and table in each place of a query where an expression or a table may
    stand.
    """
    calls: dict[Dialect, list[str]] = {
        "sqlite": ["load_extension('x')", "readfile('x')", "randomblob(900000000)"],
        "duckdb": [
            "getenv('HOME')",
            "nextval('numbers')",
            "sleep_ms(9)",
            "current_setting('x')",
            "length(repeat('x', 1999999999))",
        ],
        "postgres": [
            "pg_sleep(9)",
            "pg_read_file('x')",
            "set_config('a', 'b', false)",
            "(1::float8).pg_sleep",
            "nextval('numbers')",
        ],
        "mysql": [
            "SLEEP(9)",
            "LOAD_FILE('x')",
            "BENCHMARK(9, 1)",
            "@a := 1",
            "GET_LOCK('x', 1)",
            "@@version",
        ],
    }
    places = [
        "SELECT {} FROM orders",
        "SELECT id FROM orders WHERE id = {}",
        "SELECT id FROM orders GROUP BY id, {}",
        "SELECT id FROM orders GROUP BY id HAVING {} IS NULL",
        "SELECT id FROM orders ORDER BY {}",
        "SELECT SUM(id) OVER (PARTITION BY {}) FROM orders",
        "SELECT CASE WHEN id = 1 THEN {} END FROM orders",
        "SELECT COALESCE(NULL, {}) FROM orders",
        "SELECT * FROM orders JOIN customers ON orders.id = {}",
        "SELECT id FROM orders WHERE id IN (1, {})",
        "SELECT id FROM orders WHERE id BETWEEN 1 AND {}",
        "SELECT (SELECT {})",
        "WITH x AS (SELECT {} AS a) SELECT a FROM x",
        "SELECT id FROM orders UNION SELECT {}",
        "SELECT id FROM orders LIMIT {}",
        "SELECT CAST({} AS CHAR(5))",
        "SELECT -({}) AS x, 'ok' AS y",
        "SELECT * FROM (SELECT {} AS a) AS x",
        "VALUES (1, {})",
        "EXPLAIN SELECT {}",
    ]
    for dialect, forbidden in calls.items():
        for call in forbidden:
            for place in places:
                refused(place.format(call), dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
        "SELECT " + "(" * 5_000,
        "SELECT " + "abs(" * 400 + "1" + ")" * 400,
        "SELECT " + "(SELECT " * 300 + "1" + ")" * 300,
        "SELECT * FROM " + "(SELECT * FROM " * 300 + "orders" + ") AS x" * 300,
        "SELECT " + "CASE WHEN " * 300 + "1" + " THEN 1 END" * 300,
        "SELECT " + "NOT " * 3_000 + "1",
        "SELECT " + "- " * 3_000 + "1",
        "SELECT " + "+".join("1" * 30_000),
        "SELECT 1" + ", 1" * 50_000,
        "SELECT '" + "x" * 1_000_000 + "'",
        "SELECT 1" + ";" * 10_000 + "SELECT 2",
        "SELECT 1 " + "/*" * 10_000,
        "SELECT 1 " + "UNION SELECT 1 " * 3_000,
        "EXPLAIN " * 2_000 + "SELECT 1",
        "WITH "
        + ", ".join(f"c{n} AS (SELECT * FROM c{n - 1})" for n in range(2_000))
        + " SELECT 1",
        "SELECT " + "[" * 2_000 + "1" + "]" * 2_000,
        "SELECT " + "CAST(" * 200 + "1" + " AS CHAR(1))" * 200,
        "SELECT 1 IN (" + "1 IN (" * 200 + "1" + ")" * 201,
    ],
    ids=range(19),
)
def test_long_and_deep_input_is_refused_quickly(sql: str, dialect: Dialect) -> None:
    began = time.process_time()
    refused(sql, dialect)
    assert time.process_time() - began < 2.0


def test_deep_input_on_a_deep_stack() -> None:
    """The caller may stand deep in frames of its own: the answer is a refusal, never a
    RecursionError.
    """

    def below(frames: int) -> str:
        return (
            below(frames - 1)
            if frames
            else refused_or_told("SELECT " + "abs(" * 18 + "1" + ")" * 18)
        )

    def refused_or_told(sql: str) -> str:
        try:
            return check_statement(sql, "sqlite")
        except StatementRefused as error:
            return error.message

    room = sys.getrecursionlimit() - len(__import__("inspect").stack()) - 300
    assert "nested too deeply" in below(room)


@pytest.mark.parametrize(
    ("dialect", "sql", "run"),
    [
        ("sqlite", " SELECT 1 ; -- x\n", "SELECT 1"),
        ("sqlite", "SELECT/* a */1", "SELECT 1"),
        ("mysql", r"SELECT 'it\'s'", "SELECT 'it''s'"),
        ("mysql", r"SELECT 'a\\' AS x", r"SELECT 'a\\' AS x"),
        ("mysql", r"SELECT 'a\\\'' AS x", r"SELECT 'a\\''' AS x"),
        ("mysql", r"""SELECT "a\"b" """, 'SELECT "a""b"'),
        ("postgres", r"SELECT E'it\'s \\ \n'", r"SELECT E'it''s \\ \n'"),
        ("postgres", r"SELECT '\d+'", r"SELECT '\d+'"),
        ("duckdb", "FROM orders -- all", "FROM orders"),
        ("mysql", "EXPLAIN SELECT 1;", "EXPLAIN SELECT 1"),
    ],
)
def test_what_is_run(dialect: Dialect, sql: str, run: str) -> None:
    """The caller's own text, but for comments, the last semicolon, and quotes that could be read in
    two ways.
    """
    assert check_statement(sql, dialect) == run


@pytest.mark.parametrize(
    ("dialect", "sql", "words"),
    [
        ("postgres", "DELETE FROM orders", "begins with DELETE"),
        ("postgres", "SELECT pg_sleep(5)", "pg_sleep"),
        ("mysql", "SELECT 1; SELECT 2", "several statements"),
        ("sqlite", "SELECT 名称，价格 FROM t", "，"),
        ("duckdb", "SELECT * FROM 'a.csv'", "where a table is named"),
        ("duckdb", 'SELECT * FROM "a.csv"', "looks like a file"),
        ("postgres", "SELECT * FROM pg_shadow", "pg_shadow"),
        ("postgres", "WITH x AS (DELETE FROM orders RETURNING *) SELECT * FROM x", "DELETE"),
        (
            "sqlite",
            "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r",
            "recursion r",
        ),
        ("sqlite", "SELECT FROM WHERE", "cannot be read"),
        ("mysql", "SELECT * FROM orders FOR UPDATE", "locks rows"),
    ],
)
def test_the_message_says_what_was_found(dialect: Dialect, sql: str, words: str) -> None:
    assert words in refused(sql, dialect)


def test_gold_statements_pass(shared_data: Path) -> None:
    """All that people wrote for the questions of text2sql."""
    lines = (shared_data / "text2sql" / "questions.jsonl").read_text("utf-8").splitlines()
    gold = [json.loads(line)["gold_sql"] for line in lines]
    assert len(gold) > 200
    for sql in gold:
        check_statement(sql, "sqlite")

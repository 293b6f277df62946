"""What becomes of the values of a database, and of the names of its types."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from citewell.sql.engines.engine import Kind, Limits, Value
from citewell.sql.engines.values import (
    detect_kind,
    gather_rows,
    infer_kind,
    make_names_distinct,
    to_plain_value,
)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, None),
        (True, True),
        (2**70, 2**70),
        ("苹果", "苹果"),
        (0.5, 0.5),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (Decimal("10.00"), 10),
        (Decimal("0.1"), 0.1),
        (Decimal("12345678901234567890.12"), "12345678901234567890.12"),
        (Decimal(12345678901234567890), 12345678901234567890),
        (Decimal("NaN"), "NaN"),
        (Decimal("Infinity"), "Infinity"),
        (Decimal("1E+5000"), "1E+5000"),
        (date(2024, 1, 2), "2024-01-02"),
        (time(3, 4, 5), "03:04:05"),
        (datetime(2024, 1, 2, 3, 4, 5), "2024-01-02 03:04:05"),  # noqa: DTZ001 - databases hold such
        (datetime(2024, 1, 2, 3, 4, 5, 600, tzinfo=UTC), "2024-01-02 03:04:05.000600+00:00"),
        (timedelta(days=1, hours=2), "1 days 02:00:00"),
        (timedelta(seconds=-90), "-00:01:30"),
        (timedelta(seconds=1.5), "00:00:01.500000"),
        (b"\x00\xff", "00ff"),
        (bytes(100), "00" * 32 + "…"),
        (memoryview(b"ab"), "6162"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ([1, Decimal("2.5"), None], "[1, 2.5, null]"),
        ({"键": date(2024, 1, 2), 2: {"b", "a"}}, '{"键": "2024-01-02", "2": ["a", "b"]}'),
        ([float("nan")], '["nan"]'),
    ],
)
def test_plain(value: Any, told: Value) -> None:
    assert to_plain_value(value) == told
    assert type(to_plain_value(value)) is type(told)
    json.dumps(to_plain_value(value), allow_nan=False)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *[
            (name, "number")
            for name in (
                "INTEGER",
                "int(11) unsigned",
                "BIGINT",
                "UHUGEINT",
                "DECIMAL(10,2)",
                "double precision",
            )
        ],
        *[
            (name, "number")
            for name in (
                "REAL",
                "smallint",
                "numeric(5,2)",
                "year(4)",
                "NUMBER(3)",
                "tinyint(4)",
                "mediumint",
            )
        ],
        *[
            (name, "text")
            for name in (
                "VARCHAR",
                "varchar(20)",
                "character varying(5)",
                "TEXT",
                "longtext",
                "NVARCHAR2",
                "CHAR",
            )
        ],
        *[
            (name, "text")
            for name in (
                "ENUM('a', 'b')",
                "enum('a]')",
                "tinytext",
                "nchar(3)",
                "VARCHAR(255)",
                "CLOB",
            )
        ],
        *[
            (name, "date")
            for name in ("DATE", "TIMESTAMP WITH TIME ZONE", "datetime(6)", "TIME", "INTERVAL")
        ],
        *[(name, "bool") for name in ("BOOLEAN", "bool", "tinyint(1)")],
        *[
            (name, "other")
            for name in (
                "BLOB",
                "INTEGER[]",
                "VARCHAR[3]",
                "STRUCT(a INTEGER)",
                "MAP(VARCHAR, INTEGER)",
                "JSON",
            )
        ],
        *[
            (name, "other")
            for name in (
                "UUID",
                "bytea",
                "int4range",
                "geometry",
                "",
                "point",
                "bit(1)",
                "varbinary(16)",
            )
        ],
    ],
)
def test_kinds_by_name(name: str, kind: Kind) -> None:
    assert detect_kind(name) == kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None, 2.5], "number"),
        ([True, False], "bool"),
        (["2024-01-02", "2024-01-02 03:04:05", None], "date"),
        (["2024-01-02", "tomorrow"], "text"),
        ([1, "a"], "text"),
        ([None], "other"),
        ([], "other"),
    ],
)
def test_kinds_by_values(values: list[Value], kind: Kind) -> None:
    assert infer_kind(values) == kind


def test_names_are_distinct() -> None:
    assert make_names_distinct(["a", "a", "a_2", "", "a"]) == (
        "a",
        "a_2",
        "a_2_2",
        "column_4",
        "a_3",
    )


def test_no_more_rows_are_taken_than_are_shown() -> None:
    taken = []

    def rows() -> Any:
        for number in range(100):
            taken.append(number)
            yield (number,)

    told = gather_rows(["n"], [None], rows(), Limits(rows=5))
    assert told.truncated
    assert told.kinds == ("number",)
    assert len(told.rows) == 5
    assert len(taken) == 6

"""Which corrections are statements: what changes something is one as well, and prose that begins
like SQL is none.
"""

from __future__ import annotations

import pytest

from citewell.service.knowledge.correction_sql import detect_correction_kind

QUERIES = [
    "SELECT 1",
    "-- fixed\nSELECT 1;",
    "select names from orders",
    "SELECT nam FRM orders",
    "select name, from orders where x = 1",
    "(SELECT 1) UNION (SELECT 2)",
    "WITH a AS (DROP TABLE x) SELECT 1",
    "SELECT 1; DROP TABLE orders",
    "from orders select city",
    "VALUES (1)",
]
OTHERS = [
    "DROP TABLE orders",
    "/* a */ drop table if exists orders cascade",
    "delete from orders",
    "DELETE FROM `orders` WHERE `id` = 1",
    "UPDATE orders SET x = 1",
    "UPDATE `orders` SET `x` = 1",
    "INSERT INTO orders VALUES (1)",
    "replace into t values (1)",
    "TRUNCATE orders",
    "create table x as select 1",
    "ALTER TABLE orders DROP COLUMN x",
    "grant select on orders to joe",
    "attach '/etc/passwd' as x",
    "COPY orders TO '/tmp/x'",
    "PRAGMA table_info(orders)",
    "set memory_limit = '1GB'",
    "CALL pragma_version()",
    "LOAD 'x.so'",
    "EXECUTE x;",
]
WORDS = [
    "",
    ";",
    "IT also has Backup",
    "应该是 120",
    "Drop table costs_old from the answer",
    "drop duplicates",
    "Delete from the list all duplicates",
    "Update the currency to EUR",
    "Create a table of costs by month",
    "copy the figures from the second sheet",
    "Set region to EU",
    "call it services",
    "show only IT",
    "select the service",
    "Select the services from the IT table",
    "With tax (19%) it is 120",
    "use cost_eur",
]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((t, "query") for t in QUERIES),
        *((t, "other") for t in OTHERS),
        *((t, "words") for t in WORDS),
    ],
)
def test_kind_of_a_correction(text: str, kind: str) -> None:
    assert detect_correction_kind(text) == kind

"""A statement that wants too much memory ends as a refusal, and the process that answers people is
none the larger.
"""

from __future__ import annotations

import resource

import pytest
from tests.sql.engines.conftest import Shop

from citewell.errors import StatementFailed
from citewell.sql.engines.engine import Limits

LIMITS = Limits(seconds=20, memory_mib=64)
GREEDY = {
    "duckdb": "SELECT length(string_agg(a.range::VARCHAR || repeat('x', 1000), '')) FROM "
    "range(10000000) a",
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000000) "
    "SELECT count(*) FROM (SELECT i, randomblob(500) AS b FROM n ORDER BY b)",
    "postgres": "SELECT repeat('x', 200000000)",
    "mysql": "SELECT "
    + ", ".join(["REPEAT('x', 15000000)"] * 18),  # more in one value than a packet holds is NULL
}


async def test_memory_limit(shop: Shop) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(StatementFailed) as failed:
        await shop.engine.run(GREEDY[shop.dialect], LIMITS)
    assert failed.value.code == "memory"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB
    assert (await shop.engine.run("SELECT 1", LIMITS)).rows == ((1,),)

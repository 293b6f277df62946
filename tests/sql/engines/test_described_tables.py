"""What people write of tables, run by every engine: trials, metrics over joined tables, rows that
count.
"""

from __future__ import annotations

from tests.sql.engines.conftest import Shop

from citewell.sql.engines.engine import Limits
from citewell.sql.run_statement import run_query
from citewell.sql.semantics.check_description import check_names, list_trials
from citewell.sql.semantics.complete_statement import complete_statement, list_applied
from citewell.sql.semantics.described_schema import describe_schema
from citewell.sql.semantics.description import read_description
from citewell.sql.semantics.draft_description import draft_description

WRITTEN = """
tables:
  orders: {filter: amount > 1}
metrics:
  revenue: {sql: SUM(orders.amount), filter: sold_on >= '2024-01-01'}
  towns: {sql: COUNT(DISTINCT customers.city), table: orders}
  单量: {sql: SUM("数量"), table: 订单 明细}
"""


async def test_each_engine_runs_what_is_written(shop: Shop) -> None:
    schema = await shop.engine.inspect()
    description, lines, problems = read_description(shop.sql(WRITTEN))
    assert problems == [] == check_names(description, lines, schema)
    trials = list_trials(description, lines, schema)
    assert len(trials) == 4
    for trial in trials:
        assert len((await run_query(shop.engine, trial.sql, Limits())).rows) == 1
    described = describe_schema(schema, description)
    by_city = shop.sql(
        "SELECT c.city, revenue, towns FROM orders o JOIN customers c ON o.customer_id = c.id"
    )
    whole = complete_statement(by_city, described, description)
    assert [
        [str(v) for v in row] for row in (await run_query(shop.engine, whole, Limits())).rows
    ] == [["北京", "30.5", "1"]]
    applied = {each.name for each in list_applied(whole, described, description)}
    assert applied == {"revenue", "towns", "orders"}
    chinese = complete_statement(
        shop.sql('SELECT "group", "单量" FROM "订单 明细" ORDER BY "单量" DESC'),
        described,
        description,
    )
    assert (await run_query(shop.engine, chinese, Limits())).rows == (("b", 5), ("a", 3))


async def test_each_engine_takes_its_draft(shop: Shop) -> None:
    schema = await shop.engine.inspect()
    description, lines, problems = read_description(draft_description(schema, "shop"))
    assert problems == [] == check_names(description, lines, schema)
    assert describe_schema(schema, description) == schema

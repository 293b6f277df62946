"""What a dbt project and a WrenAI model say of tables: what is taken, and what is named as not."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from tests.skills.made_schema import SHOP

from citewell.sql.semantics.dbt_project import read_dbt
from citewell.sql.semantics.description import Description, parse_description
from citewell.sql.semantics.imported import add_described
from citewell.sql.semantics.metrics import list_measures
from citewell.sql.semantics.wren_model import read_wren

MODELS = """
models:
  - name: sale
    description: One row an item.
    columns:
      - name: amount
        description: In euros.
      - name: customer_id
        data_tests:
          - relationships: {to: ref('customer'), field: customer_id}
      - {name: gone, description: was here once}
  - {name: staff, description: elsewhere}
"""
LEGACY = """
semantic_models:
  - name: sales
    model: ref('sale')
    entities:
      - {name: sale, type: primary, expr: sale_id}
      - {name: product, type: foreign, expr: product_id}
    dimensions:
      - {name: state, type: categorical, expr: status, label: Order state}
    measures:
      - {name: total, agg: sum, expr: amount}
      - {name: sales, agg: count, expr: 1, create_metric: true}
      - {name: middle, agg: percentile, expr: amount}
  - name: products
    model: ref('product')
    entities: [{name: product, type: primary, expr: product_id}]
    measures: [{name: titles, agg: count_distinct, expr: title}]
metrics:
  - name: average_sale
    type: derived
    type_params:
      expr: revenue / n
      metrics: [revenue, {name: sales, alias: n}]
  - name: revenue
    label: Turnover
    description: What was paid.
    type: simple
    type_params: {measure: {name: total, filter: "{{ Dimension('sale__state') }} = 'paid'"}}
  - {name: mixed, type: ratio, type_params: {numerator: total, denominator: titles}}
  - {name: running, type: cumulative, type_params: {measure: total}}
  - {name: odd, type: simple, filter: "{{ Metric('x') }} > 1", type_params: {measure: total}}
  - {name: lost, type: simple, type_params: {measure: nowhere}}
"""
LATER = """
models:
  - name: sale
    semantic_model: {enabled: true}
    columns:
      - name: customer_id
        entity: {type: foreign, name: customer}
      - name: status
        dimension: {type: categorical, name: state}
    metrics:
      - name: revenue
        type: simple
        agg: sum
        expr: amount
        filter: "{{ Dimension('state') }} = 'paid'"
  - name: customer
    semantic_model: {enabled: true}
    columns:
      - name: customer_id
        entity: {type: primary, name: customer}
metrics:
  - {name: paid_rate, type: ratio, numerator: revenue, denominator: revenue}
"""


def read(*texts: str) -> tuple[Description, dict[str, str]]:
    found = read_dbt([yaml.safe_load(text) for text in texts], SHOP)
    return found.description, dict(found.left)


def test_models_of_dbt() -> None:
    description, left = read(MODELS)
    sale = description.tables["sale"]
    assert (sale.comment, sale.columns["amount"].comment) == ("One row an item.", "In euros.")
    assert description.joins == ["sale.customer_id = customer.customer_id"]
    assert set(left) == {"sale.gone", "staff"}


def test_a_semantic_layer_of_dbt() -> None:
    description, left = read(LEGACY)
    assert description.joins == ["sale.product_id = product.product_id"]
    assert description.tables["sale"].columns["status"].synonyms == ["state", "Order state"]
    metrics = description.metrics
    assert set(metrics) == {"sales", "revenue", "average_sale"}
    assert (metrics["sales"].sql, metrics["sales"].table) == ("COUNT(*)", "sale")
    assert (metrics["revenue"].sql, metrics["revenue"].filter) == (
        "SUM(amount)",
        "(status = 'paid')",
    )
    assert metrics["revenue"].synonyms == ["Turnover"]
    assert metrics["average_sale"].sql == (
        "(SUM(CASE WHEN (status = 'paid') THEN amount END)) / (COUNT(*))"
    )
    assert [each.name for each in list_measures(description, SHOP)] == list(metrics)
    assert set(left) == {"middle", "mixed", "running", "odd", "lost"}
    assert "several tables" in left["mixed"]
    assert "cumulative" in left["running"]


def test_the_later_form_of_dbt() -> None:
    description, left = read(LATER)
    assert left == {}
    assert description.joins == ["sale.customer_id = customer.customer_id"]
    assert description.metrics["revenue"].filter == "(status = 'paid')"
    assert description.metrics["paid_rate"].table == "sale"


WREN: dict[str, Any] = {
    "enumDefinitions": [{"name": "State", "values": [{"name": "settled", "value": "paid"}]}],
    "models": [
        {
            "name": "Sales",
            "tableReference": {"schema": "main", "table": "sale"},
            "properties": {"description": "One row an item."},
            "columns": [
                {"name": "state", "type": "varchar", "expression": "status", "enum": "State"},
                {"name": "customer_id", "type": "int", "properties": {"displayName": "buyer"}},
                {"name": "customer", "type": "Customers", "relationship": "SalesCustomers"},
                {"name": "revenue", "isCalculated": True, "expression": "SUM(amount)"},
            ],
        },
        {"name": "Customers", "tableReference": {"table": "customer"}, "columns": []},
        {"name": "Best", "refSql": "SELECT 1", "columns": []},
    ],
    "relationships": [
        {
            "name": "SalesCustomers",
            "models": ["Sales", "Customers"],
            "joinType": "MANY_TO_ONE",
            "condition": "Sales.customer_id = Customers.customer_id",
        }
    ],
    "metrics": [
        {
            "name": "Volume",
            "baseObject": "Sales",
            "measure": [{"name": "n", "expression": "COUNT(*)"}],
        },
        {"name": "Top", "baseObject": "Best", "measure": []},
    ],
    "views": [{"name": "v", "statement": "SELECT 1"}],
}


def test_a_model_of_wren() -> None:
    found = read_wren(WREN, SHOP)
    sale = found.description.tables["sale"]
    assert (sale.comment, sale.synonyms) == ("One row an item.", ["Sales"])
    assert sale.columns["status"].values == {"paid": ["settled"]}
    assert sale.columns["customer_id"].synonyms == ["buyer"]
    assert found.description.joins == ["sale.customer_id = customer.customer_id"]
    assert {name: each.sql for name, each in found.description.metrics.items()} == {
        "revenue": "SUM(amount)",
        "n": "COUNT(*)",
    }
    assert found.description.metrics["n"].synonyms == ["Volume"]
    assert {what for what, _ in found.left} == {"Best", "Top", "v"}


@pytest.mark.parametrize("given", [None, [], "x", {"models": [1, {"name": 3}]}, {"metrics": {}}])
def test_what_is_neither(given: Any) -> None:
    for found in (read_wren(given, SHOP), read_dbt([given], SHOP)):
        assert found.description.metrics == {}


def test_what_people_wrote_stays() -> None:
    kept = parse_description(
        "tables: {sale: {comment: ours}}\nmetrics: {revenue: {sql: SUM(sale.amount)}}"
    )
    both = add_described(kept, read(MODELS, LEGACY)[0])
    assert both.tables["sale"].comment == "ours"
    assert both.tables["sale"].columns["amount"].comment == "In euros."
    assert both.metrics["revenue"].sql == "SUM(sale.amount)"
    assert "sales" in both.metrics

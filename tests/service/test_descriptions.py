"""Descriptions of sources on an open App: checked against real tables, kept, used in answers."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from citewell.errors import InvalidInput
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.tables.descriptions import (
    check_description,
    get_description,
    keep_description,
)
from citewell.service.tables.import_description import import_description
from citewell.service.tables.sources import add_source, refresh_source
from citewell.sql.semantics.description import parse_description
from citewell.types import Answer

WRITTEN = """\
tables:
  orders:
    filter: status <> 'cancelled'
metrics:
  revenue:
    sql: SUM(orders.amount)
    synonyms: [营业额]
"""


@pytest.fixture
async def shop(app: App, tmp_path: Path) -> Path:
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, city TEXT, amount REAL, status TEXT);"
            "INSERT INTO orders VALUES (1, 'Lyon', 10, 'paid'), (2, 'Lyon', 5, 'cancelled'), "
            "(3, 'Bern', 7, 'paid');"
        )
    connection.close()
    await add_source(app, f"sqlite:///{path}")
    return path


async def answer_with(app: App, question: str, *statements: str) -> Answer:
    assert isinstance(app.llm, ScriptedLLM)
    app.llm.enqueue(*(json.dumps({"sql": sql}) for sql in statements))
    return await ask(app, AskRequest(question=question, agent="data"))


async def test_a_draft_is_kept_as_it_comes(app: App, shop: Path) -> None:
    draft = await get_description(app, "shop")
    assert not draft.kept
    assert (await keep_description(app, "shop", draft.text)).description == draft.text
    assert await get_description(app, "shop") == draft.model_copy(update={"kept": True})
    assert (await keep_description(app, "shop", " \n")).description == ""


async def test_what_does_not_run_is_told_with_its_line(app: App, shop: Path) -> None:
    wrong = WRITTEN.replace("SUM(orders.amount)", "SUM(load_extension(orders.amount))")
    checked = await check_description(app, "shop", wrong)
    assert [each.line for each in checked.problems] == [6]
    with pytest.raises(InvalidInput, match="line 6: "):
        await keep_description(app, "shop", wrong)
    assert not (await get_description(app, "shop")).kept
    right = await check_description(app, "shop", WRITTEN)
    assert (right.problems, right.metrics, right.filters) == ([], 1, 1)


async def test_metrics_and_rows_that_count_are_in_the_answer(app: App, shop: Path) -> None:
    await keep_description(app, "shop", WRITTEN)
    answer = await answer_with(
        app, "What is the revenue in Lyon?", "SELECT revenue FROM orders WHERE city = 'Lyon'"
    )
    assert answer.data is not None
    assert answer.data["sql"] == (
        "SELECT SUM(orders.amount) AS \"revenue\" FROM orders WHERE city = 'Lyon' AND "
        "orders.status <> 'cancelled'"
    )
    assert answer.data["rows"] == [[10.0]]
    assert answer.answer.endswith(
        "revenue is SUM(orders.amount), as described. Of orders, rows with status <> 'cancelled' "
        "count, as described."
    )


async def test_the_rows_that_a_question_asks_for_are_its_own(app: App, shop: Path) -> None:
    await keep_description(app, "shop", WRITTEN)
    answer = await answer_with(
        app,
        "How many orders are cancelled?",
        "SELECT count(*) FROM orders WHERE status = 'cancelled'",
    )
    assert answer.data is not None
    assert answer.data["rows"] == [[1]]
    assert "as described" not in answer.answer


async def test_a_named_metric_that_is_not_used_is_asked_for(app: App, shop: Path) -> None:
    await keep_description(app, "shop", WRITTEN)
    plain = "SELECT avg(id) FROM orders"
    answer = await answer_with(
        app,
        "各城市的营业额是多少？",
        plain,
        "SELECT city, 营业额 FROM orders",
        "SELECT city, revenue FROM orders",
    )
    assert answer.data is not None
    assert next(each["sql"] for each in answer.data["tried"]).startswith("SELECT AVG(id)")
    assert sorted(answer.data["rows"]) == [["Bern", 7.0], ["Lyon", 10.0]]


async def test_a_metric_in_where_is_explained_to_the_model(app: App, shop: Path) -> None:
    await keep_description(app, "shop", WRITTEN)
    answer = await answer_with(
        app,
        "Which cities have a revenue over 8?",
        "SELECT city FROM orders WHERE revenue > 8",
        "SELECT city FROM orders GROUP BY city HAVING revenue > 8",
    )
    assert answer.data is not None
    assert "compare it in HAVING" in answer.data["tried"][0]["problem"]
    assert answer.data["rows"] == [["Lyon"]]


async def test_tables_that_change_are_told(app: App, shop: Path) -> None:
    await keep_description(app, "shop", WRITTEN)
    with sqlite3.connect(shop) as connection:
        connection.execute("ALTER TABLE orders RENAME COLUMN amount TO price")
    connection.close()
    await refresh_source(app, "shop")
    answer = await answer_with(app, "How many orders are there?", "SELECT count(*) FROM orders")
    assert answer.data is not None
    assert answer.data["rows"] == [[2]], "the filter still fits"
    assert any("no column" in str(each) for each in answer.warnings)


PROJECT = """
models:
  - {name: orders, description: One row an order.}
semantic_models:
  - name: orders
    model: ref('orders')
    measures:
      - {name: total, agg: sum, expr: amount, create_metric: true}
      - {name: middle, agg: median, expr: amount, create_metric: true}
"""


async def test_what_of_a_dbt_project_runs_is_kept(app: App, shop: Path, tmp_path: Path) -> None:
    await keep_description(app, "shop", WRITTEN)
    project = tmp_path / "project"
    (project / "models").mkdir(parents=True)
    (project / "target").mkdir()
    (project / "models" / "orders.yml").write_text(PROJECT, "utf-8")
    (project / "target" / "old.yml").write_text("models: [{name: old}]", "utf-8")
    before = (await get_description(app, "shop")).text
    report = await import_description(app, "shop", "dbt", project, keep=False)
    assert (await get_description(app, "shop")).text == before
    assert (report.tables, report.metrics) == (["orders"], ["total"])
    assert [each.what for each in report.left] == ["middle"], "SQLite has no median"
    await import_description(app, "shop", "dbt", project)
    kept = parse_description((await get_description(app, "shop")).text)
    assert list(kept.metrics) == ["total", "revenue"]
    assert kept.tables["orders"].filter == "status <> 'cancelled'"
    assert kept.tables["orders"].comment == "One row an order."
    with pytest.raises(InvalidInput, match="holds no YAML"):
        await import_description(app, "shop", "dbt", tmp_path / "nowhere")

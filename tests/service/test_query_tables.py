"""Statements that people write: run, cancelled, kept, and written to files that other programs
read.
"""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from python_calamine import CalamineWorkbook

from citewell.config import Settings
from citewell.errors import InvalidInput, NotFound, StatementFailed, StatementRefused
from citewell.runtime.app import App
from citewell.service.tables.query_tables import (
    delete_result,
    export_tables,
    query_tables,
    run_saved_question,
)
from citewell.service.tables.sources import add_source, remove_source
from citewell.types import Chart

CSV = """day,name,cost_eur,year,code
2024-03-05,=HYPERLINK("x"),1234.5,2024,0012
2024-03-17,-5,10.25,2024,0013
2024-04-02,é @x,100,2025,0014
"""
ALL = 'SELECT * FROM "costs" ORDER BY day'


@pytest.fixture
def settings(settings: Settings) -> Settings:
    data = settings.data.model_copy(update={"statement_seconds": 60.0})
    return settings.model_copy(update={"data": data})


@pytest.fixture
async def costs(app: App, tmp_path: Path) -> str:
    path = tmp_path / "costs.csv"
    await anyio.Path(path).write_text(CSV, "utf-8")
    return (await add_source(app, str(path))).source.name


async def export(app: App, source: str, sql: str, form: Any) -> bytes:
    made = await export_tables(app, source, sql, form)
    data = await anyio.Path(made.path).read_bytes()
    await delete_result(made.path)
    assert not made.path.parent.exists()
    return data


async def test_a_statement_gives_rows_a_chart_and_how_they_look(app: App, costs: str) -> None:
    sql = "SELECT date_trunc('month', day) AS month, SUM(cost_eur) FROM costs GROUP BY 1"
    data = (await query_tables(app, costs, sql)).data
    assert data.columns == ["month", "total cost (EUR)"]
    assert data.rows == [["2024-03", 1244.75], ["2024-04", 100]]
    assert [(each.role, each.unit) for each in data.looks] == [("time", ""), ("quantity", "EUR")]
    assert data.chart is not None
    assert (data.chart.kind, data.chart.x, data.chart.y) == ("bar", "month", ["total cost (EUR)"])
    assert (await query_tables(app, costs, sql, "zh")).data.columns[1] == "cost 的合计 (EUR)"


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM costs",
        "ATTACH 'x.db' AS x",
        "PRAGMA database_list",
        "SELECT 1; DROP TABLE costs",
        "COPY costs TO 'x.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
    ],
)
async def test_what_is_not_plainly_reading_is_refused(app: App, costs: str, sql: str) -> None:
    with pytest.raises(StatementRefused):
        await query_tables(app, costs, sql)
    with pytest.raises(StatementRefused):
        await export_tables(app, costs, sql, "csv")


async def test_errors_say_where(app: App, costs: str) -> None:
    with pytest.raises(StatementFailed, match=r"\(line 2, at 'prize'\)"):
        await query_tables(app, costs, "SELECT name,\n  prize FROM costs")
    with pytest.raises(StatementRefused, match=r"\(line 2, at '\)'\)"):
        await query_tables(app, costs, "SELECT name FROM costs\nWHERE )")


async def test_a_statement_that_is_left_stops(app: App, costs: str, tmp_path: Path) -> None:
    """Its worker is free for the next one at once, not after its minute."""
    path = tmp_path / "many.csv"
    await anyio.Path(path).write_text("n\n" + "\n".join(map(str, range(20_000))), "utf-8")
    await add_source(app, str(path))
    endless = "SELECT count(*) FROM many a, many b, many c WHERE (a.n * b.n + c.n) % 7919 = 7"
    with anyio.move_on_after(3) as scope:
        await query_tables(app, "many", endless)
    assert scope.cancelled_caught
    with anyio.fail_after(20):
        assert (await query_tables(app, costs, "SELECT 1 AS one")).data.rows == [[1]]


async def test_a_csv_for_other_programs(app: App, costs: str) -> None:
    """What begins a formula does not; a byte order mark only where there is more than ASCII."""
    text = await export(app, costs, ALL, "csv")
    assert text.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(text.decode("utf-8-sig").splitlines()))
    assert rows[0] == ["day", "name", "cost_eur", "year", "code"]
    assert [row[1] for row in rows[1:]] == ['\'=HYPERLINK("x")', "-5", "é @x"]
    assert [row[4] for row in rows[1:]] == ["0012", "0013", "0014"]
    plain = await export(app, costs, "SELECT day FROM costs", "csv")
    assert plain.splitlines()[:2] == [b"day", b"2024-03-05"]


async def test_a_sheet_has_figures_and_days(app: App, costs: str, tmp_path: Path) -> None:
    path = tmp_path / "result.xlsx"
    await anyio.Path(path).write_bytes(await export(app, costs, ALL, "xlsx"))
    rows = CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python()
    first = rows[1]
    assert datetime.fromisoformat(str(first[0])).date().isoformat() == "2024-03-05"
    assert first[1:] == ['=HYPERLINK("x")', 1234.5, 2024, "0012"]


async def test_a_file_holds_more_than_a_page_and_says_where_it_ends(
    app: App, costs: str, settings: Settings
) -> None:
    many = "SELECT range AS n FROM range(2500)"
    assert (await query_tables(app, costs, many)).data.row_count == settings.data.max_rows
    made = await export_tables(app, costs, many, "csv")
    assert (made.rows, made.truncated) == (2500, False)
    await delete_result(made.path)
    data = settings.data.model_copy(update={"export_rows": 2000})
    app.settings = settings.model_copy(update={"data": data})
    made = await export_tables(app, costs, many, "csv")
    assert (made.rows, made.truncated) == (2000, True)
    await delete_result(made.path)


async def test_a_saved_question_keeps_its_chart(app: App, costs: str) -> None:
    chart = Chart(kind="pie", x="name", y=["cost_eur"])
    values = {"name": "By name", "source": costs, "sql": "SELECT name, cost_eur FROM costs"}
    saved = await app.saved_questions.add("ann", {**values, "chart": chart})
    assert (await run_saved_question(app, saved)).data.chosen == chart
    other = chart.model_copy(update={"y": ["gone"]})
    changed = await app.saved_questions.change(saved.saved_id, "ann", {"chart": other})
    assert (await run_saved_question(app, changed)).data.chosen is None
    await remove_source(app, costs)
    with pytest.raises(NotFound):
        await run_saved_question(app, saved)
    assert (await app.saved_questions.get(saved.saved_id, "ann")).name == "By name"


async def test_names_and_statements_have_bounds(app: App, costs: str) -> None:
    for name, sql in (("", "SELECT 1"), ("a\x00b", "SELECT 1"), ("a", " "), ("a", "x" * 60_000)):
        with pytest.raises(InvalidInput):
            await app.saved_questions.add("ann", {"name": name, "source": costs, "sql": sql})

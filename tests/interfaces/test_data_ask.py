"""A `data` answer on the terminal, in a pipe and over HTTP: rows, chart, statement, who confirmed
it, at any width.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from rich.cells import cell_len
from rich.console import Console

from citewell.config import Settings
from citewell.interfaces.cli.ask.answer import show_answer
from citewell.interfaces.cli.data.data_answer import wrap_sql
from citewell.interfaces.cli.output.rows import as_rows
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.tables.sources import add_source
from citewell.skills.answer.chart import choose_chart
from citewell.skills.answer.tell_rows import describe_rows
from citewell.types import Answer, Followed, Sentence, TableData, Usage

if TYPE_CHECKING:
    from tests.interfaces.conftest import Result

CSV = "city,amount\nBerlin,1200\nHamburg,300\n上海市,50\n"
BY_CITY = "SELECT city, sum(amount) FROM sales GROUP BY city ORDER BY 2 DESC"
FOLLOWED = Followed(
    item_id="qa_confirmed_tr_1",
    how="adapted",
    question="How much in 2022?",
    confirmed_by=["anna", "bo"],
    confirmed_at=1_795_200_000.0,
    similarity=0.93,
)


def made(
    columns: list[str], rows: list[list[Any]], sql: str = "SELECT 1", lang: str = "en", **more: Any
) -> Answer:
    data = TableData(
        source="shop", dialect="duckdb", sql=sql, columns=columns, rows=rows, row_count=len(rows)
    )
    known = as_rows(data)
    told = [
        Sentence(text=each.text, citations=[1], verdict="supported")
        for each in describe_rows(known, lang)
    ]
    data = data.model_copy(
        update={
            "chart": choose_chart(known, "", lang),
            **{k: more.pop(k) for k in ("tried",) if k in more},
        }
    )
    values = {
        "answer": " ".join(f"{each.text}[1]" for each in told),
        "sentences": told,
        "status": "answered",
        "confidence": 0.8,
        "agent": "data",
        "trace_id": "tr_1",
        "data": data.model_dump(mode="json"),
        "usage": Usage(seconds={"total": 1.0}),
    }
    return Answer(**(values | more))


def printed(answer: Answer, width: int = 80, *, terminal: bool = True, dumb: bool = False) -> str:
    file = io.StringIO()
    environment = {"TERM": "dumb" if dumb else "xterm"}
    console = Console(
        width=width,
        force_terminal=terminal,
        color_system=None,
        highlight=False,
        markup=False,
        emoji=False,
        file=file,
        _environ=environment,
    )
    show_answer(answer, console)
    return file.getvalue()


def test_everything_that_a_reader_needs_is_there() -> None:
    text = printed(
        made(["city", "n"], [["Berlin", 1200], ["Ulm", 300]], BY_CITY, followed=[FOLLOWED])
    )
    assert "By n, highest first: Berlin (1,200), Ulm (300).[1] ✓" in text
    assert "Berlin   1,200\n" in text
    assert "Ulm        300\n" in text, "figures stand to the right"
    assert "\n  SELECT city, sum(amount) FROM sales GROUP BY city ORDER BY 2 DESC\n" in text
    assert "follows qa_confirmed_tr_1: confirmed by anna, bo on 2026-11-2" in text
    assert "citewell feedback tr_1 --correct|--wrong" in text
    assert "n by city\nBerlin ████" in text


def test_chinese_columns_line_up() -> None:
    text = printed(made(["部门", "费用"], [["市场部", 12], ["信息技术部", 8]], lang="zh"))
    table = [
        line
        for line in text.splitlines()
        if line.startswith(("市场部 ", "信息技术部 ")) and "█" not in line
    ]
    assert len(table) == 2
    assert len({cell_len(line.rstrip()[:-1].rstrip("1")) for line in table}) <= 2
    assert {cell_len(line) for line in table} == {cell_len(table[0])}
    assert "对还是错？citewell feedback tr_1 --correct|--wrong" in text


@pytest.mark.parametrize("width", [20, 40, 80])
def test_nothing_is_wider_than_the_window(width: int) -> None:
    wide = made(
        [f"column_{n}" for n in range(9)],
        [["名字很长的一个值" * 5] * 9] * 3,
        "SELECT " + ", ".join(["abc"] * 60),
    )
    narrow = made(["city", "n"], [["Frankfurt am Main an der Oder " * 3, 1], ["Ulm", 2]])
    for answer in (wide, narrow):
        lines = printed(answer, width).splitlines()
        assert max(cell_len(line.rstrip()) for line in lines) <= width


def test_long_results_are_counted() -> None:
    text = printed(made(["name"], [[f"n{n}"] for n in range(57)]))
    assert "n19" in text
    assert "n20" not in text
    assert "… 37 more" in text


def test_many_columns_stand_below_each_other() -> None:
    text = printed(made([f"column_{n}" for n in range(9)], [[n] * 9 for n in range(8)]), 40)
    assert "row 1\ncolumn_0  0\n" in text
    assert "row 6" not in text
    assert "… 3 more" in text


def test_a_dumb_terminal_gets_signs_and_a_pipe_everything() -> None:
    answer = made(["city", "n"], [["Berlin", 4], ["x" * 120, 2]])
    dumb = printed(answer, dumb=True)
    assert re.search(r"^Berlin +#{30,} 4$", dumb, re.MULTILINE)
    assert "█" not in dumb
    pipe = printed(answer, terminal=False)
    assert "x" * 120 in pipe
    assert "█" not in pipe


def test_cells_cannot_command_the_terminal() -> None:
    hostile = "\x1b]0;title\x07\x1b[31mred\x1b[0m [bold]b[/bold] \u202eabc\r\nline"
    answer = made([hostile, "n"], [[hostile, 1], ["b", 2]], f"SELECT '{hostile}'")
    for text in (printed(answer), printed(answer, 40), printed(answer, terminal=False)):
        assert not set(text) & {"\x1b", "\x07", "\r", "\u202e"}
        assert "[bold]b[/bold]" in text


def test_sql_is_broken_where_it_does_not_matter() -> None:
    sql = "SELECT 'a  b -- c', \"my  col\" FROM t -- why\nWHERE x = 'it''s' AND y > 1 AND z < 2"
    lines = wrap_sql(sql, 24)
    assert lines == [
        *(
            "SELECT 'a  b -- c',",
            '  "my  col" FROM t',
            "  -- why",
            "WHERE x = 'it''s' AND y",
            "  > 1 AND z < 2",
        ),
    ]
    assert wrap_sql("SELECT 1", 0) == ["SELECT 1"]


def test_a_refusal_says_why_and_shows_what_was_tried() -> None:
    tried = [{"sql": "SELECT a FROM t", "problem": "no such column: a"}]
    answer = made(
        [],
        [],
        "SELECT a FROM t",
        status="refused",
        answer="No statement worked.",
        sentences=[],
        tried=tried,
    )
    text = printed(answer)
    assert text.startswith("No statement worked.")
    assert "1 tried before" in text
    assert "citewell feedback" not in text


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    path = tmp_path / "sales.csv"
    path.write_text(CSV, "utf-8")
    return path


def scripted(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *replies: Any
) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(list(replies)), "utf-8")
    monkeypatch.setenv("CITEWELL_SCRIPTED_REPLIES", str(script))


def test_the_command_line_from_file_to_answer(
    cli: Callable[..., Result],
    settings: Settings,
    sales: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert cli("data", "add", str(sales)).code == 0
    scripted(settings, tmp_path, monkeypatch, {"reply": {"sql": BY_CITY}})
    said = cli("data", "ask", "What is the amount of each city?")
    assert said.code == 0
    assert (
        "By total amount, highest first: Berlin (1,200), Hamburg (300), 上海市 (50).[1]" in said.out
    )
    assert BY_CITY in said.out
    asked = cli("data", "ask", "What is the amount of each city?", "--source", "sales", "--json")
    answer = json.loads(asked.out)
    assert answer["data"]["rows"] == [["Berlin", 1200], ["Hamburg", 300], ["上海市", 50]]
    assert asked.code == 0
    same = cli("ask", "-a", "data", "What is the amount of each city?")
    assert BY_CITY in same.out


def test_exit_codes(
    cli: Callable[..., Result],
    settings: Settings,
    sales: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    none = cli("data", "ask", "How many?")
    assert (none.code, "citewell data add" in none.out) == (3, True)
    missing = cli("data", "ask", "How many?", "--source", "nowhere")
    assert missing.code == 1
    assert "nowhere" in missing.err
    assert "Traceback" not in missing.err
    assert cli("data", "ask").code == 2
    cli("data", "add", str(sales))
    scripted(
        settings,
        tmp_path,
        monkeypatch,
        {"reply": {"sql": "DROP TABLE sales"}},
        {"error": "permanent"},
    )
    refused = cli("data", "ask", "What is the amount of each city?")
    assert refused.code == 3
    assert "Traceback" not in refused.err


async def test_http_answers_whole_and_as_events(
    app: App, client: httpx.AsyncClient, sales: Path
) -> None:
    assert isinstance(app.llm, ScriptedLLM)
    await add_source(app, str(sales))
    body = {
        "agent": "data",
        "question": "What is the amount of each city?",
        "options": {"source": "sales"},
    }
    app.llm.enqueue(json.dumps({"sql": BY_CITY}))
    answer = (await client.post("/api/ask", json=body)).json()
    assert answer["status"] == "answered"
    assert answer["data"]["chart"]["kind"] == "bar"
    assert answer["citations"][0]["origin"] == "table"
    app.llm.enqueue(json.dumps({"sql": BY_CITY}))
    events = (
        await client.post("/api/ask", json=body, headers={"Accept": "text/event-stream"})
    ).text
    order = [
        line.removeprefix("event: ") for line in events.splitlines() if line.startswith("event: ")
    ]
    assert order == ["step"] * 4 + ["citation", "step", "answer"]
    wrong = await client.post("/api/ask", json=body | {"options": {"source": "nowhere"}})
    assert wrong.status_code == 404


def test_a_column_without_a_name_gets_one() -> None:
    """What the engine calls `count_star()` is a count; two that would be called alike keep their
    names.
    """
    text = printed(made(["city", "count_star()"], [["Berlin", 4], ["Ulm", 2]]))
    assert re.search(r"^city +count$", text, re.MULTILINE)
    text = printed(made(["city", "count_star()"], [["Berlin", 4], ["Ulm", 2]], lang="zh"))
    assert re.search(r"^city +数量$", text, re.MULTILINE)
    counts = printed(made(["count(a)", "count(DISTINCT a)"], [[4, 2], [3, 1]]))
    assert re.search(r"^count of a +count of different a$", counts, re.MULTILINE)
    twice = printed(made(["count(a)", "COUNT(a)"], [[4, 2], [3, 1]]))
    assert re.search(r"^count\(a\) +COUNT\(a\)$", twice, re.MULTILINE)


def test_the_small_print_is_of_one_language() -> None:
    refused: dict[str, Any] = {
        "status": "refused",
        "answer": "costs 的表无法回答这个问题。",
        "sentences": [],
        "data": None,
    }
    assert "拒答 · 1.0 s" in printed(made(["a"], [[1]], lang="zh", **refused))
    english: dict[str, Any] = {
        "status": "refused",
        "answer": "The tables cannot answer this.",
        "sentences": [],
        "data": None,
    }
    assert "refused · 1.0 s" in printed(made(["a"], [[1]], **english))

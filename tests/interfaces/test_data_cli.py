"""`citewell data add|list|show|remove|refresh|describe`: what is printed, exit codes, `--json`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]


@pytest.fixture
def costs(tmp_path: Path) -> Path:
    path = tmp_path / "costs.csv"
    path.write_text(
        "Function,Service,Cost\nIT,Cloud,10\nIT,\x1b[31m[bold]red,20\nHR,Payroll,n/a\n", "utf-8"
    )
    return path


def test_from_first_to_last(cli: Cli, costs: Path) -> None:
    assert "no tables yet" in cli("data", "list").out
    added = cli("data", "add", str(costs))
    assert (added.code, "added costs" in added.out, 'says "n/a" is left empty' in added.err) == (
        0,
        True,
        True,
    )
    assert "costs (3 rows, 3 columns)" in cli("data", "list").out
    shown = cli("data", "show", "costs", "--table", "costs", "--rows", "2")
    assert "\x1b" not in shown.out
    assert "[bold]red" in shown.out
    assert "bigint  10 to 20" in cli("data", "show", "costs").out
    assert "replaced costs" in cli("data", "refresh").out
    assert "removed costs" in cli("data", "remove", "costs").out
    assert cli("data", "show", "costs").code == 1


def test_json(cli: Cli, costs: Path) -> None:
    added = json.loads(cli("data", "add", str(costs), "--name", "费用", "--json").out)["sources"][0]
    assert (added["status"], added["name"], added["tables"]) == (
        "added",
        "费用",
        [{"name": "costs", "rows": 3, "columns": 3}],
    )
    [listed] = json.loads(cli("data", "list", "--json").out)["sources"]
    assert (listed["name"], listed["location"]) == ("费用", str(costs))
    shown = json.loads(cli("data", "show", "费用", "--json").out)
    assert [column["name"] for column in shown["tables"][0]["columns"]] == [
        "Function",
        "Service",
        "Cost",
    ]
    rows = json.loads(cli("data", "show", "费用", "--table", "costs", "--json").out)["rows"]
    assert rows["rows"][2] == ["HR", "Payroll", None]
    assert (
        json.loads(cli("data", "refresh", "费用", "--json").out)["sources"][0]["status"]
        == "replaced"
    )
    assert json.loads(cli("data", "remove", "费用", "--json").out)["name"] == "费用"


def test_one_of_several_fails(cli: Cli, costs: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_bytes(b"")
    result = cli(
        "data",
        "add",
        str(tmp_path / "empty.csv"),
        str(costs),
        "postgresql://u:s3cret@127.0.0.1:1/x",
        "--json",
    )
    told = json.loads(result.out)["sources"]
    assert (result.code, [each["status"] for each in told]) == (1, ["failed", "added", "failed"])
    assert told[0]["error"]["code"] == "unreadable_file"
    assert "s3cret" not in result.out + result.err


def test_describe(cli: Cli, costs: Path, tmp_path: Path) -> None:
    cli("data", "add", str(costs))
    draft = cli("data", "describe", "costs").out
    file = tmp_path / "costs.yaml"
    file.write_text(draft, "utf-8")
    assert cli("data", "describe", "costs", "--file", str(file), "--check").code == 0
    file.write_text(draft.replace("metrics:", "metrics:\n  spent: {sql: SUM(cots)}"), "utf-8")
    wrong = cli("data", "describe", "costs", "--file", str(file))
    line = file.read_text("utf-8").splitlines().index("  spent: {sql: SUM(cots)}") + 1
    assert (wrong.code, f"costs.yaml:{line}: no column cots" in wrong.err) == (1, True)
    assert cli("data", "describe", "costs").out == draft, "nothing of it is kept"
    file.write_text("terms:\n  客单价: 平均价格\n", "utf-8")
    kept = cli("data", "describe", "costs", "--file", str(file), "--json")
    assert (kept.code, json.loads(kept.out)["kept"]) == (0, True)
    assert cli("data", "describe", "costs").out == "terms:\n  客单价: 平均价格\n"
    assert cli("data", "describe", "costs", "--draft").out == draft
    assert cli("data", "describe", "costs", "--check").code == 2


def test_usage_and_near_names(cli: Cli, costs: Path) -> None:
    cli("data", "add", str(costs))
    wrong = cli("data", "show", "cost")
    assert (wrong.code, "did you mean costs?" in wrong.err) == (1, True)
    assert cli("data", "add", str(costs), str(costs), "--name", "x").code == 2
    assert cli("data", "add").code == 2
    assert cli("data", "add", str(costs), "--name", "../x").code == 1
    problem = json.loads(cli("data", "remove", "nope", "--json").out)["error"]
    assert (problem["code"], problem["hint"]) == (
        "not_found",
        "`citewell data list` shows them; `citewell data add FILE|URL` adds one",
    )


def test_statements_and_saved_questions(cli: Cli, tmp_path: Path) -> None:
    """A statement is run, kept by a name, written to a file, renamed and removed; what is no query
    is refused.
    """

    def read(*arguments: str) -> Any:
        return json.loads(cli("data", *arguments, "--json").out)

    (tmp_path / "costs.csv").write_text("name,cost\na,1\nb,2\n", "utf-8")
    assert cli("data", "add", str(tmp_path / "costs.csv")).code == 0
    told = read("query", "costs", "SELECT name FROM costs ORDER BY 1")
    assert told["data"]["rows"] == [["a"], ["b"]]
    assert cli("data", "query", "costs", "DELETE FROM costs").code == 1
    sql = "SELECT sum(cost) AS total FROM costs"
    saved = read("saved", "add", "All", "costs", sql)
    assert read("saved", "run", "All")["data"]["rows"] == [[3]]
    file = tmp_path / "out.csv"
    assert cli("data", "saved", "run", saved["saved_id"], "--output", str(file)).code == 0
    assert file.read_text("utf-8").splitlines() == ["total", "3"]
    assert cli("data", "saved", "rename", "All", "Total").code == 0
    assert [each["name"] for each in read("saved", "list")["saved"]] == ["Total"]
    assert cli("data", "saved", "remove", "All").code == 1
    assert cli("data", "saved", "remove", "Total").code == 0
    assert read("saved", "list")["saved"] == []

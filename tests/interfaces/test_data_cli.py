"""`citewell data add|list|show|remove|refresh|glossary`: what is printed, exit codes, `--json`."""

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
    assert (listed["name"], listed["location"], listed["glossary"]) == ("费用", str(costs), [])
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


def test_glossary(cli: Cli, costs: Path, tmp_path: Path) -> None:
    cli("data", "add", str(costs))
    (tmp_path / "words.txt").write_text("IT cost = Function is IT\n", "utf-8")
    result = cli(
        "data",
        "glossary",
        "costs",
        "--file",
        str(tmp_path / "words.txt"),
        "--set",
        "客单价：平均价格",
        "--json",
    )
    assert json.loads(result.out)["glossary"] == [
        {"term": "IT cost", "meaning": "Function is IT"},
        {"term": "客单价", "meaning": "平均价格"},
    ]
    assert cli("data", "glossary", "costs", "--remove", "IT cost").out == "客单价 = 平均价格\n"
    assert cli("data", "glossary", "costs", "--remove", "客单").code == 1
    assert cli("data", "glossary", "costs", "--set", "nothing").code == 1


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

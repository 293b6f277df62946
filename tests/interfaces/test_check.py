"""`citewell check`, `POST /api/check` and the tool of the Python face; that of MCP is among its
others.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from citewell import tools
from citewell.config import Settings
from citewell.interfaces.http import create_app
from citewell.runtime.app import App
from citewell.service.library.add import add_paths
from citewell.service.library.intake import add_data

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.interfaces.conftest import Result

    Cli = Callable[..., Result]

PUMP = "# Pump\n\nThe A-100 pump weighs 12 kg. It runs for eight hours on one charge.\n"
DRAFT = "# Draft\n\nThe A-100 pump weighs 12 kg. Somebody painted that thing bright red.\n"


@pytest.fixture(autouse=True)
def reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_READER", "scripted")


@pytest.fixture
def pumps(tmp_path: Path, cli: Cli) -> Path:
    """A folder for drafts, beside collections that hold a document about a pump each."""
    (tmp_path / "pump.md").write_text(PUMP, "utf-8")
    (tmp_path / "泵.md").write_text("# 水泵\n\n水泵重 12 公斤。一次充电可运行八小时。\n", "utf-8")
    assert cli("add", str(tmp_path / "pump.md"), "-c", "pumps").code == 0
    assert cli("add", str(tmp_path / "泵.md"), "-c", "zh").code == 0
    return tmp_path


def written(folder: Path, text: str, name: str = "draft.md") -> str:
    (folder / name).write_text(text, "utf-8")
    return str(folder / name)


def test_each_sentence_with_verdict_and_quote(cli: Cli, pumps: Path) -> None:
    """3 where one is not entailed, 0 where all are; headings are no sentences."""
    run = cli("check", written(pumps, DRAFT), "-c", "pumps")
    assert run.code == 3
    lines = run.out.splitlines()
    assert lines[0] == "✓ entailed 1.00 The A-100 pump weighs 12 kg."
    assert lines[1] == "    [1] Pump"
    assert lines[2] == "        “The A-100 pump weighs 12 kg.”"
    assert lines[3].startswith("? not stated 0.")
    assert "2 sentences · entailed 1 · not stated 1 · judged by scripted" in lines[-1]
    assert "Draft" not in run.out
    assert cli("check", written(pumps, PUMP), "-c", "pumps").code == 0
    assert cli("check", written(pumps, DRAFT, "draft.txt"), "-c", "zh", "-c", "pumps").code == 3


def test_chinese_in_chinese(cli: Cli, pumps: Path) -> None:
    run = cli("check", written(pumps, "水泵重 12 公斤。它是红色的。"), "-c", "zh")
    assert run.code == 3
    assert "✓ 有依据 1.00 水泵重 12 公斤。" in run.out
    assert "? 文档未说明 0." in run.out
    assert "共 2 句" in run.out


def test_a_text_as_json_from_standard_input(
    cli: Cli, pumps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One object: sentences by place, numbered quotes, who judged."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(DRAFT.encode())))
    run = cli("check", "-", "-c", "pumps", "--json")
    assert run.code == 3
    found = json.loads(run.out)
    first, second = found["sentences"]
    assert (first["verdict"], first["score"], second["verdict"]) == ("entailed", 1.0, "not_stated")
    assert (
        DRAFT[second["start"] : second["end"]]
        == second["text"]
        == "Somebody painted that thing bright red."
    )
    assert found["citations"][first["citations"][0] - 1]["quote"] == first["text"]
    assert found["judge"] == "scripted"
    assert found["collections"] == ["pumps"]


def test_pairs(cli: Cli, tmp_path: Path) -> None:
    """One object with an item a line, in order; without --json a line each."""
    lines = [
        {
            "id": "a",
            "claim": "It weighs 12 kg.",
            "evidence": ["The pump is new.", "It weighs 12 kg."],
            "question": "How heavy?",
        },
        {"id": "b", "claim": "它是红色的。", "evidence": []},
    ]
    file = written(
        tmp_path, "\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines), "pairs.jsonl"
    )
    run = cli("check", "--pairs", file, "--json")
    assert run.code == 0
    items = json.loads(run.out)["items"]
    assert [(item["id"], item["verdict"]) for item in items] == [
        ("a", "entailed"),
        ("b", "not_stated"),
    ]
    assert all(
        set(item) == {"id", "verdict", "score"} and 0 <= item["score"] <= 1 for item in items
    )
    assert "? 文档未说明 0.00 b: 它是红色的。" in cli("check", "--pairs", file).out


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('{"id": "a", "claim": "x", "evidence": []}\nnot json', "line 2"),
        ('\n{"id": "a", "claim": "x"}', "line 2: evidence: Field required"),
        ('{"id": "a", "claim": "", "evidence": []}', "line 1: claim"),
        ('{"id": "a", "claim": "x", "evidence": "y"}', "line 1: evidence"),
        ('{"id": "a", "claim": "x", "evidence": [], "colour": 1}', "line 1: colour"),
        ("[1]", "line 1"),
        ("\n\n", "holds no pairs"),
    ],
)
def test_wrong_lines_are_named(cli: Cli, tmp_path: Path, lines: str, said: str) -> None:
    run = cli("check", "--pairs", written(tmp_path, lines, "pairs.jsonl"), "--json")
    assert run.code == 1
    assert said in json.loads(run.out)["error"]["message"]
    assert said in run.err


def test_without_a_judge_and_wrong_arguments(
    cli: Cli, pumps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that only quotations are checked; what cannot be read is named."""
    draft = written(pumps, DRAFT)
    assert cli("check").code == 2
    assert cli("check", draft, "--pairs", draft).code == 2
    assert cli("check", "--pairs", draft, "-c", "pumps").code == 2
    for arguments, told in (
        ((draft, "-c", "none"), "no collection named none"),
        ((str(pumps / "none.md"),), "no such file"),
        ((written(pumps, "x", "draft.docx"),), "only .md and .txt"),
        ((written(pumps, "# Head", "head.md"), "-c", "pumps"), "is empty"),
    ):
        run = cli("check", *arguments)
        assert run.code == 1
        assert told in run.err
    monkeypatch.setenv("CITEWELL_READER", "none")
    monkeypatch.setenv("CITEWELL_LLM", "none")
    run = cli("check", draft, "-c", "pumps")
    assert run.code == 3
    assert "only quotations can be checked" in run.err
    assert "quotations only" in run.out


async def test_over_http(client: httpx.AsyncClient, app: App) -> None:
    """A text, or pairs; what is wrong is 422 and named; what is not there is 404."""
    await add_data(app, PUMP.encode(), "pump.md", "pump.md", "default")
    found = (await client.post("/api/check", json={"text": DRAFT})).json()
    assert [each["verdict"] for each in found["sentences"]] == ["entailed", "not_stated"]
    assert found["citations"][0]["quote"] == "The A-100 pump weighs 12 kg."
    waits = "1 of 1 chunks are searched by words only: still being embedded"
    assert found["warnings"] in ([waits], [])  # the worker may have embedded it by now
    pair = {"id": "a", "claim": "It is old.", "evidence": ["It is old."]}
    paired = (await client.post("/api/check", json={"pairs": [pair]})).json()
    assert paired["items"] == [{"id": "a", "verdict": "entailed", "score": 1.0}]
    for body, status, code in (
        ({}, 422, "invalid_input"),
        ({"text": "x", "pairs": [pair]}, 422, "invalid_input"),
        ({"text": "x" * 20_001}, 422, "invalid_input"),
        ({"pairs": [pair] * 201}, 422, "invalid_input"),
        ({"pairs": [pair | {"claim": ""}]}, 422, "invalid_input"),
        ({"text": "It is old.", "collections": ["none"]}, 404, "not_found"),
        ({"text": "It is \ud800 old."}, 400, "invalid_json"),
    ):
        reply = await client.post(
            "/api/check", content=json.dumps(body), headers={"Content-Type": "application/json"}
        )
        assert (reply.status_code, reply.json()["error"]["code"]) == (status, code), body


async def test_it_is_described(app: App) -> None:
    operation = create_app(app).openapi()["paths"]["/api/check"]["post"]
    assert operation["operationId"] == "check"
    assert {"200", "404", "422", "429", "502"} <= set(operation["responses"])


async def test_the_tool_of_the_python_face(settings: Settings, tmp_path: Path) -> None:
    async with tools.bound(settings) as app:
        await add_paths(app, [written(tmp_path, PUMP, "pump.md")], "pumps")
        found = await tools.check(DRAFT, "pumps")
        assert [each.verdict for each in found.sentences] == ["entailed", "not_stated"]
        assert (await tools.check(DRAFT, ["pumps"])).collections == ["pumps"]

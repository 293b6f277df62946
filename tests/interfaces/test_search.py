"""`citewell search` and `POST /api/search`, the options of `citewell ask`, and priorities on both
channels.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from citewell.runtime.app import App
from citewell.service.library.intake import add_data

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.interfaces.conftest import FakeAgent, Result

    Cli = Callable[..., Result]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "lighthouse.md").write_text(
        "# Lighthouse\n\nThe [old] lighthouse was built in 1857.\n", "utf-8"
    )
    (folder / "灯塔.txt").write_text("灯塔建于一八五七年。塔身为红色。\n", "utf-8")
    return folder


def test_search_lists_passages(cli: Cli, library: Path) -> None:
    """Title and section, the snippet as it stands in the text, score and id; then how sure the
    search is.
    """
    assert cli("add", str(library)).code == 0
    run = cli("search", "When was the lighthouse built?")
    assert run.code == 0
    assert run.out.startswith("1. Lighthouse  ")
    assert "The [old] lighthouse was built in 1857." in run.out
    assert "confidence 0." in run.out
    assert "direct_chunk_search" in run.out
    assert "置信度" in cli("search", "灯塔什么颜色").out


def test_search_as_json(cli: Cli, library: Path) -> None:
    """One object, and the filters hold."""
    cli("add", str(library), "--priority", "7")
    found = json.loads(
        cli(
            "search",
            "lighthouse 灯塔",
            "--lang",
            "zh",
            "--type",
            "txt",
            "--priority",
            "7",
            "--json",
        ).out
    )
    assert [(hit["title"], hit["priority"], hit["lang"]) for hit in found["hits"]] == [
        ("灯塔", 7, "zh")
    ]
    assert found["strategy"] == "direct_chunk_search"
    listed = json.loads(cli("list", "--json").out)["documents"]
    assert {info["priority"] for info in listed} == {7}
    cli("add", str(library))  # again, unchanged: it stays
    cli("add", str(library / "灯塔.txt"), "--priority", "0")
    assert sorted(
        info["priority"] for info in json.loads(cli("list", "--json").out)["documents"]
    ) == [0, 7]


def test_nothing_found_and_wrong_values(cli: Cli, library: Path) -> None:
    """3 where nothing passes; 1 with a line and a hint where a value is wrong."""
    cli("add", str(library))
    assert cli("search", "lighthouse", "--type", "pdf").code == 3
    for arguments, said in (
        (("--strategy", "best"), "known: direct_chunk_search"),
        (("--since", "yesterday"), "2024-05-01"),
        (("--doc", "doc_none"), "citewell list"),
        (("-c", "none"), "no collection named none"),
    ):
        run = cli("search", "lighthouse", *arguments)
        assert run.code == 1
        assert said in run.err
    assert cli("add", str(library), "--priority", "11").code == 1


def test_without_a_name_the_fullest_collection_is_asked(
    cli: Cli, library: Path, agent: FakeAgent, tmp_path: Path
) -> None:
    """Where the usual one has no documents: by every command that asks, and it is said."""
    cli("add", str(library), "-c", "towers")
    draft = tmp_path / "draft.md"
    draft.write_text("The lighthouse was built in 1857.\n", "utf-8")
    said = "no collection was named, so towers was taken"
    for command in (("search", "lighthouse"), ("ask", "When?"), ("check", str(draft))):
        run = cli(*command)
        assert run.code in (0, 3), run.err
        assert said in run.err
    assert agent.asked[-1].collection == "towers"


def test_ask_takes_the_same_filters(cli: Cli, agent: FakeAgent) -> None:
    """By the names that the API has for them."""
    arguments = (
        "--doc",
        "a",
        "--doc",
        "b",
        "--type",
        "pdf",
        "--lang",
        "en",
        "--since",
        "2024",
        "--until",
        "2025",
    )
    cli("ask", "When?", *arguments, "--priority", "3", "--strategy", "rrf")
    assert agent.asked[-1].options == {
        "doc_ids": ["a", "b"],
        "types": ["pdf"],
        "langs": ["en"],
        "since": "2024",
        "until": "2025",
        "least_priority": 3,
        "strategy": "rrf",
    }


async def test_search_over_http(client: httpx.AsyncClient, app: App) -> None:
    """Passages with marks; wrong values are 422 and named; what is not there is 404."""
    await add_data(app, "水泵的保修期是两年。".encode(), "泵.txt", "泵.txt", "default")
    found = (await client.post("/api/search", json={"query": "保修期多长", "k": 3})).json()
    [hit] = found["hits"]
    assert [hit["snippet"][a:b] for a, b in hit["marks"]] == ["保修期"]
    assert found["warnings"]
    for body, status, code in (
        ({"query": "x", "strategy": "best"}, 422, "unknown_strategy"),
        ({"query": "x", "since": "soon"}, 422, "invalid_input"),
        ({"query": "x", "k": 0}, 422, "invalid_input"),
        ({"query": "x", "colour": 1}, 422, "invalid_input"),
        ({"query": ""}, 422, "invalid_input"),
        ({"query": "x", "collection": "none"}, 404, "not_found"),
    ):
        reply = await client.post("/api/search", json=body)
        assert (reply.status_code, reply.json()["error"]["code"]) == (status, code), body


async def test_a_priority_over_http(client: httpx.AsyncClient, app: App) -> None:
    """Set, shown, and refused out of range."""
    report = await add_data(app, b"words", "a.txt", "a.txt", "default")
    path = f"/api/documents/{report.doc_id}"
    assert (await client.patch(path, json={"priority": 4})).json()["priority"] == 4
    assert (await client.get(path)).json()["priority"] == 4
    for body in ({"priority": 11}, {"priority": -1}, {"title": "x"}, {}):
        assert (await client.patch(path, json=body)).status_code == 422
    assert (await client.patch("/api/documents/doc_none", json={"priority": 1})).status_code == 404

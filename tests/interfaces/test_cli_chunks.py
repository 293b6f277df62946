"""`citewell chunks` and `citewell collection`; the same over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from citewell.config import Settings

if TYPE_CHECKING:
    from tests.interfaces.conftest import Result

    Cli = Callable[..., Result]

CHINESE = "灯塔建于一八五七年。塔身为红色，高三十米。守塔人每天傍晚点灯。游客周日可以登塔。" * 8


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "灯塔.md"
    path.write_text(f"# 灯塔\n\n{CHINESE}\n\n# [red]Note[/red]\n\nShort.\n", "utf-8")
    return path


def test_preview(cli: Cli, file: Path, settings: Settings) -> None:
    """Each chunk with its place, size and text, then the sums; no library is made."""
    result = cli(
        "chunks",
        str(file),
        "--strategy",
        "sentences",
        "--tokens",
        "60",
        "--overlap",
        "20",
        "--summaries",
    )
    assert result.code == 0, result.err
    assert "#1  0-" in result.out
    assert "repeats" in result.out
    assert "[red]Note[/red]" in result.out
    assert "sentences, 60 tokens, overlap 20" in result.out
    assert "summary" in result.out
    assert not settings.home.exists()


def test_preview_as_json(cli: Cli, file: Path) -> None:
    """One object; every chunk is the span that it says."""
    found = json.loads(cli("chunks", str(file), "--tokens", "60", "--overlap", "20", "--json").out)
    [one] = found["previews"]
    assert one["chunking"] == {"chunker": "structure", "tokens": 60, "overlap": 20}
    assert one["totals"]["chunks"] == len(one["chunks"]) > 2
    assert all(chunk["end"] - chunk["start"] == len(chunk["text"]) for chunk in one["chunks"])


def test_compare(cli: Cli, file: Path) -> None:
    """All strategies in one table, or those named."""
    out = cli("chunks", str(file), "--compare", "--tokens", "60", "--overlap", "20").out
    assert all(name in out for name in ("structure", "sentences", "fixed", "semantic"))
    some = cli("chunks", str(file), "-s", "fixed", "-s", "sentences").out
    assert "fixed" in some
    assert "semantic" not in some


@pytest.mark.parametrize(
    "arguments",
    [["nothing.md"], ["."], ["{file}", "-s", "clever"], ["{file}", "--tokens", "3"], ["{bad}"]],
)
def test_what_is_wrong_is_one_line(
    cli: Cli, file: Path, tmp_path: Path, arguments: list[str]
) -> None:
    """A missing or broken file, an unknown strategy, a size that cannot be: exit 1 and a line that
    names it.
    """
    bad = tmp_path / "bad.pdf"
    bad.write_bytes(b"%PDF-1.7 broken")
    result = cli("chunks", *[a.format(file=file, bad=bad) for a in arguments])
    assert result.code == 1
    assert result.out == ""
    assert result.err.startswith("error: ")
    assert len(result.err.strip().split("\n")) <= 2


def test_collection(cli: Cli, file: Path) -> None:
    """Shows how a collection is cut, cuts it otherwise, and says what was done."""
    cli("add", str(file), "-c", "docs")
    shown = cli("collection", "docs")
    assert "chunker = structure  (settings)" in shown.out
    changed = json.loads(
        cli(
            "collection",
            "docs",
            "--chunker",
            "fixed",
            "--tokens",
            "60",
            "--overlap",
            "10",
            "--json",
        ).out
    )
    assert changed["changed"] == 1
    assert changed["in_force"] == {"chunker": "fixed", "tokens": 60, "overlap": 10}
    assert changed["chunks"] == changed["embedded"] > 3
    assert "fixed  (this collection)" in cli("collection", "docs").out
    assert cli("collection", "nothing").code == 1
    assert cli("collection", "nothing", "--create", "--tokens", "100").code == 0
    assert cli("collection", "docs", "--tokens", "5").code == 1


async def test_http(client: httpx.AsyncClient) -> None:
    """A collection is made with its chunking; changing it cuts what is there by a job."""
    made = await client.post(
        "/api/collections", json={"name": "docs", "chunking": {"tokens": 60, "overlap": 10}}
    )
    assert made.status_code == 201
    assert made.json()["chunking"] == {"tokens": 60, "overlap": 10}
    await client.post(
        "/api/collections/docs/documents", files={"file": ("a.txt", CHINESE.encode())}
    )
    changed = await client.patch(
        "/api/collections/docs", json={"chunking": {"chunker": "sentences"}}
    )
    assert changed.status_code == 202
    assert changed.json()["collection"]["chunking"] == {
        "tokens": 60,
        "overlap": 10,
        "chunker": "sentences",
    }
    async with client.stream(
        "GET", f"/api/jobs/{changed.json()['job']['job_id']}/events"
    ) as events:
        told = "".join([part async for part in events.aiter_text()])
    assert "event: done" in told
    wrong = await client.patch("/api/collections/docs", json={"chunking": {"tokens": 5}})
    assert wrong.status_code in {400, 422}
    assert (await client.patch("/api/collections/none", json={"chunking": {}})).status_code == 404

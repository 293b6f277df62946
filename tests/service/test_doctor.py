"""What the doctor sees, and what it must not show."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from citewell.config import Settings, WebSettings, load_settings
from citewell.runtime.app import App
from citewell.service.admin.doctor import run_checks
from citewell.service.admin.effective_settings import list_effective_settings
from citewell.service.admin.health_check import Check
from citewell.service.library.add import add_paths


def named(checks: list[Check], name: str) -> Check:
    return next(check for check in checks if check.name == name)


async def test_healthy_installation(settings: Settings) -> None:
    """All is well, the models were timed, and versions are told."""
    report = await run_checks(settings)
    assert {check.state for check in report.checks} == {"ok"}
    assert named(report.checks, "embedding speed").figures["passages/s"] > 0
    assert report.packages["fastapi"]


async def test_fast_leaves_timing_out(settings: Settings) -> None:
    """`fast` loads no model."""
    report = await run_checks(settings, fast=True)
    assert not [check for check in report.checks if "speed" in check.name]


async def test_missing_model_and_waiting_passages_are_warnings(
    settings: Settings, library: Path
) -> None:
    """Both still work in part, and the advice says how to make them whole."""
    async with App(settings) as app:
        await add_paths(app, [str(library)], "docs")
    report = await run_checks(settings.model_copy(update={"llm": "builtin"}))
    assert "fail" not in {check.state for check in report.checks}
    assert named(report.checks, "chat model").state == "warn"
    assert "models pull" in named(report.checks, "chat model").advice
    assert named(report.checks, "embeddings").state == "warn"
    assert "passages wait" in named(report.checks, "embeddings").detail


@pytest.mark.sqlite
async def test_damaged_database_fails_with_advice(settings: Settings) -> None:
    """A file that is no database is named, and the report still comes."""
    settings.home.mkdir()
    settings.database.write_bytes(b"not a database at all" * 100)
    report = await run_checks(settings, fast=True)
    check = named(report.checks, "database")
    assert check.state == "fail"
    assert "citewell.db" in check.detail
    assert check.advice


async def test_embedder_that_cannot_be_built_is_a_fault_of_the_settings(settings: Settings) -> None:
    """An endpoint without its address: the report still comes, and does not blame the database."""
    report = await run_checks(settings.model_copy(update={"embedder": "openai"}), fast=True)
    assert named(report.checks, "settings").state == "fail"
    assert "embed_url" in named(report.checks, "settings").detail


def test_settings_say_where_they_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Default, file or variable; a secret is shown as set, never as itself."""
    (tmp_path / "citewell.toml").write_text("port = 9000\n[qa]\nmax_retries = 1\n", "utf-8")
    environ = {
        "CITEWELL_HOME": str(tmp_path),
        "CITEWELL_LLM_KEY": "sk-secret",
        "CITEWELL_INGEST__MAX_PAGES": "7",
    }
    shown = {
        setting.name: setting
        for setting in list_effective_settings(load_settings(environ), environ)
    }
    assert (shown["port"].value, shown["port"].source) == ("9000", "settings file")
    assert shown["qa.max_retries"].source == "settings file"
    assert shown["ingest.max_pages"].source == "CITEWELL_INGEST__MAX_PAGES"
    assert shown["host"].source == "default"
    assert (shown["llm_key"].value, shown["llm_key"].source) == ("set", "CITEWELL_LLM_KEY")
    assert shown["embed_key"].value == "not set"
    assert "sk-secret" not in str(shown)
    assert isinstance(load_settings(environ).llm_key, SecretStr)


@pytest.mark.parametrize(("there", "mode", "state", "words"), [
    (True, "auto", "ok", "on, faster-paddle"),
    (False, "auto", "warn", "not installed"),
    (False, "off", "ok", "off, not installed"),
])  # fmt: skip
async def test_ocr_is_told(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    there: bool,
    mode: str,
    state: str,
    words: str,
) -> None:
    """Whether pictures can be read, and what to do for it."""
    monkeypatch.setattr("citewell.ingest.picture.ocr.is_available", lambda: there)
    ingest = settings.ingest.model_copy(update={"ocr": mode})
    check = named(
        (await run_checks(settings.model_copy(update={"ingest": ingest}), fast=True)).checks, "ocr"
    )
    assert (check.state, words in check.detail) == (state, True)
    assert ("citewell[ocr]" in check.advice) is not there


@pytest.mark.parametrize(("changes", "state", "words"), [
    ({"reranker": "llm"}, "ok", "llm, the best 4 passages"),
    ({"reranker": "llm", "llm": "none"}, "warn", "no chat model"),
    ({"reranker": "http", "rerank_url": "http://127.0.0.1:9/v1", "rerank_model": "m"},
     "ok", "http m http://127.0.0.1:9/v1"),
])  # fmt: skip
async def test_reranker_is_told(
    settings: Settings, changes: dict[str, str], state: str, words: str
) -> None:
    """One that is wanted is named, one that cannot work is warned of, and none is no line."""
    check = named(
        (await run_checks(settings.model_copy(update=changes), fast=True)).checks, "reranker"
    )
    assert (check.state, words in check.detail) == (state, True)
    assert "reranker" not in {each.name for each in (await run_checks(settings, fast=True)).checks}


@pytest.mark.parametrize(
    ("web", "state", "words"),
    [
        ({"provider": "wikipedia"}, "ok", "wikipedia"),
        ({"provider": "searxng"}, "warn", "web.url is empty"),
        ({"provider": "brave"}, "warn", "web.key"),
    ],
)
async def test_web_search_is_told(
    settings: Settings, web: dict[str, str], state: str, words: str
) -> None:
    """What its provider needs, without asking it; nothing where it is off."""
    changed = settings.model_copy(update={"web": WebSettings(**web)})
    check = named((await run_checks(changed, fast=True)).checks, "web search")
    assert (check.state, words in check.detail) == (state, True)
    assert "web search" not in [
        each.name for each in (await run_checks(settings, fast=True)).checks
    ]

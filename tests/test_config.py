"""Settings are closed, frozen, and say which key is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from citewell.config import load_settings
from citewell.errors import ConfigError
from citewell.runtime.app import App


def test_file_then_environment_then_arguments(tmp_path: Path) -> None:
    """Each source binds more than the one before; nested groups merge key by key."""
    (tmp_path / "citewell.toml").write_text(
        'port = 1\nllm = "none"\n[qa]\nmax_retries = 1\nretry_wait = 9\n', encoding="utf-8"
    )
    env = {
        "CITEWELL_HOME": str(tmp_path),
        "CITEWELL_PORT": "2",
        "CITEWELL_QA__MAX_RETRIES": "2",
        "OTHER": "x",
    }
    settings = load_settings(env, collection="mine", host=None)
    assert (settings.port, settings.llm, settings.collection, settings.host) == (
        2,
        "none",
        "mine",
        "127.0.0.1",
    )
    assert (settings.qa.max_retries, settings.qa.retry_wait) == (2, 9)
    assert settings.database == tmp_path / "citewell.db"


@pytest.mark.parametrize(
    ("environ", "says", "hint"),
    [
        ({"CITEWELL_PROT": "1"}, "CITEWELL_PROT: unknown setting", "port"),
        ({"CITEWELL_QA__MAX_RETRY": "1"}, "qa.max_retry: there is no such setting", ""),
        (
            {"CITEWELL_WEB__ALLOW_PRIVATE_HOSTS": "x"},
            "web.allow_private_hosts: there is no",
            "belongs to no section",
        ),
        ({"CITEWELL_PORT": "many"}, "setting port: Input should be a valid integer", ""),
        (
            {"CITEWELL_QA__MAX_RETRIES": "6"},
            "setting qa.max_retries: Input should be less than or equal to 5",
            "",
        ),
        ({"CITEWELL_LLM": "magic"}, "setting llm: Input should be", ""),
        ({"CITEWELL_CONFIG": "/nowhere/citewell.toml"}, "no such settings file", "CITEWELL_CONFIG"),
    ],
)
def test_a_wrong_key_is_refused_by_its_name(
    environ: dict[str, str], says: str, hint: str, tmp_path: Path
) -> None:
    """Unknown names, wrong types and missing files are named, with what to do."""
    with pytest.raises(ConfigError) as caught:
        load_settings({"CITEWELL_HOME": str(tmp_path)} | environ)
    assert says in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize("text", ["colour = 1", "port = [", "[qa]\nx = 1"])
def test_a_wrong_file_is_refused(text: str, tmp_path: Path) -> None:
    """A key that is not ours or broken TOML never passes silently."""
    (tmp_path / "citewell.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError):
        load_settings({"CITEWELL_HOME": str(tmp_path)})


def test_settings_cannot_be_changed(tmp_path: Path) -> None:
    """Frozen: nothing downstream can change what was read."""
    settings = load_settings({"CITEWELL_HOME": str(tmp_path)})
    with pytest.raises(ValidationError):
        settings.port = 1  # type: ignore[misc]
    assert "secret" not in repr(
        load_settings({"CITEWELL_HOME": str(tmp_path), "CITEWELL_LLM_KEY": "secret"})
    )


def test_a_wrong_value_is_not_taken_for_a_wrong_name() -> None:
    with pytest.raises(ConfigError, match="setting llm") as error:
        load_settings({"CITEWELL_LLM": "foo"})
    assert "did you mean" not in error.value.hint
    assert "docs/settings.md" in error.value.hint


def test_an_unknown_key_of_a_group_is_told_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"web\.rsults") as error:
        load_settings({}, web={"rsults": 3})
    assert error.value.hint == "did you mean results?"


def test_hosts_of_this_house() -> None:
    """A list as JSON is one too; what is no host ends the start, not the first question."""
    assert load_settings(
        {"CITEWELL_ALLOW_PRIVATE_HOSTS": '["127.0.0.1", "10.0.0.0/8"]'}
    ).allow_private_hosts == (
        "127.0.0.1",
        "10.0.0.0/8",
    )
    assert load_settings({"CITEWELL_ALLOW_PRIVATE_HOSTS": "[::1]"}).allow_private_hosts == (
        "[::1]",
    )
    with pytest.raises(ConfigError, match="not a host or a network"):
        App(load_settings({"CITEWELL_ALLOW_PRIVATE_HOSTS": "http://127.0.0.1:8080/"}))

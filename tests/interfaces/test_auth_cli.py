"""`citewell user`: what it prints, once, and what it refuses; and `citewell serve` where nobody has
to sign in.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from citewell.config import AccessSettings, Settings, load_settings
from citewell.errors import ConfigError
from citewell.interfaces.cli.admin.serve import EVERYWHERE

if TYPE_CHECKING:
    from tests.interfaces.conftest import Result

    Cli = Callable[..., Result]


def test_a_first_user_who_is_no_admin_is_told_of_it(cli: Cli) -> None:
    assert "citewell user role ann admin" in cli("user", "add", "ann", "--role", "reader").err
    made = cli("user", "token", "ann").err.splitlines()[0]
    assert made.endswith(" of ann, shown this once:")
    assert "citewell user role" not in cli("user", "add", "bob", "--role", "admin").err


def test_from_the_first_user_to_none(cli: Cli) -> None:
    """The token stands alone on standard output, once; lists have its id, never itself."""
    assert "there are no users" in cli("user", "list").out
    added = cli("user", "add", "ann")
    token = added.out.strip()
    assert added.code == 0
    assert token.startswith("cw_")
    assert "admin" in added.err
    assert 'auth = "token"' in added.err  # nobody is asked to sign in yet
    assert cli("user", "add", "王伟", "--role", "editor", "--json").code == 0
    listed = cli("user", "list")
    assert token not in listed.out
    assert "never used" in listed.out
    users = json.loads(cli("user", "list", "--json").out)["users"]
    assert [(user["user_id"], user["role"], len(user["known"])) for user in users] == [
        ("ann", "admin", 1),
        ("王伟", "editor", 1),
    ]
    made = json.loads(cli("user", "token", "王伟", "--name", "laptop", "--days", "7", "--json").out)
    assert made["info"]["expires"] - made["info"]["created_at"] == 7 * 86_400
    assert "runs out" in cli("user", "list").out
    assert (
        f"revoked {made['info']['token_id']} (laptop)"
        in cli("user", "revoke", made["info"]["token_id"]).out
    )
    assert len(json.loads(cli("user", "revoke", "王伟", "--json").out)["revoked"]) == 1
    assert "has no token" in cli("user", "revoke", "王伟").out
    assert "is reviewer now" in cli("user", "role", "王伟", "reviewer").out
    assert cli("user", "remove", "王伟", "--yes").code == 0
    assert json.loads(cli("user", "remove", "ann", "--yes", "--json").out)["user_id"] == "ann"


def test_refusals_say_what_to_do(cli: Cli) -> None:
    cli("user", "add", "ann")
    cli("user", "add", "guest", "--role", "reader")
    for arguments, said in (
        (("add", "ANN"), "citewell user token ann"),
        (("add", "a b"), "letters and digits of any script"),
        (("add", "bob", "--role", "king"), "reader, editor, reviewer, admin"),
        (("add", "bob", "--days", "-1"), "more than 0"),
        (("token", "nobody"), "citewell user list"),
        (("token", "ann", "--widget"), "--role reader"),
        (("revoke", "tok_none"), "citewell user list"),
        (("role", "ann", "reader"), "somebody else"),
        (("remove", "ann", "--yes"), "somebody else"),
        (("remove", "guest"), "--yes"),
    ):
        result = cli("user", *arguments)
        assert (result.code, said in result.err) == (1, True), (arguments, result.err)
    assert len(json.loads(cli("user", "list", "--json").out)["users"]) == 2


def test_a_token_for_a_page(cli: Cli, tmp_path: Path) -> None:
    """It is for one collection or one site that is there; lists say which."""
    (tmp_path / "help.md").write_text("# Help\n\nThe desk is open from nine to five.")
    assert cli("add", str(tmp_path / "help.md"), "-c", "help").code == 0
    cli("user", "add", "boss")
    cli("user", "add", "guest", "--role", "reader")
    for arguments, said in (
        (("--widget",), "--collection NAME, or --site NAME"),
        (("--widget", "-c", "help", "--site", "help"), "one collection or one site"),
        (("--widget", "-c", "nothing"), "nothing"),
        (("--widget", "--site", "help"), "citewell sites list"),
    ):
        result = cli("user", "token", "guest", *arguments)
        assert (result.code, said in result.err) == (1, True), (arguments, result.err)
    made = cli("user", "token", "guest", "--widget", "-c", "help")
    assert made.out.startswith("cw_")
    assert "for the chat element, collection help" in made.err
    assert "for the chat element: collection help" in cli("user", "list").out
    assert (
        json.loads(cli("user", "token", "guest", "-c", "help", "--json").out)["info"]["bound"]
        == "collection:help"
    )


def test_serve_refuses_what_all_could_reach(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = cli("serve", "--host", EVERYWHERE[0], "--port", "0")
    assert (
        refused.code,
        "this machine only" in refused.err,
        "docs/security.md" in refused.err,
    ) == (1, True, True)
    monkeypatch.setenv("CITEWELL_AUTH", "token")
    refused = cli("serve", "--host", EVERYWHERE[0], "--port", "0")
    assert (refused.code, "access.hosts" in refused.err) == (1, True)


def test_settings(settings: Settings) -> None:
    """The environment has one text for several; an origin is written as browsers write it."""
    environ = {
        "CITEWELL_HOME": str(settings.home),
        "CITEWELL_ACCESS__HOSTS": "ask.example, 192.0.2.7",
        "CITEWELL_ACCESS__ORIGINS": "https://Site.example/",
    }
    access = load_settings(environ).access
    assert access == AccessSettings(
        hosts=("ask.example", "192.0.2.7"), origins=("https://site.example",)
    )
    for wrong in ("site.example", "https://", "https://a.example/page", "https://*.example", "*"):
        with pytest.raises(ConfigError, match="an origin is a scheme and a host"):
            load_settings(environ | {"CITEWELL_ACCESS__ORIGINS": wrong})

"""The log of administration as it is read, on the command line and over HTTP; and a person
forgotten from the command line.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.interfaces.auth import code_of, people, with_users
from tests.interfaces.serving import run_statement

from citewell.config import Settings
from citewell.runtime.app import App

if TYPE_CHECKING:
    from tests.interfaces.conftest import Result, Served

    Cli = Callable[..., Result]


def test_shown_and_verified(cli: Cli, settings: Settings) -> None:
    """Who did what; a noted entry is found again; one that was changed is told, with exit 1."""
    assert "nothing was administered yet" in cli("audit").out
    cli("user", "add", "ann")
    cli("user", "add", "bob", "--role", "reader")
    shown = cli("audit").out.splitlines()
    assert [line.split(": ", 1)[1].split(" (")[0].split(" tok_")[0] for line in shown] == [
        "user.add ann",
        "token.make",
        "user.add bob",
        "token.make",
    ]
    assert "(at the machine): " in shown[0]
    listed = json.loads(cli("audit", "--limit", "2", "--json").out)["entries"]
    assert [each["seq"] for each in listed] == [4, 3]
    holds = cli("audit", "--verify")
    assert (holds.code, holds.out.startswith("4 entries, and the chain holds")) == (0, True)
    noted = holds.out.strip().rpartition(" ")[2]
    cli("user", "remove", "bob", "--yes")
    assert cli("audit", "--verify", "--expect", noted).code == 0
    assert cli("audit", "--verify", "--expect", f"3{noted[1:]}").code == 1
    assert cli("audit", "--verify", "--expect", "x").code == 1
    of_table = " ON audit" if settings.database_url.get_secret_value() else ""
    run_statement(settings, "DROP TRIGGER audit_unchanged" + of_table)
    run_statement(settings, "UPDATE audit SET action = 'user.role' WHERE seq = 2")
    broken = cli("audit", "--verify")
    assert (broken.code, "entry 2: it is not as it was written" in broken.err) == (1, True)
    told = json.loads(cli("audit", "--verify", "--json").out)
    assert (told["ok"], told["damage"]) == (False, [{"seq": 2, "what": "changed"}])


def test_a_person_is_forgotten(cli: Cli) -> None:
    """Told by table; a second time there is nothing; without a terminal it asks for --yes."""
    cli("user", "add", "boss")
    cli("user", "add", "ann", "--role", "reader")
    asked = cli("user", "forget", "ann")
    assert (asked.code, "no terminal" in asked.err) == (1, True)
    gone = cli("user", "forget", "ann", "--yes")
    assert gone.code == 0, gone.err
    assert "1 of tokens, 1 of users" in gone.out
    assert "nothing is left" in gone.out
    assert cli("user", "forget", "ann", "--yes").code == 1
    assert "somebody forgotten" in cli("audit").out
    assert " ann" not in cli("audit").out
    assert cli("audit", "--verify").code == 0


class TestOverHttp:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return with_users(settings)

    async def test_for_admins(self, app: App, served: Served) -> None:
        """Who asks is who is written, by their token; nobody else reads it."""
        async with people(app, str(served.client.base_url), boss="admin", rob="reviewer") as by:
            await by["boss"].post("/api/users", json={"user_id": "eve"})
            await by["rob"].post("/api/collections", json={"name": "robs", "private": True})
            for path in ("/api/audit", "/api/audit/verify"):
                reply: httpx.Response = await by["rob"].get(path)
                assert (reply.status_code, code_of(reply)) == (403, "not_allowed")
            entries = (await by["boss"].get("/api/audit?limit=3")).json()["entries"]
            assert [
                (each["who"], each["channel"], each["action"], each["subject"])
                for each in entries[:1]
            ] == [("rob", "http", "collection.add", "robs")]
            assert [each["who"] for each in entries] == ["rob", "boss", "boss"]
            older = (
                await by["boss"].get("/api/audit", params={"before": entries[-1]["seq"]})
            ).json()["entries"]
            assert older
            assert "http" not in {
                each["channel"] for each in older
            }  # the first users were made at the machine
            checked = (await by["boss"].get("/api/audit/verify")).json()
            assert (checked["entries"], checked["damage"]) == (entries[0]["seq"], [])
            assert (await by["boss"].get("/api/audit?limit=0")).status_code == 422

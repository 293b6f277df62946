"""Statements, saved questions and boards over a real port: run, left, written to files, shared."""

from __future__ import annotations

import csv
import time

import httpx
import pytest
from tests.interfaces.auth import code_of, people, with_users
from tests.interfaces.conftest import Served

from citewell.config import Settings
from citewell.runtime.app import App

TABLE = b"day,name,cost_eur\n2024-03-05,<b>x</b>,1234.5\n2024-04-02,b,100\n"
SOURCES, SAVED, BOARDS = "/api/data/sources", "/api/data/saved", "/api/data/boards"
MANY = b"n\n" + b"\n".join(b"%d" % n for n in range(20_000))
ENDLESS = "SELECT count(*) FROM many a, many b, many c WHERE (a.n * b.n + c.n) % 7919 = 7"


@pytest.fixture
def auth() -> str:
    return "none"


@pytest.fixture
def settings(settings: Settings, auth: str) -> Settings:
    return with_users(settings) if auth == "token" else settings


async def add_costs(client: httpx.AsyncClient, **how: str) -> None:
    added = await client.post(SOURCES, files={"file": ("costs.csv", TABLE)}, data=how)
    assert added.status_code == 201, added.text


async def test_a_statement_its_rows_and_its_file(client: httpx.AsyncClient) -> None:
    await add_costs(client)
    sql = {"sql": "SELECT name, cost_eur FROM costs"}
    told = (await client.post(f"{SOURCES}/costs/query", json=sql)).json()
    assert told["data"]["rows"] == [["<b>x</b>", 1234.5], ["b", 100]]
    assert told["data"]["looks"][1] == {"role": "quantity", "unit": "EUR"}
    file = await client.post(f"{SOURCES}/costs/export?format=csv", json=sql)
    assert list(csv.reader(file.text.splitlines()))[1] == ["<b>x</b>", "1234.5"]
    assert (file.headers["citewell-rows"], file.headers["citewell-truncated"]) == ("2", "false")
    assert 'filename="costs.csv"' in file.headers["content-disposition"]
    sheet = await client.post(f"{SOURCES}/costs/export?format=xlsx", json=sql)
    assert sheet.content[:2] == b"PK"


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("DELETE FROM costs", "statement_refused"),
        ("PRAGMA database_list", "statement_refused"),
        ("SELECT prize FROM costs", "statement_failed"),
    ],
)
async def test_what_is_wrong_is_the_callers(client: httpx.AsyncClient, sql: str, code: str) -> None:
    await add_costs(client)
    for path in ("query", "export"):
        refused = await client.post(f"{SOURCES}/costs/{path}", json={"sql": sql})
        assert (refused.status_code, code_of(refused)) == (422, code)


async def test_whoever_leaves_ends_the_statement(client: httpx.AsyncClient) -> None:
    """The line is closed while it runs; the workers are free at once."""
    await client.post(SOURCES, files={"file": ("many.csv", MANY)})
    for _ in range(2):  # as many as one person may run at once
        with pytest.raises(httpx.ReadTimeout):
            await client.post(f"{SOURCES}/many/query", json={"sql": ENDLESS}, timeout=1.5)
    began = time.monotonic()
    told = await client.post(f"{SOURCES}/many/query", json={"sql": "SELECT 1 AS one"})
    assert told.json()["data"]["rows"] == [[1]]
    assert time.monotonic() - began < 8, "data.statement_seconds is 10"


@pytest.mark.parametrize("auth", ["token"])
async def test_saved_and_pinned_by_one_and_seen_by_another(app: App, served: Served) -> None:
    """Bob runs what Ann shares of tables that both may see; her own are not there for him."""
    async with people(app, str(served.client.base_url), ann="editor", bob="reader") as by:
        ann, bob = by["ann"], by["bob"]
        await add_costs(ann)
        await add_costs(ann, name="pay", private="true")
        kept = {"name": "All", "source": "costs", "sql": "SELECT * FROM costs", "edited": False}
        saved = (await ann.post(SAVED, json=kept)).json()["saved_id"]
        pay = {"name": "Pay", "source": "pay", "sql": "SELECT * FROM costs"}
        secret = (await ann.post(SAVED, json=pay)).json()["saved_id"]
        board = (await ann.post(BOARDS, json={"name": "Costs"})).json()["board_id"]
        for each in (saved, secret):
            pinned = await ann.post(f"{BOARDS}/{board}/cards", json={"saved_id": each})
        assert [card["name"] for card in pinned.json()["cards"]] == ["All", "Pay"]
        for path in (f"{SAVED}/{saved}", f"{BOARDS}/{board}"):
            assert (await bob.get(path)).status_code == 404
        assert (await bob.post(f"{SAVED}/{saved}/run")).status_code == 404
        await ann.patch(f"{BOARDS}/{board}", json={"shared": True})
        seen = (await bob.get(f"{BOARDS}/{board}")).json()
        assert ([card["name"] for card in seen["cards"]], seen["hidden"]) == (["All"], 1)
        assert (await bob.post(f"{SAVED}/{saved}/run")).json()["data"]["row_count"] == 2
        assert (await bob.post(f"{SAVED}/{secret}/run")).status_code == 404
        for refused in (
            await bob.patch(f"{SAVED}/{saved}", json={"name": "x"}),
            await bob.delete(f"{SAVED}/{saved}"),
            await bob.delete(f"{BOARDS}/{board}"),
        ):
            assert (refused.status_code, code_of(refused)) == (403, "not_allowed")
        changed = await ann.patch(f"{SAVED}/{saved}", json={"sql": "SELECT 1 AS one"})
        assert changed.json()["edited"] is True
        await ann.delete(f"{SOURCES}/pay")
        gone = await ann.post(f"{SAVED}/{secret}/run")
        assert (gone.status_code, code_of(gone)) == (404, "not_found")
        assert len((await ann.get(f"{BOARDS}/{board}")).json()["cards"]) == 2
        assert (await ann.delete(f"{SAVED}/{secret}")).status_code == 204
        assert len((await ann.get(f"{BOARDS}/{board}")).json()["cards"]) == 1


async def test_a_board_and_its_bounds(client: httpx.AsyncClient) -> None:
    board = (await client.post(BOARDS, json={"name": "B"})).json()["board_id"]
    for change in ({"refresh_seconds": -1}, {"cards": ["x"]}, {"name": " "}, {"odd": 1}):
        reply = await client.patch(f"{BOARDS}/{board}", json=change)
        assert reply.status_code in {404, 422}, change
    assert (await client.get(f"{BOARDS}/{board}")).json()["cards"] == []
    assert (await client.delete(f"{BOARDS}/{board}")).status_code == 204
    assert (await client.get(f"{BOARDS}/{board}")).status_code == 404

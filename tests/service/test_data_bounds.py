"""What bounds a question to tables: its time, whatever it is spent on, and the tables of its
source.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from tests.servers.mysql import login

from citewell.errors import SourceUnavailable, StatementRefused
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.ask import ask_data
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.knowledge.correction_sql import check_statement
from citewell.service.tables.sources import add_source


@pytest.fixture
async def costs(app: App, tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_text("service,amount\nMail,12\n", "utf-8")
    await add_source(app, str(path))


def asking(question: str, **options: Any) -> AskRequest:
    return AskRequest(question=question, agent="data", options=options)


@pytest.mark.usefixtures("costs")
async def test_reading_a_file_anew_counts(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that takes long to read ends the question when its time is over, and says what to
    do.
    """

    @asynccontextmanager
    async def slow(*_: object) -> AsyncIterator[None]:
        await anyio.sleep(60)
        yield

    monkeypatch.setattr(ask_data, "open_source", slow)
    begun = time.monotonic()
    with pytest.raises(SourceUnavailable, match="longer than the time of this question") as told:
        await ask(app, asking("How much is Mail?", max_seconds=0.5))
    assert time.monotonic() - begun < 20
    assert "data refresh costs" in told.value.hint


@pytest.mark.usefixtures("costs")
async def test_votes_that_wait_count_too(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are dealt with inside the question's time, and only for a while; not where knowledge is
    not wanted.
    """
    given: list[float | None] = []

    async def caught(_: App, seconds: float | None = None) -> int:
        given.append(seconds)
        return 0

    monkeypatch.setattr(ask_data, "run_pending_jobs", caught)
    assert isinstance(app.llm, ScriptedLLM)
    for knowledge in (True, False):
        app.llm.enqueue(json.dumps({"sql": "SELECT sum(amount) AS total FROM costs"}))
        assert (
            await ask(app, asking("What is the total amount?", knowledge=knowledge))
        ).status == "answered"
    assert given == [ask_data.CATCH_UP_SECONDS]


async def test_another_database_of_the_same_login(app: App, mysql_database: str) -> None:
    """Whoever adds a source is told that its user sees more; statements that name it are refused by
    guard and scope.
    """
    with login(mysql_database) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE costs (service VARCHAR(20), amount INT)")
        cursor.execute("DROP DATABASE IF EXISTS payroll")
        cursor.execute("CREATE DATABASE payroll")
        cursor.execute("CREATE TABLE payroll.pay (name VARCHAR(20), amount INT)")
        try:
            added = await add_source(app, mysql_database, "shop")
            here = urlsplit(mysql_database).path.strip("/")
            assert any(
                "payroll" in warning and f"only name tables of {here}" in warning
                for warning in added.warnings
            )
            await check_statement(app, "shop", "SELECT service FROM costs")
            await check_statement(app, "shop", f"SELECT service FROM {here}.costs")
            for sql in (
                "SELECT * FROM payroll.pay",
                "SELECT name FROM costs JOIN `payroll`.`pay` p USING (amount)",
            ):
                with pytest.raises(
                    StatementRefused, match=r"payroll\.pay is no table of this source"
                ):
                    await check_statement(app, "shop", sql)
        finally:
            cursor.execute("DROP DATABASE payroll")


async def test_another_schema_that_the_role_may_not_list(app: App, postgres_database: str) -> None:
    """The catalogue of a server is none of its tables."""
    import psycopg

    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute("CREATE TABLE costs (service text, amount int)")
        connection.execute("CREATE SCHEMA hr")
        connection.execute("CREATE TABLE hr.pay (name text)")
    await add_source(app, postgres_database, "shop")
    for sql in ("SELECT * FROM public.costs", "SELECT name FROM hr.pay"):
        await check_statement(app, "shop", sql)
    with pytest.raises(StatementRefused, match=r"information_schema\.tables is no table"):
        await check_statement(app, "shop", "SELECT table_name FROM information_schema.tables")

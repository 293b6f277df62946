"""Two servers, as processes, on one PostgreSQL: what one of them knows of a person or a question,
the other knows too.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import make_url
from tests.interfaces.auth import bearer
from tests.interfaces.serving import (
    PATIENCE,
    QUESTION,
    SSE,
    Bench,
    Server,
    bench,
    run_statement,
    until,
)

from citewell.config import Settings
from citewell.runtime.app import App
from citewell.service.admin.users import add_user

ASKED = {"question": QUESTION, "collection": "default"}
SLOW = [{"pace": 0.2, "delay": 1.0}]
STUCK = [{"pace": 0.2, "delay": 600.0}]


@pytest.fixture
def database_url(home_url: str) -> str:
    return home_url


@pytest.fixture
def house(settings: Settings, tmp_path: Path) -> Bench:
    assert make_url(settings.database_url.get_secret_value()).drivername == "postgresql"
    made = bench(settings, tmp_path)
    made.add()
    return made


@contextmanager
def two(house: Bench, script: list[Any], **more: Any) -> Iterator[tuple[Server, Server]]:
    with house.serve(script, **more) as one, house.serve(script, **more) as other:
        yield one, other


def add_person(settings: Settings, name: str) -> str:
    """Their token."""

    async def add() -> str:
        async with App(settings) as app:
            return str((await add_user(app, name)).token)

    return asyncio.run(add())


def ask_and_leave(server: Server) -> str:
    """A question asked with `detach`, whose client is cut off after the first event; its run."""
    url = f"{server.url}/api/ask?detach=true"
    with httpx.stream(
        "POST", url, json=ASKED, headers=SSE, trust_env=False, timeout=PATIENCE
    ) as reply:
        line = next(line for line in reply.iter_lines() if line.startswith("data: {"))
    return str(json.loads(line.removeprefix("data: "))["detail"]["trace_id"])


def hear(server: Server, trace_id: str) -> list[tuple[str, dict[str, Any]]]:
    text = server.get(f"/api/runs/{trace_id}/events").text
    events = [each.split("\n") for each in text.strip().split("\n\n") if each.startswith("event")]
    return [(kind.split(": ")[1], json.loads(data.split(": ", 1)[1])) for kind, data in events]


def list_live(server: Server) -> list[str]:
    return [run["trace_id"] for run in server.get("/api/runs").json()["live"]]


def test_limits_and_sign_ins_hold_over_both(house: Bench, settings: Settings) -> None:
    """Whichever of the two is asked: so many requests of one user, so many tries of one address,
    and one sign-in.
    """
    token = add_person(settings, "ann")
    more: dict[str, Any] = {
        "auth": "token",
        "access__requests_a_minute": "7",
        "access__tries_a_minute": "3",
    }
    with two(house, [], **more) as servers:

        def ask(path: str, number: int, **said: Any) -> httpx.Response:
            url = servers[number % 2].url + path
            usual: dict[str, Any] = {
                "method": "GET",
                "url": url,
                "trust_env": False,
                "timeout": PATIENCE,
            }
            return httpx.request(**usual | said)

        signed_in = ask("/api/sign-in", 0, method="POST", json={"token": token})
        cookie = {"Cookie": f"citewell_session={signed_in.cookies['citewell_session']}"}
        assert ask("/api/me", 1, headers=cookie).json()["user_id"] == "ann"
        replies = [ask("/api/version", n, headers=bearer(token)) for n in range(12)]
        assert Counter(reply.status_code for reply in replies) == {200: 5, 429: 7}
        assert all(1 <= int(reply.headers["retry-after"]) <= 60 for reply in replies[5:])
        tries = [ask("/api/version", n, headers=bearer("cw_guess")) for n in range(6)]
        assert Counter(reply.status_code for reply in tries) == {401: 3, 429: 3}
    keys = run_statement(settings, "SELECT key FROM rate_counts")
    assert len(keys) == 2
    assert not any("ann" in key or "127" in key for (key,) in keys)


def test_a_question_is_heard_to_its_end_on_the_other(house: Bench) -> None:
    """From its first event on, though another server answers it and its client was cut off."""
    with two(house, SLOW) as (one, other):
        trace_id = ask_and_leave(one)
        until(lambda: list_live(other) == [trace_id], "the other lists it")
        assert list_live(one) == [trace_id]
        stranger = other.get(f"/api/runs/{trace_id}/events?user_id=eve")
        assert stranger.status_code == 404
        events = hear(other, trace_id)
        kinds = [kind for kind, _ in events]
        assert (kinds[0], kinds[-1]) == ("step", "answer")
        assert {"step", "citation", "answer"} <= set(kinds)
        assert events[0][1]["detail"]["trace_id"] == trace_id
        assert events[-1][1] == one.get(f"/api/traces/{trace_id}").json()["answer"]
        assert list_live(other) == []
        assert other.get(f"/api/runs/{trace_id}/events").status_code == 404


def test_a_question_is_cancelled_by_the_other(house: Bench, settings: Settings) -> None:
    """Who listens there to another one is told that the server that answered it was killed."""
    with two(house, STUCK) as (one, other):
        trace_id = ask_and_leave(one)
        until(lambda: list_live(other) == [trace_id], "the other lists it")
        path = f"/api/runs/{trace_id}/cancel"
        assert other.post(f"{path}?user_id=eve", {}).status_code == 404
        assert other.post(path, {}).status_code == 204
        assert list_live(one) == list_live(other) == []
        assert one.get(f"/api/traces/{trace_id}").status_code == 404

        trace_id = ask_and_leave(one)
        until(lambda: list_live(other) == [trace_id], "the other lists the next one")
        url = f"{other.url}/api/runs/{trace_id}/events"
        with httpx.stream("GET", url, trust_env=False, timeout=PATIENCE) as reply:
            lines = reply.iter_lines()
            assert next(lines) == "event: step"
            one.send(signal.SIGKILL)
            one.stops()
            run_statement(settings, "UPDATE live_runs SET seen_at = seen_at - 60")
            said = [line for line in lines if line.startswith("data: {")][-1]
        assert json.loads(said.removeprefix("data: "))["error"]["code"] == "stopping"
        assert list_live(other) == []

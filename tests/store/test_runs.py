"""Runs that are not over: whose they are, when another may take one over, and when nobody may any
more.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from tests.error_codes import raises_code

from citewell.errors import Conflict, NotFound
from citewell.store import processes
from citewell.store import runs as runs_module
from citewell.store.db import Database
from citewell.store.processes import has_ended, name_this_process
from citewell.store.runs import LEASE_SECONDS, Runs

ASKED = {"question": "Why?", "session_id": "ses_1"}


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def runs(db: Database, clock: Clock) -> Runs:
    return Runs(db, 30.0, clock, steady=clock)


async def begun(runs: Runs) -> str:
    """One that is under way; its holder."""
    holder = await runs.begin("tr_1", "local", "paper", ASKED)
    await runs.renew("tr_1", holder)
    await runs.keep("tr_1", holder, "ask", {})
    return holder


def ended_process() -> str:
    """How a process of this machine named itself that is gone now."""
    code = "from citewell.store.processes import name_this_process; print(name_this_process())"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


async def test_a_run_that_is_under_way_is_nobody_elses(runs: Runs, clock: Clock) -> None:
    """It is listed as such and cannot be taken, as long as its holder gives signs of life."""
    holder = await begun(runs)
    for _ in range(3):
        clock.now += LEASE_SECONDS - 1
        [run] = await runs.list("local")
        assert run.alive
        with raises_code(Conflict, "under_way"):
            await runs.take("tr_1", "local")
        await runs.renew("tr_1", holder)
    clock.now += LEASE_SECONDS + 1
    [run] = await runs.list("local")
    assert not run.alive
    _, other = await runs.take("tr_1", "local")
    for late in (
        runs.renew("tr_1", holder),
        runs.keep("tr_1", holder, "ask", {}),
        runs.end("tr_1", holder),
    ):
        with pytest.raises(Conflict, match="gone on with elsewhere"):
            await late
    await runs.release("tr_1", holder)
    assert (await runs.list("local"))[0].alive, "only its holder sets it free"
    await runs.end("tr_1", other)


async def test_a_killed_process_keeps_nobody_waiting(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here it is seen that the process is gone; of one elsewhere nothing is known before its lease
    runs out.
    """
    name = ended_process()
    monkeypatch.setattr(runs_module, "name_this_process", lambda: name)
    await begun(runs)
    [run] = await runs.list("local")
    assert not run.alive
    monkeypatch.setattr(runs_module, "name_this_process", lambda: "elsewhere " + name)
    await runs.take("tr_1", "local")
    with raises_code(Conflict, "under_way"):
        await runs.take("tr_1", "local")


def test_processes_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gone is said only where it is certain: neither of this one, nor of one elsewhere, nor where
    it cannot be asked.
    """
    name, mine = ended_process(), name_this_process()
    assert [has_ended(each) for each in (name, mine, "elsewhere " + name, "", "x", "a b c")] == [
        True,
        *[False] * 5,
    ]
    if (processes._PROC / "self/stat").exists():
        number, started = mine.split()[-2:]
        assert has_ended(
            f"{mine.removesuffix(f' {number} {started}')} {number} {int(started) - 1}"
        ), "the number was given again"
    monkeypatch.setattr("citewell.store.processes.os.name", "nt")
    assert not has_ended(name)


async def test_a_run_that_ends_its_process_twice_is_given_up(runs: Runs, clock: Clock) -> None:
    await begun(runs)
    clock.now += LEASE_SECONDS + 1
    await runs.take("tr_1", "local")
    clock.now += LEASE_SECONDS + 1
    with pytest.raises(Conflict) as given_up:
        await runs.take("tr_1", "local")
    assert given_up.value.code == "gave_up"
    assert await runs.list("local") == []
    with pytest.raises(NotFound):
        await runs.take("tr_1", "local")


async def test_what_was_stopped_or_got_further_is_not_given_up(runs: Runs, clock: Clock) -> None:
    """Ctrl-C is no fault of the question's, and a node that was finished is a new beginning."""
    holder = await begun(runs)
    for _ in range(4):
        await runs.release("tr_1", holder)
        [run] = await runs.list("local")
        assert run == replace(run, alive=False)
        _, holder = await runs.take("tr_1", "local")
    for _ in range(4):
        await runs.keep("tr_1", holder, "ask", {})
        clock.now += LEASE_SECONDS + 1
        _, holder = await runs.take("tr_1", "local")

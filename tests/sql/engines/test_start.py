"""A worker that takes long to start, as on a busy machine: the statement is not blamed, and has all
of its own time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from citewell.errors import SourceUnavailable
from citewell.ingest import worker
from citewell.sql.engines import open_engine
from citewell.sql.engines import worker_process as process
from citewell.sql.engines.engine import Engine, Limits, Location

LIMITS = Limits(seconds=1)


@pytest.fixture
def slowly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine whose next worker is ready after two seconds, and killed when a statement's own
    second is over.
    """
    path = tmp_path / "a.duckdb"
    duckdb.connect(str(path)).close()
    worker.kill_idle_workers()
    monkeypatch.setattr(worker, "PROGRAM", f"import time; time.sleep(2); {worker.PROGRAM}")
    yield open_engine(Location("duckdb", str(path), options={"grace": 0}))
    worker.kill_idle_workers()


async def test_its_start_is_not_of_the_statements_time(slowly: Engine) -> None:
    assert (await slowly.run("SELECT 1", LIMITS)).rows == ((1,),)


async def test_one_that_does_not_start_is_no_fault_of_the_statement(
    slowly: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "START_SECONDS", 0.5)
    with pytest.raises(SourceUnavailable, match=r"not ready within 0\.5 s") as failed:
        await slowly.run("SELECT 1", LIMITS)
    assert "busy" in failed.value.hint

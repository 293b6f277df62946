"""`citewell db` on the command line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import psycopg
from tests.servers.forked import run_forked


def run_citewell(home: Path, *words: str, url: str = "", **more: str) -> tuple[int, str, str]:
    named = {"CITEWELL_HOME": str(home), "CITEWELL_DATABASE_URL": url, "COLUMNS": "200"}
    environ = dict(os.environ) | named | more
    done = run_forked([sys.executable, "-m", "citewell", *words], environ, text=True)
    return done.returncode, done.stdout, done.stderr


def run(home: Path, *words: str, url: str = "") -> tuple[int, str, str]:
    return run_citewell(home, "db", *words, url=url)


def test_a_file_is_made_up_to_date(tmp_path: Path) -> None:
    code, said, _ = run(tmp_path / "home", "status")
    assert (code, "empty" in said) == (0, True)
    assert not (tmp_path / "home" / "citewell.db").exists()
    code, said, _ = run(tmp_path / "home", "upgrade", "--json")
    status = json.loads(said)
    assert (code, status["state"], status["revision"]) == (0, "current", status["known"])


def test_a_database_of_postgres(tmp_path: Path, postgres_database: str) -> None:
    code, said, _ = run(tmp_path, "upgrade", url=postgres_database)
    assert (code, "up to date" in said) == (0, True)
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    code, said, _ = run(tmp_path, "status", url=postgres_database)
    assert (code, "this one works with it" in said) == (0, True)
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute("COMMENT ON TABLE alembic_version IS '9999'")
    code, said, _ = run(tmp_path, "status", url=postgres_database)
    assert (code, "a later Citewell wrote it" in said) == (1, True)
    code, _, problem = run(tmp_path, "upgrade", url=postgres_database)
    assert (code, "a later Citewell wrote this database" in problem) == (1, True)


def test_a_password_is_not_said(tmp_path: Path) -> None:
    code, said, problem = run(tmp_path, "status", url="postgresql://u:s3cr3t@127.0.0.1:1/d")
    assert (code, "cannot be reached" in problem) == (1, True)
    assert "s3cr3t" not in said + problem


def test_an_archive_of_a_server_becomes_a_home(tmp_path: Path, postgres_database: str) -> None:
    """And is not restored into the database that it came from, which has rows."""
    note, archive = tmp_path / "note.md", tmp_path / "b.tar.gz"
    note.write_text("# Tower\n\nThe lamp of the tower is electric.\n", "utf-8")
    named = {"CITEWELL_EMBEDDER": "scripted", "CITEWELL_LLM": "none"}
    home, url = tmp_path / "home", postgres_database
    assert run_citewell(home, "add", str(note), url=url, **named)[0] == 0
    assert run_citewell(home, "backup", str(archive), url=url)[0] == 0
    assert run_citewell(home, "backup", "--verify", str(archive))[0] == 0
    code, _, problem = run_citewell(home, "restore", str(archive), url=url)
    assert (code, "there is data already" in problem) == (1, True)
    plain = tmp_path / "plain"
    assert run_citewell(home, "restore", str(archive), "--home", str(plain), url=url)[0] == 0
    code, said, _ = run_citewell(plain, "search", "electric lamp", "--json", **named)
    assert (code, "lamp of the tower" in said) == (0, True)


def test_a_home_is_moved(tmp_path: Path, postgres_database: str) -> None:
    home = tmp_path / "home"
    note = tmp_path / "note.md"
    note.write_text("# Tower\n\nThe lamp of the tower is electric.\n", "utf-8")
    variables = {"CITEWELL_EMBEDDER": "scripted", "CITEWELL_LLM": "none"}
    assert run_citewell(home, "add", str(note), **variables)[0] == 0
    code, said, _ = run(home, "move", str(home), postgres_database, "--json")
    assert (code, json.loads(said)["counts"]["documents"]) == (0, 1)
    code, said, _ = run_citewell(
        home, "search", "electric lamp", "--json", url=postgres_database, **variables
    )
    assert (code, "lamp of the tower" in said) == (0, True)
    code, _, problem = run(home, "move", str(home), postgres_database)
    assert (code, "there is data already" in problem) == (1, True)

"""`citewell --help` stays quick because nothing heavy is imported for it, and no command; a
command is imported when it is asked for.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from citewell.interfaces.cli.commands import COMMANDS, SECTIONS

if TYPE_CHECKING:
    from tests.interfaces.conftest import Result

HEAVY = (
    "numpy",
    "sqlalchemy",
    "fastapi",
    "langgraph",
    "pydantic",
    "pydantic_settings",
    "rich.console",
    "faiss",
    "httpx",
    "httpx2",
    "uvicorn",
    "mcp",
)
CLI = "citewell.interfaces.cli."
PROGRAM = """
import sys
from citewell.interfaces.cli import main
sys.argv = ["citewell", *{arguments}]
try:
    main()
finally:
    print(*sys.modules, sep="\\n", file=sys.stderr)
"""


def run(*arguments: str) -> tuple[str, set[str]]:
    """What a command that ends well prints, and what is in `sys.modules` at its end."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(arguments=arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "COLUMNS": "110"},
    )
    assert done.returncode == 0, done.stderr
    assert "itewell" in done.stdout
    return done.stdout, set(done.stderr.split())


def list_loaded_commands(loaded: set[str]) -> set[str]:
    """The modules of the table among them."""
    targets = {place.target.partition(":")[0] for place in COMMANDS.values()}
    return {name for name in targets if CLI + name in loaded}


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_imports_nothing_heavy_and_no_command(option: str) -> None:
    """Told by what is in `sys.modules` at the end, not by the clock. Every command stands under one
    heading of what people do, with its whole line where the terminal is wide.
    """
    said, loaded = run(option)
    assert loaded & set(HEAVY) == set()
    assert list_loaded_commands(loaded) == set()
    if option == "--help":
        assert [title for title in SECTIONS if f"\n{title}:\n" not in said] == []
        assert max(map(len, said.splitlines())) > 80
        assert "..." not in said.partition("\n")[2]


def test_help_of_a_command_imports_that_one() -> None:
    """The web application does without what only its callers over MCP need, which takes 0.7 s."""
    _, loaded = run("serve", "--help")
    assert list_loaded_commands(loaded) == {"admin.serve"}
    assert ("citewell.interfaces.http" in loaded, "mcp" in loaded) == (True, False)
    assert list_loaded_commands(run("jobs", "list", "--help")[1]) == {"library.jobs"}


@pytest.mark.parametrize("name", COMMANDS)
def test_table_says_what_the_command_says(name: str) -> None:
    """The help of the table is that of the command itself, but for its line ends."""
    place = COMMANDS[name]
    assert " ".join(place.load().help.split()) == place.help


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("citewell d", {"data", "db", "doctor"}),
        ("citewell data re", {"remove", "refresh"}),
        ("citewell ask --max", {"--max-seconds", "--max-calls", "--max-tokens"}),
    ],
)
def test_shells_complete(
    cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, typed: str, offered: set[str]
) -> None:
    """Commands, those of groups and options."""
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(typed.count(" ")))
    monkeypatch.setenv("_CITEWELL_COMPLETE", "complete_bash")
    assert set(cli().out.split()) == offered


@pytest.mark.parametrize("group", ["sync", "knowledge", "data", "user"])
def test_the_help_of_a_group_cuts_no_line(
    cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    _, begun, commands = cli(group, "--help").out.partition("Commands:")
    assert begun
    assert "..." not in commands

"""`citewell --help` stays quick because nothing heavy is imported for it, and no command; a
command is imported when it is asked for.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from citewell.interfaces.cli.commands import COMMANDS, SECTIONS

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


def list_loaded_modules(*arguments: str) -> set[str]:
    """What is in `sys.modules` at the end of a command that ends well."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(arguments=arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "itewell" in done.stdout
    return set(done.stderr.split())


def list_loaded_commands(loaded: set[str]) -> set[str]:
    """The modules of the table among them."""
    targets = {place.target.partition(":")[0] for place in COMMANDS.values()}
    return {name for name in targets if CLI + name in loaded}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_nothing_heavy_and_no_command(arguments: list[str]) -> None:
    """Told by what is in `sys.modules` at the end, not by the clock."""
    loaded = list_loaded_modules(*arguments)
    assert loaded & set(HEAVY) == set()
    assert list_loaded_commands(loaded) == set()


def test_help_of_a_command_imports_that_one() -> None:
    assert list_loaded_commands(list_loaded_modules("add", "--help")) == {"library.add"}
    assert list_loaded_commands(list_loaded_modules("jobs", "list", "--help")) == {"library.jobs"}


@pytest.mark.parametrize("name", COMMANDS)
def test_table_says_what_the_command_says(name: str) -> None:
    """The help of the table is that of the command itself, but for its line ends."""
    place = COMMANDS[name]
    assert " ".join(place.load().help.split()) == place.help


def test_help_is_grouped_by_what_people_do() -> None:
    """Every command under one heading, with its whole line where the terminal is wide."""
    done = subprocess.run(
        [sys.executable, "-m", "citewell", "--help"],
        capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "110"},
    )  # fmt: skip
    assert [title for title in SECTIONS if f"\n{title}:\n" not in done.stdout] == []
    assert max(map(len, done.stdout.splitlines())) > 80
    assert "..." not in done.stdout.partition("\n")[2]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("citewell d", {"data", "db", "doctor"}),
        ("citewell data re", {"remove", "refresh"}),
        ("citewell ask --max", {"--max-seconds", "--max-calls", "--max-tokens"}),
    ],
)
def test_shells_complete(typed: str, offered: set[str]) -> None:
    """Commands, those of groups and options, though none is imported before it is asked for."""
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    done = subprocess.run(
        [sys.executable, "-c", "from citewell.interfaces.cli import main; main()"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **words, "_CITEWELL_COMPLETE": "complete_bash"},
    )
    assert set(done.stdout.split()) == offered

"""`citewell --help` stays quick because nothing heavy is imported for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
PROGRAM = """
import sys
from citewell.interfaces.cli import main
sys.argv = ["citewell", *{arguments}]
try:
    main()
finally:
    found = [name for name in {heavy} if name in sys.modules]
    assert not found, found
"""


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    """Told by what is in `sys.modules` at the end, not by the clock."""
    program = PROGRAM.format(arguments=arguments, heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "itewell" in done.stdout

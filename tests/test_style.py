"""The house style, checked: sizes, docstrings, names, and what must not stand in a file of this
repository.
"""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PYTHON = [
    path for folder in ("src", "tests", "evals") for path in sorted((ROOT / folder).rglob("*.py"))
]
LONGEST_FILE, MEDIAN_FILE = 400, 150
LONGEST_FUNCTION, MOST_FUNCTIONS = 60, 30
BANNED_NAMES = {"utils", "util", "helpers", "helper", "manager", "managers", "misc", "common"}
# written in pieces, so that this file does not find itself
BANNED_WORDS = re.compile(
    r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b"
)
MACHINE = re.compile(
    "|".join(
        (r"/wo" + r"rk/(main|shared)", r"/ro" + r"ot/", r"/tm" + r"p/w\b", r"/ho" + r"me/\w+/")
    )
)
REGISTRY = re.compile(
    "|".join((r"py" + r"pi\.org", r"python" + r"hosted", r"index" + r"-url", r"find" + r"-links"))
)


def tracked() -> list[Path]:
    """Files that belong to the repository: those git knows or would add; without git, the Python
    files.
    """
    command = [
        "git",
        "-C",
        str(ROOT),
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    try:
        names = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        return PYTHON
    return [path for name in names if name and (path := ROOT / name).is_file()]


def functions() -> Iterator[tuple[str, int]]:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield (
                    f"{path.relative_to(ROOT)}:{node.lineno} {node.name}",
                    (node.end_lineno or 0) - node.lineno + 1,
                )


def test_files_are_short() -> None:
    """No source file has more than 400 lines, and half of them have fewer than 150."""
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in SOURCES
    }
    assert {name: size for name, size in sizes.items() if size > LONGEST_FILE} == {}
    assert statistics.median(sizes.values()) < MEDIAN_FILE


def test_functions_are_short() -> None:
    """No function has more than 60 lines, and nine in ten have at most 30."""
    sizes = dict(functions())
    assert {name: size for name, size in sizes.items() if size > LONGEST_FUNCTION} == {}
    assert sum(size <= MOST_FUNCTIONS for size in sizes.values()) >= 0.9 * len(sizes)


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: str(path.relative_to(ROOT)))
def test_file_keeps_the_style(path: Path) -> None:
    """A module says what it is, has a real name, leaves nothing to do, and swallows no error in
    silence.
    """
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "no module docstring"
    assert path.stem not in BANNED_NAMES, "find the noun"
    assert not BANNED_WORDS.search(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            assert not all(isinstance(line, ast.Pass) for line in node.body), (
                f"line {node.lineno}: swallowed"
            )
        if isinstance(node, ast.Raise) and node.exc is not None:
            assert "NotImplemented" not in ast.dump(node.exc), f"line {node.lineno}: a stub"


def test_no_machine_in_files() -> None:
    """No file of the repository names a path of somebody's machine or the host of a package
    registry.
    """
    found = []
    for path in tracked():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue  # a PDF, a Word file
        found += [
            f"{path.relative_to(ROOT)}: {match[0]}"
            for match in (MACHINE.search(text), REGISTRY.search(text))
            if match
        ]
    assert found == []

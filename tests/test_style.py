"""The house style, checked: sizes, docstrings, names, and what must not stand in a file of this
repository.
"""

from __future__ import annotations

import ast
import gc
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "citewell"
SOURCES = sorted(SRC.rglob("*.py"))
PYTHON = [
    path for folder in ("src", "tests", "evals") for path in sorted((ROOT / folder).rglob("*.py"))
]
LONGEST_FILE, MEDIAN_FILE = 400, 150
LONGEST_FUNCTION, MOST_FUNCTIONS = 60, 25
MOST_MODULES = 25
# modules that import others of ours in functions, and what stays out of their start by it
LAZY = {
    "citewell.fetch.fetcher": "the HTTP client",
    "citewell.fetch.service_client": "the HTTP client",
    "citewell.ingest": "PDF",
    "citewell.interfaces.cli": "everything, until main is called",
    "citewell.interfaces.http.mcp.mcp_gateway": "the library of the Model Context Protocol",
}
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


@pytest.fixture(autouse=True, scope="module")
def uncollected() -> Iterator[None]:
    """Trees hold no circles, and looking for some takes four fifths of the time."""
    gc.disable()
    yield
    gc.enable()


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
    """Each, and how many lines its body has."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[ast.get_docstring(node) is not None and len(node.body) > 1]
                yield (
                    f"{path.relative_to(ROOT)}:{node.lineno} {node.name}",
                    (node.end_lineno or 0) - first.lineno + 1,
                )


def test_files_are_short() -> None:
    """No source file has more than 400 lines, and half of them have fewer than 150."""
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in SOURCES
    }
    assert {name: size for name, size in sizes.items() if size > LONGEST_FILE} == {}
    assert statistics.median(sizes.values()) < MEDIAN_FILE


def test_functions_are_short() -> None:
    """No function has more than 60 lines, and nine in ten have at most 25."""
    sizes = dict(functions())
    assert {name: size for name, size in sizes.items() if size > LONGEST_FUNCTION} == {}
    assert sum(size <= MOST_FUNCTIONS for size in sizes.values()) >= 0.9 * len(sizes)


def test_files_keep_the_style() -> None:
    """A module says what it is, has a real name, leaves nothing to do, and swallows no error in
    silence.
    """
    faults = [f"{path.relative_to(ROOT)}: {fault}" for path in PYTHON for fault in faults_of(path)]
    assert faults == []


def faults_of(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    if not ast.get_docstring(tree):
        yield "no module docstring"
    if path.stem in BANNED_NAMES:
        yield "find the noun"
    if BANNED_WORDS.search(text):
        yield "something is left to do"
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and all(
            isinstance(line, ast.Pass) for line in node.body
        ):
            yield f"line {node.lineno}: swallowed"
        if isinstance(node, ast.Raise) and "NotImplemented" in ast.dump(node):
            yield f"line {node.lineno}: a stub"


def test_names_begin_with_verbs() -> None:
    """The shares that `evals/house.py` prints: bare participles and one-word names stay rare."""
    house = import_house()
    names = [
        name.strip("_").split("_") for name, _ in house.list_functions(house.parse_folder(SRC))
    ]
    assert sum(each[0] in house.VERBS for each in names) > 0.85 * len(names)
    assert sum(map(house.is_participle, names)) < 0.015 * len(names)
    assert sum(len(each) == 1 for each in names) < 0.2 * len(names)


def test_imports_stand_at_the_top() -> None:
    """No module imports itself by way of others, and only those named here import in functions."""
    house = import_house()
    graph, hidden, typing = house.list_imports(house.parse_folder(SRC))
    assert house.find_circles(graph) == []
    assert set(hidden) == set(LAZY)
    assert set(typing) == {"citewell"}  # `from citewell import Citewell` has its type


def import_house() -> ModuleType:
    sys.path.insert(0, str(ROOT / "evals"))
    import house

    return house


def test_rooms_are_small() -> None:
    """A folder has at most 25 modules, and no module name stands three times."""
    rooms = Counter(path.parent for path in SOURCES if path.name != "__init__.py")
    assert {str(room.relative_to(SRC)): n for room, n in rooms.items() if n > MOST_MODULES} == {}
    names = Counter(path.stem for path in SOURCES if path.name != "__init__.py")
    assert {name: n for name, n in names.items() if n > 2} == {}


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

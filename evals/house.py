"""How the code is built: sizes, rooms, circles of imports, imports inside functions, names, docs.

    .venv/bin/python evals/house.py [FOLDER...]     # default: src/citewell; name others to compare

The one rule: only what can be counted without a judgement is counted; a verb is what VERBS lists.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# how a function's name may begin: verbs in the imperative, what asks (is, has), and conversions
# (to, from, as)
VERBS = frozenset((ROOT / "evals/house_verbs.txt").read_text("utf-8").split())
PARTICIPLES = frozenset(
    [
        "asked",
        "bound",
        "built",
        "cut",
        "done",
        "drawn",
        "found",
        "gone",
        "held",
        "kept",
        "known",
        "left",
        "lost",
        "made",
        "meant",
        "said",
        "seen",
        "sent",
        "shown",
        "spent",
        "stood",
        "taken",
        "told",
    ]
)
NOT_PARTICIPLES = frozenset(
    ["embed", "feed", "listen", "need", "open", "seed", "shorten", "token", "widen"]
)
Imports = dict[str, set[str]]


def parse_folder(folder: Path) -> dict[str, ast.Module]:
    """Its modules by their dotted names."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text("utf-8"))
    return found


def list_imports(modules: dict[str, ast.Module]) -> tuple[Imports, list[str], list[str]]:
    """Who imports whom; the modules with such imports in functions, and for types alone: one
    entry an imported name.
    """
    graph: Imports = defaultdict(set)
    places: dict[str, list[str]] = defaultdict(list)

    def walk(name: str, node: ast.AST, place: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                walk(name, child, "function")
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                walk(name, child, "types")
            elif isinstance(child, ast.ImportFrom) and child.module:
                for alias in child.names:
                    full = f"{child.module}.{alias.name}"
                    target = full if full in modules else child.module
                    if target in modules:
                        graph[name].add(target)
                        places[place].append(name)
            else:
                walk(name, child, place)

    for name, tree in modules.items():
        walk(name, tree, "module")
    return graph, places["function"], places["types"]


def find_circles(graph: Imports) -> list[set[str]]:
    """Sets of modules that import each other, directly or not (Kosaraju)."""
    order: list[str] = []
    seen: set[str] = set()

    def visit(node: str, edges: Imports, into: list[str]) -> None:
        stack = [(node, iter(edges.get(node, ())))]
        seen.add(node)
        while stack:
            here, rest = stack[-1]
            ahead = next((each for each in rest if each not in seen), None)
            if ahead is None:
                into.append(here)
                stack.pop()
            else:
                seen.add(ahead)
                stack.append((ahead, iter(edges.get(ahead, ()))))

    backwards: Imports = defaultdict(set)
    for node, targets in graph.items():
        for target in targets:
            backwards[target].add(node)
    for node in list(graph):
        if node not in seen:
            visit(node, graph, order)
    seen.clear()
    circles = []
    for node in reversed(order):
        if node not in seen:
            circle: list[str] = []
            visit(node, backwards, circle)
            circles.append(set(circle))
    return sorted((each for each in circles if len(each) > 1), key=len, reverse=True)


def list_functions(modules: dict[str, ast.Module]) -> Iterator[tuple[str, int]]:
    """Names and lines of functions and methods, but properties and dunder methods."""
    for tree in modules.values():
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            marks = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
            if not node.name.startswith("__") and not marks & {
                "property",
                "cached_property",
                "setter",
            }:
                yield node.name, (node.end_lineno or 0) - node.lineno + 1


def is_participle(words: list[str]) -> bool:
    word = words[0]
    return len(words) == 1 and (
        word in PARTICIPLES
        or (re.fullmatch(r"\w+(ed|en)", word) is not None and word not in NOT_PARTICIPLES)
    )


def count_lines(folder: Path, columns: int) -> int:
    """Lines when the formatter is held to so many columns."""
    command = [sys.executable, "-m", "ruff", "format", "--line-length", str(columns), "-q", "-"]
    paths = sorted(folder.rglob("*.py"))
    text = "\n".join(
        path.read_text("utf-8").replace("from __future__ import annotations\n", "")
        for path in paths
    )
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout.count("\n")


def count_tokens(folder: Path) -> int:
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    return sum(
        each.type not in skipped
        for path in folder.rglob("*.py")
        for each in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline)
    )


def measure_house(folder: Path) -> Iterator[tuple[str, str]]:
    modules = parse_folder(folder)
    paths = sorted(folder.rglob("*.py"))
    sizes = {path: len(path.read_text("utf-8").splitlines()) for path in paths}
    yield "files, lines, tokens", f"{len(paths)}, {sum(sizes.values()):,}, {count_tokens(folder):,}"
    yield "lines at 88 columns", f"{count_lines(folder, 88):,}"
    longest = max(sizes, key=lambda path: sizes[path])
    over = sum(size > 300 for size in sizes.values())
    yield "longest file, files over 300 lines", f"{longest.name} {sizes[longest]}, {over}"
    rooms = Counter(path.parent for path in paths if path.name != "__init__.py")
    room, count = rooms.most_common(1)[0]
    yield "largest room", f"{room.relative_to(folder.parent)}: {count} modules"
    stems = Counter(path.stem for path in paths if path.stem != "__init__")
    yield "names of modules that stand three times", str(sum(n >= 3 for n in stems.values()))
    graph, hidden, typing = list_imports(modules)
    circles = find_circles(graph)
    yield "circles of imports", ", ".join(str(len(each)) for each in circles) or "none"
    yield "own imports in functions, for types alone", f"{len(hidden)}, {len(typing)}"
    functions = list(list_functions(modules))
    words = [name.strip("_").split("_") for name, _ in functions]
    shares = [
        sum(each[0] in VERBS for each in words) / len(words),
        sum(map(is_participle, words)) / len(words),
        sum(len(each) == 1 for each in words) / len(words),
    ]
    yield "functions", f"{len(functions):,}"
    yield "begin with a verb, bare participles, one word", "{:.0%}, {:.1%}, {:.0%}".format(*shares)
    short = sum(size <= 25 for _, size in functions) / len(functions)
    yield "functions of at most 25 lines", f"{short:.0%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT / "src/citewell"])
    for folder in parser.parse_args().paths:
        print(folder.name)
        for what, figure in measure_house(folder.resolve()):
            print(f"  {what:<48} {figure}")
    docs = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    texts = [path.read_text("utf-8") for path in docs]
    words = [len(text.split()) for text in texts if not text.startswith("<!-- made by")]
    made = sum(len(text.split()) for text in texts) - sum(words)
    print(f"words of README and docs: {sum(words):,}, and {made:,} of pages that scripts write")


if __name__ == "__main__":
    main()

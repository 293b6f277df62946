"""The texts for people that the server's code holds, as templates: `{1} is broken: {2}`, found by
reading the code.

The one rule: what is not found here is not asked to have a Chinese, so whatever hands on a text
goes by one of the names below.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path

import citewell

ROOT = Path(citewell.__file__).parent
# nothing of these reaches the page: other channels, what runs before there is a server, and what
# only developers see
ELSEWHERE = (
    "__main__.py", "config/", "graph.py", "tools.py", "interfaces/cli/", "interfaces/mcp/",
    "interfaces/http/openai", "interfaces/spans.py", "store/confirmed/exchange.py",
    "store/copies.py", "measure/", "models/builtin/download", "models/recorded.py",
    "models/scripted.py", "retrieve/confidence.py", "service/admin/backup",
    "service/evaluate/calibrate.py", "service/evaluate/corpus.py", "service/admin/doctor.py",
    "service/evaluate/eval", "service/evaluate/journal.py",
    "service/knowledge/exchange_files.py",
    "service/admin/check_models.py", "service/admin/health_check.py",
    "service/knowledge/import_confirmed.py",
)  # fmt: skip
# words of a call's keyword, of an attribute or of a variable that holds what people read
NAMES = {
    *(
        "hint",
        "reason",
        "why",
        "warning",
        "warnings",
        "problem",
        "problems",
        "notes",
        "trouble",
        "troubles",
    ),
    *("message", "detail"),
}
# functions that give back such words
MAKERS = {
    *("advice", "build_reason", "build_warnings", "collect_notes", "describe_error"),
    *("describe_path_error", "describe_problem", "format_detail", "format_error", "get_warnings"),
    *("suggest_hint", "suggest_option", "write_message"),
}
SILENT = {
    "ValueError",
    "TypeError",
    "AssertionError",
    "RuntimeError",
    "KeyError",
    "PromptError",
    "WiringError",
}
MOST = 12  # ways in which one text may be put together
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Module:
    """A file of ours: its tree, what encloses what, and which file each imported name is from."""

    path: Path
    tree: ast.Module
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)

    @property
    def dotted(self) -> str:
        return ".".join(
            ("citewell", *self.path.relative_to(ROOT).with_suffix("").parts)
        ).removesuffix(".__init__")

    def function_of(self, node: ast.AST) -> Function | None:
        while (above := self.parents.get(node)) is not None:
            if isinstance(above, Function):
                return above
            node = above
        return None


@cache
def modules() -> tuple[Module, ...]:
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        if str(path.relative_to(ROOT)).startswith(ELSEWHERE):
            continue
        module = Module(path, ast.parse(path.read_text("utf-8")))
        module.parents = {
            child: node for node in ast.walk(module.tree) for child in ast.iter_child_nodes(node)
        }
        for node in module.parents:
            if isinstance(node, ast.ImportFrom):
                module.imports |= {
                    alias.asname or alias.name: node.module or "" for alias in node.names
                }
        found.append(module)
    return tuple(found)


def errors() -> frozenset[str]:
    """The names of our classes of errors, with those that are made of them."""
    known = {"CitewellError"}
    classes = [
        node for module in modules() for node in module.parents if isinstance(node, ast.ClassDef)
    ]
    for _ in range(4):
        known |= {each.name for each in classes if known & {_last(base) for base in each.bases}}
    return frozenset(known)


@cache
def texts() -> dict[str, str]:
    """Template -> where it stands first."""
    found: dict[str, str] = {}
    kinds = errors()
    for module in modules():
        for node in module.parents:
            shown = _shown(node, kinds)
            values = [
                each.value
                for part in shown
                for each in ast.walk(part)
                if isinstance(each, ast.FormattedValue)
            ]
            for expression in [
                *shown,
                *values,
            ]:  # what is put into a text may be a text of ours too
                for text in ways(expression, module, frozenset()):
                    if worded(text):
                        found.setdefault(
                            numbered(text), f"{module.path.relative_to(ROOT)}:{expression.lineno}"
                        )
    return found


def _shown(node: ast.AST, kinds: frozenset[str]) -> list[ast.expr]:
    """The expressions of a statement or call whose value people read."""
    if isinstance(node, ast.Call):
        name = _last(node.func)
        if name in SILENT or name in {"debug", "info", "error", "exception", "Field", "field"}:
            return []
        shown = [each.value for each in node.keywords if each.arg in NAMES]
        if name in kinds or name == "build_problem":
            shown += node.args
        if name == "Kind":  # of a file: what it is
            shown += node.args[1:]
        if name == "warn" or (name in {"append", "extend"} and _of(node.func) in NAMES):
            shown += node.args
        return shown
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [node.value] if any(_last(target) in NAMES for target in targets) else []
    if isinstance(node, Function) and (
        node.name.strip("_") in NAMES | MAKERS or node.name.strip("_").startswith("explain_")
    ):
        return [
            each.value
            for each in ast.walk(node)
            if isinstance(each, ast.Return | ast.Yield) and each.value is not None
        ]
    return []


def ways(node: ast.AST, module: Module, seen: frozenset[str]) -> list[str]:
    """Every text that an expression may come to, `{}` where a value stands; none where nothing of
    ours is in it.
    """
    match node:
        case ast.Constant(value=str(text)):
            return [text.replace("{", "⟨").replace("}", "⟩")]
        case ast.JoinedStr(values=values):
            return _joined([_piece(each, module, seen) for each in values])
        case ast.IfExp(body=one, orelse=other):
            return [*ways(one, module, seen), *ways(other, module, seen)]
        case ast.BoolOp(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
            return [text for each in values for text in ways(each, module, seen)]
        case ast.Dict(values=values):
            return [text for each in values for text in ways(each, module, seen)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined(
                [ways(left, module, seen) or ["{}"], ways(right, module, seen) or ["{}"]]
            )
        case ast.Subscript(value=value) | ast.Starred(value=value) | ast.Await(value=value):
            return ways(value, module, seen)
        case ast.ListComp(elt=each) | ast.GeneratorExp(elt=each):
            return ways(each, module, seen)
        case ast.Call():
            return _called(node, module, seen)
        case ast.Name(id=name) if name not in seen:
            return _named(name, node, module, seen | {name})
    return []


def _piece(node: ast.expr, module: Module, seen: frozenset[str]) -> list[str]:
    if isinstance(node, ast.Constant):
        return ways(node, module, seen)
    assert isinstance(node, ast.FormattedValue)
    value = node.value
    if isinstance(value, ast.IfExp | ast.BinOp) or (
        isinstance(value, ast.Name) and value.id.isupper()
    ):
        return ways(value, module, seen) or ["{}"]
    return ["{}"]


def _called(node: ast.Call, module: Module, seen: frozenset[str]) -> list[str]:
    """What a call of ours gives back; of `"; ".join(parts)` and `text.replace(…)` the parts and the
    text.
    """
    name = _last(node.func)
    if isinstance(node.func, ast.Attribute) and name in {
        "join",
        "replace",
        "get",
        "strip",
        "removeprefix",
        "capitalize",
    }:
        inner = (
            node.args
            if name == "join"
            else [node.func.value, *(node.args[1:] if name == "get" else [])]
        )
        return [text for each in inner for text in ways(each, module, seen)]
    if name in seen or (isinstance(node.func, ast.Attribute) and _of(node.func) != "self"):
        return []
    texts: list[str] = []
    for where, function in functions().get(name, ()):
        if where is module or where is _home(module, name):
            for each in ast.walk(function):
                if isinstance(each, ast.Return) and each.value is not None:
                    texts += ways(each.value, where, seen | {name})
    return texts


@cache
def functions() -> dict[str, list[tuple[Module, Function]]]:
    found: dict[str, list[tuple[Module, Function]]] = {}
    for module in modules():
        for node in module.parents:
            if isinstance(node, Function):
                found.setdefault(node.name, []).append((module, node))
    return found


@cache
def calls(module: Path) -> dict[str, list[ast.Call]]:
    """The calls in a file, by the name of what is called."""
    found: dict[str, list[ast.Call]] = {}
    for node in ast.walk(next(each.tree for each in modules() if each.path == module)):
        if isinstance(node, ast.Call):
            found.setdefault(_last(node.func), []).append(node)
    return found


def _named(name: str, node: ast.AST, module: Module, seen: frozenset[str]) -> list[str]:
    """What a name may stand for: what is put into it in the function, what callers hand over, or a
    constant of the file.
    """
    function = module.function_of(node)
    if function is not None:
        texts = [*_put(name, function, module, seen), *_looped(name, function, module, seen)]
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        if name in (names := [each.arg for each in arguments]):
            texts += _handed(
                function.name,
                name,
                [each for each in names if each not in {"self", "cls"}],
                module,
                seen,
            )
        if texts:
            return texts
    for statement in module.tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return ways(statement.value, module, seen)
    home = _home(module, name)
    return _named(name, home.tree, home, seen) if home else []


def _put(name: str, function: Function, module: Module, seen: frozenset[str]) -> list[str]:
    texts: list[str] = []
    for each in ast.walk(function):
        if (
            isinstance(each, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr)
            and each.value is not None
        ):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            for target in targets:
                if isinstance(target, ast.Name) and target.id == name:
                    texts += ways(each.value, module, seen)
                elif isinstance(target, ast.Tuple) and any(
                    _last(one) == name for one in target.elts
                ):
                    place = [_last(one) for one in target.elts].index(name)
                    texts += _unpacked(each.value, place, module, seen)
    return texts


def _looped(name: str, function: Function, module: Module, seen: frozenset[str]) -> list[str]:
    """What a loop over a table of the file puts into a name."""
    texts: list[str] = []
    for loop in ast.walk(function):
        if (
            not isinstance(loop, ast.For)
            or not isinstance(loop.target, ast.Tuple)
            or not isinstance(loop.iter, ast.Name)
        ):
            continue
        places = [_last(one) for one in loop.target.elts]
        table = next(
            (each for each in module.tree.body if _last(_target(each)) == loop.iter.id), None
        )
        if (
            name in places
            and isinstance(table, ast.Assign | ast.AnnAssign)
            and isinstance(table.value, ast.Tuple | ast.List)
        ):
            rows = [row.elts for row in table.value.elts if isinstance(row, ast.Tuple)]
            texts += [text for row in rows for text in ways(row[places.index(name)], module, seen)]
    return texts


def _target(node: ast.stmt) -> ast.AST:
    return (
        node.targets[0]
        if isinstance(node, ast.Assign)
        else node.target
        if isinstance(node, ast.AnnAssign)
        else node
    )


def _unpacked(value: ast.expr, place: int, module: Module, seen: frozenset[str]) -> list[str]:
    if isinstance(value, ast.IfExp):
        return [
            *_unpacked(value.body, place, module, seen),
            *_unpacked(value.orelse, place, module, seen),
        ]
    if isinstance(value, ast.Tuple) and place < len(value.elts):
        return ways(value.elts[place], module, seen)
    return (
        ways(value, module, seen) if isinstance(value, ast.Call | ast.Subscript | ast.Name) else []
    )


def _handed(
    function: str, name: str, names: list[str], module: Module, seen: frozenset[str]
) -> list[str]:
    texts: list[str] = []
    for call in calls(module.path).get(function, ()):
        given = [each.value for each in call.keywords if each.arg == name]
        place = names.index(name) if name in names else len(call.args)
        given += call.args[place : place + 1]
        texts += [text for each in given for text in ways(each, module, seen)]
    return texts


def _home(module: Module, name: str) -> Module | None:
    """The file of ours that a name is imported from."""
    return _by_name().get(module.imports.get(name, ""))


@cache
def _by_name() -> dict[str, Module]:
    return {module.dotted: module for module in modules()}


def _joined(pieces: list[list[str]]) -> list[str]:
    return ["".join(each) for each in list(product(*pieces))[:MOST]]


def numbered(text: str) -> str:
    """`{}` of a template counted: `{1}`, `{2}`."""
    counted = iter(range(1, 100))
    return (
        re.sub(r"\{\}", lambda _: f"{{{next(counted)}}}", text)
        .strip(" ;,")
        .replace("⟨", "{")
        .replace("⟩", "}")
    )


def worded(text: str) -> bool:
    """Whether it is English for people: two words, or one beside a value."""
    bare = re.sub(r"\{\}", " ", text)
    if re.search(r"[\u4e00-\u9fff]", bare):
        return False  # the server says it in Chinese itself
    words = re.findall(r"[A-Za-z']{2,}", bare)
    return " " in text.strip() and (len(words) >= 2 or (len(words) == 1 and len(words[0]) > 2))


def _last(node: ast.AST) -> str:
    return (
        node.attr
        if isinstance(node, ast.Attribute)
        else node.id
        if isinstance(node, ast.Name)
        else ""
    )


def _of(node: ast.AST) -> str:
    return _last(node.value) if isinstance(node, ast.Attribute) else ""

"""The description of a source, as people write it: what its tables, columns and values are called,
how they are joined, which rows count, and what its metrics are. What is not understood is told with
its line, never skipped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from citewell.errors import InvalidInput
from citewell.messages import Text

MOST_CHARACTERS: Final = 200_000
_SAYS: Final = {
    "extra_forbidden": Text("{key} is no key that can stand here"),
    "missing": Text("{key} is missing"),
}


class _Written(BaseModel):
    """A key without a value is as one that is not there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_empty(cls, value: Any) -> Any:
        if value == "":
            return {}
        if isinstance(value, dict):
            return {key: each for key, each in value.items() if each != ""}
        return value

    @field_validator("synonyms", mode="before", check_fields=False)
    @classmethod
    def _make_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


class DescribedColumn(_Written):
    """`values`: what people call a stored value."""

    comment: str = ""
    synonyms: list[str] = Field(default=[])
    values: dict[str, list[str]] = Field(default={})

    @field_validator("values", mode="before")
    @classmethod
    def _make_lists(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: [each] if isinstance(each, str) else each for key, each in value.items()}


class DescribedTable(_Written):
    """`filter`: the rows that count wherever the table is read, as a condition in SQL."""

    comment: str = ""
    synonyms: list[str] = Field(default=[])
    filter: str = ""
    columns: dict[str, DescribedColumn] = Field(default={})


class Metric(_Written):
    """A figure over many rows. `sql`: an expression with sums, counts or averages in it. `table`:
    the one whose rows are counted, and whose columns `sql` may name alone; else that of its first
    column. `filter`: the rows that count.
    """

    sql: str
    table: str = ""
    synonyms: list[str] = Field(default=[])
    comment: str = ""
    filter: str = ""


class Description(_Written):
    """`joins`: `orders.customer_id = customers.id`. `terms`: what words mean."""

    tables: dict[str, DescribedTable] = Field(default={})
    joins: list[str] = Field(default=[])
    metrics: dict[str, Metric] = Field(default={})
    terms: dict[str, str] = Field(default={})


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong in a line of a description, and what would help."""

    line: int
    message: str
    hint: str = ""


Path = Sequence[Hashable]


class Lines:
    """Where in the text the keys and items stand."""

    def __init__(self, root: yaml.Node | None) -> None:
        self._root = root

    def find(self, path: Path) -> int:
        """The line of the last key or item of `path` that is there, from 1."""
        node, line = self._root, 1
        for key in path:
            if isinstance(node, yaml.MappingNode):
                found = [pair for pair in node.value if pair[0].value == key]
                if not found:
                    break
                line, node = found[0][0].start_mark.line + 1, found[0][1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
                if key >= len(node.value):
                    break
                node = node.value[key]
                line = node.start_mark.line + 1
            else:
                break
        return line


def read_description(text: str) -> tuple[Description, Lines, list[Problem]]:
    """With problems an empty description."""
    nothing = Description(), Lines(None)
    if len(text) > MOST_CHARACTERS:
        problem = Text("more than {most:,} characters", most=MOST_CHARACTERS)
        return *nothing, [Problem(1, problem)]
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
        problems = list(_find_faults(root)) if root is not None else []
        if problems:
            return *nothing, problems
        value = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - which makes texts of all
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = Text("no valid YAML: {problem}", problem=error.problem or error.context or error)
        return *nothing, [Problem(mark.line + 1 if mark else 1, problem)]
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        problem = Text("no valid YAML: {problem}", problem=str(error).partition("\n")[0])
        return *nothing, [Problem(1, problem)]
    lines = Lines(root)
    try:
        return Description.model_validate("" if value is None else value), lines, []
    except ValidationError as error:
        return *nothing, [_explain(each, lines) for each in error.errors()]


@lru_cache(maxsize=64)
def parse_description(text: str) -> Description:
    """One that was checked before it was kept. Raises InvalidInput."""
    found, _, problems = read_description(text)
    if problems:
        first = problems[0]
        raise InvalidInput(
            Text("line {line}: {message}", line=first.line, message=first.message), hint=first.hint
        )
    return found


def _find_faults(root: yaml.Node) -> Iterator[Problem]:
    """Keys that stand twice, of which YAML takes the last, and aliases."""
    seen, wait = set(), [root]
    while wait:
        node = wait.pop()
        if id(node) in seen:
            yield Problem(
                node.start_mark.line + 1, Text("no aliases (*): write it where it belongs")
            )
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            keys: set[Any] = set()
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    yield Problem(key.start_mark.line + 1, Text("a key is a text"))
                    continue
                if key.value in keys:
                    yield Problem(
                        key.start_mark.line + 1, Text("{key} stands here twice", key=key.value)
                    )
                keys.add(key.value)
                wait.append(value)
        elif isinstance(node, yaml.SequenceNode):
            wait += node.value


def _explain(error: Any, lines: Lines) -> Problem:
    path = error["loc"]
    said = _SAYS.get(error["type"])
    key = path[-1] if path else "YAML"
    message = (
        said.fill(key=str(key))
        if said is not None
        else Text("{key}: {message}", key=str(key), message=error["msg"])
    )
    allowed = _list_keys(path[:-1]) if error["type"] == "extra_forbidden" else ""
    hint = Text("there are: {known}", known=allowed) if allowed else ""
    return Problem(lines.find(path), message, hint)


def _list_keys(path: Path) -> str:
    """The keys that may stand at a place of the text."""
    kinds: dict[tuple[str, ...], type[BaseModel]] = {
        (): Description,
        ("tables", "*"): DescribedTable,
        ("metrics", "*"): Metric,
        ("tables", "*", "columns", "*"): DescribedColumn,
    }
    shape = tuple("*" if at % 2 else str(key) for at, key in enumerate(path))
    kind = kinds.get(shape)
    return ", ".join(kind.model_fields) if kind else ""

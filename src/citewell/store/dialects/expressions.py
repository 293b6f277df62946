"""Expressions that SQLite and PostgreSQL write differently.

The one rule: each gives the same result in both, for NULL too; tests/store/test_dialects.py runs
both.
JSON is stored in TEXT columns. A lone surrogate, which JSON allows and PostgreSQL's text does not,
is read there as U+FFFD.

Not needed here: `func.substr(column, 1, func.length(p)) == p` is "begins with p" in both (LIKE is
not, because SQLite's ignores case); NULL stands first in SQLite's ascending order and last in
PostgreSQL's, so order what may be NULL by `.nulls_first()` or `.nulls_last()`; `.offset(n)` needs
no limit; a condition is a boolean in one and a number in the other, so compare it with nothing.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    Integer,
    Text,
    bindparam,
    column,
    func,
    literal_column,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.selectable import TableValuedAlias
from sqlalchemy.types import TypeDecorator, TypeEngine

# NUL and half of a surrogate pair, as JSON escapes them
_NO_TEXT: Final = (
    r"\\u0000|\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


class _Words(FunctionElement[Any], ABC):
    """`parts`: its operands, compiled to SQL."""

    inherit_cache = True

    @abstractmethod
    def write_sqlite(self, *parts: str) -> str:
        """As SQLite knows it."""

    @abstractmethod
    def write_postgresql(self, *parts: str) -> str:
        """As PostgreSQL knows it."""


@compiles(_Words)
def _write_words(element: _Words, compiler: SQLCompiler, **kw: Any) -> str:
    parts = [compiler.process(each, **kw) for each in element.clauses]
    if compiler.dialect.name == "postgresql":
        return element.write_postgresql(*parts)
    return element.write_sqlite(*parts)


def _quote_path(path: str) -> tuple[ColumnElement[str], ColumnElement[str]]:
    """A path of JSON as SQLite and as PostgreSQL write it: "a.b", "" for the whole."""
    if not re.fullmatch(r"(\w+(\.\w+)*)?", path):
        raise ValueError(path)
    dotted, listed = ("$." + path) if path else "$", path.replace(".", ",")
    return literal_column(f"'{dotted}'"), literal_column(f"'{{{listed}}}'")


def _read_json(text: str) -> str:
    """For PostgreSQL: the value of a text that is JSON, else NULL. Cleaning a text takes twenty
    times as long as reading it, so only unreadable ones are cleaned.
    """
    return (
        f"CAST(CASE WHEN pg_input_is_valid({text}, 'jsonb') THEN {text} WHEN {text} IS JSON THEN "
        rf"regexp_replace({text}, '{_NO_TEXT}', '\\ufffd', 'g') END AS json)"
    )


def _take_part(value: str, result: str) -> str:
    """For PostgreSQL: `result` computed from a value, `part`, that is evaluated once."""
    once = f"SELECT {value} AS part OFFSET 0"
    return f"(SELECT {result} FROM ({once}) AS once)"  # noqa: S608 - words of ours


class json_field(_Words):  # noqa: N801 - it reads as a function of SQL, like those below
    """The text of one field of JSON: `json_field(column, "answer.status")`. Strings are returned as
    they are; integers, true and false as JSON writes them. NULL if the text is no JSON, or the
    field is missing, null, an object or a list.
    """

    type = Text()
    inherit_cache = True

    def __init__(self, text: ColumnElement[Any], path: str) -> None:
        super().__init__(text, *_quote_path(path))

    def write_sqlite(self, *parts: str) -> str:
        text, path, _ = parts
        kind = f"json_type({text}, {path})"
        return (
            f"CASE WHEN NOT json_valid({text}) OR {kind} IN ('object', 'array') THEN NULL "
            f"WHEN {kind} IN ('true', 'false') THEN {kind} "
            f"ELSE CAST(json_extract({text}, {path}) AS TEXT) END"
        )

    def write_postgresql(self, *parts: str) -> str:
        text, _, path = parts
        plain = "json_typeof(part) NOT IN ('object', 'array')"
        result = f"CASE WHEN {plain} THEN part #>> '{{}}' END"
        return _take_part(f"{_read_json(text)} #> {path}", result)


class json_excerpt(_Words):  # noqa: N801
    """Several parts of JSON as one JSON list, null for missing ones; its last element is the length
    of the list `counted`. Returns the whole text if it is no JSON, and in PostgreSQL, where reading
    parts of a long text takes 15 times as long as returning it.
    """

    type = Text()
    inherit_cache = True

    def __init__(self, text: ColumnElement[Any], *paths: str, counted: str = "") -> None:
        lengths = [func.json_array_length(text, _quote_path(counted)[0])] if counted else []
        parts = [text.op("->")(_quote_path(path)[0]) for path in paths]
        super().__init__(text, *parts, *lengths)

    def write_sqlite(self, *parts: str) -> str:
        text, *values = parts
        return f"CASE WHEN json_valid({text}) THEN json_array({', '.join(values)}) ELSE {text} END"

    def write_postgresql(self, *parts: str) -> str:
        return parts[0]


class json_without(_Words):  # noqa: N801
    """JSON without one of its top-level fields; the text itself if it is no object."""

    type = Text()
    inherit_cache = True

    def __init__(self, text: ColumnElement[Any], key: str) -> None:
        super().__init__(text, *_quote_path(key))

    def write_sqlite(self, *parts: str) -> str:
        text, path, _ = parts
        return f"CASE WHEN json_valid({text}) THEN json_remove({text}, {path}) ELSE {text} END"

    def write_postgresql(self, *parts: str) -> str:
        text, _, path = parts
        changed = f"CAST(CAST({_read_json(text)} AS jsonb) #- {path} AS TEXT)"
        return f"CASE WHEN {text} IS JSON OBJECT THEN {changed} ELSE {text} END"


class _Items(_Words):
    inherit_cache = True

    def write_sqlite(self, *parts: str) -> str:
        text, path, _ = parts
        return f"json_each(CASE WHEN json_type({text}, {path}) = 'array' THEN {text} END, {path})"

    def write_postgresql(self, *parts: str) -> str:
        text, _, path = parts
        result = "CASE WHEN json_typeof(part) = 'array' THEN part END"
        members = _take_part(f"{_read_json(text)} #> {path}", result)
        return f"json_array_elements_text({members})"


def list_json(text: ColumnElement[Any], path: str = "") -> TableValuedAlias:
    """A FROM clause: one row for each member of a JSON list of texts or objects, in the column
    `value`. Objects stay JSON, for `json_field`. No rows if it is no list. SQLite raises if the
    text is neither JSON nor NULL.
    """
    return _Items(text, *_quote_path(path)).table_valued(column("value", Text()))


class _Many(TypeDecorator[Sequence[Any]]):
    """A list as one parameter: JSON in SQLite, an array in PostgreSQL."""

    impl = Text
    cache_ok = True

    def __init__(self, numbers: bool) -> None:
        super().__init__()
        self.numbers = numbers

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(ARRAY(BigInteger() if self.numbers else Text()))
        return dialect.type_descriptor(Text())

    def process_bind_param(self, value: Sequence[Any] | None, dialect: Dialect) -> Any:
        many = list(value or ())
        return many if dialect.name == "postgresql" else json.dumps(many)


class _Values(_Words):
    inherit_cache = True

    def write_sqlite(self, *parts: str) -> str:
        return f"json_each({parts[0]})"

    def write_postgresql(self, *parts: str) -> str:
        return f"(SELECT unnest({parts[0]}) AS value)"


class _Among(_Words):
    """The operator and the values after a column. PostgreSQL's planner sees their number, unlike
    that of a subquery.
    """

    inherit_cache = True

    def write_sqlite(self, *parts: str) -> str:
        return f"IN (SELECT value FROM json_each({parts[0]}))"  # noqa: S608 ours

    def write_postgresql(self, *parts: str) -> str:
        return f"= ANY ({parts[0]})"


def _bind_many(values: str | Sequence[Any], *, numbers: bool) -> BindParameter[Sequence[Any]]:
    kind = _Many(numbers)
    if isinstance(values, str):
        return bindparam(values, type_=kind)
    return bindparam(None, list(values), type_=kind, unique=True)


def list_values(values: str | Sequence[Any], *, numbers: bool = False) -> TableValuedAlias:
    """A FROM clause: one row for each of many values, in the column `value`, all in one parameter.
    `values`: the list, or the name of the parameter that has it; texts, or integers if `numbers`.
    """
    held = column("value", BigInteger() if numbers else Text())
    return _Values(_bind_many(values, numbers=numbers)).table_valued(held)


def is_among(of: ColumnElement[Any], values: str | Sequence[Any]) -> ColumnElement[bool]:
    """Whether the column is one of `values`, of any number: the list, or the name of the parameter
    that has it. `~is_among(...)`: none of them.
    """
    # not a function of both: SQLite would be asked whether that equals 1, and look at every row
    return of.bool_op("")(_Among(_bind_many(values, numbers=isinstance(of.type, Integer))))


class find_text(_Words):  # noqa: N801
    """The position of the second text in the first, from 1; 0: not found."""

    type = Integer()
    inherit_cache = True

    def __init__(self, text: ColumnElement[Any], needle: ColumnElement[Any]) -> None:
        super().__init__(text, needle)

    def write_sqlite(self, *parts: str) -> str:
        return f"instr({', '.join(parts)})"

    def write_postgresql(self, *parts: str) -> str:
        return f"strpos({', '.join(parts)})"


class greatest(_Words):  # noqa: N801
    """The greatest of several values; none of them may be NULL."""

    inherit_cache = True

    def __init__(self, first: ColumnElement[Any], *others: ColumnElement[Any]) -> None:
        super().__init__(first, *others)
        self.type = first.type

    def write_sqlite(self, *parts: str) -> str:
        return f"max({', '.join(parts)})"

    def write_postgresql(self, *parts: str) -> str:
        return f"greatest({', '.join(parts)})"


class least(greatest):  # noqa: N801
    """The least of several values; none of them may be NULL."""

    inherit_cache = True

    def write_sqlite(self, *parts: str) -> str:
        return f"min({', '.join(parts)})"

    def write_postgresql(self, *parts: str) -> str:
        return f"least({', '.join(parts)})"

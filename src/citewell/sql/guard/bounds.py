"""Statements that would run or grow without an end: recursion with no bound, series and texts of
millions. What the text itself shows to be too much is refused here; what depends on the data is
ended by the engine's limits of time and memory.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.errors import StatementRefused
from citewell.messages import Text
from citewell.sql.engines.engine import Dialect
from citewell.sql.guard.allowed_functions import COLLECTING, FORMATS, GROWING, REPEATING, SERIES

if TYPE_CHECKING:
    from sqlglot import exp

# of a series that the statement itself writes down: DuckDB, the fastest, makes them in 0.01 s,
# SQLite in 0.3
MOST_ROWS = 1_000_000
# of a text made by repeating: one cell of the default Limits.characters
MOST_CHARACTERS = 1_000_000
MOST_MADE = 10_000_000  # characters of such texts in all rows of a series together
# characters of such a text where an aggregate keeps those of all rows in one value
MOST_COLLECTED = 1_000
_WIDE = re.compile(r"\*|\d{4,}|\{[^{}]*\{")  # the last is a width that an argument says
_TINY = re.compile(r"micro|milli|nano|\b(us|ms|ns)\b", re.IGNORECASE)


def check_bounds(tree: exp.Expr, dialect: Dialect) -> None:
    """Raises StatementRefused where the statement has no end that can be seen in it."""
    from sqlglot import exp

    rows = 1.0
    collected = False
    for function in tree.find_all(exp.Func):
        names = get_function_names(function)
        collected = collected or bool(names & COLLECTING)
        if names & SERIES:
            rows *= max(1.0, _count_series_rows(function))
        if names & GROWING.keys():
            _check_growth(function, GROWING[next(iter(names & GROWING.keys()))])
        if names & FORMATS and dialect != "mysql":
            _check_format(function)
    if rows > MOST_ROWS:
        raise StatementRefused(
            Text("A series of {rows:.0f} rows is written down.", rows=rows),
            hint=Text("At most {most_rows} are made.", most_rows=MOST_ROWS),
        )
    longest = estimate_longest_text(tree)
    if longest > MOST_CHARACTERS or longest * rows > MOST_MADE:
        raise StatementRefused(
            Text("Texts of {longest:.0f} characters are made.", longest=longest * rows),
            hint=Text(
                "At most {most_characters} in a text, {most_made} in all.",
                most_characters=MOST_CHARACTERS,
                most_made=MOST_MADE,
            ),
        )
    if collected and longest > MOST_COLLECTED:
        raise StatementRefused(
            Text("Texts of {longest:.0f} characters are collected into one.", longest=longest),
            hint=Text("Collect texts of at most {most_collected}.", most_collected=MOST_COLLECTED),
        )


def get_function_names(function: exp.Func) -> set[str]:
    """All names by which the function may stand in SQL, in lower case."""
    from sqlglot import exp

    if isinstance(function, exp.Anonymous | exp.AnonymousAggFunc):
        return {function.name.lower()}
    if isinstance(function, exp.ExplodingGenerateSeries):
        return {"generate_series"}
    if isinstance(function, exp.Pad):
        return {"lpad"}
    if isinstance(function, exp.JSONTable):
        return {"json_table"}
    return {name.lower() for name in type(function).sql_names()}


def evaluate_number(node: exp.Expr | None) -> float | None:
    """The value of an expression of literals; None with a column, function or other text."""
    from sqlglot import exp

    if node is None:
        return None
    if isinstance(node, exp.Literal):
        try:
            return float(node.this)
        except ValueError:
            return None
    if isinstance(node, exp.Paren | exp.Cast | exp.TryCast):
        return evaluate_number(node.this)
    if isinstance(node, exp.Neg):
        value = evaluate_number(node.this)
        return None if value is None else -value
    if isinstance(node, exp.Binary | exp.Pow):
        return _evaluate_binary(node, evaluate_number(node.this), evaluate_number(node.expression))
    return None


def _evaluate_binary(node: exp.Expr, left: float | None, right: float | None) -> float | None:
    from sqlglot import exp

    if left is None or right is None:
        return None
    try:
        if isinstance(node, exp.Add):
            return left + right
        if isinstance(node, exp.Sub):
            return left - right
        if isinstance(node, exp.Mul):
            return left * right
        if isinstance(node, exp.Div | exp.IntDiv):
            return left / right
        return float(left**right) if isinstance(node, exp.Pow) else None
    except (ArithmeticError, TypeError):
        return float("inf")  # too large for a float, so too large


def _list_arguments(function: exp.Func) -> list[exp.Expr]:
    from sqlglot import exp

    found: list[exp.Expr] = []
    for key, value in function.args.items():
        if key == "this" and isinstance(function, exp.Anonymous | exp.AnonymousAggFunc):
            continue
        found += [
            part
            for part in (value if isinstance(value, list) else [value])
            if isinstance(part, exp.Expr)
        ]
    return found


def _count_series_rows(function: exp.Func) -> float:
    """Rows that a series of literal bounds has; 1 where they are dates or come from the data."""
    from sqlglot import exp

    arguments = _list_arguments(function)
    step = evaluate_number(arguments[2]) if len(arguments) > 2 else 1.0
    values = [evaluate_number(argument) for argument in arguments[:2]]
    if any(
        _TINY.search(interval.sql())
        for argument in arguments
        for interval in argument.find_all(exp.Interval)
    ):
        raise StatementRefused(
            Text("A series in steps of less than a second."), hint=Text("Use longer steps.")
        )
    if arguments and all(value is not None for value in values) and step is not None:
        first, last = (
            (0.0, values[0] or 0.0) if len(values) == 1 else (values[0] or 0.0, values[1] or 0.0)
        )
        return abs(last - first) / abs(step) if step else float("inf")
    _check_literals(function, MOST_ROWS, Text("A series"))
    if any(
        argument.find(exp.Column, exp.Cast, exp.Date, exp.Interval, exp.CurrentDate)
        for argument in arguments
    ):
        return 1.0
    if any(isinstance(argument, exp.Literal) and argument.is_string for argument in arguments):
        return 1.0
    raise StatementRefused(
        Text("A series whose length cannot be seen."),
        hint=Text("Write its bounds as numbers, dates or columns."),
    )


def _check_growth(function: exp.Func, place: int) -> None:
    """Texts made by repeating: not longer than the limit, not one inside another."""
    from sqlglot import exp

    arguments = _list_arguments(function)
    if len(arguments) <= place:
        return
    length = arguments[place]
    if any(
        get_function_names(inner) & GROWING.keys()
        for argument in arguments
        for inner in argument.find_all(exp.Func)
    ):
        raise StatementRefused(
            Text("A repeated text is repeated again."), hint=Text("Repeat it once.")
        )
    value = evaluate_number(length)
    if value is not None and value > MOST_CHARACTERS:
        raise StatementRefused(
            Text("A text of {value:.0f} characters is made.", value=value),
            hint=Text("At most {most_characters} are.", most_characters=MOST_CHARACTERS),
        )
    _check_literals(length, MOST_CHARACTERS, Text("A text"))
    if value is None and (
        not length.find(exp.Column, exp.Count) or length.find(exp.Pow, exp.BitwiseLeftShift)
    ):
        raise StatementRefused(
            Text("A text whose length cannot be seen is made."),
            hint=Text("Write the length as a number or a column."),
        )


def _check_literals(node: exp.Expr, most: int, what: str) -> None:
    from sqlglot import exp

    for literal in node.find_all(exp.Literal):
        value = evaluate_number(literal)
        if value is not None and value > most:
            raise StatementRefused(
                Text("{what} of {value:.0f} or more is asked for.", what=what, value=value),
                hint=Text("At most {most} is made.", most=most),
            )


def estimate_longest_text(tree: exp.Expr) -> float:
    """Characters of the longest text that the statement makes by repeating; 0 without."""
    from sqlglot import exp

    longest = 0.0
    for function in tree.find_all(exp.Func):
        replaces = isinstance(function, exp.Replace | exp.RegexpReplace)
        inside = function.find_all(exp.Func) if replaces else [function]
        if any(get_function_names(inner) & GROWING.keys() for inner in inside):
            longest = max(longest, _estimate_length(function))
    return longest


def _estimate_length(node: exp.Expr) -> float:
    """Characters that an expression makes at most, a column taken for one."""
    from sqlglot import exp

    if isinstance(node, exp.Literal):
        return float(len(node.this))
    if isinstance(node, exp.Replace | exp.RegexpReplace):
        replacement = node.args.get("replacement")
        return _estimate_length(node.this) * max(
            1.0, _estimate_length(replacement) if replacement is not None else 0.0
        )
    if isinstance(node, exp.Func) and (names := get_function_names(node)) & GROWING.keys():
        arguments, place = _list_arguments(node), GROWING[next(iter(names & GROWING.keys()))]
        times = evaluate_number(arguments[place]) if len(arguments) > place else None
        width = _estimate_length(arguments[0]) if names & REPEATING and times is not None else 1.0
        return max(0.0, times or 0.0) * max(1.0, width)
    if isinstance(node, exp.Column):
        return 1.0
    return sum(_estimate_length(inner) for inner in node.iter_expressions())


def _check_format(function: exp.Func) -> None:
    from sqlglot import exp

    template = next(iter(_list_arguments(function)), None)
    if not (isinstance(template, exp.Literal) and template.is_string):
        raise StatementRefused(
            Text("A format that is not written as a text."),
            hint=Text("Write the format itself: printf('%.2f', x)."),
        )
    if _WIDE.search(template.this.replace("{{", "")):
        raise StatementRefused(
            Text("A format with a width of thousands or of an argument."),
            hint=Text("Write a width under 1000."),
        )

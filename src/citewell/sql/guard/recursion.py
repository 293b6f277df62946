"""Recursion in a statement: whether a CTE that names itself has something that ends it. What ends
it must be seen in the member that names itself: a counter that moves towards a bound, or a join
that follows the rows of another table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.errors import StatementRefused
from citewell.messages import Text
from citewell.sql.engines.engine import Dialect
from citewell.sql.guard.bounds import MOST_ROWS, evaluate_number

if TYPE_CHECKING:
    from sqlglot import exp

TRIED = (1.0, 2.0, 10.0, 1000.0)  # values of a counter, to see what its step makes of them


def check_recursion(tree: exp.Expr, dialect: Dialect) -> dict[str, float]:
    """How many rounds each recursion has at most, by its name, where the text itself says so.
    Raises StatementRefused where one has no end that can be seen in it.
    """
    from sqlglot import exp

    found: dict[str, float] = {}
    for cte in tree.find_all(exp.CTE):
        _check_cte(cte, dialect)
        if (rounds := _count_rounds(cte)) is not None:
            found[cte.alias.lower()] = max(rounds, found.get(cte.alias.lower(), 0.0))
    return found


def _count_rounds(cte: exp.CTE) -> float | None:
    """As many as the largest number of a condition, LIMIT or counter; None without."""
    from sqlglot import exp

    conditions = [where.this for where in cte.this.find_all(exp.Where)]
    compared = [
        part
        for each in conditions
        for part in each.find_all(exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
    ]
    limits = [cte.this.args["limit"].expression] if cte.this.args.get("limit") else []
    values = [
        value
        for part in compared
        for side in part.iter_expressions()
        if (value := evaluate_number(side)) is not None
    ]
    values += [value for limit in limits if (value := evaluate_number(limit)) is not None]
    first = cte.this.find(exp.Select)
    begun = (
        [evaluate_number(each.unalias()) or 0.0 for each in first.expressions]
        if values and first is not None
        else []
    )
    return max(map(abs, [*values, *begun])) if values else None


def _check_cte(cte: exp.CTE, dialect: Dialect) -> None:
    """Raises StatementRefused unless a CTE that names itself, where the dialect makes that
    recursion, has a member whose condition ends it.
    """
    from sqlglot import exp

    parent = cte.find_ancestor(exp.With)
    if dialect != "sqlite" and not (parent and parent.args.get("recursive")):
        return  # the name inside is another table's; SQLite alone recurs without the word
    name = cte.alias.lower()
    for table in cte.this.find_all(exp.Table):
        if table.name.lower() != name or table.args.get("db"):
            continue
        member = table.find_ancestor(exp.Select)
        while member is not None and not _has_end(member, cte):
            above = member.find_ancestor(exp.Select)
            member = (
                above if above is not None and cte.this in (above, *_list_parents(above)) else None
            )
        if member is None and not _is_limited(cte):
            raise StatementRefused(
                Text("The recursion {alias} has no condition that ends it.", alias=cte.alias),
                hint=Text(
                    "Count in it and write WHERE n < 100, or join it to the table whose "
                    "rows it follows."
                ),
            )


def _list_parents(node: exp.Expr) -> list[exp.Expr]:
    found = []
    above = node.parent
    while above is not None:
        found.append(above)
        above = above.parent
    return found


def _is_limited(cte: exp.CTE) -> bool:
    """SQLite, DuckDB and MySQL end a recursion whose union itself has a LIMIT."""
    limit = cte.this.args.get("limit")
    value = evaluate_number(limit.expression) if limit is not None else None
    return value is not None and value <= MOST_ROWS


def _has_end(member: exp.Select, cte: exp.CTE) -> bool:
    """A counter held by a number, a date bound, or a join that follows another table's rows."""
    from sqlglot import exp

    joined = [
        join.args.get("on") or join.args.get("using") for join in member.args.get("joins") or []
    ]
    where = member.args.get("where")
    conditions = [where.this] if where is not None else []
    conditions += [on for on in joined if isinstance(on, exp.Expr)]
    using = any(on for on in joined if not isinstance(on, exp.Expr))
    if _is_driven_by_table(member, cte, conditions, using=using):
        return True
    return any(
        _is_bounded(part, member, cte)
        for condition in conditions
        for part in _split_conjuncts(condition)
    )


def _is_driven_by_table(
    member: exp.Select, cte: exp.CTE, conditions: list[exp.Expr], *, using: bool
) -> bool:
    """Whether a condition ties the recursion to another table, from which it takes something on."""
    from sqlglot import exp

    name = cte.alias.lower()
    tables = list(member.find_all(exp.Table))
    own = {table.alias_or_name.lower() for table in tables if table.name.lower() == name}
    if all(table.name.lower() == name for table in tables):
        return False

    def joins(comparison: exp.Expr) -> bool:
        named = {column.table.lower() for column in comparison.find_all(exp.Column)}
        return "" in named or (bool(named & own) and bool(named - own))

    compared = [
        part
        for condition in conditions
        for part in condition.find_all(exp.Predicate)
        if joins(part)
    ]
    if not using and not compared:
        return False
    steps = [projection.unalias() for projection in member.expressions]
    # what was there already ends it
    distinct = isinstance(cte.this, exp.Union) and cte.this.args.get("distinct")
    taken = any(
        step.is_star or any(c.table.lower() not in own for c in step.find_all(exp.Column))
        for step in steps
    )
    return (
        bool(distinct)
        or taken
        or any(_is_monotonic_step(step, falls=falls) for step in steps for falls in (False, True))
    )


def _split_conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    from sqlglot import exp

    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition.unnest()]


def _is_bounded(part: exp.Expr, member: exp.Select, cte: exp.CTE) -> bool:
    """Whether the condition holds a counter to a number that its own next value comes nearer to."""
    from sqlglot import exp

    if isinstance(part, exp.Between):
        part = exp.LT(this=part.this, expression=part.args["high"])
    if isinstance(part, exp.NEQ | exp.EQ | exp.Is | exp.Like) or not isinstance(
        part, exp.LT | exp.LTE | exp.GT | exp.GTE
    ):
        return False
    falls = isinstance(part, exp.GT | exp.GTE)
    counter, limit = part.this, part.expression
    if evaluate_number(counter) is not None or not counter.find(exp.Column):
        counter, limit, falls = limit, counter, not falls
    if not counter.find(exp.Column):
        return False
    value = evaluate_number(limit)
    if value is not None and abs(value) > MOST_ROWS:
        return False
    return any(
        _is_monotonic_step(step, falls=falls) for step in _find_next_values(counter, member, cte)
    )


def _find_next_values(counter: exp.Expr, member: exp.Select, cte: exp.CTE) -> list[exp.Expr]:
    """What the counter's columns become next; all columns where they cannot be told apart."""
    from sqlglot import exp

    steps = [projection.unalias() for projection in member.expressions]
    first = cte.this.find(exp.Select)
    names = [
        name.lower()
        for name in cte.alias_column_names or (first.named_selects if first is not None else [])
    ]
    if len(names) != len(steps):
        return steps
    found, seen = [], set()
    left = [column.name.lower() for column in counter.find_all(exp.Column)]
    while left:
        name = left.pop()
        if name in seen or name not in names:
            continue
        seen.add(name)
        found.append(steps[names.index(name)])
        if isinstance(found[-1], exp.Column):  # of a pair that changes places: a, b -> b, a + b
            left.append(found[-1].name.lower())
    return found or steps


def _is_monotonic_step(step: exp.Expr, *, falls: bool) -> bool:
    """Whether the step makes a value larger, or smaller; by trial where it is arithmetic, by what
    stands in it elsewhere.
    """
    from sqlglot import exp

    if isinstance(step, exp.Column):
        return False
    tried = [(value, _evaluate_at(step, value)) for value in TRIED]
    if all(after is not None for _, after in tried):
        return any(
            after < value if falls else after > value for value, after in tried if after is not None
        )
    if falls:
        kinds: tuple[type[exp.Expr], ...] = (
            exp.Sub,
            exp.Div,
            exp.IntDiv,
            exp.DateSub,
            exp.Substring,
            exp.BitwiseRightShift,
        )
    else:
        kinds = (exp.Add, exp.Mul, exp.DPipe, exp.Func, exp.Interval)
    return step.find(*kinds) is not None


def _evaluate_at(step: exp.Expr, value: float) -> float | None:
    """The value of arithmetic in which every column is `value`."""
    from sqlglot import exp

    if not step.find(exp.Column):
        return evaluate_number(step)

    def fill_column(node: exp.Expr) -> exp.Expr:
        return exp.Literal.number(value) if isinstance(node, exp.Column) else node

    return evaluate_number(step.copy().transform(fill_column))

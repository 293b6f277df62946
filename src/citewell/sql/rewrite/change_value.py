"""A follow-up that names stored values and nothing else ("and HR?", "only Lyon") changes which rows
the last statement is about. That needs no model.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from citewell.sql.engines.engine import Schema
from citewell.sql.parse_sql import parse_sql
from citewell.sql.semantics.statement_tree import (
    Sources,
    map_sources,
    resolve_column,
    split_where,
    write_alias,
    write_column,
)
from citewell.sql.values_in_question import Found, find_stored_values

# words that only tie a follow-up to what was asked before
_TIES = re.compile(
    r"\b(?:and|what|how|about|of|in|from|for|only|just|the|to|at|now|then|please)\b"
    r"|那么?|如果|换[成到]?|改成|只[看要算]?|仅|就|再|还有|以及|对于?|和|与|在|是|的|里|中|呢|[\W_]",
    re.IGNORECASE,
)
Place = tuple[str, str]  # a table as the statement calls it, and a column of it, folded


def change_value(sql: str, follow_up: str, schema: Schema) -> str:
    """The statement about the values that `follow_up` names; empty where it says more than that or
    it is not plain which condition is meant.
    """
    from sqlglot import exp

    found = find_stored_values(follow_up, schema)
    tree = parse_sql(sql, schema.dialect) if found and _names_only(follow_up, found) else None
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Query))) > 1:
        return ""
    sources = map_sources(tree, schema)
    stated = _map_conditions(tree, sources)
    wanted: defaultdict[Place, list[str]] = defaultdict(list)
    for said in dict.fromkeys(_get_words(each) for each in found):
        place = _choose_place([each for each in found if _get_words(each) == said], sources, stated)
        if place is None:
            return ""
        wanted[place[0]].append(place[1])
    for place_wanted, values in wanted.items():
        _put_condition(tree, place_wanted, values, sources, stated)
    return str(tree.sql(dialect=schema.dialect))


def _get_words(found: Found) -> str:
    return (found.said or found.value).casefold()


def _names_only(follow_up: str, found: list[Found]) -> bool:
    rest = " ".join(follow_up.casefold().split())
    for said in sorted({_get_words(each) for each in found}, key=len, reverse=True):
        rest = re.sub(rf"{re.escape(said)}(?:e?s\b)?", " ", rest)
    return not _TIES.sub("", rest)


def _map_conditions(tree: Any, sources: Sources) -> dict[Place, Any]:
    """The columns that the statement compares with texts; its own condition on one, or None where
    that is not one of those that all rows must meet.
    """
    from sqlglot import exp

    kinds = (exp.EQ, exp.NEQ, exp.In, exp.Like)
    plain = [each for each in split_where(tree) if isinstance(each, exp.EQ | exp.In)]
    found: dict[Place, Any] = {}
    for each in tree.find_all(*kinds):
        place = isinstance(each.this, exp.Column) and resolve_column(each.this, sources)
        if place:
            own = any(each is one for one in plain) and place not in found
            found[place] = each if own else None
    return found


def _choose_place(
    found: list[Found], sources: Sources, stated: dict[Place, Any]
) -> tuple[Place, str] | None:
    """The column that a value is of, and how it is stored there; None where several fit alike."""
    places = [
        ((alias, each.column.casefold()), each.value)
        for each in found
        for alias, (table, _) in sources.items()
        if table.name == each.table
    ]
    fits = [each for each in places if each[0] in stated] or places
    return fits[0] if len(fits) == 1 and stated.get(fits[0][0], True) is not None else None


def _put_condition(
    tree: Any, place: Place, values: list[str], sources: Sources, stated: dict[Place, Any]
) -> None:
    from sqlglot import exp

    before = stated.get(place)
    names = {column.name.casefold(): column.name for column in sources[place[0]].table.columns}
    alias = write_alias(place[0], sources) if len(sources) > 1 else None
    column = before.this.copy() if before is not None else write_column(names[place[1]], alias)
    texts = [exp.Literal.string(value) for value in values]
    condition = (
        exp.EQ(this=column, expression=texts[0])
        if len(texts) == 1
        else exp.In(this=column, expressions=texts)
    )
    if before is not None:
        before.replace(condition)
    else:
        tree.where(condition, copy=False)

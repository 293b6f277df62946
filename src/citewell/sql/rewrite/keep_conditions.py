"""A follow-up changes the last statement: what that one asked of the rows holds on, but where the
new statement uses the same column itself, or the follow-up names it ("by city?", "all regions?"). A
value that only questions before that statement named ("IT? And HR? By month?") does not come back.
"""

from __future__ import annotations

from typing import Any

from citewell.sql.engines.engine import Schema
from citewell.sql.name_likeness import list_targets, score_by_letters
from citewell.sql.parse_sql import parse_sql
from citewell.sql.plan_types import Previous
from citewell.sql.question_words import extract_content_words
from citewell.sql.semantics.statement_tree import (
    Sources,
    map_sources,
    resolve_column,
    split_where,
    write_alias,
)
from citewell.sql.values_in_question import find_stored_values
from citewell.text.tokens import tokenize_query

Place = tuple[str, str]  # a table and a column, folded


def keep_conditions(sql: str, before: Previous, schema: Schema) -> str:
    """The statement with those conditions of `before` that hold on; as it is where none does."""
    from sqlglot import exp

    new, old = parse_sql(sql, schema.dialect), parse_sql(before.sql, schema.dialect)
    if not isinstance(new, exp.Select) or not isinstance(old, exp.Select):
        return sql
    changed = _drop_earlier_values(new, old, before, schema)
    sources, earlier = map_sources(new, schema), map_sources(old, schema)
    aliases = {named.table.name.casefold(): alias for alias, named in sources.items()}
    taken = _list_places(new, sources) | _find_spoken(before.follow_up, schema)
    kept = []
    for condition in split_where(old):
        places = _list_places(condition, earlier)
        if not places or condition.find(exp.Query) or places & taken:
            continue
        if {table for table, _ in places} <= aliases.keys():
            kept.append(_write_condition(condition, earlier, aliases, sources))
    return str(new.where(*kept).sql(dialect=schema.dialect)) if kept or changed else sql


def _drop_earlier_values(new: Any, old: Any, before: Previous, schema: Schema) -> bool:
    """Take out conditions on stored values that were said before the last statement and are neither
    in that nor in the follow-up; whether there were any.
    """
    named, stated = set(tokenize_query(before.follow_up)), _list_texts(old)
    gone = {
        value
        for each in find_stored_values(before.question, schema)
        if (value := each.value.casefold()) not in stated and not named & set(tokenize_query(value))
    }
    conditions = split_where(new)
    rest = [each for each in conditions if not (texts := _list_texts(each)) or texts - gone]
    if len(rest) == len(conditions):
        return False
    new.set("where", None)
    new.where(*rest, copy=False)
    return True


def _list_texts(tree: Any) -> set[str]:
    """Folded, as a condition compares with them; without the marks of LIKE."""
    from sqlglot import exp

    found = (each.this for each in tree.find_all(exp.Literal) if each.is_string)
    return {text.strip("%").casefold() for text in found}


def _list_places(tree: Any, sources: Sources) -> set[Place]:
    from sqlglot import exp

    found = (resolve_column(column, sources) for column in tree.find_all(exp.Column))
    return {(sources[each[0]].table.name.casefold(), each[1]) for each in found if each}


def _find_spoken(follow_up: str, schema: Schema) -> set[Place]:
    """The columns that it names."""
    targets = list_targets(schema)
    words = extract_content_words(follow_up)
    if not words:
        return set()
    scores = score_by_letters(words, targets)
    return {
        (table.casefold(), column.casefold())
        for at, (table, column, _) in enumerate(targets)
        if column and scores[:, at].any()
    }


def _write_condition(
    condition: Any, earlier: Sources, aliases: dict[str, str], sources: Sources
) -> Any:
    """With columns called as the new statement calls its tables."""
    from sqlglot import exp

    condition = condition.copy()
    for column in condition.find_all(exp.Column):
        found = resolve_column(column, earlier)
        if found is not None:
            alias = aliases[earlier[found[0]].table.name.casefold()]
            column.set("table", write_alias(alias, sources) if len(sources) > 1 else None)
    return condition

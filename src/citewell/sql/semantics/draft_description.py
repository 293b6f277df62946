"""A first description of tables, for people to go on with. What is known (types, stored values,
keys) stands in remarks; what is written down as it comes says nothing that the tables do not say
themselves.
"""

from __future__ import annotations

import json
import re
from itertools import combinations

import yaml

from citewell.sql.engines.engine import Column, Schema, Table
from citewell.sql.join_paths import list_join_columns
from citewell.sql.schema_text import get_quote_mark, quote_name, quote_path
from citewell.sql.semantics.description import Description

VALUES, LONGEST = 6, 30  # stored values in a remark, and the characters of one
HEAD = """\
# What the tables of {source} mean. To check and keep it:
#   citewell data describe {source} --file FILE
# A column may have a comment, synonyms, and what people call its values:
#   status:
#     comment: where the order is
#     synonyms: [state, 状态]
#     values: {{c: [cancelled, 取消]}}
"""
METRICS = """\
metrics:
#  revenue:
#    sql: SUM(orders.amount)
#    synonyms: [turnover, 营业额]
#    filter: orders.status = 'paid'
terms:
#  quarter: of the calendar year
"""
_PLAIN = re.compile(r"[^\W\d]\w*(?:[ -]\w+)*")


def draft_description(schema: Schema, source: str) -> str:
    """YAML with remarks."""
    lines = [HEAD.format(source=_flatten(source)) + "tables:"]
    for table in schema.tables:
        lines += _draft_table(table)
    lines.append("joins:")
    mark = get_quote_mark(schema.dialect)
    for one, other in combinations(schema.tables, 2):
        for pairs in list_join_columns(one, other):
            sides = (
                f"{quote_path(one.name, mark)}.{quote_name(mine, mark)}"
                f" = {quote_path(other.name, mark)}.{quote_name(theirs, mark)}"
                for mine, theirs in pairs
            )
            known = any(
                key.table == two.name
                for a, two in ((one, other), (other, one))
                for key in a.foreign_keys
            )
            text = _write_text(" AND ".join(sides))
            lines.append(f"  - {text}" if known else f"#  - {text}  # by the names alone")
    return "\n".join(lines) + "\n" + METRICS


def _draft_table(table: Table) -> list[str]:
    rows = "" if table.rows is None else f"  # {table.rows:,} rows"
    lines = [f"  {_write_text(table.name)}:{rows}"]
    lines.append(f"    comment: {_write_text(table.comment)}" if table.comment else "    comment:")
    lines += [
        "    synonyms: []",
        "    filter:  # the rows that count, as a condition",
        "    columns:",
    ]
    for column in table.columns:
        remark = "; ".join(filter(None, (_list_facts(table, column), _list_values(column))))
        lines.append(f"      {_write_text(column.name)}:  # {remark}")
        if column.comment:
            lines.append(f"        comment: {_write_text(column.comment)}")
    return lines


def _list_facts(table: Table, column: Column) -> str:
    leads = [
        f" -> {key.table}.{there}"
        for key in table.foreign_keys
        for here, there in zip(key.columns, key.target_columns, strict=False)
        if here == column.name
    ]
    key = " key" if column.name in table.primary_key else ""
    return _flatten(column.type.lower() + key + "".join(leads))


def _list_values(column: Column) -> str:
    if column.values:
        shown = [_flatten(value)[:LONGEST] for value in column.values[:VALUES]]
        more = len(column.values) > VALUES or (column.distinct or 0) > len(shown)
        return ", ".join(shown) + (", ..." if more else "")
    if column.lowest is not None:
        return _flatten(f"{column.lowest} to {column.highest}")
    return ""


def _flatten(text: str) -> str:
    """On one line, without what YAML does not take in a remark."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _write_text(text: str) -> str:
    """A YAML scalar on one line."""
    if _PLAIN.fullmatch(text):
        return text
    single = '"' in text and "'" not in text and "\\" not in text and text.isprintable()
    return f"'{text}'" if single else json.dumps(text, ensure_ascii=False)


def render_description(description: Description) -> str:
    """YAML of a description that no person wrote."""
    value = description.model_dump(exclude_defaults=True)
    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=100) if value else ""

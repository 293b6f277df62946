"""A schema as a chat model reads it: CREATE TABLE text with comments and stored values, cut to a
token budget. A schema that fits is shown whole and always alike, whatever is asked, so that the
prompt cache holds it from question to question; only one that does not fit is cut by what the
question speaks of.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from citewell.models.base import CONNECTED_TIER, LLM
from citewell.sql.engines.engine import Column, Dialect, ForeignKey, Schema, Table
from citewell.sql.schema_link import Linked
from citewell.text.sentences import count_tokens

# stored values shown of a column; with 8 (200 tokens more) no question of 40 came out better
VALUES = 5
LONGEST = 30  # characters of a value that is shown
# half of a slot of the built-in model's context is left for examples, question and statement
BUILTIN_TOKENS = 1_400
CONNECTED_TOKENS = 8_000
FEWEST_COLUMNS = 4  # of a table that is shown cut
_HAN = r"\u3400-\u4dbf\u4e00-\u9fff"  # bare in every dialect, and a small model writes them so
_PLAIN = re.compile(rf"[A-Za-z_{_HAN}][A-Za-z0-9_{_HAN}]*")


def get_token_budget(llm: LLM | None) -> int:
    """Tokens of schema text for this tier."""
    return (
        CONNECTED_TOKENS
        if llm is not None and llm.evidence_tokens >= CONNECTED_TIER
        else BUILTIN_TOKENS
    )


def choose_shown(schema: Schema, linked: Linked | None, budget: int) -> Schema:
    """All tables where they fit; else those that the question speaks of, the tables between them,
    then the others as they fit; columns that are neither keys nor spoken of are left out of a table
    that does not.
    """
    if linked is None or count_tokens(render_schema(schema, schema)) <= budget:
        return schema
    chosen: dict[str, Table] = {}
    for table in _rank_tables(schema, linked):
        wanted = {link.column for link in linked.links if link.table == table.name}
        wanted |= {value.column for value in linked.values if value.table == table.name}
        for columns in (table.columns, tuple(_narrow_columns(table, wanted))):
            cost = count_tokens(render_table(table, columns, get_quote_mark(schema.dialect)))
            if cost <= budget:
                chosen[table.name] = replace(table, columns=columns)
                budget -= cost
                break
    return replace(
        schema, tables=tuple(chosen[each.name] for each in schema.tables if each.name in chosen)
    )


def render_schema(schema: Schema, shown: Schema) -> str:
    """`shown`: what `choose_shown` left of it; how much was left out is said."""
    whole = {table.name: table for table in schema.tables}
    mark = get_quote_mark(schema.dialect)
    parts = [render_table(whole[table.name], table.columns, mark) for table in shown.tables]
    if left := len(schema.tables) - len(shown.tables):
        parts.append(f"-- {left} more tables are not shown")
    return "\n".join(parts)


def get_quote_mark(dialect: Dialect) -> str:
    """What stands around a name."""
    return "`" if dialect == "mysql" else '"'


def _rank_tables(schema: Schema, linked: Linked) -> list[Table]:
    """Those spoken of, best first; behind each the tables that its keys lead to; the rest."""
    scores = linked.tables
    spoken = sorted((t for t in schema.tables if scores.get(t.name)), key=lambda t: -scores[t.name])
    names = {table.name for table in spoken}
    between = [
        table
        for table in schema.tables
        if table.name not in names and len({key.table for key in table.foreign_keys} & names) > 1
    ]
    led = {key.table for table in spoken for key in table.foreign_keys}
    beside = [table for table in schema.tables if table.name in led - names]
    ordered = [*spoken, *between, *beside, *schema.tables]
    return list({table.name: table for table in ordered}.values())


def _narrow_columns(table: Table, wanted: Collection[str]) -> list[Column]:
    keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
    kept = [column for column in table.columns if column.name in wanted or column.name in keys]
    others = [column for column in table.columns if column not in kept]
    kept += others[: max(0, FEWEST_COLUMNS - len(kept))]
    return [column for column in table.columns if column in kept]


def render_table(table: Table, columns: Collection[Column] | None = None, mark: str = '"') -> str:
    """`columns`: those shown; None: all. `mark`: what stands around a name that needs it."""
    shown = list(table.columns if columns is None else columns)
    lines = [
        (
            f"  {quote_name(column.name, mark)} {column.type}{_render_key(table, column)}",
            _render_remark(column),
        )
        for column in shown
    ]
    lines += [(_render_foreign_key(key, mark), "") for key in table.foreign_keys]
    body = "\n".join(
        text + ("," if at < len(lines) - 1 else "") + remark
        for at, (text, remark) in enumerate(lines)
    )
    remarks = [table.comment, _render_synonyms(table.synonyms)]
    remark = "; ".join(_flatten_line(each) for each in remarks if each)
    head = f" -- {remark}" if remark else ""
    cut = (
        ""
        if len(shown) == len(table.columns)
        else f"\n  -- {len(table.columns) - len(shown)} more columns"
    )
    return f"CREATE TABLE {quote_path(table.name, mark)} ({head}\n{body}{cut}\n);"


def _render_key(table: Table, column: Column) -> str:
    return " PRIMARY KEY" if table.primary_key == (column.name,) else ""


def _render_remark(column: Column) -> str:
    said = (column.comment, _render_synonyms(column.synonyms))
    parts = [_flatten_line(each) for each in said if each]
    if column.kind == "text" and column.values:
        shown = [f"'{_flatten_line(value)[:LONGEST]}'" for value in column.values[:VALUES]]
        more = len(column.values) > VALUES or (column.distinct or 0) > len(shown)
        parts.append(", ".join(shown) + (", ..." if more else ""))
    elif column.kind == "date" and column.lowest is not None:
        parts.append(f"{column.lowest} to {column.highest}")
    parts += [_flatten_line(f"{said} = '{value}'") for said, value in column.value_synonyms]
    return f" -- {'; '.join(parts)}" if parts else ""


def _render_synonyms(synonyms: Collection[str]) -> str:
    return f"= {', '.join(synonyms)}" if synonyms else ""


def _flatten_line(text: str) -> str:
    """On one line, whatever it holds: a value is data and never ends its remark."""
    return " ".join(text.split())


def _render_foreign_key(key: ForeignKey, mark: str) -> str:
    own, others = _join_names(key.columns, mark), _join_names(key.target_columns, mark)
    return f"  FOREIGN KEY ({own}) REFERENCES {quote_path(key.table, mark)}({others})"


def _join_names(columns: Collection[str], mark: str) -> str:
    return ", ".join(quote_name(column, mark) for column in columns)


def quote_name(name: str, mark: str = '"') -> str:
    """Bare where that is safe in every dialect."""
    return (
        name
        if _PLAIN.fullmatch(name) and name.upper() not in _RESERVED
        else f"{mark}{name.replace(mark, mark * 2)}{mark}"
    )


def quote_path(name: str, mark: str = '"') -> str:
    """A table's name, which may have a schema's before it."""
    schema, dot, table = name.rpartition(".")
    return (
        f"{quote_name(schema, mark)}.{quote_name(table, mark)}"
        if dot and schema.isidentifier()
        else quote_name(name, mark)
    )


_WORDS = """
    ACCESSIBLE ADD ALL ALTER ANALYSE ANALYZE AND ANTI ANY ARRAY AS ASC ASOF ASYMMETRIC AT
    AUTHORIZATION BEFORE BETWEEN BINARY BOTH BY CALL CASCADE CASE CAST CHANGE CHARACTER CHECK
    COLLATE COLLATION COLUMN COLUMNS CONCURRENTLY CONDITION CONSTRAINT CONTINUE CONVERT CREATE
    CROSS CUME_DIST CURSOR DATABASE DATABASES DAY_HOUR DECLARE DEFAULT DEFERRABLE DELAYED
    DENSE_RANK DESC DESCRIBE DETERMINISTIC DISTINCT DIV DO DUAL EACH ELSE END ESCAPED EXCEPT
    EXISTS EXIT EXPLAIN FALSE FETCH FIRST_VALUE FLOAT FOR FORCE FOREIGN FREEZE FROM FULL
    FULLTEXT FUNCTION GENERATED GLOB GROUP GROUPS HAVING IF IGNORE ILIKE IN INDEX INITIALLY
    INNER INOUT INTERSECT INTERVAL INTO IS ISNULL JOIN KEY KEYS KILL LAG LAMBDA LAST_VALUE
    LATERAL LEAD LEADING LEAVE LEFT LIKE LIMIT LINES LOAD LOCK LOOP MAP MATCH MOD NATURAL NOT
    NOTNULL NTH_VALUE NTILE NULL OF OFFSET ON ONLY OPTION OR ORDER OUT OUTER OVER OVERLAPS
    PERCENT_RANK PIVOT PIVOT_LONGER PIVOT_WIDER PLACING POSITIONAL PRIMARY PROCEDURE PURGE
    QUALIFY RANGE RANK READ REFERENCES REGEXP RELEASE RENAME REPEAT REPLACE REQUIRE RESTRICT
    RETURN RETURNING REVOKE RIGHT ROW ROWS ROW_NUMBER SCHEMA SELECT SEMI SEPARATOR SET SHOW
    SIGNAL SIMILAR SOME SPATIAL SQL STARTING STORED STRAIGHT_JOIN STRUCT SUMMARIZE SYMMETRIC
    SYSTEM TABLE TABLESAMPLE TERMINATED THEN TO TRAILING TRIGGER TRUE TRY_CAST TUPLE UNDO UNION
    UNIQUE UNLOCK UNPACK UNPIVOT UNSIGNED UPDATE USAGE USE USER USING UTC_DATE VALUES VARIADIC
    VARYING VERBOSE VIEW VIRTUAL WHEN WHERE WHILE WINDOW WITH WRITE XOR
"""
_RESERVED = frozenset(_WORDS.split())

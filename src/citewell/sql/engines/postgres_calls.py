"""Functions that a statement may not call in PostgreSQL, whoever asks: those that the server itself
calls volatile.

A read-only transaction lets them run: they set what holds the statement (`set_config`), wait, take
locks, read files, or run a text as SQL (`ts_stat`, `query_to_xml`), in which a superuser may take
back the role that the engine set.

No parsing. Any word of the statement that is the name of such a function of the catalogue is
refused, however it stands there, `f(x)`, `x.f` or `"f"`; functions of somebody's own only where
they may be called.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from citewell.errors import StatementFailed
from citewell.messages import Text

if TYPE_CHECKING:
    import psycopg

# Volatile, and without an effect: another value at each call, a method of TABLESAMPLE, the
# statement itself.
HARMLESS = [
    "array_sample", "array_shuffle", "bernoulli", "clock_timestamp", "current_query",
    "gen_random_uuid", "random", "random_normal", "system", "timeofday", "uuidv4", "uuidv7",
]  # fmt: skip
WORD = re.compile(r'"((?:[^"]|"")+)"|([^\W\d][\w$]*)')
ESCAPED = re.compile(r'\bu&"', re.IGNORECASE)
# One's own is called before a parenthesis, or behind a dot where no table has a column of that
# name.
VOLATILE = """
SELECT p.proname::text, n.nspname = 'pg_catalog' AS catalogue, EXISTS (
  SELECT 1 FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
  WHERE a.attname = p.proname AND a.attnum > 0 AND c.relkind IN ('r', 'v', 'm', 'p', 'f')
) FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE p.provolatile = 'v' AND p.proname = ANY(%s)
  AND NOT (n.nspname = 'pg_catalog' AND p.proname = ANY(%s))
"""


def check_calls(connection: psycopg.Connection[tuple[Any, ...]], sql: str) -> None:
    """Raises StatementFailed with the name of the first one."""
    if ESCAPED.search(sql):
        raise StatementFailed(Text("a name with Unicode escapes is not taken"))
    words: dict[str, bool] = {}
    for match in WORD.finditer(sql):
        called = sql[match.end() :].lstrip()[:1] in ("(", "/", "-")  # a comment may stand between
        dotted = sql[: match.start()].rstrip()[-1:] in (".", "/")
        word = (match[1] or match[2]).replace('""', '"')
        for name in {_cut_name(word), _cut_name(word.lower())}:
            words[name] = words.get(name, False) or called or dotted
        # between two double quotes of a text in single ones
        for inner in re.findall(r"[^\W\d][\w$]*", match[1] or ""):
            words[_cut_name(inner.lower())] = (
                words.get(_cut_name(inner.lower()), False) or "(" in match[1] or "." in match[1]
            )
    for name, catalogue, column in connection.execute(VOLATILE, (list(words), HARMLESS)).fetchall():
        if catalogue or (words[name] and not column):
            raise StatementFailed(
                Text(
                    "the function {name} may do more than compute a value, and is not called",
                    name=name,
                ),
                hint=Text("use a function that the server knows as stable or immutable, or a view"),
            )


def _cut_name(name: str) -> str:
    """As the server keeps it: 63 bytes."""
    return name.encode("utf-8", "replace")[:63].decode("utf-8", "ignore")

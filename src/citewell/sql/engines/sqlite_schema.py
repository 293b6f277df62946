"""The tables of a SQLite file as its catalogue tells them, with the comments that stand in the
CREATE TABLE texts. The comments are read from the text alone; whatever cannot be understood there
is no comment.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

from citewell.sql.engines.engine import Column, ForeignKey, Kind, Table
from citewell.sql.engines.profile import Found, quote_name
from citewell.sql.engines.values import detect_kind, infer_kind

SAMPLED = 100  # rows by which a column without a declared type is judged
_TOKEN = re.compile(
    r"""--(?P<line>[^\n]*)|/\*(?P<block>.*?)(?:\*/|$)|(?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*')
    |(?P<word>\w+)|(?P<mark>[(),])|(?P<newline>\n)""",
    re.VERBOSE | re.DOTALL,
)
_CONSTRAINTS = {"constraint", "primary", "unique", "check", "foreign"}


def find_tables(connection: sqlite3.Connection) -> list[Found]:
    """Tables, views and virtual tables, without SQLite's own and shadows of virtual ones."""
    listed = connection.execute("PRAGMA main.table_list").fetchall()
    texts = dict(
        connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL"
        ).fetchall()
    )
    found = []
    for _, name, kind, *_ in sorted(listed, key=lambda row: row[1]):
        if kind == "shadow" or name.startswith("sqlite_"):
            continue
        table_comment, comments = extract_comments(texts.get(name, ""))
        try:
            columns, primary = _load_columns(connection, name, comments)
            foreign = _load_foreign_keys(connection, name)
        except sqlite3.OperationalError:
            # a view on what is gone, a virtual table of an extension that is not there: it cannot
            # be asked
            continue
        table = Table(name, columns, table_comment, None, primary, foreign)
        found.append(Found(table, quote_name(name, "sqlite"), kind == "view"))
    return found


def _load_columns(
    connection: sqlite3.Connection, table: str, comments: dict[str, str]
) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    columns: list[Column] = []
    primary: dict[int, str] = {}
    told = connection.execute(f"PRAGMA table_xinfo({quote_name(table, 'sqlite')})").fetchall()
    for _, name, declared, _, _, key, hidden in told:
        if hidden == 1:  # of a virtual table: 2 and 3 are generated columns
            continue
        kind = detect_kind(declared)
        if not declared or kind == "other":
            kind = _infer_kind(connection, table, name)
        columns.append(Column(name, declared or "", kind, comments.get(name.lower(), "")))
        if key:
            primary[key] = name
    return tuple(columns), tuple(primary[key] for key in sorted(primary))


def _infer_kind(connection: sqlite3.Connection, table: str, column: str) -> Kind:
    """By its first values: views of expressions and tables made from a SELECT declare no types."""
    name, source = quote_name(column, "sqlite"), quote_name(table, "sqlite")
    told = connection.execute(f"SELECT {name} FROM {source} LIMIT {SAMPLED}").fetchall()  # noqa: S608 - quoted
    if any(isinstance(row[0], bytes) for row in told):
        return "other"
    return infer_kind(row[0] for row in told)


def _load_foreign_keys(connection: sqlite3.Connection, table: str) -> tuple[ForeignKey, ...]:
    keys: dict[int, list[tuple[str, str, str | None]]] = {}
    for number, _, target, source, column, *_ in connection.execute(
        f"PRAGMA foreign_key_list({quote_name(table, 'sqlite')})"
    ):
        keys.setdefault(number, []).append((target, source, column))
    return tuple(_resolve_key(connection, parts) for _, parts in sorted(keys.items(), reverse=True))


def _resolve_key(
    connection: sqlite3.Connection, parts: list[tuple[str, str, str | None]]
) -> ForeignKey:
    """A key that names no columns of its target means the target's primary key."""
    target, columns = parts[0][0], tuple(part[1] for part in parts)
    named = tuple(part[2] for part in parts if part[2])
    if len(named) != len(columns):
        told = connection.execute(f"PRAGMA table_info({quote_name(target, 'sqlite')})").fetchall()
        named = tuple(row[1] for row in sorted(told, key=lambda row: row[5]) if row[5])
    return ForeignKey(columns, target, named)


def extract_comments(text: str) -> tuple[str, dict[str, str]]:
    """Of a CREATE TABLE: what is said of the table (behind its opening bracket) and, by its name in
    small letters, of each column: behind it on its line, or on lines of its own before it.
    """
    table: list[str] = []
    comments: dict[str, list[str]] = {}
    waiting: list[str] = []  # stood on lines of their own, before a column
    depth, fresh, line_empty = 0, True, True
    name: str | None = None  # of the column that was begun last; empty: a constraint
    for kind, word in _tokenize_sql(text):
        if kind == "comment":
            if depth == 0 or (name is None and not line_empty):
                table.append(word)
            elif line_empty:
                waiting.append(word)
            elif name:
                comments.setdefault(name, []).append(word)
        elif kind == "mark":
            depth += {"(": 1, ")": -1}.get(word, 0)
            fresh = fresh or (word == "," and depth == 1)
        elif kind != "newline" and fresh and depth == 1:
            fresh, name = False, _unquote_token(word).lower()
            if kind == "word" and name in _CONSTRAINTS:
                name = ""
            comments.setdefault(name, []).extend(waiting)
            waiting = []
        line_empty = kind == "newline" or (line_empty and kind == "comment")
    return " ".join(table), {
        column: " ".join(said) for column, said in comments.items() if column and said
    }


def _tokenize_sql(text: str) -> Iterator[tuple[str, str]]:
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        token = match[kind]
        if kind in {"line", "block"}:
            if said := " ".join(token.split()).strip("-*= "):
                yield "comment", said
            if kind == "block" and "\n" in token:
                yield "newline", "\n"
        else:
            yield kind, token


def _unquote_token(token: str) -> str:
    if token[:1] in "\"`'":
        return token[1:-1].replace(token[0] * 2, token[0])
    return token[1:-1] if token.startswith("[") else token

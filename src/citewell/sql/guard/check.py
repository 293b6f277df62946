"""The guard: a statement over tables is run only where all of it is known to do nothing but read
those tables. An allow-list. Words, functions, kinds of nodes and tables that are not known are
refused with what was found and what to do. The engines are read-only by their own means all the
same: this is the first of four layers (docs/guard.md).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from citewell.errors import StatementRefused
from citewell.messages import Text
from citewell.sql.engines.engine import Dialect
from citewell.sql.guard.allowed_functions import FUNCTIONS, GRAMMAR, SESSION, TYPES
from citewell.sql.guard.bounds import check_bounds
from citewell.sql.guard.growth import check_growth
from citewell.sql.guard.lexer import StatementText, Token, has_same_tokens, read_statement
from citewell.sql.guard.recursion import check_recursion
from citewell.sql.guard.tree import check_tree, count_column_lists
from citewell.text.split_words import split_words

if TYPE_CHECKING:
    from sqlglot import exp

_BEGINS: dict[Dialect, tuple[str, ...]] = {
    "duckdb": ("select", "with", "values", "from", "pivot", "unpivot", "("),
    "sqlite": ("select", "with", "values"),
    "postgres": ("select", "with", "values", "("),
    "mysql": ("select", "with", "values", "("),
}
_DESCRIBED = ("duckdb", "mysql")
# Words that begin a statement. After a parenthesis the parser takes `LOAD x` for a table with
# another name; DuckDB takes `FROM (SHOW x)` for a statement.
_STATEMENTS = split_words(
    """
        abort alter analyze attach backup begin binlog call cancel change checkpoint checksum close
        cluster comment commit copy create deallocate declare delete desc describe detach discard do
        drop execute explain export fetch flush force grant handler import insert install kill
        listen load lock merge move notify optimize pragma prepare purge reassign refresh reindex
        release rename repair replace reset restore resume revoke rollback savepoint security set
        show shutdown start stop summarize truncate unlisten unlock update upsert use vacuum xa
"""
)
# Words that may follow a column which is called as one of those.
_AFTER_COLUMN = split_words(
    """
        and as asc at between collate cross desc div end for from full glob group having ignore
        ilike in inner is isnull join left like limit mod natural not notnull null on or order over
        regexp respect right rlike separator similar then union using when where xor
"""
)


def check_statement(sql: str, dialect: Dialect) -> str:
    """The one statement to run, as it was written, without comments and without a semicolon at its
    end.

    Raises StatementRefused, whose message says what was found and whose hint what to write instead.
    """
    text = read_statement(sql, dialect)
    first = text.tokens[0].word
    if first == "explain":
        _check_query(_extract_explained(text, dialect), dialect)
    elif first in ("describe", "desc", "show", "summarize"):
        _check_describe(text.tokens, dialect)
    else:
        _check_query(text, dialect)
    return text.sql


def _extract_explained(text: StatementText, dialect: Dialect) -> StatementText:
    """What follows EXPLAIN. EXPLAIN ANALYZE runs the statement: no question needs it."""
    at = 1
    if dialect == "sqlite" and [token.word for token in text.tokens[1:3]] == ["query", "plan"]:
        at = 3
    if at >= len(text.tokens) or text.tokens[at].word not in _BEGINS[dialect]:
        raise StatementRefused(
            Text("EXPLAIN with options, or of something that is not a query."),
            hint=Text("Write EXPLAIN SELECT ..., without ANALYZE."),
        )
    start = text.tokens[at].start
    tokens = tuple(Token(token.kind, token.text, token.start - start) for token in text.tokens[at:])
    return StatementText(text.sql[start:], tokens)


def _check_describe(tokens: Sequence[Token], dialect: Dialect) -> None:
    """DESCRIBE and SUMMARIZE of a plain name, SHOW TABLES: they tell what the schema text tells."""
    first, rest = tokens[0].word, tokens[1:]
    if dialect in _DESCRIBED:
        if first == "show" and [token.word for token in rest] == ["tables"]:
            return
        words = ("describe", "desc", "summarize") if dialect == "duckdb" else ("describe", "desc")
        if (
            first in words
            and len(rest) == 1
            and rest[0].kind in ("word", "name")
            and not rest[0].word.startswith("select")
        ):
            from sqlglot import exp

            name = rest[0].text if rest[0].kind == "word" else rest[0].text[1:-1]
            check_tree(
                exp.select("*").from_(exp.Table(this=exp.to_identifier(name, quoted=True))), dialect
            )
            return
    raise StatementRefused(
        Text("{first} in this form is not taken.", first=first.upper()),
        hint=Text("Ask the tables themselves with SELECT."),
    )


def _check_query(text: StatementText, dialect: Dialect) -> None:
    first = text.tokens[0]
    if (first.word or first.text) not in _BEGINS[dialect]:
        raise StatementRefused(
            Text("The statement begins with {text}; only queries are run.", text=first.text[:40]),
            hint=Text("Write a SELECT (or WITH ... SELECT)."),
        )
    _check_words(text.tokens, dialect)
    tree = _parse_tree(text, dialect)
    check_tree(tree, dialect, {token.start for token in text.tokens if token.kind == "string"})
    _check_calls(text.tokens, count_column_lists(tree), dialect)
    check_growth(tree, check_recursion(tree, dialect))
    check_bounds(tree, dialect)


def _parse_tree(text: StatementText, dialect: Dialect) -> exp.Expr:
    """The tree, where the parser sees the strings, names and words that we see."""
    from sqlglot import ErrorLevel
    from sqlglot.dialects.dialect import Dialect as SqlDialect
    from sqlglot.errors import SqlglotError

    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of commands, which are refused
    try:
        language = SqlDialect.get_or_raise(dialect)
        tokens = language.tokenize(text.sql)
        if not has_same_tokens(text.tokens, [(token.start, token.end + 1) for token in tokens]):
            raise StatementRefused(
                Text("A quote, a number or a mark can be read in two ways."),
                hint=Text("Write texts in single quotes and spaces around marks."),
            )
        trees = language.parser(error_level=ErrorLevel.IMMEDIATE).parse(tokens, text.sql)
    except RecursionError:
        raise StatementRefused(
            Text("The statement is nested too deeply."), hint=Text("Flatten it with WITH.")
        ) from None
    except (SqlglotError, ValueError, AttributeError, TypeError, KeyError, IndexError) as error:
        # a parser's own faults too
        raise StatementRefused(
            Text("The statement cannot be read: {told}", told=_describe_parse_error(error)),
            hint=Text("Check its grammar."),
        ) from None
    if len(trees) != 1 or trees[0] is None:
        raise StatementRefused(
            Text("There is not exactly one statement."), hint=Text("Write one SELECT.")
        )
    return trees[0]


def _describe_parse_error(error: Exception) -> str:
    """What the parser found, and where."""
    told = str(error).splitlines()[0].split(". Line ")[0] if str(error) else type(error).__name__
    faults = getattr(error, "errors", None)
    if not faults or not faults[0].get("line"):
        return told[:200]
    word = str(faults[0].get("highlight") or "").strip()
    return Text(
        "{told} (line {line}, at {word!r})", told=told[:200], line=faults[0]["line"], word=word[:40]
    )


def _check_words(tokens: Sequence[Token], dialect: Dialect) -> None:
    """Words that no reading query has, whatever the parser makes of them."""
    words = [token.word for token in tokens]
    for place, word in enumerate(words):
        following = words[place + 1 : place + 3]
        if word == "into" and not (
            dialect == "duckdb" and following[:1] == ["name"] and "unpivot" in words[:place]
        ):
            raise StatementRefused(
                Text("INTO writes a table, a file or a variable."), hint=Text("Leave it out.")
            )
        locks = word == "for" and (
            following[:1] in (["update"], ["share"])
            or following in (["no", "key"], ["key", "share"])
        )
        if locks or (word == "lock" and following == ["in", "share"]):
            raise StatementRefused(
                Text("FOR UPDATE or FOR SHARE locks rows."), hint=Text("Leave it out.")
            )
        if (
            word in _STATEMENTS
            and place
            and tokens[place - 1].text == "("
            and _is_statement_start(tokens, place)
        ):
            raise StatementRefused(
                Text("{word} begins a statement that is no query.", word=word.upper()),
                hint=Text("Write SELECT inside parentheses."),
            )
        named = place > 0 and (words[place - 1] == "as" or tokens[place - 1].text == ".")
        if word in SESSION[dialect] and not named:
            raise StatementRefused(
                Text("{word} tells of the session, not of the tables.", word=word),
                hint=Text("Put a column of that name in quotes."),
            )


def _is_statement_start(tokens: Sequence[Token], place: int) -> bool:
    """Whether the word after a parenthesis begins a statement and is no name."""
    following = tokens[place + 1] if place + 1 < len(tokens) else tokens[place]
    if following.text == ")":
        return place > 1 and tokens[place - 2].word in (
            "from",
            "join",
            "exists",
            "as",
            "materialized",
        )
    return following.kind != "mark" and following.word not in _AFTER_COLUMN


def _check_calls(tokens: Sequence[Token], named: Counter[str], dialect: Dialect) -> None:
    """Every word before a parenthesis is a known function, a word of the grammar, a type, or a name
    with its columns.
    """
    seen: Counter[str] = Counter()
    for place, token in enumerate(tokens[:-1]):
        if (
            token.kind not in ("word", "name")
            or tokens[place + 1].text != "("
            or tokens[place + 1].kind != "mark"
        ):
            continue
        plain = token.word or token.text[1:-1].lower()
        dotted = place > 0 and tokens[place - 1].text == "."
        known = (
            plain in FUNCTIONS[dialect]
            or plain.isdigit()
            or (not dotted and plain in GRAMMAR | TYPES)
        )
        if known and token.kind == "word" and not (dotted and dialect != "duckdb"):
            continue
        seen[plain] += 1
        if dotted or seen[plain] > named[plain]:
            raise StatementRefused(
                Text(
                    "The function {text} is not one that is known only to compute.", text=token.text
                ),
                hint=Text(
                    "Use the common functions of this database; a column or a table of "
                    "that name must not stand before (."
                ),
            )

"""Whether a correction is a statement, and whether it may be used as one. What is written as SQL is
used as SQL or not at all: a statement that is refused is never handed on as words.
"""

from __future__ import annotations

import logging
import re
from typing import Literal, NamedTuple

import anyio.to_thread

from citewell.errors import NotFound, SourceUnavailable, StatementFailed, StatementRefused
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.tables.kept_schema import get_table_names
from citewell.service.tables.open_source import open_source
from citewell.sql.engines.engine import Limits
from citewell.sql.run_statement import explain_query
from citewell.text.split_words import split_words

_BEFORE = r"\A\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)*\(*\s*"  # comments
# Prose begins with these words too ("Select only IT", "With tax it is 120"), so more of a statement
# must be there.
_READS = re.compile(
    _BEFORE + r"(?:select\b.*?\bfrom\b|(?-i:SELECT)\s|values\s*\(|from\s+\S+\s+select\b"
    r"|with\s+(?:recursive\s+)?\S+(?:\s*\([^)]*\))?\s+as\s+(?:(?:not\s+)?materialized\s*)?\()",
    re.IGNORECASE | re.DOTALL,
)
# what sets a statement with a slip apart from prose with these words
_SIGNS = re.compile(r"[*=;()<>\"]|(?-i:\bSELECT\b)")
_FIRST = re.compile(_BEFORE + r"([a-z]+)\b", re.IGNORECASE | re.DOTALL)
_OTHER = split_words(
    """
        alter attach begin call checkpoint commit copy create deallocate delete detach do drop exec
        execute export grant import insert install load lock merge pragma prepare reindex rename
        replace revoke rollback set truncate update vacuum
"""
)
_SURE = re.compile(
    r"(?:vacuum|checkpoint|begin|commit|rollback|pragma\s+\S+|call\s+\w+\s*\(.*\)|do\s+\$.*|"
    r"(?:load|install|attach)\s+'[^']*'.*"
    r"|(?:replace|insert)\s+(?:or\s+\w+\s+)?into\s+\S+\s*(?:\(|values\b|select\b).*)\s*\Z",
    re.IGNORECASE | re.DOTALL,
)
# without which it is prose
_NEEDED = {
    "delete": "from ",
    "update": "=",
    "set": "=",
    "copy": "'",
    "install": "'",
    "import": "'",
    "export": "'",
}


class Judged(NamedTuple):
    """`logic`: the statement, where the source takes it; `problem`: why it is not used. Both empty:
    the correction is words. `later`: the source could not be asked, so that it may be taken another
    time.
    """

    logic: str = ""
    problem: str = ""
    later: bool = False


async def judge_correction(app: App, agent: str, source: str, correction: str) -> Judged:
    """Of a correction of this agent's answer."""
    if agent != "data":
        return Judged()
    kind = await anyio.to_thread.run_sync(detect_correction_kind, correction)
    if kind == "words":
        return Judged()
    if kind == "other":
        return Judged(problem=_explain_unused(Text("only a statement that reads can be right")))
    logic = re.sub(r"[;\s]+\Z", "", correction)
    try:
        await check_statement(app, source, logic)
    except (StatementRefused, StatementFailed) as error:
        return Judged(problem=_explain_unused(error.message))
    except (SourceUnavailable, NotFound) as error:
        return Judged(problem=_explain_unused(error.message), later=True)
    return Judged(logic)


async def check_statement(app: App, source: str, sql: str) -> None:
    """Whether guard and engine of the source take the statement. Raises StatementRefused,
    StatementFailed, SourceUnavailable, NotFound.
    """
    settings = app.settings.data
    async with open_source(app, source) as (found, engine):
        limits = Limits(seconds=settings.statement_seconds, memory_mib=settings.memory_mib)
        await explain_query(engine, sql, limits, get_table_names(found))


def detect_correction_kind(text: str) -> Literal["words", "query", "other"]:
    """What somebody wrote: words, a statement that asks tables, or one that does anything else."""
    if _READS.match(text):
        return "query" if _is_sql(text) or _SIGNS.search(text) else "words"
    found = _FIRST.match(text)
    if found is None or (first := found[1].lower()) not in _OTHER:
        return "words"
    body = text[found.start(1) :].strip()
    if body.endswith(";") or _SURE.match(body):
        return "other"
    return "other" if _NEEDED.get(first, "") in body.lower() and _is_sql(text) else "words"


def _is_sql(text: str) -> bool:
    """Whether all of it is SQL to a parser that knows what it reads (it takes much for an unknown
    command), and not the few words of prose that happen to be: `drop duplicates`.
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    # it warns of each statement that it does not know
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    for dialect in ("duckdb", "mysql"):  # they differ in quotes
        try:
            trees = [tree for tree in sqlglot.parse(text, dialect=dialect) if tree is not None]
        except (SqlglotError, ValueError, RecursionError):
            continue
        if trees and not any(
            isinstance(tree, (exp.Command, exp.Alias, exp.Column)) for tree in trees
        ):
            return True
    return False


def _explain_unused(why: str) -> str:
    return Text("its statement is not used: {why}", why=why)

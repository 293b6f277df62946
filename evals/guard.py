"""Attacks stopped and safe statements refused: by the guard, by the engines alone, and by checks
that others use.

    .venv/bin/python evals/guard.py [--engines] [--postgres URL] [--mysql URL]

`--engines` throws the lists at SQLite and DuckDB with no guard before them too; the URLs are of
empty databases on servers that may be harmed.

The one rule: every check is asked the same statements, and a check that raises has stopped it.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

from citewell.errors import StatementRefused
from citewell.sql.engines.engine import Dialect
from citewell.sql.guard.check import check_statement
from guard_sets import DIALECTS, Statement, Thrown, open_folder, scene, statements

Check = Callable[[str, Dialect], bool]  # whether the statement is stopped


def ours(sql: str, dialect: Dialect) -> bool:
    try:
        check_statement(sql, dialect)
    except StatementRefused:
        return True
    return False


def prefix(sql: str, _: Dialect) -> bool:
    """`starts with SELECT`, as many tools have it."""
    return not sql.strip().upper().startswith("SELECT")


def prefix_with(sql: str, _: Dialect) -> bool:
    return not sql.strip().upper().startswith(("SELECT", "WITH", "EXPLAIN"))


def ragflow(sql: str, _: Dialect) -> bool:
    """RAGFlow's ExeSQL, restated from its code."""
    return bool(re.match(r"^(insert|update|delete)", sql, re.IGNORECASE))


def deny_words(sql: str, _: Dialect) -> bool:
    """A regular expression of forbidden words, the commonest home-made check."""
    return bool(
        re.search(
            r"\b(insert|update|delete|drop|alter|create|truncate|grant|revoke|execute|call)\b",
            sql,
            re.IGNORECASE,
        )
    )


def root_of_tree(sql: str, dialect: Dialect) -> bool:
    """sqlglot, and only the kind of the root looked at."""
    from sqlglot import exp, parse
    from sqlglot.errors import SqlglotError

    try:
        trees = parse(sql, read=dialect)
    except (SqlglotError, RecursionError):
        return True
    return len(trees) != 1 or not isinstance(trees[0], exp.Query)


CHECKS: dict[str, Check] = {
    "Citewell's guard": ours,
    "begins with SELECT": prefix,
    "begins with SELECT, WITH or EXPLAIN": prefix_with,
    "RAGFlow: `^(insert|update|delete)`": ragflow,
    "forbidden words": deny_words,
    "sqlglot: the root is a query": root_of_tree,
}


def line(
    name: str, attacks: Sequence[tuple[Statement, bool]], safe: Sequence[tuple[Statement, bool]]
) -> str:
    stopped = Counter(item.dialect for item, yes in attacks if yes)
    refused = Counter(item.dialect for item, yes in safe if yes)
    cells = [f"{stopped[dialect]} / {refused[dialect]}" for dialect in DIALECTS]
    return (
        f"| {name} | {sum(stopped.values())} | {sum(refused.values())} | "
        + " | ".join(cells)
        + " |"
    )


async def engines(urls: dict[Dialect, str]) -> dict[str, list[Thrown]]:
    """The lists at every engine that can be reached: attacks with no guard, safe statements through
    it.
    """
    thrown: dict[str, list[Thrown]] = {"attacks": [], "safe": []}
    for dialect in DIALECTS:
        if dialect in ("postgres", "mysql") and not urls.get(dialect):
            continue
        with open_folder() as folder:
            stage = scene(dialect, folder, urls.get(dialect, ""))
            every: tuple[Literal["safe", "attacks"], ...] = ("safe", "attacks")
            for kind in every:
                through = check_statement if kind == "safe" else None
                thrown[kind] += [
                    await stage.throw(item, through)
                    for item in statements(kind)
                    if item.dialect == dialect
                ]
            stage.close()
    return thrown


def told_of(thrown: dict[str, list[Thrown]]) -> None:
    """What the engines alone did with the attacks."""
    print(
        "\nThe engines with no guard: attacks that ended in an error, that ran and had no "
        "effect, that had one\n"
    )
    print(
        "| engine | attacks | stopped | ran without effect | had an effect | safe that ran "
        "|\n|---|---|---|---|---|---|"
    )
    for dialect in DIALECTS:
        attacks = [item for item in thrown["attacks"] if item.statement.dialect == dialect]
        if not attacks:
            continue
        effects = Counter(item.effect for item in attacks)
        safe = [
            item.effect == "ran" for item in thrown["safe"] if item.statement.dialect == dialect
        ]
        harm = [
            f"{item.statement.name} ({item.effect})"
            for item in attacks
            if item.effect not in ("stopped", "ran")
        ]
        print(
            f"| {dialect} | {len(attacks)} | {effects['stopped']} | {effects['ran']} "
            f"| {', '.join(harm) or 0} |"
            f" {sum(safe)} of {len(safe)} |"
        )
        print(
            f"    ran: {', '.join(item.statement.name for item in attacks if item.effect == 'ran')}"
        )
        failed = [
            item
            for item in thrown["safe"]
            if item.statement.dialect == dialect and item.effect != "ran"
        ]
        print(
            f"    safe that failed: {', '.join(item.statement.name for item in failed) or 'none'}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--engines", action="store_true")
    parser.add_argument("--postgres", default="")
    parser.add_argument("--mysql", default="")
    options = parser.parse_args()
    attacks, safe = statements("attacks"), statements("safe")
    print(
        f"{len(attacks)} attacks, {len(safe)} safe statements; by dialect: attacks stopped / "
        "safe refused\n"
    )
    counts = [
        (sum(i.dialect == d for i in attacks), sum(i.dialect == d for i in safe)) for d in DIALECTS
    ]
    print(
        "| check | attacks stopped | safe refused | "
        + " | ".join(DIALECTS)
        + " |\n|"
        + "---|" * (3 + len(DIALECTS))
    )
    print(
        f"| *all* | {len(attacks)} | {len(safe)} | "
        + " | ".join(f"{a} / {s}" for a, s in counts)
        + " |"
    )
    for name, stops in CHECKS.items():
        print(
            line(
                name,
                [(i, stops(i.sql, i.dialect)) for i in attacks],
                [(i, stops(i.sql, i.dialect)) for i in safe],
            )
        )
    if options.engines or options.postgres or options.mysql:
        told_of(asyncio.run(engines({"postgres": options.postgres, "mysql": options.mysql})))


if __name__ == "__main__":
    main()

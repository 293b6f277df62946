"""Names of tables and columns, as people wrote them; changed only if unusable in SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

LONGEST: Final = 100  # characters of a name
_PATHLIKE: Final = re.compile(r"[./\\*?:\[\]{}]")
_UNNAMED: Final = "column"


def clean_name(name: str) -> str:
    """`name` on one line without what cannot be printed; never longer than LONGEST."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())[
        :LONGEST
    ].strip()


def make_column_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Distinct, non-empty names whatever their case, and what had to be changed."""
    taken = {clean_name(name).casefold() for name in names}
    seen: set[str] = set()
    given, changed = [], []
    for number, name in enumerate(names, 1):
        plain = clean_name(name)
        if plain and plain.casefold() not in seen:
            new = plain
        else:
            new = _find_free_name(plain or f"{_UNNAMED}{number}", taken | seen, again=bool(plain))
            changed.append(
                f'"{plain}" is called "{new}"'
                if plain
                else f'column {number} has no name and is called "{new}"'
            )
        seen.add(new.casefold())
        given.append(new)
    return given, changed


def make_table_name(wanted: str, taken: Iterable[str]) -> str:
    """A name that no other table has. A dot would set a schema apart, and signs of paths and
    patterns make DuckDB look for a file (the guard refuses such a name): each is written as an
    underscore.
    """
    plain = _PATHLIKE.sub("_", clean_name(wanted)) or "table"
    return _find_free_name(plain, {name.casefold() for name in taken}, again=False)


def _find_free_name(name: str, taken: set[str], *, again: bool) -> str:
    if not again and name.casefold() not in taken:
        return name
    number = 2
    while f"{name}_{number}".casefold() in taken:
        number += 1
    return f"{name}_{number}"


def quote_name(name: str) -> str:
    """A name as a statement quotes it."""
    return '"' + name.replace('"', '""') + '"'


def quote_literal(text: str) -> str:
    """A text as a statement quotes it."""
    return "'" + text.replace("'", "''") + "'"

"""Whether anything of a person is left: in the tables, in the bytes of the database's files, in the
files of confirmed answers. It looks at what is there, not at what the deletion says it did. A name
is looked for where a name can stand (the declared columns, fields of JSON and front matter that are
made for users), never in the words of documents: people may be written about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from sqlalchemy import ColumnClause, Connection, String, column, inspect, or_, select, table

from citewell.store.users.identity import get_person_key
from citewell.store.users.person_columns import count_person_rows
from citewell.types import Shown

BLOCK: Final = 1 << 20
_FIELDS: Final = re.compile(
    r'"?(?:user_id|owner|reviewed_by|user)"?\s*:\s*("(?:[^"\\]|\\.)*"|[^\s",{}\[\]]+)'
)
# who stands by a confirmed answer, in its document
_SIGNED: Final = re.compile(r"验证人(?:\*\*)?\s*:\s*(.*)")
_KEYS: Final = ("验证人", "user_id", "owner", "reviewed_by", '"user"')


class Left(Shown):
    """`columns` and `bytes` that were looked at; `found`: where something is left (`table`,
    `table.column`, a file), and how much.
    """

    columns: int
    bytes: int
    found: dict[str, int]


def scan_tables(connection: Connection, name: str) -> tuple[dict[str, int], int]:
    """What the tables still say of a person, and how many columns were read."""
    found, columns = count_person_rows(connection, name), 0
    for place, words in list_text_columns(connection):
        columns += 1
        asked = or_(*(words.contains(key, autoescape=True) for key in _KEYS))
        values = connection.execute(select(words).select_from(table(place)).where(asked)).scalars()
        rows = sum(has_person(str(value), name) for value in values)
        if rows:
            found[f"{place}.{words.name}"] = rows
    return found, columns


def has_person(said: str, name: str) -> bool:
    """Whether a users' field in a text (JSON, YAML, a confirmed answer) holds this person."""
    wanted = get_person_key(name)
    values = [value.strip("'\"") for value in _FIELDS.findall(said)]
    values += [
        each.strip() for line in _SIGNED.findall(said) for each in line.replace("\\", "").split(",")
    ]
    return any(get_person_key(value) == wanted for value in values)


def scan_files(paths: Sequence[Path], ids: Sequence[str]) -> tuple[dict[str, int], int]:
    """Files with the bytes of one of these ids, how many of them, and bytes read."""
    found, size = dict[str, int](), 0
    wanted = [each.encode() for each in ids]
    longest = max(map(len, wanted), default=1)
    for path in paths:
        seen, kept = set[bytes](), b""
        for block in _read_blocks(path):
            size += len(block)
            kept = kept[-longest:] + block
            seen |= {each for each in wanted if each in kept}
        if seen:
            found[path.name] = len(seen)
    return found, size


def list_text_columns(connection: Connection) -> Iterator[tuple[str, ColumnClause[str]]]:
    """Every column of every table that may hold text, with the table's name: of the tables that
    are there, whatever is declared.
    """
    there = inspect(connection)
    for place in sorted(there.get_table_names()):
        for each in there.get_columns(place):
            if isinstance(each["type"], String):
                yield place, column(each["name"], String)


def _read_blocks(path: Path) -> Iterator[bytes]:
    if path.is_file():
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                yield block

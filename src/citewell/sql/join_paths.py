"""Which tables of a schema can be joined, and on what. Tables are joined along a foreign key; where
none leads from one to the other, on a column called like the other table, or on columns of one name
that one of them has as its key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

from citewell.sql.column_label import label_column
from citewell.sql.engines.engine import Column, Schema, Table
from citewell.sql.name_likeness import to_phrase
from citewell.text.tokens import tokenize_query

MOST_TABLES = 4  # that one statement joins
# llguidance stops where 2,000 ways to go on are open at once; about so many of them begin a
# statement over one set of tables, beside one for each column.
ROOM, PATH = 550, 16

Pairs = tuple[tuple[str, str], ...]  # columns of one table, each with its equal in another


@dataclass(frozen=True, slots=True)
class JoinPath:
    """Tables that hang together. `orders`: the ways to write them one after another, so that each
    is joined to one before it: (first, ((one before, the next), ...)).
    """

    tables: tuple[Table, ...]
    orders: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


def find_join_paths(
    schema: Schema, spoken: Mapping[str, float] = MappingProxyType({})
) -> list[JoinPath]:
    """Each table alone, then those that can be joined, as many as a parser has room for. `spoken`:
    how much a question speaks of each table; the sets of which it speaks most come first.
    """
    edges = {
        frozenset((one.name, other.name))
        for one, other in combinations(schema.tables, 2)
        if list_join_columns(one, other)
    }
    alone = [frozenset((table.name,)) for table in schema.tables]
    joined = _grow_sets(alone, edges)
    joined.sort(key=lambda names: -sum(spoken.get(name, 0.0) for name in names) / len(names))
    columns = {table.name: len(table.columns) for table in schema.tables}
    kept, room = [*alone], ROOM - sum(PATH + count for count in columns.values())
    for names in joined:
        room -= PATH + sum(columns[name] for name in names)
        if room < 0:
            break
        kept.append(names)
    return [_build_path(schema, names, edges) for names in kept]


def _grow_sets(alone: Sequence[frozenset[str]], edges: set[frozenset[str]]) -> list[frozenset[str]]:
    """Sets of tables that hang together, fewer tables first."""
    found: list[frozenset[str]] = []
    wave = set(alone)
    for _ in range(1, MOST_TABLES):
        wave = {names | edge for names in wave for edge in edges if len(names & edge) == 1}
        found += sorted(wave, key=sorted)
    return found


def list_join_columns(one: Table, other: Table) -> list[Pairs]:
    """The ways to join two tables, as pairs of a column of `one` and a column of `other`."""
    ways: list[Pairs] = [
        tuple(zip(key.columns, key.target_columns, strict=False))
        for key in one.foreign_keys
        if key.table.lower() == other.name.lower() and key.target_columns
    ]
    ways += [
        tuple(zip(key.target_columns, key.columns, strict=False))
        for key in other.foreign_keys
        if key.table.lower() == one.name.lower() and key.target_columns
    ]
    if ways:
        return ways
    named: list[Pairs] = [((mine, theirs),) for mine, theirs in _find_named_keys(one, other)]
    named += [((mine, theirs),) for theirs, mine in _find_named_keys(other, one)]
    return named or [
        ((mine.name, theirs.name),)
        for mine in one.columns
        for theirs in other.columns
        if mine.name.lower() == theirs.name.lower()
        and mine.name.lower() != "id"  # each table has its own
        and mine.kind == theirs.kind
        and (_is_key(one, mine) or _is_key(other, theirs))
    ]


def _find_named_keys(one: Table, other: Table) -> list[tuple[str, str]]:
    """Columns of `one` named like `other` (`customer`, `customer_id`), with its key."""
    key = next(
        (
            column
            for column in other.columns
            if other.primary_key == (column.name,) or column.name.lower() == "id"
        ),
        None,
    )
    if key is None:
        return []
    called = _fold_name(other.name)
    return [
        (column.name, key.name)
        for column in one.columns
        if column.kind == key.kind and _fold_name(column.name) == called
    ]


def _fold_name(name: str) -> tuple[str, ...]:
    """`customers`, `Customer` and `customer_id` are one."""
    words = to_phrase(name.rpartition(".")[2]).split()
    if len(words) > 1 and words[-1] == "id":
        words.pop()
    return tuple(sorted(tokenize_query(" ".join(words))))


def group_comparable(schema: Schema) -> dict[tuple[str, str], int]:
    """A number for each (table, column): the same for those whose values may be held against each
    other: a key and what it leads to, and columns of one name and kind.
    """
    places = [(table, column) for table in schema.tables for column in table.columns]
    group = {(table.name, column.name): at for at, (table, column) in enumerate(places)}
    pairs = [
        ((one.name, mine), (other.name, theirs))
        for one, other in combinations(schema.tables, 2)
        for way in list_join_columns(one, other)
        for mine, theirs in way
    ]
    pairs += [
        ((one.name, mine.name), (other.name, theirs.name))
        for (one, mine), (other, theirs) in combinations(places, 2)
        if mine.name.lower() == theirs.name.lower() and mine.kind == theirs.kind
    ]
    for first, second in pairs:
        if first in group and second in group and group[first] != group[second]:
            old, new = group[second], group[first]
            group = {place: new if number == old else number for place, number in group.items()}
    return group


def _is_key(table: Table, column: Column) -> bool:
    """Whether a column tells the rows of a table apart: names may by chance."""
    unique = column.distinct is not None and column.distinct == table.rows
    return (
        table.primary_key == (column.name,)
        or (unique and not table.primary_key)
        or label_column(column.name, column.kind, (), "en").role == "id"
    )


def _build_path(schema: Schema, names: frozenset[str], edges: set[frozenset[str]]) -> JoinPath:
    tables = tuple(table for table in schema.tables if table.name in names)
    orders = [order for table in tables for order in _list_orders([table.name], (), names, edges)]
    return JoinPath(tables, tuple(dict.fromkeys(orders)))


def _list_orders(
    done: Sequence[str],
    steps: tuple[tuple[str, str], ...],
    names: frozenset[str],
    edges: set[frozenset[str]],
) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """All orders that begin with the tables `done`."""
    if len(done) == len(names):
        return [(done[0], steps)]
    return [
        order
        for name in sorted(names - set(done))
        for before in done
        if frozenset((before, name)) in edges
        for order in _list_orders([*done, name], (*steps, (before, name)), names, edges)
    ]

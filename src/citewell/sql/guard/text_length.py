"""How long a text is that a statement puts together, and what it grows to in a recursion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from citewell.errors import StatementRefused
from citewell.messages import Text
from citewell.sql.guard.bounds import MOST_CHARACTERS, MOST_MADE

if TYPE_CHECKING:
    from sqlglot import exp

# rounds of a recursion that are counted one by one; the sum of more grows at least with their
# square
TRIED = 2_000


@dataclass(frozen=True)
class Length:
    """Characters: `fixed`, and so many times each of the recursion's own columns."""

    fixed: float = 0.0
    of: Mapping[str, float] = field(default_factory=dict)

    def add(self, other: Length) -> Length:
        names = [*self.of, *(name for name in other.of if name not in self.of)]
        return Length(
            self.fixed + other.fixed,
            {name: self.of.get(name, 0.0) + other.of.get(name, 0.0) for name in names},
        )

    def multiply(self, factor: float) -> Length:
        return Length(
            self.fixed * factor, {name: value * factor for name, value in self.of.items()}
        )

    def get_larger(self, other: Length) -> Length:
        names = [*self.of, *(name for name in other.of if name not in self.of)]
        larger = {name: max(self.of.get(name, 0.0), other.of.get(name, 0.0)) for name in names}
        return Length(max(self.fixed, other.fixed), larger)

    @property
    def whole(self) -> float:
        """With one character in each column."""
        return self.fixed + sum(self.of.values())


ONE = Length(1.0)
Columns = Mapping[str, Length]  # of one table; "" stands for those that are not named
Tables = Mapping[str, Columns]  # those that are made in the statement, or those of a FROM


def get_column_length(column: exp.Column, sources: Tables) -> Length:
    name, table = column.name.lower(), column.table.lower()
    named = [sources[table]] if table in sources else list(sources.values())
    exactly = [columns[name] for columns in named if name in columns]
    return find_longest(
        exactly
        or [columns[""] for columns in named if "" in columns and len(columns) == 1]
        or [ONE]
    )


def find_longest(lengths: Iterator[Length] | list[Length]) -> Length:
    found = ONE
    for each in lengths:
        found = each if found is ONE else found.get_larger(each)
    return found


def check_length(length: Length) -> Length:
    if length.whole > MOST_CHARACTERS:
        raise StatementRefused(
            Text("A text of {whole:.0f} characters is put together.", whole=length.whole),
            hint=Text("At most {most_characters} are; use fewer.", most_characters=MOST_CHARACTERS),
        )
    return length


def is_doubling(steps: Mapping[str, Length]) -> bool:
    """Whether columns that go into each other do so more than once each: then their length is
    multiplied in each round. In a ring, each goes into the next once and into nothing else of the
    ring.
    """
    into = {
        name: {each for each, times in length.of.items() if times and each in steps}
        for name, length in steps.items()
    }
    reached = {name: set(next_ones) for name, next_ones in into.items()}
    for middle in steps:
        for name in steps:
            if middle in reached[name]:
                reached[name] |= reached[middle]
    for name in steps:
        ring = {each for each in reached[name] if name in reached[each]}
        if ring and sum(steps[one].of.get(other, 0.0) for one in ring for other in ring) > len(
            ring
        ):
            return True
    return False


def estimate_growth(alias: str, steps: Mapping[str, Length], rounds: float) -> Length:
    """The longest text after so many rounds; refused where all of them together are too long."""
    lengths = dict.fromkeys(steps, 1.0)
    total = 0.0
    for _ in range(int(min(rounds, TRIED))):
        lengths = {
            name: max(
                lengths[name],
                step.fixed + sum(times * lengths.get(each, 1.0) for each, times in step.of.items()),
            )
            for name, step in steps.items()
        }
        total += max(lengths.values(), default=1.0) - 1.0
    if rounds > TRIED and total > TRIED * max((step.fixed for step in steps.values()), default=1.0):
        total *= (rounds / TRIED) ** 2  # it grows, and is not only as long as what is written down
    if total > MOST_MADE:
        raise StatementRefused(
            Text(
                "The recursion {alias} makes texts of {total:.0f} characters.",
                alias=alias,
                total=total,
            ),
            hint=Text("At most {most_made} in all: count less far.", most_made=MOST_MADE),
        )
    return Length(max(lengths.values(), default=1.0))

"""What a finder hands to `pointed`: what it found of one kind, what of it the paper does not have,
and the words it read. Spans are of the folded question (`pointed_numbers.fold`), not of the paper.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["figure", "table", "equation", "section", "page", "reference"]


@dataclass(frozen=True, slots=True)
class Missing:
    """What a question names and the paper does not have. `label` is its number or name: `9`, `Smith
    et al. (2020)`; or words that say where it should be.
    """

    kind: Kind
    label: str


@dataclass(slots=True)
class Found:
    """`targets` index what the finder is about; for pages they are page numbers."""

    targets: list[int] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    read: list[tuple[int, int]] = field(default_factory=list)

    def add(self, targets: Iterable[int], span: tuple[int, int]) -> None:
        """Each target once, in the order of the question."""
        self.targets += [target for target in dict.fromkeys(targets) if target not in self.targets]
        self.read.append(span)

    def add_missing(self, kind: Kind, label: str, span: tuple[int, int]) -> None:
        if Missing(kind, label) not in self.missing:
            self.missing.append(Missing(kind, label))
        self.read.append(span)

    def covers(self, at: int) -> bool:
        return any(start <= at < end for start, end in self.read)

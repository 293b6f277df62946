"""The shape of a scientific paper: its parts by role, figures, tables, equations, references, as
spans of its text. Spans are offsets: `document.text[start:end]` is the text. What is not found is
empty, never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Role = Literal[
    "front",
    "abstract",
    "introduction",
    "related_work",
    "method",
    "results",
    "discussion",
    "references",
    "other",
]
FloatKind = Literal["figure", "table"]


@dataclass(frozen=True, slots=True)
class Part:
    """A section with its own text, without that of its subsections. `role`: what it is for;
    `discussion` covers limits and conclusion, `front` title and authors, `other` acknowledgements,
    ethics and the like. `appendix`: it stands behind the paper proper (its role is that of what it
    holds). Pages are 1-based; 0 where the document has none.
    """

    role: Role
    heading_path: tuple[str, ...]
    start: int
    end: int
    first_page: int = 0
    last_page: int = 0
    appendix: bool = False

    @property
    def heading(self) -> str:
        return self.heading_path[-1] if self.heading_path else ""


@dataclass(frozen=True, slots=True)
class Float:
    """A figure or table. `label` as the paper writes it (`Table 2`, `图 3`), `number` its number
    (`2`, `3a`, `A1`). The caption is `start` to `end`; `body` what stands in it as text (of a table
    its rows), or None.
    """

    kind: FloatKind
    label: str
    number: str
    start: int
    end: int
    page: int = 0
    body: tuple[int, int] | None = None

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Its caption and its body."""
        return [(self.start, self.end), *([self.body] if self.body else [])]


@dataclass(frozen=True, slots=True)
class Equation:
    """A displayed equation, kept as text. `label` its number with brackets, or empty."""

    label: str
    start: int
    end: int
    page: int = 0


@dataclass(frozen=True, slots=True)
class Reference:
    """An entry of the references. `key`: `12`, else `Wei et al., 2022`; `authors`: family names."""

    key: str
    start: int
    end: int
    page: int = 0
    authors: tuple[str, ...] = ()
    year: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """A place of the running text that points to a float, an equation or references. `targets`
    index the tuple of `Paper` that `kind` names.
    """

    kind: Literal["float", "equation", "reference"]
    start: int
    end: int
    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Paper:
    """`parts` cover the text in order. `abstract` is the span of its words, None where there is
    none. `title_span` and `authors_span` are where these stand.
    """

    title: str
    authors: tuple[str, ...]
    lang: str
    parts: tuple[Part, ...]
    abstract: tuple[int, int] | None = None
    title_span: tuple[int, int] | None = None
    authors_span: tuple[int, int] | None = None
    keywords: tuple[str, ...] = ()
    floats: tuple[Float, ...] = ()
    equations: tuple[Equation, ...] = ()
    references: tuple[Reference, ...] = ()
    mentions: tuple[Mention, ...] = ()

    def get_part_at(self, offset: int) -> Part | None:
        return next((part for part in self.parts if part.start <= offset < part.end), None)

    def of(self, roles: Sequence[Role]) -> list[Part]:
        """The parts of these roles, in order."""
        return [part for part in self.parts if part.role in roles]

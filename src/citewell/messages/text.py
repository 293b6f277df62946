"""A text of ours, with what it is made of. It is an English string to whoever does not look closer,
so it goes wherever a string goes; what cuts or rebuilds it leaves a plain string.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from typing import Any, Self

Value = str | int | float | None


class Text(str):
    """`Text("{file} has {pages:,} pages", file=name, pages=n)`: the English text, which is also the
    key of the catalogue (its gettext msgid), and the values that it was made with; those may be
    texts of ours too. Without values, braces stand for themselves.
    """

    __slots__ = ("template", "values")

    template: str
    values: dict[str, Value]

    def __new__(cls, template: str, /, **values: object) -> Self:
        text = super().__new__(cls, template.format(**values) if values else template)
        text.template = template
        text.values = {name: _to_value(value) for name, value in values.items()}
        return text

    def __str__(self) -> str:
        """Itself, so that `str(error)` of an error that was raised with it is it."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_text, (self.template, self.values)

    def __add__(self, other: str, /) -> Text:
        return Text("{first}{second}", first=self, second=other)

    def __radd__(self, other: str, /) -> Text:
        return Text("{first}{second}", first=other, second=self)

    def fill(self, **values: object) -> Text:
        """The same template with these values."""
        return Text(self.template, **values)

    def replace_values(self, replaced: Callable[[str], str]) -> Text:
        """The same text with other words in it."""
        values = {
            name: replaced(value) if isinstance(value, str) else value
            for name, value in self.values.items()
        }
        return Text(self.template, **values)

    def join(self, parts: Iterable[str], /) -> str:
        """Several texts as one, between them this one: `Text("; ").join(reasons)`."""
        listed = list(parts)
        if len(listed) < 2:
            return listed[0] if listed else ""
        values = {f"part{n}": part for n, part in enumerate(listed)}
        template = "{between}".join(f"{{{name}}}" for name in values)
        return Text(template, between=self, **values)


def _to_value(value: object) -> Value:
    """What JSON can keep; of anything else its text."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else str(value)


def _rebuild_text(template: str, values: dict[str, Value]) -> Text:
    return Text(template, **values)

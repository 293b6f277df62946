"""Errors and warnings are told apart by their codes and values, and not by their words."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest

from citewell.errors import CitewellError
from citewell.messages import Text

E = TypeVar("E", bound=CitewellError)


def raises_code(kind: type[E], code: str) -> pytest.RaisesExc[E]:
    """As `pytest.raises`, and the error has this code."""
    return pytest.raises(kind, check=lambda error: error.code == code)


def raises_about(kind: type[E], **values: object) -> pytest.RaisesExc[E]:
    """As `pytest.raises`, and the error's message was made with these values."""
    return pytest.raises(
        kind, check=lambda error: values.items() <= get_values(error.message).items()
    )


def get_values(text: str) -> dict[str, Any]:
    """What a text was made with, and the texts that are part of it."""
    found: dict[str, Any] = {}
    for name, value in text.values.items() if isinstance(text, Text) else ():
        found |= get_values(value) if isinstance(value, Text) else {name: value}
    return found

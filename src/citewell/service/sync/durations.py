"""How often, as people write it. What is written here is read back as the same."""

from __future__ import annotations

import re

from citewell.errors import InvalidInput
from citewell.messages import Text

_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_FORM = re.compile(r"(\d{1,6})\s*([smhdw]?)", re.IGNORECASE)


def parse_duration(said: str) -> float:
    """Seconds. Raises InvalidInput."""
    match = _FORM.fullmatch(said.strip())
    if match is None:
        raise InvalidInput(
            Text("{said!r} says no time between two runs", said=said[:40]),
            hint=Text("a number and s, m, h, d or w: 15m, 1h, 1d; 0 for no schedule"),
        )
    return int(match[1]) * _UNITS[match[2].lower() or "s"]


def format_duration(seconds: float) -> str:
    """In the largest unit in which it is a whole number."""
    for unit, size in reversed(_UNITS.items()):
        if seconds and seconds % size == 0:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:.0f}s"

"""The lines of a script file, for models that follow one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citewell.errors import (
    CitewellError,
    ConfigError,
    ModelUnavailable,
    PermanentError,
    TransientError,
)

ERRORS: dict[str, type[CitewellError]] = {
    "transient": TransientError,
    "permanent": PermanentError,
    "unavailable": ModelUnavailable,
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the script: a text or a figure, or an error to raise, after `delay` seconds."""

    value: str | float | Exception
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How slow the model is, in seconds: a token, and an unscripted reply's first token."""

    token: float
    delay: float = 0.0


def read_script(path: Path) -> list[Line | Pace]:
    """The lines of a script file. Raises ConfigError naming what is wrong."""
    try:
        items = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"scripted_replies: {path}: {error}", hint="a JSON list of texts, numbers and objects"
        ) from None
    if not isinstance(items, list):
        raise ConfigError(
            f"scripted_replies: {path}: not a list",
            hint="a JSON list of texts, numbers and objects",
        )
    return [_parse_line(item, path) for item in items]


def _parse_line(item: Any, path: Path) -> Line | Pace:
    if isinstance(item, dict) and "pace" in item:
        return _parse_pace(item, path)
    value = item.get("reply") if isinstance(item, dict) else item
    delay = float(item.get("delay", 0.0)) if isinstance(item, dict) else 0.0
    if isinstance(item, dict) and item.get("error") in ERRORS:
        return Line(ERRORS[item["error"]](str(item.get("message", "scripted failure"))), delay)
    if isinstance(value, dict | list):
        return Line(json.dumps(value, ensure_ascii=False), delay)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ConfigError(
            f"scripted_replies: {path}: cannot use {json.dumps(item)}", hint="see docs/models.md"
        )
    return Line(value if isinstance(value, str) else float(value), delay)


def _parse_pace(item: dict[str, Any], path: Path) -> Pace:
    token, delay = item["pace"], item.get("delay", 0.0)
    if any(
        isinstance(each, bool) or not isinstance(each, int | float) or each < 0
        for each in (token, delay)
    ):
        raise ConfigError(
            f"scripted_replies: {path}: cannot use {json.dumps(item)}",
            hint="pace and delay are seconds",
        )
    return Pace(float(token), float(delay))

"""The one shape in which every channel tells an error: `{"error": {"code", "message", "hint", "detail"?}}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citewell.errors import CitewellError, Stopped

Problem = dict[str, dict[str, Any]]


def problem(code: str, message: str, hint: str = "", detail: Any = None) -> Problem:
    """The shape itself. `detail` is left out where there is none."""
    inner = {"code": code, "message": message, "hint": hint}
    return {"error": inner if detail is None else {**inner, "detail": detail}}


def problem_of(error: CitewellError) -> Problem:
    """An error of ours in that shape. `detail` names the run that can be gone on with, where the server stopped."""
    left = {"resume": error.resume} if isinstance(error, Stopped) and error.resume else None
    return problem(error.code, error.message, error.hint, left)


def error_of(shape: Mapping[str, Any]) -> CitewellError:
    """The other way round: an error from its shape (an `error` event's data), with or without the outer `error` key."""
    inner = shape.get("error", shape)
    return CitewellError(str(inner.get("message", "failed")), hint=str(inner.get("hint", "")), code=str(inner.get("code", "")))

"""The one shape in which every channel tells an error: `{"error": {"code", "message", "hint",
"detail"?}}`. An error is short, whatever it quotes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from citewell.errors import CitewellError, Stopped
from citewell.messages import show_text, show_texts

Problem = dict[str, dict[str, Any]]
LONGEST = 2_000  # characters of a message, and of a hint


def build_problem(code: str, message: str, hint: str = "", detail: Any = None) -> Problem:
    """The shape itself. `detail` is left out where there is none."""
    inner = {
        "code": code,
        "message": show_text(shorten_text(message)),
        "hint": show_text(shorten_text(hint)),
    }
    return {"error": inner if detail is None else {**inner, "detail": show_texts(detail)}}


def shorten_text(text: str, most: int = LONGEST) -> str:
    """Its beginning and its end: what was sent stands in the middle, if anywhere."""
    return text if len(text) <= most else f"{text[: most - most // 3 - 5]} ... {text[-most // 3 :]}"


def to_problem(error: CitewellError, tell: Callable[[str], str] = str) -> Problem:
    """An error of ours in that shape; `tell`: what is told of its texts. `detail` names the run
    that can be gone on with, where the server stopped.
    """
    left = {"resume": error.resume} if isinstance(error, Stopped) and error.resume else None
    return build_problem(error.code, tell(error.message), tell(error.hint), left)


def to_error(shape: Mapping[str, Any]) -> CitewellError:
    """The reverse: an error from its shape (an `error` event), with or without `error` key."""
    inner = shape.get("error", shape)
    return CitewellError(
        str(inner.get("message", "failed")),
        hint=str(inner.get("hint", "")),
        code=str(inner.get("code", "")),
    )

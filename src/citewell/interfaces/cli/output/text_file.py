"""A text written to a file that the caller names. It appears whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from citewell.errors import InvalidInput, StorageError

MARKDOWN = ("md", "markdown")


def write_file(named: str, text: str, suffixes: Sequence[str]) -> Path:
    """Raises InvalidInput for a name without one of these endings, StorageError."""
    path = Path(named).expanduser()
    if path.suffix.lower().removeprefix(".") not in suffixes:
        kind = "Markdown" if suffixes == MARKDOWN else " or ".join(suffixes)
        raise InvalidInput(f"{path}: not a name for {kind}", hint=f"name it NAME.{suffixes[0]}")
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        part.replace(path)
    except OSError as error:
        why = f"{error.filename or part}: cannot be written: {error.strerror}"
        raise StorageError(
            why, hint="see that the folder is there, can be written to and has room"
        ) from error
    finally:
        with suppress(OSError):  # where it could not even be begun
            part.unlink(missing_ok=True)
    return path

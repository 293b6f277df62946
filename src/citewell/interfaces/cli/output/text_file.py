"""Writes a text to a file that the user names: the whole text or, after an error, no file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from citewell.errors import InvalidInput, StorageError

MARKDOWN = ("md", "markdown")


def write_file(named: str, text: str, suffixes: Sequence[str]) -> Path:
    """Raises InvalidInput for a name without one of these endings, StorageError."""
    path = Path(named).expanduser()
    if path.suffix.lower().removeprefix(".") not in suffixes:
        kind = "Markdown" if suffixes == MARKDOWN else " or ".join(suffixes)
        raise InvalidInput(f"{path}: not a name for {kind}", hint=f"name it NAME.{suffixes[0]}")
    with open_whole_file(path) as file:
        file.write(text)
    return path


@contextmanager
def open_whole_file(path: Path) -> Iterator[TextIO]:
    """A file to write to, which is moved to `path` at the end, or deleted after an error. Raises
    StorageError.
    """
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            yield file
        part.replace(path)
    except OSError as error:
        why = f"{error.filename or part}: cannot be written: {error.strerror}"
        raise StorageError(
            why, hint="see that the folder is there, can be written to and has room"
        ) from error
    finally:
        with suppress(OSError):  # where it could not even be begun
            part.unlink(missing_ok=True)

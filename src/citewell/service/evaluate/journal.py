"""Items of a run that is not over yet, one a line, so that a killed run can be gone on with by the
same command. An item is used again only where all that it came from is the same.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TextIO

from pydantic import ValidationError

from citewell.errors import StorageError
from citewell.measure.report import Item


class Journal:
    """`path` None: nothing is kept. Raises StorageError where it cannot be written."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._done: dict[str, Item] = {}
        self._file: TextIO | None = None

    def open(self) -> int:
        """Read what an earlier run left; says how many items."""
        if self.path is None:
            return 0
        try:
            lines = self.path.read_text("utf-8").split("\n") if self.path.exists() else []
            self._file = self.path.open("a", encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(
                f"{self.path}: {error}", hint="choose another file with --json"
            ) from None
        for line in lines:
            try:
                values = json.loads(line)
                self._done[values["from"]] = Item.model_validate(values["item"])
            except (ValueError, TypeError, KeyError, ValidationError):
                # the last line of a run that was killed while it wrote, or a file of an older
                # version
                continue
        if any(lines):
            self._file.write("\n")  # ends a line that was cut short
        return len(self._done)

    def get(self, source: str) -> Item | None:
        """The item made of `source` (a hash of all it came from), where it had no error."""
        found = self._done.get(source)
        return None if found is None or found.error else found

    def add(self, source: str, item: Item) -> None:
        if self._file is None:
            return
        try:
            self._file.write(
                json.dumps(
                    {"from": source, "item": item.model_dump(mode="json")}, ensure_ascii=False
                )
                + "\n"
            )
            self._file.flush()
        except OSError as error:
            raise StorageError(
                f"{self.path}: {error.strerror}", hint="free some space; the same command goes on"
            ) from None

    def close(self, *, finished: bool) -> None:
        """A finished run needs no journal any more."""
        if self._file is not None:
            self._file.close()
        if finished and self.path is not None:
            self.path.unlink(missing_ok=True)

"""The password or key of a place: named (a variable, a file) or sealed. It is filled in to connect,
and stands in no address, log or reply.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from citewell.errors import InvalidInput, SourceUnavailable
from citewell.messages import Text
from citewell.store.syncs.sync_rows import Sync
from citewell.store.users.sealing import MARK, open_sealed

VARIABLE: Final = "env:"
FILE: Final = "file:"
LONGEST: Final = 10_000  # characters


def check_reference(said: str) -> str:
    """Raises InvalidInput for what names neither a variable nor a file."""
    prefix = next((each for each in (VARIABLE, FILE) if said.startswith(each)), "")
    if not prefix or not said.removeprefix(prefix).strip():
        raise InvalidInput(
            Text("this is not where a secret may be"),  # not repeated: it may be the secret itself
            hint=Text("name a variable or a file: --secret env:NAME or file:PATH"),
        )
    if prefix == FILE:
        return FILE + str(Path(said.removeprefix(FILE)).expanduser().absolute())
    return said


def reveal_secret(home: Path, sync: Sync, environ: Mapping[str, str] | None = None) -> str:
    """Empty where the place wants none. Raises SourceUnavailable."""
    kept = sync.secret
    if kept.startswith(VARIABLE):
        name = kept.removeprefix(VARIABLE)
        found = (os.environ if environ is None else environ).get(name)
        if not found:
            raise SourceUnavailable(
                Text("the secret of {place} is in ${name}, which is not set", **_name(sync, name)),
                hint=Text("set it where Citewell runs, the server too"),
            )
        return found
    if kept.startswith(FILE):
        return _read_secret_file(sync, kept.removeprefix(FILE))
    return open_sealed(home, kept, sync.sync_id) if kept.startswith(MARK) else ""


def _read_secret_file(sync: Sync, path: str) -> str:
    try:
        with Path(path).open(encoding="utf-8") as file:
            return file.read(LONGEST).strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceUnavailable(
            Text("the secret of {place} cannot be read from {name}", **_name(sync, path)),
            hint=getattr(error, "strerror", None) or Text("it is no text"),
        ) from None


def _name(sync: Sync, name: str) -> dict[str, str]:
    return {"place": sync.place, "name": name}

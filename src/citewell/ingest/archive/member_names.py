"""Names of the files of an archive, as paths that stay below where they are put."""

from __future__ import annotations

import re
from typing import Final

from citewell.ingest.assemble import clean_text

_DRIVE = re.compile(r"^[A-Za-z]:")
_TURNS = re.compile(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SEPARATORS = re.compile(r"!*/")  # `!/` stands where an archive is opened, and nowhere else
_LONGEST_NAME: Final = 200


def sanitize_name(name: str) -> str:
    """A member's name as a relative path that stays below where it is put."""
    path = _DRIVE.sub("", _TURNS.sub("", clean_text(name)).replace("\\", "/").replace("\n", " "))
    parts = [part.strip()[:_LONGEST_NAME] for part in _SEPARATORS.split(path)]
    parts = [part for part in parts if part not in {"", ".", ".."}]
    return "/".join(parts) or "unnamed"

"""Refuse questions that hold words of a list: the shipped one is minimal, a file of the user's
replaces it. Latin words match whole words only, Chinese ones match anywhere (Chinese has no spaces
to end a word).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib import resources
from pathlib import Path

from citewell.errors import ConfigError
from citewell.messages import Text


@cache
def load_word_list(path: Path | None) -> re.Pattern[str] | None:
    """The words of a file (one a line, `#`: a comment) as one pattern; None without any."""
    if path is None:
        text = (resources.files("citewell.skills.dialogue") / "sensitive_words.txt").read_text(
            encoding="utf-8"
        )
    else:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                Text("sensitive_words {path}: {error}", path=path, error=error),
                hint=Text("a UTF-8 text file, one word a line"),
            ) from None
    words = {_fold_text(line.partition("#")[0].strip()) for line in text.splitlines()} - {""}
    parts = [rf"\b{re.escape(w)}\b" if w.isascii() else re.escape(w) for w in sorted(words)]
    return re.compile("|".join(parts)) if parts else None


def find_sensitive_word(text: str, words: re.Pattern[str] | None) -> str | None:
    """The first refused word in a text, whatever its width and letter case."""
    found = words.search(_fold_text(text)) if words else None
    return found.group() if found else None


def _fold_text(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()

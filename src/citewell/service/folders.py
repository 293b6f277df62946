"""The folders of this machine, which are no business of whoever asks over the network.

The one rule: files keep their names, so that what is wrong can still be told; the log and the command line name the folder too.
"""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path

from citewell.config import Settings


def without_folders(text: str, settings: Settings) -> str:
    """A text for others, without the folders that Citewell works in."""
    if "/" not in text and "\\" not in text:
        return text
    for folder in _folders(settings.home, settings.cache, settings.llm_file):
        text = text.replace(f"{folder}/", "").replace(f"{folder}\\", "").replace(folder, "the folder")
    return text


@lru_cache(maxsize=8)
def _folders(home: Path, cache: Path, model: Path | None) -> tuple[str, ...]:
    """As they are written and as they are resolved, the longest first."""
    named = [home, cache, Path(tempfile.gettempdir()), Path(__file__).resolve().parents[2]]
    named += [model.parent] if model else []
    spelt = {path for each in named for path in (each, each.absolute(), each.resolve())}
    kept = {str(path) for path in spelt if path.name and path.absolute().parent != path.absolute()}  # neither "." nor "/"
    return tuple(sorted(kept, key=len, reverse=True))

"""The folders of this machine, which are no business of whoever asks over the network. Files keep
their names, so that what is wrong can still be told; the log and the command line name the folder
too.
"""

from __future__ import annotations

import os
import tempfile
from functools import lru_cache
from pathlib import Path

from citewell.config import Settings
from citewell.messages import Text


def redact_folders(text: str, settings: Settings) -> str:
    """A text for others, without the folders that Citewell works in."""
    if "/" not in text and "\\" not in text:
        return text
    if isinstance(text, Text):
        return text.replace_values(lambda value: redact_folders(value, settings))
    for folder in _list_private_folders(settings.home, settings.cache, settings.llm_file):
        text = (
            text.replace(f"{folder}/", "").replace(f"{folder}\\", "").replace(folder, "the folder")
        )
    return text


@lru_cache(maxsize=8)
def _list_private_folders(home: Path, cache: Path, model: Path | None) -> tuple[str, ...]:
    """As they are written and as they are resolved, the longest first."""
    named = [home, cache, *_list_temporary_folders(), Path(__file__).resolve().parents[3]]
    named += [model.parent] if model else []
    spelt = {path for each in named for path in (each, each.absolute(), each.resolve())}
    # neither "." nor "/"
    kept = {str(path) for path in spelt if path.name and path.absolute().parent != path.absolute()}
    return tuple(sorted(kept, key=len, reverse=True))


def _list_temporary_folders() -> list[Path]:
    """Where temporary files go; the first call tries it by writing, which a full disk refuses."""
    try:
        return [Path(tempfile.gettempdir())]
    except OSError:
        said = [os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
        return [Path(each) for each in (*said, "/tmp", "/var/tmp", "/usr/tmp") if each]  # noqa: S108 only taken out of texts
